/* SPDX-License-Identifier: Apache-2.0
 *
 * This part of the stub detects out-of-memory errors. TT-Metal reports these errors by exceptions,
 * from many places. All exceptions pass through __cxa_throw, which is defined here and calls the
 * __cxa_throw of the C++ runtime. When __cxa_throw is called, the stack is not unwound yet, so the
 * process still holds its memory.
 *
 * Only exceptions whose class is exactly std::runtime_error are checked, because TT-Metal and the
 * dry run throw this class. Other classes are not checked, because their what() may run any code,
 * take locks or call Python. A program with a statically linked C++ runtime never calls the
 * __cxa_throw of this file, so its failures are not detected. */
#define _GNU_SOURCE
#include "failures.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The layout of std::type_info in the Itanium C++ ABI. Every C++ runtime of the supported machines
 * uses this ABI. */
struct type_info {
  const void *functions; /* virtual functions of the class type_info, in the C++ runtime */
  const char *name;
};
typedef const char *(*what_function)(const void *exception);
enum { kWhat = 2 }; /* index of what() among the virtual functions; two destructors come first */
typedef void (*throw_function)(void *exception, struct type_info *type, void (*destroy)(void *));

__attribute__((visibility("default"), noreturn)) void __cxa_throw(void *exception,
                                                                  struct type_info *type,
                                                                  void (*destroy)(void *));

/* ---- The next __cxa_throw ---- */

/* The __cxa_throw that the program would call without this library. */
static throw_function next_for_all;
/* For the exception classes seen so far, the __cxa_throw of the C++ runtime that defines the class.
 * A process can have several C++ runtimes, because Python can load a library with a C++ runtime of
 * its own. */
static struct {
  const void *functions;
  throw_function next;
} known[16];
static unsigned known_count; /* number of complete entries */
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;

static throw_function find_by_type(const void *functions) {
  Dl_info where;
  if (dladdr(functions, &where) == 0 || where.dli_fname == NULL) return NULL;
  void *library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  throw_function found = (throw_function)dlsym(library, "__cxa_throw");
  /* The library is not closed with dlclose(), so that it stays loaded and the address stays
   * valid. */
  return found == (throw_function)__cxa_throw ? NULL : found;
}

static throw_function next_by_type(const void *functions) {
  const unsigned count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < count; ++i) {
    if (known[i].functions == functions) return known[i].next;
  }
  throw_function found = find_by_type(functions);
  if (found == NULL || pthread_mutex_trylock(&known_mutex) != 0) return found;
  if (known_count < sizeof known / sizeof known[0]) {
    known[known_count].functions = functions;
    known[known_count].next = found;
    __atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&known_mutex);
  return found;
}

static throw_function next_for(const struct type_info *type) {
  throw_function next = __atomic_load_n(&next_for_all, __ATOMIC_RELAXED);
  if (next != NULL) return next;
  next = (throw_function)dlsym(RTLD_NEXT, "__cxa_throw");
  if (next == NULL) return next_by_type(type->functions);
  __atomic_store_n(&next_for_all, next, __ATOMIC_RELAXED);
  return next;
}

/* ---- Detection of failures ---- */

/* Texts in TT-Metal's out-of-memory errors, in versions since 2024. */
static const char *const kMarkers[] = {
    "Out of Memory: ",
    "Not enough space after considering dependencies",
    " clash with L1 buffers on core range",
    " clash with ServiceCoreManager-allocated",
    " beyond max L1 size of ",
    "B is allocated for trace region",
    "Trace buffer at address",
    " too large for kernel config buffer (",
    " exceeds allocated L1 buffer size",
    " exceeds max number of circular buffers per core",
};
enum { kMaxScanned = 4096, kMaxText = 1024 };

/* Finds a marker before `end`. Uses strstr(), because memmem() builds a table in each call, which
 * would slow down ordinary exceptions. */
static const char *find_marker(const char *message, const char *end) {
  for (size_t i = 0; i < sizeof kMarkers / sizeof kMarkers[0]; ++i) {
    const char *found = strstr(message, kMarkers[i]);
    if (found != NULL && found < end) return found;
  }
  return NULL;
}

/* Copies the message from the line of the marker to `end`, or to the stack trace if the message has
 * one. The lines before the marker have the source location and are left out. */
static void copy_text(const char *message, const char *marker, const char *end, char *text) {
  while (marker > message && marker[-1] != '\n') --marker;
  const char stack[] = "\nbacktrace:";
  const char *cut = memmem(marker, (size_t)(end - marker), stack, sizeof stack - 1);
  size_t bytes = (size_t)((cut != NULL ? cut : end) - marker);
  if (bytes > kMaxText) bytes = kMaxText;
  memcpy(text, marker, bytes);
  text[bytes] = '\0';
}

void (*ttmem_preload_adapter_failing)(void);

/* Reports the failure to the tracker, after the adapter has recorded a running placement. Reports
 * before anybody catches the exception, because an exception that nobody catches ends the process.
 * Does nothing if the tracker is not loaded. */
static void report(const char *text) {
  void (*adapter_failing)(void) = __atomic_load_n(&ttmem_preload_adapter_failing, __ATOMIC_ACQUIRE);
  if (adapter_failing != NULL) adapter_failing();
  void *tracker = dlopen(TTMEM_SONAME, RTLD_NOW | RTLD_NOLOAD);
  typedef void (*failure_function)(const char *);
  failure_function failure =
      tracker != NULL ? (failure_function)dlsym(tracker, "ttmem_report_failure") : NULL;
  if (failure != NULL) failure(text);
}

/* True while this thread reports a failure. The report may itself throw and catch exceptions, which
 * are not checked. */
static __thread int checking;

static void check_exception(const void *exception, const struct type_info *type) {
  if (strcmp(type->name, "St13runtime_error") != 0 || checking) return;
  const what_function *functions = *(const what_function *const *)exception;
  const char *message = functions[kWhat](exception);
  const size_t bytes = strnlen(message, kMaxScanned);
  const char *marker = find_marker(message, message + bytes);
  if (marker == NULL) return;
  const int error = errno;
  char text[kMaxText + 1];
  copy_text(message, marker, message + bytes, text);
  checking = 1;
  report(text);
  checking = 0;
  errno = error;
}

void __cxa_throw(void *exception, struct type_info *type, void (*destroy)(void *)) {
  check_exception(exception, type);
  throw_function next = next_for(type);
  if (next == NULL) {
    fprintf(stderr, "ttmem: no loaded library has __cxa_throw for %s; run without ttmem\n",
            type->name);
    abort();
  }
  next(exception, type, destroy);
  __builtin_unreachable();
}

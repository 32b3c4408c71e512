/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the stub that notices when memory does not suffice. TT-Metal says it by an exception,
 * from many places; all of them come by __cxa_throw, which is defined here and passes every
 * exception on to that of the C++ runtime. What a process holds is then still what it was: nothing
 * is unwound yet.
 *
 * Only std::runtime_error itself is looked at, which is what TT-Metal and the dry run throw: what()
 * of another class is somebody's code, which may take locks or run Python. A program that has its
 * C++ runtime inside never comes here. */
#define _GNU_SOURCE
#include "failures.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the C++ ABI of these machines has them (Itanium), of every runtime. */
struct type_info {
  const void *functions; /* those of its own class, in the C++ runtime */
  const char *name;
};
typedef const char *(*what_function)(const void *exception);
enum { kWhat = 2 }; /* after two destructors */
typedef void (*throw_function)(void *exception, struct type_info *type, void (*destroy)(void *));

__attribute__((visibility("default"), noreturn)) void __cxa_throw(void *exception,
                                                                  struct type_info *type,
                                                                  void (*destroy)(void *));

/* ---- The next __cxa_throw ---- */

/* The one that the program would call without this library. */
static throw_function next_of_all;
/* Where Python has loaded the C++ runtime for some libraries alone, and there may be several: that
 * of the runtime which the type belongs to. */
static struct {
  const void *functions;
  throw_function next;
} known[16];
static unsigned known_count; /* complete ones */
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;

static throw_function find_by_type(const void *functions) {
  Dl_info where;
  if (dladdr(functions, &where) == 0 || where.dli_fname == NULL) return NULL;
  void *library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  throw_function found = (throw_function)dlsym(library, "__cxa_throw");
  /* It stays loaded: what is known of it must stay true. */
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
  throw_function next = __atomic_load_n(&next_of_all, __ATOMIC_RELAXED);
  if (next != NULL) return next;
  next = (throw_function)dlsym(RTLD_NEXT, "__cxa_throw");
  if (next == NULL) return next_by_type(type->functions);
  __atomic_store_n(&next_of_all, next, __ATOMIC_RELAXED);
  return next;
}

/* ---- What is a failure ---- */

/* What TT-Metal says of memory, in its versions since 2024. */
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
enum { kMaxLooked = 4096, kMaxText = 1024 };

/* strstr() and not memmem(), which sets up a table for each call: ordinary exceptions pay for this.
 * `end` is where to look no further. */
static const char *find_marker(const char *said, const char *end) {
  for (size_t i = 0; i < sizeof kMarkers / sizeof kMarkers[0]; ++i) {
    const char *found = strstr(said, kMarkers[i]);
    if (found != NULL && found < end) return found;
  }
  return NULL;
}

/* From the line with the marker on, without the place in the source before it and the stack after
 * it. */
static void copy_text(const char *said, const char *marker, const char *end, char *text) {
  while (marker > said && marker[-1] != '\n') --marker;
  const char stack[] = "\nbacktrace:";
  const char *cut = memmem(marker, (size_t)(end - marker), stack, sizeof stack - 1);
  size_t bytes = (size_t)((cut != NULL ? cut : end) - marker);
  if (bytes > kMaxText) bytes = kMaxText;
  memcpy(text, marker, bytes);
  text[bytes] = '\0';
}

int (*ttmem_preload_adapter_failed)(const char *text);

/* To the adapter, if that has something to record first, else to the tracker, if there is one. */
static void report(const char *text) {
  int (*adapter_failed)(const char *) =
      __atomic_load_n(&ttmem_preload_adapter_failed, __ATOMIC_ACQUIRE);
  if (adapter_failed != NULL && adapter_failed(text)) return;
  void *tracker = dlopen(TTMEM_SONAME, RTLD_NOW | RTLD_NOLOAD);
  typedef void (*failure_function)(const char *);
  failure_function failure =
      tracker != NULL ? (failure_function)dlsym(tracker, "ttmem_report_failure") : NULL;
  if (failure != NULL) failure(text);
}

static __thread int looking; /* what is called in here may throw, and catch it */

static void look_at(const void *exception, const struct type_info *type) {
  if (strcmp(type->name, "St13runtime_error") != 0 || looking) return;
  const what_function *functions = *(const what_function *const *)exception;
  const char *said = functions[kWhat](exception);
  const size_t bytes = strnlen(said, kMaxLooked);
  const char *marker = find_marker(said, said + bytes);
  if (marker == NULL) return;
  const int error = errno;
  char text[kMaxText + 1];
  copy_text(said, marker, said + bytes, text);
  looking = 1;
  report(text);
  looking = 0;
  errno = error;
}

void __cxa_throw(void *exception, struct type_info *type, void (*destroy)(void *)) {
  look_at(exception, type);
  throw_function next = next_for(type);
  if (next == NULL) {
    fprintf(stderr, "ttmem: no loaded library has __cxa_throw for %s; run without ttmem\n",
            type->name);
    abort();
  }
  next(exception, type, destroy);
  __builtin_unreachable();
}

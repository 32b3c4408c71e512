/* SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD loads this library. It defines functions with the names of TT-Metal's functions
 * (wrapped.h). Each of these functions is a jump. The first call of a function finds TT-Metal's own
 * function, loads the adapter that $TTMEM_ADAPTER names, and asks the adapter for a wrapper. From
 * then on, the jump leads to the wrapper, or to TT-Metal's function if there is no wrapper. Only
 * one TT-Metal is recorded. If a second TT-Metal may be loaded, each jump checks whether its caller
 * uses the recorded TT-Metal.
 *
 * The library depends only on the C library. It does nothing until one of the functions is called
 * or an exception is thrown (failures.c). Programs without TT-Metal, and the compilers that
 * TT-Metal starts, inherit LD_PRELOAD but are not affected. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "failures.h"
#include "wrapped.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* The jump of function i leads to targets[i], which is at first the address of code that calls
 * ttmem_preload_resolve(). */
extern void *ttmem_preload_targets[TTMEM_W_COUNT] HIDDEN;
/* For each function, the address of code that checks the caller. If the caller belongs to the
 * recorded TT-Metal, the code jumps to seen[i], otherwise to ttmem_preload_resolve(). */
extern void *const ttmem_preload_checks[TTMEM_W_COUNT] HIDDEN;
/* For each function, the wrapper or TT-Metal's function; null until the first call. */
extern void *ttmem_preload_seen[TTMEM_W_COUNT] HIDDEN;
extern struct {
  const char *begin;
  size_t size;
} ttmem_preload_runtime HIDDEN;
/* The addresses of the jumps. */
extern void *const ttmem_preload_jumps[TTMEM_W_COUNT] HIDDEN;

#define SYMBOL_NAME(name, symbol) #symbol,
static const char *const kSymbols[TTMEM_W_COUNT] = {TTMEM_WRAPPED(SYMBOL_NAME)};

/* ---- Finding TT-Metal's functions ---- */

struct names {
  char **items;
  size_t count, room;
};

static int collect_name(struct dl_phdr_info *info, size_t size, void *data) {
  struct names *names = data;
  (void)size;
  /* Skips the program and the vdso, whose names are not absolute paths. */
  if (info->dlpi_name == NULL || info->dlpi_name[0] != '/') return 0;
  if (names->count == names->room) {
    const size_t room = names->room == 0 ? 64 : 2 * names->room;
    char **items = realloc(names->items, room * sizeof *items);
    if (items == NULL) return 1;
    names->items = items;
    names->room = room;
  }
  char *copy = strdup(info->dlpi_name);
  if (copy == NULL) return 1;
  names->items[names->count++] = copy;
  return 0;
}

/* A function that TT-Metal defines and this library does not. A library that defines it is a
 * TT-Metal. */
static const char kUnwrapped[] = "_ZN2tt8tt_metal12GraphTracker8instanceEv";

/* The recorded TT-Metal, set when it is found. It is never unloaded, because a jump into an
 * unloaded library would kill the process. */
static struct {
  void *library;                  /* null if RTLD_NEXT finds the library */
  int is_local;                   /* true after RTLD_LOCAL: a second TT-Metal may be loaded */
  void *originals[TTMEM_W_COUNT]; /* null if `library` has no such function */
} runtime;

/* Returns the library if it is loaded and defines `symbol` at another address than `other_than`.
 * Otherwise returns null. */
static void *library_with(const char *path, const char *symbol, const void *other_than) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  void *found = library != NULL ? dlsym(library, symbol) : NULL;
  if (found != NULL && found != other_than) return library;
  if (library != NULL) dlclose(library);
  return NULL;
}

/* Returns the first loaded TT-Metal. Used if RTLD_NEXT finds no TT-Metal: Python loads libraries
 * with RTLD_LOCAL, and RTLD_NEXT does not find these. */
static void *find_library(unsigned i) {
  void *const global = dlsym(RTLD_DEFAULT, kUnwrapped);
  Dl_info where;
  if (global != NULL && dladdr(global, &where) != 0) {
    void *library = library_with(where.dli_fname, kSymbols[i], ttmem_preload_jumps[i]);
    if (library != NULL) return library;
  }
  runtime.is_local = 1;
  void *library = NULL;
  struct names names = {NULL, 0, 0};
  dl_iterate_phdr(collect_name, &names);
  for (size_t n = 0; n < names.count; ++n) {
    if (library == NULL) {
      library = library_with(names.items[n], kSymbols[i], ttmem_preload_jumps[i]);
    }
    free(names.items[n]);
  }
  free(names.items);
  return library;
}

/* The address range of the library that contains the address `inside`. */
struct bounds {
  const char *inside, *begin, *end;
};

static int find_bounds(struct dl_phdr_info *info, size_t size, void *data) {
  struct bounds *bounds = data;
  const char *begin = NULL, *end = NULL;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    const char *from = (const char *)(info->dlpi_addr + part->p_vaddr);
    if (begin == NULL || from < begin) begin = from;
    if (end == NULL || from + part->p_memsz > end) end = from + part->p_memsz;
  }
  if (begin == NULL || bounds->inside < begin || bounds->inside >= end) return 0;
  bounds->begin = begin;
  bounds->end = end;
  return 1;
}

/* Fills `runtime`. Function `i` was called, so a TT-Metal is loaded. */
static void find_runtime(unsigned i) {
  void *next = dlsym(RTLD_NEXT, kSymbols[i]);
  if (next == NULL || next == ttmem_preload_jumps[i]) runtime.library = find_library(i);
  void *const where = runtime.library != NULL ? runtime.library : RTLD_NEXT;
  for (unsigned each = 0; each < TTMEM_W_COUNT; ++each) {
    void *const found = dlsym(where, kSymbols[each]);
    if (found != ttmem_preload_jumps[each]) runtime.originals[each] = found;
  }
  struct bounds bounds = {runtime.originals[i], NULL, NULL};
  if (!runtime.is_local || dl_iterate_phdr(find_bounds, &bounds) == 0) return;
  ttmem_preload_runtime.begin = bounds.begin;
  ttmem_preload_runtime.size = (size_t)(bounds.end - bounds.begin);
}

/* ---- Checking the build of TT-Metal ---- */

struct build_id {
  const void *inside; /* an address in the library */
  char text[2 * 64 + 1];
};

static int read_build_id(struct dl_phdr_info *info, size_t size, void *data) {
  struct build_id *id = data;
  int found = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    const char *begin = (const char *)(info->dlpi_addr + part->p_vaddr);
    const char *inside = id->inside;
    if (part->p_type == PT_LOAD && inside >= begin && inside < begin + part->p_memsz) found = 1;
  }
  if (!found) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_NOTE || part->p_align > 8) continue;
    const char *notes = (const char *)(info->dlpi_addr + part->p_vaddr);
    const char *const end = notes + part->p_memsz;
    while (notes + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)notes;
      const size_t align = part->p_align == 8 ? 8 : 4;
      const size_t name = (note->n_namesz + align - 1) & ~(align - 1);
      const unsigned char *bytes = (const unsigned char *)(notes + sizeof *note + name);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= 64 &&
          memcmp(note + 1, "GNU", 4) == 0) {
        for (unsigned b = 0; b < note->n_descsz; ++b) sprintf(id->text + 2 * b, "%02x", bytes[b]);
        return 1;
      }
      notes += sizeof *note + name + ((note->n_descsz + align - 1) & ~(align - 1));
    }
  }
  return 1;
}

/* Returns true if the adapter may be used with the loaded runtime. `ttmem run` guesses which
 * library the command will load. The guess may be wrong, for example if a script sets its own
 * paths. An adapter reads the runtime's classes, so an adapter for another build would read wrong
 * data. The name of an adapter's folder begins with the build id of its runtime. If the folder has
 * another name, or the loaded runtime has no build id, nothing can be checked: returns true, and
 * the user is responsible. */
static int matches_runtime(const char *adapter, const void *original) {
  const char *file = strrchr(adapter, '/');
  const char *folder = file;
  while (folder != NULL && folder > adapter && folder[-1] != '/') --folder;
  const size_t digits = folder != NULL ? strspn(folder, "0123456789abcdef") : 0;
  if (digits < 16 || folder[digits] != '-') return 1;
  struct build_id id = {original, ""};
  dl_iterate_phdr(read_build_id, &id);
  return id.text[0] == '\0' || (strlen(id.text) == digits && strncmp(id.text, folder, digits) == 0);
}

/* ---- Warnings ---- */

/* Prints `line` on stderr and passes `warning` to the tracker, so that `ttmem` shows it. Uses the
 * loaded tracker, or the tracker that is installed beside this library. */
static void warn(const char *line, const char *warning) {
  fprintf(stderr, "ttmem: %s\n", line);
  void *tracker = dlopen(TTMEM_SONAME, RTLD_NOW | RTLD_NOLOAD);
  Dl_info here;
  if (tracker == NULL && dladdr((void *)warn, &here) != 0) {
    char path[4096];
    const char *end = strrchr(here.dli_fname, '/');
    const int folder = end != NULL ? (int)(end - here.dli_fname) : 0;
    snprintf(path, sizeof path, "%.*s/../" TTMEM_SONAME, folder, here.dli_fname);
    tracker = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  typedef void (*not_seen)(unsigned, const char *);
  not_seen say = tracker != NULL ? (not_seen)dlsym(tracker, "ttmem_set_unseen") : NULL;
  if (say != NULL) say(0, warning);
}

/* ---- The adapter ---- */

typedef void (*begin)(const unsigned char has[TTMEM_W_COUNT]);
typedef void *(*wrapper_of)(unsigned i, void *original);

/* Opens the adapter's file. Returns null, or the reason why its code must not run, for example that
 * another user can write the file. `ttmem run` has checked the folders above the file. */
static const char *open_adapter(const char *path, int *file) {
  /* O_NONBLOCK, because without it open() would wait for the writer of a named pipe. */
  *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts;
  if (*file < 0 || fstat(*file, &facts) != 0) return strerror(errno);
  if (!S_ISREG(facts.st_mode)) return "it is not a file";
  if (facts.st_uid != geteuid() && facts.st_uid != 0) return "it belongs to another user";
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  return NULL;
}

/* Loads the file by its open descriptor, because the path may name another file by now. Returns
 * NULL and sets `why` on failure. */
static void *open_library(const char *path, const char **why) {
  int file = -1;
  void *library = NULL;
  *why = open_adapter(path, &file);
  if (*why == NULL) {
    /* The loader does not load the same name twice. The program may have loaded another file as
     * /proc/self/fd/N, so this name is spelled differently. */
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/../fd/%d", file);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) *why = dlerror();
  }
  if (file >= 0) close(file);
  return library;
}

static wrapper_of load_adapter(const void *original) {
  const char *enabled = secure_getenv("TT_ALLOC_TRACKING_ENABLED");
  const char *path = secure_getenv("TTMEM_ADAPTER");
  if (path == NULL || path[0] == '\0' || enabled == NULL || strcmp(enabled, "1") != 0) return NULL;
  if (!matches_runtime(path, original)) {
    Dl_info library = {NULL, NULL, NULL, NULL};
    dladdr(original, &library);
    char line[4096];
    snprintf(line, sizeof line,
             "the adapter is for another build of TT-Metal than %s, so the memory of this process "
             "is not seen; name that library with `ttmem run --library`",
             library.dli_fname != NULL ? library.dli_fname : "the one that is loaded");
    warn(line,
         "its memory is not seen: the adapter is for another TT-Metal; name it with `ttmem "
         "run --library`");
    return NULL;
  }
  const char *why = NULL;
  void *adapter = open_library(path, &why);
  begin first = adapter != NULL ? (begin)dlsym(adapter, "ttmem_adapter_begin") : NULL;
  wrapper_of get_wrapper =
      first != NULL ? (wrapper_of)dlsym(adapter, "ttmem_adapter_wrapper") : NULL;
  if (get_wrapper == NULL) {
    char line[4096];
    snprintf(line, sizeof line,
             "cannot load the adapter, so the memory of this process is not seen: %s: %s; run "
             "`ttmem adapter remove --all`, then `ttmem run` again",
             path, why != NULL ? why : dlerror());
    warn(line,
         "its memory is not seen: the adapter cannot be loaded; `ttmem adapter remove --all` "
         "and run it again");
    return NULL;
  }
  __atomic_store_n(&ttmem_preload_adapter_failing,
                   (void (*)(void))dlsym(adapter, "ttmem_adapter_failing"), __ATOMIC_RELEASE);
  unsigned char has[TTMEM_W_COUNT];
  for (unsigned i = 0; i < TTMEM_W_COUNT; ++i) has[i] = runtime.originals[i] != NULL;
  first(has);
  return get_wrapper;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* True while this thread loads the adapter. The adapter itself calls TT-Metal; these calls must not
 * wait for the mutex, which this thread holds. */
static __thread int loading;

static int loaded;
static wrapper_of wrapper;

/* Returns true if an adapter reports the events of this process. TT-Metal's hooks are then not
 * needed. */
__attribute__((visibility("default"))) int ttmem_preload_attached(void) {
  return __atomic_load_n(&wrapper, __ATOMIC_ACQUIRE) != NULL;
}

/* Locks the mutex. Returns false after 2 seconds, because two threads may wait for each other: this
 * thread may be initializing a library and hold the lock of the dynamic loader. The thread that
 * loads the adapter holds the mutex and waits for that lock. */
static int lock_with_timeout(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 2;
  return pthread_mutex_timedlock(&mutex, &end) == 0;
}

/* ---- Callers ---- */

/* A library that calls TT-Metal's functions. If the library uses another TT-Metal than the recorded
 * one, `own` has the functions of that other TT-Metal. The calling library is never unloaded,
 * because another library could then get its addresses. */
struct caller {
  const char *begin, *end;
  void *own[TTMEM_W_COUNT];
};
#define MAX_CALLERS 32
static struct caller callers[MAX_CALLERS];
static unsigned caller_count; /* number of complete entries */

/* Finds the functions of a library that contains another TT-Metal or is linked with one. */
static void find_own(const char *path, struct caller *caller) {
  void *library = path[0] == '/' ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  const char *other = NULL;
  for (unsigned i = 0; library != NULL && i < TTMEM_W_COUNT; ++i) {
    void *const found = dlsym(library, kSymbols[i]);
    if (found == NULL || found == runtime.originals[i] || found == ttmem_preload_jumps[i]) continue;
    caller->own[i] = found;
    Dl_info where;
    if (dladdr(found, &where) != 0) other = where.dli_fname;
  }
  static int warned; /* guarded by the lock */
  if (other == NULL || warned) return;
  warned = 1;
  char line[4096];
  snprintf(line, sizeof line, "a second TT-Metal is loaded, whose memory is not seen: %s", other);
  warn(line, line);
}

static const struct caller *find_caller(const char *address) {
  const unsigned count = __atomic_load_n(&caller_count, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < count; ++i) {
    if (address >= callers[i].begin && address < callers[i].end) return &callers[i];
  }
  return NULL;
}

/* Adds the caller to `callers`. The lock must be held. Returns null if no library contains the
 * address, or if the table is full. The call is then treated like a call from the recorded
 * TT-Metal. */
static const struct caller *learn_caller(const char *address) {
  const struct caller *known = find_caller(address);
  Dl_info where;
  if (known != NULL || caller_count == MAX_CALLERS || dladdr(address, &where) == 0) return known;
  struct caller *caller = &callers[caller_count];
  struct bounds bounds = {address, NULL, NULL};
  if (dl_iterate_phdr(find_bounds, &bounds) == 0) return NULL;
  caller->begin = bounds.begin;
  caller->end = bounds.end;
  find_own(where.dli_fname, caller);
  __atomic_store_n(&caller_count, caller_count + 1, __ATOMIC_RELEASE);
  return caller;
}

/* Returns the target of a call of function `i` from `address`. */
void *ttmem_preload_resolve(unsigned i, const char *address) HIDDEN;

void *ttmem_preload_resolve(unsigned i, const char *address) {
  const struct caller *caller = find_caller(address);
  void *target = __atomic_load_n(&ttmem_preload_seen[i], __ATOMIC_ACQUIRE);
  if (caller != NULL && caller->own[i] != NULL) return caller->own[i];
  if (caller != NULL && target != NULL) return target;
  const int is_locked = !loading && lock_with_timeout();
  if (is_locked) {
    if (!loaded) find_runtime(i);
    if (!loaded) {
      loading = 1;
      __atomic_store_n(&wrapper, load_adapter(runtime.originals[i]), __ATOMIC_RELEASE);
      loading = 0;
      loaded = 1;
    }
    caller = runtime.is_local ? learn_caller(address) : NULL;
  }
  void *const original = runtime.originals[i];
  void *const own = caller != NULL ? caller->own[i] : NULL;
  if (original == NULL && own == NULL) {
    fprintf(stderr,
            "ttmem: no loaded library has the function %s, which is called; run without ttmem\n",
            kSymbols[i]);
    abort();
  }
  target = original;
  if (is_locked) {
    if (original != NULL) {
      target = wrapper != NULL ? wrapper(i, original) : NULL;
      if (target == NULL) target = original;
      __atomic_store_n(&ttmem_preload_seen[i], target, __ATOMIC_RELEASE);
      /* If no second TT-Metal can be loaded, the jump leads directly to the target from now on.
       * Otherwise the jump leads to the check of the caller. */
      __atomic_store_n(&ttmem_preload_targets[i],
                       runtime.is_local ? ttmem_preload_checks[i] : target, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
  }
  return own != NULL ? own : target;
}

/* ---- The jumps ---- */

#if !defined(__x86_64__)
#error "the jumps are written for x86-64"
#endif

/* The code at `first` pushes the number of the function onto the stack, after the caller's
 * address. */
#define JUMP(name, symbol)                       \
  ".globl " #symbol                              \
  "\n"                                           \
  ".type " #symbol ", @function\n" #symbol       \
  ":\n"                                          \
  ".Ljump_" #name                                \
  ":\n"                                          \
  "  endbr64\n"                                  \
  "  jmp *.Ltarget_" #name                       \
  "(%rip)\n"                                     \
  ".size " #symbol ", .-" #symbol                \
  "\n"                                           \
  ".Lfirst_" #name                               \
  ":\n"                                          \
  "  endbr64\n"                                  \
  ".Lresolve_" #name                             \
  ":\n"                                          \
  "  pushq $(.Ltarget_" #name                    \
  " - ttmem_preload_targets) / 8\n"              \
  "  jmp .Lfirst_call\n"                         \
  ".Lcheck_" #name                               \
  ":\n"                                          \
  "  endbr64\n"                                  \
  "  movq (%rsp), %r11\n"                        \
  "  subq ttmem_preload_runtime(%rip), %r11\n"   \
  "  cmpq ttmem_preload_runtime+8(%rip), %r11\n" \
  "  jae .Lresolve_" #name                       \
  "\n"                                           \
  "  jmp *.Lseen_" #name "(%rip)\n"
#define TARGET(name, symbol) ".Ltarget_" #name ": .quad .Lfirst_" #name "\n"
#define SEEN(name, symbol) ".Lseen_" #name ": .quad 0\n"
#define CHECK(name, symbol) "  .quad .Lcheck_" #name "\n"
#define ENTRY(name, symbol) "  .quad .Ljump_" #name "\n"

/* Calls ttmem_preload_resolve() and jumps to its result. Saves and restores every register that may
 * contain an argument. */
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".Lfirst_call:\n"
    "  pushq %rax\n  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n"
    "  pushq %rcx\n  pushq %r8\n  pushq %r9\n  pushq %r10\n"
    "  subq $128, %rsp\n"
    "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n"
    "  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
    "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
    "  movl 192(%rsp), %edi\n"
    "  movq 200(%rsp), %rsi\n"
    "  call ttmem_preload_resolve\n"
    "  movq %rax, %r11\n"
    "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n"
    "  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
    "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
    "  addq $128, %rsp\n"
    "  popq %r10\n  popq %r9\n  popq %r8\n  popq %rcx\n"
    "  popq %rdx\n  popq %rsi\n  popq %rdi\n  popq %rax\n"
    "  addq $8, %rsp\n"
    "  jmp *%r11\n" TTMEM_WRAPPED(JUMP)
    ".data\n"
    ".p2align 3\n"
    ".globl ttmem_preload_targets\n"
    ".hidden ttmem_preload_targets\n"
    "ttmem_preload_targets:\n" TTMEM_WRAPPED(TARGET)
    ".globl ttmem_preload_seen\n"
    ".hidden ttmem_preload_seen\n"
    "ttmem_preload_seen:\n" TTMEM_WRAPPED(SEEN)
    ".globl ttmem_preload_runtime\n"
    ".hidden ttmem_preload_runtime\n"
    "ttmem_preload_runtime: .quad 0, 0\n"
    ".section .data.rel.ro,\"aw\"\n"
    ".p2align 3\n"
    ".globl ttmem_preload_jumps\n"
    ".hidden ttmem_preload_jumps\n"
    "ttmem_preload_jumps:\n" TTMEM_WRAPPED(ENTRY)
    ".globl ttmem_preload_checks\n"
    ".hidden ttmem_preload_checks\n"
    "ttmem_preload_checks:\n" TTMEM_WRAPPED(CHECK)
    ".text\n");

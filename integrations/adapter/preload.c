/* SPDX-License-Identifier: Apache-2.0
 *
 * What LD_PRELOAD loads: functions with the names of TT-Metal's (wrapped.h), each of them a jump.
 * The first call of one finds TT-Metal's own, loads the adapter that $TTMEM_ADAPTER names, and asks
 * it for a wrapper; from then on the jump leads there, or to TT-Metal's own where there is none.
 *
 * It depends on the C library alone and does nothing until a function is called: programs without
 * TT-Metal, and the compilers that it starts, inherit the preload and do not notice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wrapped.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* The jumps go to targets[i], at first to a piece of code that calls ttmem_preload_resolve(i). */
extern void *ttmem_preload_targets[TTMEM_W_COUNT] HIDDEN;
/* The jumps themselves. */
extern void *const ttmem_preload_jumps[TTMEM_W_COUNT] HIDDEN;

#define SYMBOL_NAME(name, symbol) #symbol,
static const char *const kSymbols[TTMEM_W_COUNT] = {TTMEM_WRAPPED(SYMBOL_NAME)};

/* ---- Finding TT-Metal's own ---- */

struct names {
  char **items;
  size_t count, room;
};

static int collect_name(struct dl_phdr_info *info, size_t size, void *data) {
  struct names *names = data;
  (void)size;
  if (info->dlpi_name == NULL || info->dlpi_name[0] != '/') return 0; /* the program, the vdso */
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

/* The first other definition in a loaded library. RTLD_NEXT alone finds nothing when Python has
 * loaded TT-Metal, because that is with RTLD_LOCAL. The library found stays loaded: a jump that led
 * into one that is gone would kill the process. */
static void *find_original(unsigned i) {
  void *found = dlsym(RTLD_NEXT, kSymbols[i]);
  if (found != NULL && found != ttmem_preload_jumps[i]) return found;
  found = NULL;
  struct names names = {NULL, 0, 0};
  dl_iterate_phdr(collect_name, &names);
  for (size_t n = 0; n < names.count; ++n) {
    if (found == NULL) {
      void *library = dlopen(names.items[n], RTLD_LAZY | RTLD_NOLOAD);
      void *symbol = library != NULL ? dlsym(library, kSymbols[i]) : NULL;
      if (symbol != NULL && symbol != ttmem_preload_jumps[i]) {
        found = symbol;
      } else if (library != NULL) {
        dlclose(library);
      }
    }
    free(names.items[n]);
  }
  free(names.items);
  return found;
}

/* ---- The adapter ---- */

typedef void *(*wrapper_of)(unsigned i, void *original);

static wrapper_of load_adapter(void) {
  const char *enabled = getenv("TT_ALLOC_TRACKING_ENABLED");
  const char *path = getenv("TTMEM_ADAPTER");
  if (path == NULL || path[0] == '\0' || enabled == NULL || strcmp(enabled, "1") != 0) return NULL;
  void *adapter = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  wrapper_of wrapper = adapter != NULL ? (wrapper_of)dlsym(adapter, "ttmem_adapter_wrapper") : NULL;
  if (wrapper == NULL) {
    fprintf(stderr,
            "ttmem: cannot load the adapter, so the memory of this process is not seen: %s; run "
            "`ttmem adapter remove --all`, then `ttmem run` again\n",
            dlerror());
  }
  return wrapper;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int loading; /* the adapter itself calls TT-Metal while it is loaded */

void *ttmem_preload_resolve(unsigned i) HIDDEN;
void *ttmem_preload_resolve(unsigned i) {
  static int loaded;
  static wrapper_of wrapper;
  void *original = find_original(i);
  if (original == NULL) {
    fprintf(stderr, "ttmem: somebody calls %s, which no loaded library has; run without ttmem\n",
            kSymbols[i]);
    abort();
  }
  if (loading) return original;
  pthread_mutex_lock(&mutex);
  if (!loaded) {
    loading = 1;
    wrapper = load_adapter();
    loading = 0;
    loaded = 1;
  }
  void *target = wrapper != NULL ? wrapper(i, original) : NULL;
  if (target == NULL) target = original;
  __atomic_store_n(&ttmem_preload_targets[i], target, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&mutex);
  return target;
}

/* ---- The jumps ---- */

#if !defined(__x86_64__)
#error "the jumps are written for x86-64"
#endif

/* `first` leaves the number of the function on the stack, above the caller's address. */
#define JUMP(name, symbol)                 \
  ".globl " #symbol                        \
  "\n"                                     \
  ".type " #symbol ", @function\n" #symbol \
  ":\n"                                    \
  ".Ljump_" #name                          \
  ":\n"                                    \
  "  endbr64\n"                            \
  "  jmp *.Ltarget_" #name                 \
  "(%rip)\n"                               \
  ".size " #symbol ", .-" #symbol          \
  "\n"                                     \
  ".Lfirst_" #name                         \
  ":\n"                                    \
  "  endbr64\n"                            \
  "  pushq $(.Ltarget_" #name              \
  " - ttmem_preload_targets) / 8\n"        \
  "  jmp .Lfirst_call\n"
#define TARGET(name, symbol) ".Ltarget_" #name ": .quad .Lfirst_" #name "\n"
#define ENTRY(name, symbol) "  .quad .Ljump_" #name "\n"

/* Keeps every register that may have an argument. */
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
    ".section .data.rel.ro,\"aw\"\n"
    ".p2align 3\n"
    ".globl ttmem_preload_jumps\n"
    ".hidden ttmem_preload_jumps\n"
    "ttmem_preload_jumps:\n" TTMEM_WRAPPED(ENTRY)
    ".text\n");

/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocates and frees buffers in main(), and in a signal handler that interrupts these calls. With
 * the argument `fork` the handler also forks. At the end the program holds one buffer and prints
 * "CALLS CHILDREN LOST": the number of calls that the handler made inside a call of main(), the
 * number of children, and the number of children that failed. Then it waits for a byte or the end
 * of stdin. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

enum { wanted = 200, bound = 200 * 1000 * 1000 };

static volatile sig_atomic_t inside; /* nonzero while main() makes a call of ttmem */
static volatile sig_atomic_t calls_inside;
static volatile sig_atomic_t children;
static int forks;

static ttmem_buffer buffer_of(uint64_t id) {
  ttmem_buffer buffer;
  memset(&buffer, 0, sizeof buffer);
  buffer.struct_size = sizeof buffer;
  buffer.type = TTMEM_DRAM;
  buffer.id = id;
  buffer.address = 1 << 20;
  buffer.bytes = buffer.bytes_per_bank = 4096;
  return buffer;
}

static void interrupt(int number) {
  (void)number;
  if (!inside) return;
  const ttmem_buffer buffer = buffer_of(2);
  ttmem_buffer_alloc(0, &buffer);
  ttmem_buffer_free(0, TTMEM_DRAM, 2);
  calls_inside += 2;
  if (forks && calls_inside % 50 == 0) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) ++children;
  }
}

int main(int argc, char **argv) {
  forks = argc > 1 && strcmp(argv[1], "fork") == 0;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}};
  const ttmem_buffer buffer = buffer_of(1);
  ttmem_buffer_alloc(0, &buffer);
  setitimer(ITIMER_REAL, &often, NULL);
  for (long i = 0; i < bound && calls_inside < wanted; ++i) {
    inside = 1;
    ttmem_buffer_free(0, TTMEM_DRAM, 1);
    ttmem_buffer_alloc(0, &buffer);
    inside = 0;
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  int lost = 0;
  for (int i = 0; i < children; ++i) {
    int status = 0;
    if (waitpid(-1, &status, 0) <= 0 || status != 0) ++lost;
  }
  ttmem_buffer_free(0, TTMEM_DRAM, 1);
  ttmem_buffer_alloc(0, &buffer);
  printf("%d %d %d\n", (int)calls_inside, (int)children, lost);
  fflush(stdout);
  getchar();
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts many short processes that end in every way. Each process labels its buffers.
 *
 *   storm COUNT AT_ONCE ENDS     COUNT children, AT_ONCE at a time. The letter N % strlen(ENDS)
 *                                of ENDS selects how child N ends:
 *                                  e exit(0)    _ _exit(0)    k SIGKILL    a abort()
 *                                  c calls exec twice; allocates before each exec and at its end
 *                                  d a grandchild allocates the buffers, and the child ends
 *                                  s allocates, and leaves a daemon (setsid) that allocates after
 *                                    the child ended
 *                                  v calls vfork(); the new process calls exec and allocates
 *                                  h holds its buffers until all COUNT children have theirs, then
 *                                    _exit(0); needs AT_ONCE >= COUNT, and no other letter
 *   storm one LABEL N            allocates the buffers of LABEL, then _exit(0)
 *   storm chain N STEP           one program in the chain of exec calls of the letter `c`
 *
 * The label of child N is wN. With the letters `c` and `s` several programs or processes allocate;
 * their labels are wN.0, wN.1 and so on. Each label has 1 + N % 5 buffers of 32 * (1 + N % 7) bytes
 * on each of 12 banks. The storm ends when all processes have ended. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

enum { CHANNELS = 12, STEPS = 3 };

static char self[4096];
static int ready[2]; /* pipe to the first process: one byte from each child of the letter `h` */
static int go[2];    /* pipe from the first process, which closes it when the children may end */

static void take(const char *label, int number) {
  ttmem_device_info info;
  ttmem_buffer buffer;
  int i;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  info.uid = 0x5707;
  info.arch = "wormhole_b0";
  info.board = "n150";
  info.grid_x = info.grid_y = 8;
  info.dram_channels = CHANNELS;
  info.dram_bytes_per_channel = 1073741824;
  ttmem_device_open(&info);
  for (i = 0; i < 1 + number % 5; ++i) {
    memset(&buffer, 0, sizeof buffer);
    buffer.struct_size = sizeof buffer;
    buffer.type = TTMEM_DRAM;
    buffer.id = (uint64_t)i + 1;
    buffer.address = ((uint64_t)i + 1) << 20;
    buffer.bytes_per_bank = 32 * (1 + (uint64_t)number % 7);
    buffer.bytes = buffer.bytes_per_bank * CHANNELS;
    buffer.label = label;
    ttmem_buffer_alloc(0, &buffer);
  }
}

static void take_part(int number, int part) {
  char label[32];
  snprintf(label, sizeof label, "w%d.%d", number, part);
  take(label, number);
}

static void chain(int number, int step) {
  char word[2][16];
  take_part(number, step);
  if (step + 1 == STEPS) _exit(0);
  snprintf(word[0], sizeof word[0], "%d", number);
  snprintf(word[1], sizeof word[1], "%d", step + 1);
  execl(self, self, "chain", word[0], word[1], (char *)NULL);
  _exit(9);
}

static void leave_daemon(int number) {
  const pid_t parent = getpid();
  if (fork() == 0) {
    setsid();
    while (getppid() == parent) usleep(200);
    take_part(number, 1);
    _exit(0);
  }
  take_part(number, 0);
  _exit(0);
}

static void start_by_vfork(const char *label, int number) {
  char word[16];
  pid_t child;
  snprintf(word, sizeof word, "%d", number);
  child = vfork();
  if (child == 0) {
    execl(self, self, "one", label, word, (char *)NULL);
    _exit(9);
  }
  waitpid(child, NULL, 0);
  _exit(0);
}

static void hold(void) {
  char byte = 0;
  close(go[1]);
  if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0) abort();
}

static void be_child(int number, char end) {
  char label[32];
  snprintf(label, sizeof label, "w%d", number);
  if (end == 'c') chain(number, 0);
  if (end == 's') leave_daemon(number);
  if (end == 'v') start_by_vfork(label, number);
  if (end == 'd' && fork() != 0) _exit(0);
  take(label, number);
  if (end == 'h') hold();
  if (end == 'e') exit(0);
  if (end == 'k') kill(getpid(), SIGKILL);
  if (end == 'a') abort();
  _exit(0);
}

int main(int argc, char **argv) {
  const struct rlimit no_core = {0, 0};
  int all_ended[2];
  int count, at_once, running = 0, i;
  char byte;
  const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
  if (argc != 4 || size <= 0) return 2;
  if (strcmp(argv[1], "one") == 0) {
    take(argv[2], atoi(argv[3]));
    _exit(0);
  }
  if (strcmp(argv[1], "chain") == 0) chain(atoi(argv[2]), atoi(argv[3]));
  setrlimit(RLIMIT_CORE, &no_core);
  count = atoi(argv[1]);
  at_once = atoi(argv[2]);
  if (pipe(all_ended) != 0 || pipe(ready) != 0 || pipe(go) != 0) return 2;
  for (i = 0; i < count; ++i) {
    if (running == at_once && wait(NULL) > 0) --running;
    switch (fork()) {
      case -1:
        perror("fork");
        return 1;
      case 0:
        close(all_ended[0]);
        be_child(i, argv[3][(size_t)i % strlen(argv[3])]);
        break;
      default:
        ++running;
    }
  }
  for (i = 0; argv[3][0] == 'h' && i < count; ++i) {
    if (read(ready[0], &byte, 1) != 1) return 1;
  }
  close(go[1]);
  while (wait(NULL) > 0) continue;
  close(all_ended[1]); /* the other processes keep the pipe open until they end */
  return read(all_ended[0], &byte, 1) == 0 ? 0 : 1;
}

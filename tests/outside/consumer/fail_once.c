// SPDX-License-Identifier: Apache-2.0
//
// A preloaded library that counts the calls of pread, pwrite and ftruncate64 for files whose path
// contains FAIL_FILES and for SQLite's temporary files. The call with the number FAIL_AT (the first
// call has number 1) fails with the error FAIL_ERRNO and creates the file FAIL_TOLD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int fails(int fd) {
  const char* const files = getenv("FAIL_FILES");
  if (files == NULL) return 0;
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strstr(path, files) == NULL && strstr(path, "etilqs") == NULL) return 0;
  if (++calls != atol(getenv("FAIL_AT"))) return 0;
  close(open(getenv("FAIL_TOLD"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  errno = atoi(getenv("FAIL_ERRNO"));
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread(int fd, void* to, size_t count, off_t offset) {
  return fails(fd) ? -1 : NEXT(pread)(fd, to, count, offset);
}
ssize_t pread64(int fd, void* to, size_t count, off64_t offset) {
  return fails(fd) ? -1 : NEXT(pread64)(fd, to, count, offset);
}
ssize_t pwrite(int fd, const void* from, size_t count, off_t offset) {
  return fails(fd) ? -1 : NEXT(pwrite)(fd, from, count, offset);
}
ssize_t pwrite64(int fd, const void* from, size_t count, off64_t offset) {
  return fails(fd) ? -1 : NEXT(pwrite64)(fd, from, count, offset);
}
int ftruncate64(int fd, off64_t length) { return fails(fd) ? -1 : NEXT(ftruncate64)(fd, length); }

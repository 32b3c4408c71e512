// SPDX-License-Identifier: Apache-2.0
//
// A preloaded library whose clock_gettime() adds WALL_SECONDS to the wall clock and
// MONOTONIC_SECONDS to all other clocks.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int result = (int)syscall(SYS_clock_gettime, clock, out);
  const int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  const char* const ahead = getenv(is_wall ? "WALL_SECONDS" : "MONOTONIC_SECONDS");
  if (ahead != NULL) out->tv_sec += atoll(ahead);
  return result;
}

// SPDX-License-Identifier: Apache-2.0
#include "show/tui/terminal/restore.hpp"

#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace ttmem::tui {
namespace {

// Data of the signal handlers. Handlers use only static data of plain types, and call only
// async-signal-safe functions.
std::array<char, 512> sequences{};
std::atomic<std::size_t> sequences_size{0};
std::atomic<int> terminal_fd{-1};
termios saved_terminal{};
std::array<char, 65536> crash_stack{};
std::array<int, 2> pipe_ends = {-1, -1};

void on_crash(int signal) {
  const int fd = terminal_fd.exchange(-1);
  if (fd >= 0) {
    const ssize_t ignored = ::write(fd, sequences.data(), sequences_size.load());
    (void)ignored;
    ::tcsetattr(fd, TCSANOW, &saved_terminal);
  }
  // Takes the default action, which SA_RESETHAND has restored.
  ::raise(signal);
}

void on_stop(int signal) {
  const int before = errno;
  const char byte = static_cast<char>(signal);
  const ssize_t ignored = ::write(pipe_ends[1], &byte, 1);
  (void)ignored;
  errno = before;
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void restore_on_crash(int fd) {
  if (::tcgetattr(fd, &saved_terminal) != 0) return;
  terminal_fd = fd;
  stack_t stack{};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  ::sigaltstack(&stack, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    handle(signal, on_crash, static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_ONSTACK));
  }
}

void set_restore_sequences(const std::string& text) {
  const std::size_t size = std::min<std::size_t>(text.size(), 500);
  std::memcpy(sequences.data(), text.data(), size);
  sequences_size = size;
}

void disarm_restore() { terminal_fd = -1; }

int stop_signals() {
  if (pipe_ends[0] < 0 && ::pipe2(pipe_ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) handle(signal, on_stop, 0);
  return pipe_ends[0];
}

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
#include "cli/supervise.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/unique_fd.hpp"

namespace ttmem::cli {
namespace {

constexpr int kSignalled = 128;  // as shells do

// All that this process must not die or stop of while the child lives. Blocked and read from a
// descriptor, they do nothing by themselves; the child has the mask from before.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT}) {
    sigaddset(&set, number);
  }
  return set;
}

// 0 and the child's pid, or errno.
int spawn(const std::vector<std::string>& command, const sigset_t& mask, pid_t& child) {
  std::vector<std::string> arguments = command;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);
  const int failed = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

// The terminal sends SIGINT and SIGQUIT to the whole process group, the child included.
void pass_on(const signalfd_siginfo& info, pid_t child) {
  const int number = static_cast<int>(info.ssi_signo);
  const bool from_terminal = info.ssi_code == SI_KERNEL;
  const bool for_the_group = number == SIGINT || number == SIGQUIT || number == SIGCHLD;
  if (!for_the_group && !from_terminal) ::kill(child, number);
}

// True if it has ended. It stays in /proc until its status is taken.
bool has_ended(pid_t child) {
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return asked != 0 ? errno != EINTR : info.si_pid == child;
}

// Takes the status of a child that has ended.
int exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 1;  // somebody else has taken it
  }
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

// Stops this process too when the child has stopped: the shell then knows.
void stop_with(pid_t child) {
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG);
  if (asked == 0 && info.si_pid == child) ::raise(SIGSTOP);
}

}  // namespace

CommandEnd supervise(const std::vector<std::string>& command, int watched,
                     const std::function<std::chrono::milliseconds()>& look) {
  std::signal(SIGCHLD, SIG_DFL);  // ignored, children leave no status
  const sigset_t signals = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  const UniqueFd incoming(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  pid_t child = 0;
  CommandEnd end;
  end.not_started = spawn(command, before, child);
  while (end.not_started == 0) {
    const bool over = has_ended(child);
    const std::chrono::milliseconds pause = look();
    if (over) {
      end.exit_code = exit_code_of(child);
      break;
    }
    stop_with(child);
    std::array<pollfd, 2> ready = {{{incoming.get(), POLLIN, 0}, {watched, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), static_cast<int>(pause.count()));
    signalfd_siginfo info{};
    while (::read(incoming.get(), &info, sizeof(info)) == sizeof(info)) pass_on(info, child);
  }
  // The mask stays: a Ctrl-C that ended the child must not take what is said about it.
  return end;
}

}  // namespace ttmem::cli

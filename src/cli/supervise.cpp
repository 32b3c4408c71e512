// SPDX-License-Identifier: Apache-2.0
#include "cli/supervise.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/unique_fd.hpp"

namespace ttmem::cli {
namespace {

constexpr int kSignalled = 128;  // convention of shells

// Returns the signals that must not end or stop this process while the child lives. Blocked signals
// are read from a descriptor and have no other effect; the child has the earlier mask.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT}) {
    sigaddset(&set, number);
  }
  return set;
}

// Runs in the child and becomes the command. On failure, writes the errno to the pipe `failed`.
[[noreturn]] void become(char* const* argv, const sigset_t& mask, int failed, bool ends_with_us,
                         pid_t parent) {
  if (ends_with_us) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before prctl()
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(argv[0], argv);
  const int reason = errno;
  const ssize_t told = ::write(failed, &reason, sizeof reason);
  ::_exit(told == sizeof reason ? 127 : 126);
}

// Starts the child. Returns 0 and sets `child`, or returns an errno.
int spawn(const std::vector<std::string>& command, const sigset_t& mask, InPlace in_place,
          pid_t& child) {
  std::vector<std::string> arguments = command;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return errno;
  const UniqueFd out(pipe[0]);
  UniqueFd in(pipe[1]);
  const pid_t self = ::getpid();
  child = ::fork();
  if (child < 0) return errno;
  if (child == 0) become(argv.data(), mask, in.get(), in_place == InPlace::yes, self);
  in.reset();
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(out.get(), &reason, sizeof reason)) < 0 && errno == EINTR) continue;
  if (got != sizeof reason) return 0;
  ::waitpid(child, nullptr, 0);
  return reason;
}

// Passes a signal on to the child, unless the child has it already: the terminal sends SIGINT and
// SIGQUIT to the whole process group.
void pass_on(const signalfd_siginfo& info, InPlace in_place, pid_t child) {
  const int number = static_cast<int>(info.ssi_signo);
  const bool from_terminal = info.ssi_code == SI_KERNEL;
  const bool is_interrupt = number == SIGINT || number == SIGQUIT;
  if (from_terminal || number == SIGCHLD || (is_interrupt && in_place == InPlace::no)) return;
  ::kill(child, number);
}

// Returns true if the child has ended. An ended child stays in /proc until its status is taken.
bool has_ended(pid_t child) {
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return asked != 0 ? errno != EINTR : info.si_pid == child;
}

// Reaps the other children of this process. They exist if this process had children before exec, or
// if it is the first process of a pid namespace, which gets all orphans.
void reap_others(pid_t child) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (info.si_pid == 0 || info.si_pid == child) return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

// Raises the limit of open files for this process. The command keeps the limit of its caller.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Takes the status of a child that has ended.
void take_status(pid_t child, CommandEnd& end) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    end.exit_code = 1;  // another waitpid() took the status
    return;
  }
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.exit_code = WIFSIGNALED(status) ? kSignalled + end.signal : WEXITSTATUS(status);
}

// Stops this process when the child has stopped, so that the shell notices.
void stop_with(pid_t child) {
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG);
  if (asked == 0 && info.si_pid == child) ::raise(SIGSTOP);
}

}  // namespace

CommandEnd supervise(const std::vector<std::string>& command, int watched,
                     const std::function<std::chrono::milliseconds()>& look, InPlace in_place) {
  std::signal(SIGCHLD, SIG_DFL);  // while SIGCHLD is ignored, children leave no status
  const sigset_t signals = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  const UniqueFd incoming(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  pid_t child = 0;
  CommandEnd end;
  end.not_started = spawn(command, before, in_place, child);
  if (end.not_started == 0) raise_descriptor_limit();
  while (end.not_started == 0) {
    const bool over = has_ended(child);
    const std::chrono::milliseconds pause = look();
    if (over) {
      take_status(child, end);
      break;
    }
    reap_others(child);
    stop_with(child);
    std::array<pollfd, 2> ready = {{{incoming.get(), POLLIN, 0}, {watched, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), static_cast<int>(pause.count()));
    signalfd_siginfo info{};
    while (::read(incoming.get(), &info, sizeof(info)) == sizeof(info)) {
      pass_on(info, in_place, child);
    }
  }
  // The signals stay blocked, so that a Ctrl-C that ended the child does not interrupt later
  // output.
  return end;
}

int end_as(const CommandEnd& end) {
  if (end.signal == 0) return end.exit_code;
  // The command may have left a core file. A core file of this process would replace it.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // Also prevents a core that is piped to a program, which has no limit.
  ::prctl(PR_SET_DUMPABLE, 0);
  std::signal(end.signal, SIG_DFL);
  sigset_t it;
  sigemptyset(&it);
  sigaddset(&it, end.signal);
  std::fflush(nullptr);
  ::raise(end.signal);
  sigprocmask(SIG_UNBLOCK, &it, nullptr);
  return end.exit_code;
}

}  // namespace ttmem::cli

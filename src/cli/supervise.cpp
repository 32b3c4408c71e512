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

// As in shells, the exit code of a command that a signal ended is this number plus the number of
// the signal.
constexpr int kSignalled = 128;

// Returns the signals that must not end or stop this process while the child lives. supervise()
// blocks these signals and reads them from a descriptor. The child gets the signal mask from
// before.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT}) {
    sigaddset(&set, number);
  }
  return set;
}

// Runs in the child process. Replaces the child's program by the command. On failure, writes the
// errno to the pipe `failed`.
[[noreturn]] void become(char* const* argv, const sigset_t& mask, int failed, bool ends_with_us,
                         pid_t parent) {
  if (ends_with_us) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent ended before prctl(), no signal arrives, so the child ends itself.
  if (::getppid() != parent) ::_exit(1);
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

// Passes a signal on to the child. Does nothing for SIGCHLD and for a signal of the terminal, which
// the whole process group has received already. SIGINT and SIGQUIT from other senders are only
// passed on with InPlace::yes.
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

// Reaps the other children of this process. This process can have other children because it had
// children before exec, or because it is the first process of a pid namespace. The first process
// becomes the parent of all orphans.
void reap_others(pid_t child) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (info.si_pid == 0 || info.si_pid == child) return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

// Raises the limit of open files for this process. The command is not affected, because it is
// already running, with the original limit.
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
    // The status is unknown, because another call of waitpid() took it.
    end.exit_code = 1;
    return;
  }
  end.pid = child;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.exit_code = WIFSIGNALED(status) ? kSignalled + end.signal : WEXITSTATUS(status);
}

// Stops this process if the child has stopped, so that the shell notices the stop.
void stop_with(pid_t child) {
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG);
  if (asked == 0 && info.si_pid == child) ::raise(SIGSTOP);
}

}  // namespace

CommandEnd supervise(const std::vector<std::string>& command, int watched,
                     const std::function<std::chrono::milliseconds()>& look, InPlace in_place) {
  // Restores the default action of SIGCHLD. If this process ignored SIGCHLD, Linux would discard
  // the exit status of the child.
  std::signal(SIGCHLD, SIG_DFL);
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
  // Leaves the signals blocked. Otherwise a Ctrl-C that ended the child would also end this process
  // before its output is complete.
  return end;
}

int end_as(const CommandEnd& end) {
  if (end.signal == 0) return end.exit_code;
  // Prevents a core file of this process, because it would replace the core file of the command.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // If Linux pipes core dumps to a program, the limit has no effect. So this process is also marked
  // as not dumpable.
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

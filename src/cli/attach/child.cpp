// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/environment.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::attach {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutput = std::size_t{1} << 20;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(more.begin(), more.end(), [&](const auto& variable) {
      return text.substr(0, text.find('=')) == variable.first;
    });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

// Starts the command. `output` becomes the standard output of the command. If `output` is -1,
// standard output goes to the log, or is dropped if there is no log.
Result<pid_t> spawn(const std::vector<std::string>& command, const ChildOptions& options,
                    int output) {
  const std::string program = find_program(command[0]);
  if (!program.starts_with("/")) {
    return Error{fmt::format("cannot run {}: no absolute directory of PATH has it", command[0])};
  }
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = environment_with(options.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const char* log = options.log.empty() ? "/dev/null" : options.log.c_str();
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, output >= 0 ? output : 2, 1);
  if (options.errors_too) posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), &actions, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Error{fmt::format("cannot run {}: {}", command[0], std::strerror(failed))};
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

// Reads from `fd` until the other end is closed. Returns false if the deadline passes first.
bool read_all(int fd, Clock::time_point deadline, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    const int found = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return false;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    const std::size_t room = kMaxOutput - text.size();
    text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
  }
}

}  // namespace

Result<Ended> run_child(const std::vector<std::string>& command, const ChildOptions& options,
                        std::chrono::seconds patience) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{fmt::format("cannot make a pipe: {}", std::strerror(errno))};
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const Result<pid_t> pid = spawn(command, options, options.log.empty() ? writer.get() : -1);
  if (!pid) return pid.error();
  writer.reset();
  Ended ended;
  if (!read_all(reader.get(), Clock::now() + patience, ended.output)) {
    ::kill(*pid, SIGKILL);
    wait_for(*pid);
    return Error{fmt::format("{} did not answer within {} s", command[0], patience.count())};
  }
  ended.status = wait_for(*pid);
  return ended;
}

std::string find_program(const std::string& name) {
  const auto runs = [](const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return runs(name) ? name : std::string();
  std::string_view path = environment_or("PATH", "/bin:/usr/bin");
  for (;;) {
    const std::size_t end = path.find(':');
    const std::string folder(path.substr(0, end));
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (!name.empty() && runs(candidate)) return candidate;
    if (end == std::string_view::npos) return {};
    path.remove_prefix(end + 1);
  }
}

}  // namespace ttmem::attach

// SPDX-License-Identifier: Apache-2.0
#include "serve/daemon/log.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>

#include "base/safe_text.hpp"

namespace ttmem::serve {
namespace {

constexpr std::size_t kMaxWaiting = 1 << 20;
constexpr std::size_t kEnough = 64 << 10;

class StderrSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  StderrSink() {
    struct stat facts {};
    if (::fstat(STDERR_FILENO, &facts) != 0) return;
    is_pipe_ = S_ISFIFO(facts.st_mode);
    is_socket_ = S_ISSOCK(facts.st_mode);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (waiting_.size() > kMaxWaiting) {
      ++dropped_;
      return;
    }
    if (dropped_ > 0) {
      fmt::format_to(std::back_inserter(waiting_),
                     "warning server: {} lines of this log are missing: nobody read it in time\n",
                     dropped_);
      dropped_ = 0;
    }
    // Messages may quote text from clients and files. Escapes control sequences for a terminal in
    // that text.
    const std::string text = safe_text({message.payload.data(), message.payload.size()});
    spdlog::details::log_msg safe = message;
    safe.payload = text;
    formatter_->format(safe, waiting_);
    if (waiting_.size() >= kEnough) flush_();
  }

  void flush_() override {
    std::size_t done = 0;
    while (done < waiting_.size()) {
      const ssize_t written = write_some(waiting_.data() + done, waiting_.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EAGAIN) break;
      // If standard error is closed, drops the lines.
      done = written < 0 ? waiting_.size() : done + static_cast<std::size_t>(written);
    }
    std::copy(waiting_.begin() + static_cast<std::ptrdiff_t>(done), waiting_.end(),
              waiting_.begin());
    waiting_.resize(waiting_.size() - done);
  }

  // Writes as many bytes as standard error takes at once. Does not wait if standard error is a
  // socket or a pipe. The parent process shares the descriptor, so a pipe must not be made
  // non-blocking. Instead, poll() is called first: a pipe that poll() reports as writable takes
  // PIPE_BUF bytes.
  [[nodiscard]] ssize_t write_some(const char* data, std::size_t size) const {
    if (is_socket_) return ::send(STDERR_FILENO, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!is_pipe_) return ::write(STDERR_FILENO, data, size);
    pollfd pipe{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&pipe, 1, 0) == 0) {
      errno = EAGAIN;
      return -1;
    }
    return ::write(STDERR_FILENO, data, std::min<std::size_t>(size, PIPE_BUF));
  }

  spdlog::memory_buf_t waiting_;
  std::uint64_t dropped_ = 0;
  bool is_pipe_ = false;
  bool is_socket_ = false;
};

}  // namespace

std::shared_ptr<spdlog::logger> log_to_stderr(bool quiet) {
  const auto sink = std::make_shared<StderrSink>();
  const auto make = [&](spdlog::level::level_enum flush_on) {
    auto logger = std::make_shared<spdlog::logger>("server", sink);
    logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
    logger->flush_on(flush_on);
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %n: %v");
    return logger;
  };
  auto events = make(spdlog::level::warn);
  spdlog::set_default_logger(make(spdlog::level::trace));
  return events;
}

}  // namespace ttmem::serve

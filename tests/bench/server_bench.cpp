// SPDX-License-Identifier: Apache-2.0
//
// Measures the throughput of the server as a share of the throughput of the socket. The same
// messages are sent to `ttmem serve` in another process and to a process that only reads the
// messages into a buffer.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "track/wire/message.hpp"

namespace ttmem::bench {
namespace {

using wire::Message;
using wire::MessageType;

constexpr std::uint64_t kBuffers =
    50'000;  // number of buffers in a round; kLive buffers are live at a time
constexpr std::uint64_t kLive = 1'000;
// One message for each allocation and each free, and one request.
constexpr std::uint64_t kMessages = 2 * kBuffers + 1;
constexpr std::size_t kBatch = 1024;  // messages per write, the number that libttmem uses
// Other load on the machine easily slows a round down. Therefore the rounds of the two readers
// alternate, and only the fastest round of each reader is used.
constexpr int kRounds = 100;

Message message(MessageType type, std::uint64_t id) {
  Message result{};
  result.head.type = static_cast<std::uint8_t>(type);
  result.head.device_id = static_cast<std::int32_t>(id % 8);
  static const pid_t pid = ::getpid();
  result.head.process_id = pid;
  result.head.buffer_id = id << 12;
  result.head.size = type == MessageType::alloc ? 1 << 20 : 0;
  return result;
}

bool send_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data = data.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

// Returns the whole workload. The workload is built before the clock starts, so that only the time
// to send it is measured.
const std::vector<Message>& workload() {
  static const std::vector<Message> messages = [] {
    std::vector<Message> made;
    made.reserve(kMessages);
    for (std::uint64_t id = 0; id < kBuffers + kLive; ++id) {
      if (id < kBuffers) made.push_back(message(MessageType::alloc, id));
      if (id >= kLive) made.push_back(message(MessageType::free, id - kLive));
    }
    made.push_back(message(MessageType::query, 0));
    return made;
  }();
  return messages;
}

bool send_workload(int fd) {
  for (std::span<const Message> left = workload(); !left.empty();) {
    const auto batch = left.first(std::min(left.size(), kBatch));
    if (!send_all(fd, std::as_bytes(batch))) return false;
    left = left.subspan(batch.size());
  }
  return true;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// Reads each workload to its end, then sends one message as the answer. Never returns.
[[noreturn]] void only_read(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 1) != 0) {
    ::_exit(1);
  }
  const UniqueFd connection(::accept(listener.get(), nullptr, nullptr));
  constexpr std::size_t expected = kMessages * sizeof(Message);
  std::vector<char> buffer(64 << 10);
  const Message answer{};
  for (std::size_t got = 0;;) {
    const ssize_t size = ::read(connection.get(), buffer.data(), buffer.size());
    if (size <= 0) ::_exit(0);
    got += static_cast<std::size_t>(size);
    if (got < expected) continue;
    got = 0;
    if (::write(connection.get(), &answer, sizeof answer) != sizeof answer) ::_exit(1);
  }
}

[[noreturn]] void serve_it(const std::string& path) {
  ::setenv("TTMEM_DIR", std::filesystem::path(path).parent_path().c_str(), 1);
  ::unsetenv("TT_ALLOC_TRACKING_ENABLED");
  const auto ttmem = std::filesystem::read_symlink("/proc/self/exe").replace_filename("ttmem");
  ::execl(ttmem.c_str(), "ttmem", "serve", "--quiet", "--http", "127.0.0.1:0", "--socket",
          path.c_str(), nullptr);
  ::_exit(1);
}

UniqueFd connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (int attempt = 0; attempt < 5000; ++attempt) {
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return fd;
    }
    ::usleep(1000);
  }
  return {};
}

constexpr double kUnanswered = 1e9;

// Returns the seconds from the first message of the workload until the answer, or kUnanswered if no
// answer comes.
double seconds(const UniqueFd& fd) {
  Message answer;
  workload();
  const auto begin = std::chrono::steady_clock::now();
  const bool answered =
      fd && send_workload(fd.get()) &&
      ::recv(fd.get(), &answer, sizeof answer, MSG_WAITALL) == ssize_t{sizeof answer};
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return answered ? took.count() : kUnanswered;
}

// A process that reads from its socket. The destructor ends the process.
class Reader {
 public:
  explicit Reader(const std::function<void(const std::string&)>& read) {
    if (::mkdtemp(directory_.data()) == nullptr) std::abort();
    const std::string path = directory_ + "/socket";
    process_ = ::fork();
    if (process_ < 0) std::abort();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      read(path);
    }
    connection_ = connect_to(path);
  }
  ~Reader() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void run_once() { fastest_ = std::min(fastest_, seconds(connection_)); }
  [[nodiscard]] double fastest() const { return fastest_; }

 private:
  std::string directory_ = "/dev/shm/ttmem-bench-server-XXXXXX";
  pid_t process_ = -1;
  UniqueFd connection_;
  double fastest_ = kUnanswered;
};

struct Fastest {
  double bare_read;
  double ingest;
};

const Fastest& fastest() {
  static const Fastest measured = [] {
    Reader bare(only_read);
    Reader server(serve_it);
    for (int round = 0; round < kRounds; ++round) {
      bare.run_once();
      server.run_once();
    }
    return Fastest{bare.fastest(), server.fastest()};
  }();
  return measured;
}

void report(benchmark::State& state, double seconds) {
  for (auto _ : state) state.SetIterationTime(seconds);
  if (seconds >= kUnanswered) state.SkipWithError("the server does not answer");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kMessages));
}

void server_ingest(benchmark::State& state) { report(state, fastest().ingest); }
void server_bare_read(benchmark::State& state) { report(state, fastest().bare_read); }
BENCHMARK(server_ingest)->UseManualTime()->Iterations(1);
BENCHMARK(server_bare_read)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace ttmem::bench

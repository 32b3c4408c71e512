// SPDX-License-Identifier: Apache-2.0
//
// How much of what a socket can carry the server takes in: the same messages go to `ttmem serve`
// in a process of its own, and to a process that only reads them into a buffer.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "server/serve.hpp"
#include "wire/message.hpp"

namespace ttmem::bench {
namespace {

using wire::Message;
using wire::Type;

constexpr std::uint64_t kMessages = 100'000;  // of one iteration, and a question
constexpr std::uint64_t kLive = 1'000;
constexpr std::size_t kBatchBytes = 64 << 10;  // as libttmem sends them

Message message(Type type, std::uint64_t id) {
  Message result{};
  result.head.type = static_cast<std::uint8_t>(type);
  result.head.device_id = static_cast<std::int32_t>(id % 8);
  result.head.process_id = ::getpid();
  result.head.buffer_id = id << 12;
  result.head.size = type == Type::kAlloc ? 1 << 20 : 0;
  return result;
}

// Buffers come and go, a thousand of them live; all are freed in the end.
std::vector<Message> workload() {
  std::vector<Message> stream;
  for (std::uint64_t id = 0; id < kMessages / 2 + kLive; ++id) {
    if (id < kMessages / 2) stream.push_back(message(Type::kAlloc, id));
    if (id >= kLive) stream.push_back(message(Type::kFree, id - kLive));
  }
  stream.push_back(message(Type::kQuery, 0));
  return stream;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// Answers each workload with one message, after it has read all of it.
[[noreturn]] void only_read(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 1) != 0) {
    ::_exit(1);
  }
  const UniqueFd connection(::accept(listener.get(), nullptr, nullptr));
  const std::size_t expected = workload().size() * sizeof(Message);
  std::vector<char> buffer(2048 * sizeof(Message));
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
  server::ServeOptions options;
  options.directory = std::filesystem::path(path).parent_path();
  options.socket = path;
  options.http_port = 0;
  options.quiet = true;
  ::_exit(server::serve(options));
}

bool send_all(int fd, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd, data.data(), std::min(data.size(), kBatchBytes), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data = data.subspan(static_cast<std::size_t>(sent));
  }
  return true;
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

void send_to(benchmark::State& state, const std::function<void(const std::string&)>& peer) {
  std::string directory = "/dev/shm/ttmem-bench-server-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) std::abort();
  const std::string path = directory + "/socket";
  const pid_t child = ::fork();
  if (child == 0) peer(path);
  const UniqueFd fd = connect_to(path);
  const std::vector<Message> stream = workload();
  Message answer;
  for (auto _ : state) {
    const bool answered =
        fd && send_all(fd.get(), std::as_bytes(std::span(stream))) &&
        ::recv(fd.get(), &answer, sizeof answer, MSG_WAITALL) == ssize_t{sizeof answer};
    if (!answered) {
      state.SkipWithError("the server does not answer");
      break;
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
  ::kill(child, SIGTERM);
  ::waitpid(child, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

void server_ingest(benchmark::State& state) { send_to(state, serve_it); }
void server_bare_read(benchmark::State& state) { send_to(state, only_read); }
BENCHMARK(server_ingest)->UseRealTime();
BENCHMARK(server_bare_read)->UseRealTime();

}  // namespace
}  // namespace ttmem::bench

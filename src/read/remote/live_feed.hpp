// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "read/model/snapshot.hpp"
#include "read/remote/address.hpp"
#include "read/remote/ask.hpp"
#include "read/remote/http_client.hpp"
#include "read/remote/mirror.hpp"

namespace ttmem::remote {

// Follows one server for a live view, in a thread of its own: who looks never waits for a slow
// server. Without lists it asks what has changed, which costs the server next to nothing; with them
// it asks for everything, and for at most a thirtieth of the time.
//
// All calls are for one thread, and never wait but in latest().
class LiveFeed {
 public:
  // `first` is what is shown until there is more.
  LiveFeed(Address server, ClientOptions options, model::Snapshot first);
  ~LiveFeed();
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // What is needed from now on, and how often.
  void want(Lists lists, std::chrono::milliseconds interval);

  // The newest. When the server does not answer, what it said last, with a warning that says so.
  // After want() asked for lists that there were not, waits for them for a moment.
  [[nodiscard]] std::shared_ptr<const model::Snapshot> latest();

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  // One question; what there is then to show.
  [[nodiscard]] std::shared_ptr<const model::Snapshot> ask(Lists lists);
  [[nodiscard]] std::shared_ptr<const model::Snapshot> without_answer(const Fault& fault);

  const Address server_;
  HttpClient client_;
  Mirror mirror_;                                // of the thread
  std::shared_ptr<const model::Snapshot> last_;  // of the thread: the last answer
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false;
  Lists wanted_ = Lists::none;
  Lists has_ = Lists::all;  // what latest_ was made for
  std::chrono::milliseconds interval_{500};
  std::shared_ptr<const model::Snapshot> latest_;
  std::thread thread_;
};

}  // namespace ttmem::remote

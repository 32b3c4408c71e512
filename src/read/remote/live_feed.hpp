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

// Follows one server for a live view, in a thread of its own, so that the view never waits for a
// slow server. Without lists, the thread asks only for changes, which costs the server very little.
// With lists, the thread asks for the whole document, but spends at most a thirtieth of the time on
// questions.
//
// One thread must make all calls. Only latest() may wait.
class LiveFeed {
 public:
  // `first` is shown until the first answer.
  LiveFeed(Address server, ClientOptions options, model::Snapshot first);
  ~LiveFeed();
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // Sets the lists to ask for, and the interval between questions.
  void want(Lists lists, std::chrono::milliseconds interval);

  // Returns the newest snapshot. If the server does not answer, returns its last answer with a
  // warning. Waits up to 300 ms for the lists if want() has just asked for lists.
  [[nodiscard]] std::shared_ptr<const model::Snapshot> latest();

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  // Asks once, and returns the snapshot to show.
  [[nodiscard]] std::shared_ptr<const model::Snapshot> ask(Lists lists);
  [[nodiscard]] std::shared_ptr<const model::Snapshot> without_answer(const Fault& fault);

  const Address server_;
  HttpClient client_;
  Mirror mirror_;                                // used by the thread only
  std::shared_ptr<const model::Snapshot> last_;  // the last answer; used by the thread only
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false;
  Lists wanted_ = Lists::none;
  Lists has_ = Lists::all;  // the lists in latest_
  std::chrono::milliseconds interval_{500};
  std::shared_ptr<const model::Snapshot> latest_;
  std::thread thread_;
};

}  // namespace ttmem::remote

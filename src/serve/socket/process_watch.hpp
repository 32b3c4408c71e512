// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::serve {

// Returns true if a client has ended: no process has its pid and start time, or that process is a
// zombie or is exiting. The start time must be known.
[[nodiscard]] bool has_ended(const segment::SegmentWriter::Process& process);

// Waits in the event loop for the end of a process. Used by one thread: the thread of the loop.
class ProcessWatch {
 public:
  // Calls `on_end` once, when the process has ended. Returns null if the process has already ended
  // or cannot be watched, because Linux gives no descriptor for it.
  [[nodiscard]] static std::unique_ptr<ProcessWatch> start(
      boost::asio::io_context& loop, const segment::SegmentWriter::Process& process,
      std::function<void()> on_end);
  ~ProcessWatch() = default;  // `on_end` is not called afterwards

 private:
  explicit ProcessWatch(boost::asio::io_context& loop) : process_(loop) {}

  boost::asio::posix::stream_descriptor process_;
  // The handler in the event loop has only a weak pointer to this function, because Asio may run
  // the handler after the watch is destroyed.
  std::shared_ptr<std::function<void()>> on_end_;
};

}  // namespace ttmem::serve

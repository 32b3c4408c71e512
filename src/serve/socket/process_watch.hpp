// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::serve {

// Whether a client has ended: there is no such process with that pid and start time, it is a
// zombie, or it is exiting. Its start time must be known.
[[nodiscard]] bool has_ended(const segment::SegmentWriter::Process& process);

// Waits in the event loop for the end of a process. One thread: that of the loop.
class ProcessWatch {
 public:
  // Calls `on_end` once, when the process has ended. Null when it has ended already, or cannot be
  // watched: the kernel gives no descriptor for it.
  [[nodiscard]] static std::unique_ptr<ProcessWatch> start(
      boost::asio::io_context& loop, const segment::SegmentWriter::Process& process,
      std::function<void()> on_end);
  ~ProcessWatch() = default;  // `on_end` is not called afterwards

 private:
  explicit ProcessWatch(boost::asio::io_context& loop) : process_(loop) {}

  boost::asio::posix::stream_descriptor process_;
  // Asio may have queued the call already when this is destroyed.
  std::shared_ptr<std::function<void()>> on_end_;
};

}  // namespace ttmem::serve

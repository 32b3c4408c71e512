// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/process_watch.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/unique_fd.hpp"
#include "read/collector/process_info.hpp"

namespace ttmem::serve {

bool has_ended(const segment::SegmentWriter::Process& process) {
  const std::optional<collector::ProcessFacts> facts = collector::process_facts(process.pid);
  return !facts || facts->start_time_ticks != process.start_time_ticks || facts->is_ending;
}

std::unique_ptr<ProcessWatch> ProcessWatch::start(boost::asio::io_context& loop,
                                                  const segment::SegmentWriter::Process& process,
                                                  std::function<void()> on_end) {
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  // pidfd_open() may have opened a later process with the same pid. If so, has_ended() returns
  // true, because the start time is different.
  if (!pidfd || has_ended(process)) return nullptr;
  std::unique_ptr<ProcessWatch> watch(new ProcessWatch(loop));
  boost::system::error_code failed;
  watch->process_.assign(pidfd.get(), failed);
  if (failed) return nullptr;
  pidfd.release();
  watch->on_end_ = std::make_shared<std::function<void()>>(std::move(on_end));
  const std::weak_ptr<std::function<void()>> call = watch->on_end_;
  watch->process_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [call](const boost::system::error_code& error) {
                               const auto wanted = call.lock();
                               if (!error && wanted != nullptr) (*wanted)();
                             });
  return watch;
}

}  // namespace ttmem::serve

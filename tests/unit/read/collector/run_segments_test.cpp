// SPDX-License-Identifier: Apache-2.0
#include "read/collector/run_segments.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "base/unique_fd.hpp"
#include "read/collector/process_info.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collector {
namespace {

// Counts how often files of a directory are opened. count() returns the number since its previous
// call.
class OpenCounter {
 public:
  explicit OpenCounter(const std::string& directory) : events_(::inotify_init1(IN_NONBLOCK)) {
    if (::inotify_add_watch(events_.get(), directory.c_str(), IN_OPEN) < 0) {
      ADD_FAILURE() << "cannot watch " << directory;
    }
  }

  int count() {
    int files = 0;
    alignas(inotify_event) std::array<char, 16384> buffer;
    for (ssize_t got = 0; (got = ::read(events_.get(), buffer.data(), buffer.size())) > 0;) {
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        if (event.len > 0) ++files;
        at += sizeof event + event.len;
      }
    }
    return files;
  }

 private:
  UniqueFd events_;
};

// Incomplete files must cost little, because every user can put files into /dev/shm.
TEST(RunSegments, FilesThatStayIncompleteAreRarelyOpened) {
  constexpr int files = 500;
  constexpr std::size_t room = 10;
  const TemporaryDirectory directory;
  RunSegments segments(directory.path(), RunSegments::Evidence::stays);
  const auto self = process_facts(::getpid());
  for (int i = 1; i <= files; ++i) {
    std::ofstream(fmt::format("{}/ttmem.{}.{}.{}.{}", directory.path(), ::geteuid(), ::getpid(),
                              self->start_time_ticks, i));
  }
  OpenCounter opened(directory.path());
  EXPECT_TRUE(segments.open_new(room).empty());
  EXPECT_EQ(opened.count(), files);
  EXPECT_TRUE(segments.open_new(room).empty());
  EXPECT_EQ(opened.count(), 0);
  EXPECT_TRUE(segments.has_more());
  segments.list();
  EXPECT_TRUE(segments.open_new(room).empty());
  EXPECT_EQ(opened.count(), files);
}

}  // namespace
}  // namespace ttmem::collector

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"
#include "segment/reader/segment_reader.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"

namespace ttmem::tracker {

// A tracker with its own segment in its own directory.
class Tracked {
 public:
  Tracked() {
    auto started = IdTracker::start({directory_.path()});
    if (!started) throw std::runtime_error(started.error().message);
    tracker_ = std::move(*started);
  }

  IdTracker* operator->() { return tracker_.get(); }
  Tracker& core() { return tracker_->core(); }
  // Allocates with a receipt, without the layer that finds allocations by id.
  bool allocate(std::uint32_t device, const ttmem_buffer& buffer, Receipt& receipt) {
    Device& on = *core().device(device);
    Request request;
    return fill_buffer_request(on, buffer, request) && core().allocate(on, request, now(), receipt);
  }
  [[nodiscard]] segment::SegmentImage read() const {
    const UniqueFd fd(::open(tracker_->core().segment_path().c_str(), O_RDONLY | O_CLOEXEC));
    auto image = segment::read_segment(segment::FdSource(fd.get()));
    if (!image) throw std::runtime_error(image.error().message);
    EXPECT_EQ(image->invalid_records, 0U);
    return *image;
  }
  [[nodiscard]] segment::DeviceImage device(std::uint32_t id = 0) const {
    for (const auto& device : read().devices) {
      if (device.id == id) return device;
    }
    throw std::runtime_error("no such device");
  }
  [[nodiscard]] const std::string& directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<IdTracker> tracker_;
};

}  // namespace ttmem::tracker

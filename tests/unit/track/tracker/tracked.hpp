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
#include "track/tracker/clock.hpp"
#include "track/tracker/id_tracker.hpp"

namespace ttmem::tracker {

// An IdTracker that gives tests access to its parts, so that tests can allocate with receipts.
class OpenIdTracker : public IdTracker {
 public:
  using IdTracker::IdTracker;
  Tracker& parts() noexcept { return tracker_; }
};

// A tracker with its own segment in its own directory.
class Tracked {
 public:
  Tracked() {
    auto segment = segment::SegmentWriter::create({directory_.path()});
    if (!segment) throw std::runtime_error(segment.error().message);
    tracker_ = std::make_unique<OpenIdTracker>(std::move(*segment));
  }

  IdTracker* operator->() { return tracker_.get(); }
  Tracker& parts() { return tracker_->parts(); }
  // Allocates a buffer that can only be released with its receipt.
  bool allocate(std::uint32_t device, const ttmem_buffer& buffer, Receipt& receipt) {
    TrackedDevice& on = *parts().devices.find_or_open(device);
    AllocationRequest request;
    return fill_buffer_request(on, buffer, request) &&
           parts().allocations.allocate(on, request, now(), receipt);
  }
  [[nodiscard]] segment::SegmentImage read() const {
    const UniqueFd fd(::open(tracker_->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
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
  std::unique_ptr<OpenIdTracker> tracker_;
};

}  // namespace ttmem::tracker

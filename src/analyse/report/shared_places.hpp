// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyse/report/buffer_places.hpp"

namespace ttmem::report {

// The BufferPlaces of all chips. Chips with the same history share one object, so a buffer of a
// mesh needs only one change. If a change concerns only some of the chips that share an object,
// these chips share a copy from then on. There are never more objects than chips. Not
// thread-safe.
class SharedPlaces {
 public:
  explicit SharedPlaces(std::size_t chips);

  [[nodiscard]] const BufferPlaces& of(std::uint32_t chip) const { return *of_chip_[chip]; }

  // Sets the regions of an opened chip. Does nothing if there are buffers on the chip.
  void set_regions(std::uint32_t chip, const Regions& regions);
  // Adds a buffer to each of these chips, or removes it.
  void change(std::span<const std::uint32_t> chips, const recording::RecordedRequest& request,
              std::optional<std::uint64_t> address, const CoreMask* cores, bool add);

 private:
  struct Shared : BufferPlaces {
    using BufferPlaces::BufferPlaces;
    std::uint32_t users = 0;  // number of chips that share this object
    // State of the present change: the number of the change, how many of its chips share this
    // object, the copy for these chips, and whether the change was already made here.
    std::uint64_t number = 0;
    std::uint32_t concerned = 0;
    std::shared_ptr<Shared> copy;
    bool done = false;
  };

  void give(std::uint32_t chip, std::shared_ptr<Shared> places);

  std::vector<std::shared_ptr<Shared>> of_chip_;
  std::uint64_t changes_ = 0;
};

}  // namespace ttmem::report

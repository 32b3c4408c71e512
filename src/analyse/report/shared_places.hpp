// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyse/report/buffer_places.hpp"

namespace ttmem::report {

// The BufferPlaces of all chips. Chips with the same history share one, so a buffer of a mesh costs
// one change, however many chips there are. A change that concerns only some of those that share
// gives these a copy, which happens at most once per chip while it is not emptied. Not thread-safe.
class SharedPlaces {
 public:
  explicit SharedPlaces(std::size_t chips);

  [[nodiscard]] const BufferPlaces& of(std::uint32_t chip) const { return *of_chip_[chip]; }

  // The chip is opened, with these regions. Does nothing while there are buffers on it.
  void set_regions(std::uint32_t chip, const Regions& regions);
  // A buffer comes or goes on each of these chips.
  void change(std::span<const std::uint32_t> chips, const recording::RecordedRequest& request,
              std::optional<std::uint64_t> address, const CoreMask* cores, bool add);

 private:
  struct Shared : BufferPlaces {
    using BufferPlaces::BufferPlaces;
    std::uint32_t users = 0;  // chips that share it
    // Of the change that is made: its number, how many of its chips share this, and their copy.
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

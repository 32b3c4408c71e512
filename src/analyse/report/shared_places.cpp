// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/shared_places.hpp"

#include <utility>

namespace ttmem::report {

SharedPlaces::SharedPlaces(std::size_t chips) {
  const auto nowhere = std::make_shared<Shared>();
  nowhere->users = static_cast<std::uint32_t>(chips);
  of_chip_.assign(chips, nowhere);
}

void SharedPlaces::give(std::uint32_t chip, std::shared_ptr<Shared> places) {
  --of_chip_[chip]->users;
  ++places->users;
  of_chip_[chip] = std::move(places);
}

void SharedPlaces::set_regions(std::uint32_t chip, const Regions& regions) {
  if (!of_chip_[chip]->is_empty()) return;
  for (const std::shared_ptr<Shared>& other : of_chip_) {
    if (other->is_empty() && other->has(regions)) return give(chip, std::shared_ptr(other));
  }
  give(chip, std::make_shared<Shared>(regions));
}

void SharedPlaces::change(std::span<const std::uint32_t> chips,
                          const recording::RecordedRequest& request,
                          std::optional<std::uint64_t> address, const CoreMask* cores, bool add) {
  ++changes_;
  for (const std::uint32_t chip : chips) {
    Shared& places = *of_chip_[chip];
    if (places.number != changes_) {
      places.number = changes_;
      places.concerned = 0;
      places.done = false;
    }
    ++places.concerned;
  }
  for (const std::uint32_t chip : chips) {
    // `places` stays valid in the loop body. If this chip gets a copy, other chips still own the
    // object. Otherwise the object is changed in place.
    Shared& places = *of_chip_[chip];
    const bool all = places.concerned >= places.users;
    if (!places.done && !all) {
      places.copy = std::make_shared<Shared>(places);
      places.copy->users = 0;
      places.copy->copy.reset();
    }
    BufferPlaces& changed = all ? places : *places.copy;
    if (!std::exchange(places.done, true)) changed.change(request, address, cores, add);
    if (all) continue;
    --places.concerned;
    give(chip, places.copy);
  }
}

}  // namespace ttmem::report

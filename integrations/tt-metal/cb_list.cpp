// SPDX-License-Identifier: Apache-2.0
#include "cb_list.hpp"

#include <algorithm>

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

CbList::OnChip* CbList::find(std::uint32_t chip) {
  if (next_ >= chips_.size() || chips_[next_].chip != chip) {
    const auto found = std::find_if(chips_.begin(), chips_.end(),
                                    [&](const OnChip& on) { return on.chip == chip; });
    if (found == chips_.end()) return nullptr;
    next_ = static_cast<std::size_t>(found - chips_.begin());
  }
  return &chips_[next_];
}

void CbList::advance(OnChip& on) {
  if (++on.count == cbs_.size()) ++complete_chips_;
  next_ = next_ + 1 == chips_.size() ? 0 : next_ + 1;
}

bool CbList::overlaps(const ProgramCb& cb) const {
  return std::any_of(cbs_.begin(), cbs_.end(), [&](const ProgramCb& own) {
    return !own.is_view && own.address < cb.address + cb.bytes &&
           cb.address < own.address + own.bytes && own.cores.intersects(cb.cores);
  });
}

void CbList::append(const ProgramCb& cb) {
  if (cb.is_view) {
    ends_with_views_ = !cbs_.empty();
  } else {
    // In a program, the first circular buffer that is not a view has the lowest address. So a
    // circular buffer with a higher address than an earlier circular buffer does not begin a new
    // program. Neither do the views directly before such a circular buffer.
    const bool may_be_first = !has_own_ || cb.address <= lowest_;
    if (may_be_first && !cbs_.empty()) may_have_two_programs_ = true;
    lowest_ = has_own_ ? std::min(lowest_, cb.address) : cb.address;
    has_own_ = true;
    ends_with_views_ = false;
  }
  cbs_.push_back(cb);
  complete_chips_ = 0;
}

bool CbList::repeat(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t bytes,
                    bool is_view, std::uint32_t chip) {
  OnChip* const on = find(chip);
  if (on == nullptr || on->count >= cbs_.size()) return false;
  const ProgramCb& cb = cbs_[on->count];
  if (cb.address != address || cb.bytes != bytes || cb.is_view != is_view || !(cb.cores == cores)) {
    return false;
  }
  advance(*on);
  return true;
}

bool CbList::add(const ProgramCb& cb, std::uint32_t chip, std::size_t length) {
  OnChip* on = find(chip);
  const std::size_t at = on == nullptr ? 0 : on->count;
  if (at < cbs_.size()) {
    if (cbs_[at] != cb) return false;
  } else {
    const bool complete = length != 0 && cbs_.size() == length;
    if (!is_even() || complete || (!cb.is_view && overlaps(cb))) return false;
    append(cb);
  }
  if (on == nullptr) {
    chips_.push_back({chip, 0});
    on = &chips_.back();
    next_ = chips_.size() - 1;
  }
  advance(*on);
  return true;
}

ChipNumbers CbList::chips() const {
  ChipNumbers numbers;
  for (const OnChip& on : chips_) numbers.push_back(on.chip);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

CbList CbList::after(std::size_t count) const {
  CbList rest;
  for (std::size_t i = count; i < cbs_.size(); ++i) rest.append(cbs_[i]);
  for (const OnChip& on : chips_) {
    if (on.count <= count) continue;
    rest.chips_.push_back({on.chip, on.count - count});
    if (rest.chips_.back().count == rest.cbs_.size()) ++rest.complete_chips_;
  }
  return rest;
}

}  // namespace ttmem::tt_metal

// SPDX-License-Identifier: Apache-2.0
#include "read/collector/device_total.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/saturating.hpp"
#include "read/driver/cards.hpp"

namespace ttmem::collector {
namespace {

using model::Bytes;
using segment::DeviceImage;

// Limits in bytes. Every known device has less DRAM and less L1.
constexpr std::uint64_t kMaxDram = 1ULL << 40;
constexpr std::uint64_t kMaxL1 = 1ULL << 30;

// Returns `parts` times `bytes_each`. Returns nullopt if either is unknown (0).
Bytes capacity(std::uint64_t parts, std::uint64_t bytes_each) {
  if (parts == 0 || bytes_each == 0) return std::nullopt;
  return saturating_mul(parts, bytes_each);
}

// Adds `part` to `sum`, unless `part` is unknown.
void add_known(Bytes& sum, Bytes part) {
  if (part) sum = saturating_add(sum.value_or(0), *part);
}

template <typename T>
void fill(T& known, const T& other) {
  if (known == T{}) known = other;
}

}  // namespace

DeviceTotal::DeviceTotal(std::uint64_t uid, std::uint32_t id, std::string arch) {
  device_.id = id;
  if (uid != 0) device_.uid = uid;
  device_.arch = std::move(arch);
  for (const Kind kind : {Kind::l1, Kind::l1_small}) device_.lockstep_bytes[kind] = 0;
  for (const Kind kind : kBankKinds) taken_[kind].emplace();
}

void DeviceTotal::add_number(std::uint32_t number) {
  std::vector<std::uint32_t>& ids = device_.ids;
  const auto at = std::lower_bound(ids.begin(), ids.end(), number);
  if (at == ids.end() || *at != number) ids.insert(at, number);
}

void DeviceTotal::describe(const DeviceImage& device) {
  add_number(device.id);
  fill(device_.arch, device.arch);
  fill(device_.board, device.board);
  // Takes the largest grid, because processes may see grids of different sizes: an n300 has one
  // more row if dispatch runs on Ethernet cores.
  const std::uint16_t x = std::max(device_.grid_x, device.grid_x);
  const std::uint16_t y = std::max(device_.grid_y, device.grid_y);
  if (std::uint32_t{x} * y <= kMaxCores) {
    device_.grid_x = x;
    device_.grid_y = y;
    cores_.resize(std::size_t{x} * y);
  }
  fill(limits_.l1_bytes_per_core, std::uint64_t{device.l1_bytes_per_core});
  fill(limits_.l1_base, std::uint64_t{device.l1_base});
  fill(limits_.l1_small_bytes_per_core, std::uint64_t{device.l1_small_bytes_per_core});
  fill(device_.dram_channels, device.dram_channels);
  fill(device_.dram_capacity_bytes, capacity(device.dram_channels, device.dram_bytes_per_channel));
  largest_dram_ = std::max(
      largest_dram_, capacity(device.dram_channels, device.dram_bytes_per_channel).value_or(0));
  largest_l1_ = std::max(largest_l1_, std::uint64_t{device.l1_bytes_per_core});
  fill(device_.trace_capacity_bytes, capacity(1, device.trace_region_bytes));
}

void DeviceTotal::describe(const driver::Chip& chip) {
  add_number(chip.number);
  device_.id = chip.number;
  device_.driver_number = chip.number;
  device_.bus_id = chip.bus_id;
  device_.in_reset = chip.in_reset;
  device_.holders_known = chip.holders_known;
  device_.holders = chip.holders;
  fill(device_.arch, chip.arch);
  fill(device_.board, chip.card);
  const driver::Card* card = driver::find_card(chip.card);
  if (card == nullptr) card = driver::find_chip(chip.arch);
  if (card == nullptr) return;
  device_.card_chips = card->chips;
  if (!device_.dram_capacity_bytes || limits_.l1_bytes_per_core == 0) {
    using Statement = model::Device::Statement;
    device_.capacities_from = card->type.empty() ? Statement::chip : Statement::card;
  }
  fill(device_.dram_channels, card->dram_channels);
  fill(device_.dram_capacity_bytes, capacity(card->dram_channels, card->dram_bytes_per_channel));
  fill(limits_.l1_bytes_per_core, std::uint64_t{card->l1_bytes_per_core});
  if (cores_.empty()) {
    device_.grid_x = card->grid_x;
    device_.grid_y = card->grid_y;
    cores_.resize(std::size_t{card->grid_x} * card->grid_y);
    cores_known_ = false;
  }
}

void DeviceTotal::add_uid(std::uint64_t uid) {
  if (uid == 0 || uid == device_.uid) return;
  std::vector<std::uint64_t>& others = device_.other_uids;
  if (!device_.uid) {
    device_.uid = uid;
  } else if (std::find(others.begin(), others.end(), uid) == others.end()) {
    others.push_back(uid);
  }
}

void DeviceTotal::set_idle() {
  device_.idle = true;
  for (const Kind kind : kDeviceKinds) {
    for (const auto figure : {&KindFigures::used_bytes, &KindFigures::logical_bytes,
                              &KindFigures::live, &KindFigures::unsized}) {
      device_.kinds[kind].set(figure, 0);
    }
  }
  device_.cb_resident_bytes = device_.kernels_persistent_bytes = 0;
  device_.kernels_estimated_bytes = device_.programs = 0;
}

Bytes DeviceTotal::most_of(Kind kind) const {
  if (!is_in_dram(kind) && !is_in_l1(kind)) return std::nullopt;
  const std::uint64_t any = is_in_dram(kind) ? kMaxDram : kMaxL1;
  const Bytes stated =
      is_in_dram(kind) ? capacity(1, largest_dram_) : capacity(cores_.size(), largest_l1_);
  return std::min(any, stated.value_or(any));
}

std::vector<Kind> DeviceTotal::impossible(const PerKind<KindFigures>& kinds) const {
  std::vector<Kind> found;
  for (const Kind kind : kDeviceKinds) {
    const KindFigures& figures = kinds[kind];
    // Logical CB bytes may exceed the memory, because memory that programs share counts once per
    // program.
    const std::uint64_t logical = kind == Kind::cb ? 0 : figures.logical_bytes;
    const std::uint64_t claimed = std::max({figures.used_bytes, figures.peak_bytes, logical});
    if (figures.known != 0 && claimed > *most_of(kind)) found.push_back(kind);
  }
  return found;
}

void DeviceTotal::add_cores(const DeviceImage& device, const std::vector<CoreState>& states) {
  // If CBs without addresses are live, the cores of these CBs are unknown.
  const bool complete = !device.cores.empty() && device.kinds[Kind::cb].live == 0;
  if (!complete || device.grid_x > device_.grid_x || device.grid_y > device_.grid_y) {
    cores_known_ = false;
    return;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t x = i % device.grid_x;
    const std::size_t y = i / device.grid_x;
    merge_core(cores_[y * device_.grid_x + x], states[i]);
  }
}

void DeviceTotal::add_taken(const DeviceImage& device, const Taken& taken) {
  const BankFacts banks = bank_facts(device);
  if (banks != BankFacts{}) {
    if (!banks_) banks_ = banks;
    banks_agree_ = banks_agree_ && banks == *banks_;
  }
  for (const Kind kind : kBankKinds) {
    std::optional<std::vector<AddressRange>>& all = taken_[kind];
    // If a kind has buffers but no figures, the figures were impossible and were left out. The
    // ranges of such buffers count as unknown.
    const bool left_out = device.kinds[kind].known == 0 && taken[kind] && !taken[kind]->empty();
    if (!taken[kind] || left_out) {
      all.reset();
    } else if (all) {
      all->insert(all->end(), taken[kind]->begin(), taken[kind]->end());
    }
  }
}

void DeviceTotal::add_tracked(const DeviceImage& device, const DeviceGeometry& geometry) {
  merge(device_.kinds, device.kinds);
  device_.l1_peak_bytes = std::max(device_.l1_peak_bytes, Bytes(device.l1_total_peak_bytes));
  if (device.cb_resident_known) add_known(device_.cb_resident_bytes, device.cb_resident_bytes);
  if (!device.cb_resident_known && device.kinds[Kind::cb].used_bytes != 0) resident_known_ = false;
  if (device.kinds[Kind::kernel].known != 0) {
    add_known(device_.kernels_estimated_bytes, device.kernel_estimated_bytes);
    add_known(device_.kernels_persistent_bytes,
              saturating_add(device.kernel_role_bytes[1], device.kernel_role_bytes[2]));
  }
  if (device.kinds[Kind::cb].known != 0) {
    device_.cb_estimate = device_.cb_estimate.value_or(false) || device.cb_estimate;
  }
  if (device.programs_known) add_known(device_.programs, device.programs);
  if (!device.programs_known && device.kinds[Kind::cb].used_bytes != 0) programs_known_ = false;
  if (!device_.anomalies) device_.anomalies.emplace();
  for (const auto anomaly : kAnomalies) {
    std::uint64_t& sum = *device_.anomalies.*anomaly;
    sum = saturating_add(sum, device.anomalies.*anomaly);
  }
  device_.anomalies->overlapping_buffers += geometry.overlaps;
  for (std::size_t i = 0; i < kKinds; ++i) {
    add_to(device_.lockstep_bytes.items[i], geometry.lockstep_bytes.items[i]);
  }
  add_cores(device, geometry.cores);
  add_taken(device, geometry.taken);
}

void DeviceTotal::add_untracked(const RegionRow& row) {
  merge(device_.kinds, row.kinds);
  if (row.kinds[Kind::cb].known != 0) device_.cb_estimate = device_.cb_estimate.value_or(false);
  // A region contains neither the number of programs nor which programs are resident, so both
  // figures become unknown if the row has CBs.
  if (row.kinds[Kind::cb].used_bytes != 0) {
    resident_known_ = false;
    programs_known_ = false;
  }
  for (const Kind kind : kBankKinds) {
    // The taken ranges become unknown, because a region has no addresses.
    if (row.kinds[kind].used_bytes != 0) taken_[kind].reset();
  }
  device_.lockstep_bytes = {};
  cores_known_ = false;
}

void DeviceTotal::finish_totals() {
  if (!resident_known_) device_.cb_resident_bytes.reset();
  if (!programs_known_) device_.programs.reset();
  constexpr std::array parts = {Kind::l1, Kind::l1_small, Kind::cb, Kind::kernel};
  if (device_.used(Kind::l1)) {
    device_.l1_used_bytes = sum_of(device_.kinds, parts, &KindFigures::used_bytes);
  } else {
    device_.l1_peak_bytes.reset();
  }
}

// Raises each peak to at least the present total. Before the call, each peak is the highest peak of
// a single process. The device certainly held both amounts at some time.
void DeviceTotal::finish_peaks() {
  for (KindFigures& kind : device_.kinds) {
    const bool both = kind.get(&KindFigures::peak_bytes) && kind.get(&KindFigures::used_bytes);
    if (both) kind.peak_bytes = std::max(kind.peak_bytes, kind.used_bytes);
  }
  if (device_.l1_peak_bytes) {
    device_.l1_peak_bytes = std::max(device_.l1_peak_bytes, device_.l1_used_bytes);
  }
}

void DeviceTotal::finish_cores() {
  const bool has_cbs = device_.used(Kind::cb).has_value();
  const bool has_buffers = device_.used(Kind::l1).has_value();
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    model::Core core;
    core.x = static_cast<std::uint16_t>(i % device_.grid_x);
    core.y = static_cast<std::uint16_t>(i / device_.grid_x);
    if (cores_known_) {
      if (has_cbs) core.cb_bytes = cores_[i].cb_bytes;
      if (device_.cb_resident_bytes) core.cb_resident_bytes = cores_[i].cb_resident_bytes;
      if (has_buffers) core.l1_bytes = cores_[i].l1_bytes;
      if (has_buffers) core.l1_data_bytes = cores_[i].l1_data_bytes;
      if (has_cbs && has_buffers) core.headroom_bytes = headroom(cores_[i], limits_);
    }
    device_.cores.push_back(core);
  }
  if (device_.cores.empty()) return;
  auto& least = device_.headroom_bytes_per_core;
  least = device_.cores.front().headroom_bytes;
  for (const model::Core& core : device_.cores) {
    least = least && core.headroom_bytes ? std::min(least, core.headroom_bytes) : std::nullopt;
  }
}

void DeviceTotal::finish_free_space() {
  if (!banks_ || !banks_agree_) return;
  for (const Kind kind : kBankKinds) {
    if (taken_[kind]) join(*taken_[kind]);
  }
  device_.free = free_space(regions_of(device_.arch, *banks_), taken_);
  for (const Kind kind : kBankKinds) {
    // The free space is unknown if no process reports this kind.
    if (!device_.used(kind)) device_.free[kind] = {};
  }
}

model::Device DeviceTotal::finish() {
  device_.l1_capacity_bytes = capacity(cores_.size(), limits_.l1_bytes_per_core);
  device_.l1_bytes_per_core = capacity(1, limits_.l1_bytes_per_core);
  device_.l1_base = capacity(1, limits_.l1_base);
  if (device_.l1_bytes_per_core) {
    device_.l1_small_region_bytes = limits_.l1_small_bytes_per_core;
  }
  finish_totals();
  finish_peaks();
  finish_cores();
  finish_free_space();
  std::stable_sort(device_.processes.begin(), device_.processes.end(),
                   [](const model::Process& a, const model::Process& b) {
                     if (a.state != b.state) return a.state == model::State::alive;
                     return held_bytes(a) > held_bytes(b);
                   });
  return std::move(device_);
}

}  // namespace ttmem::collector

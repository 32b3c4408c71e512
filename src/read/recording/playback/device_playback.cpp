// SPDX-License-Identifier: Apache-2.0
#include "read/recording/playback/device_playback.hpp"

#include <algorithm>

#include "base/safe_text.hpp"

namespace ttmem::recording {
namespace {

bool is_unsized(const RecordedRequest& request) {
  const bool sized = request.has_bytes_per_bank && request.banks != 0;
  return !sized && request.kind != Kind::kernel && request.kind != Kind::cb;
}

void copy_identity(const RecordedDevice& device, segment::DeviceImage& image) {
  image.id = device.number;
  image.announced = true;
  image.uid = device.uid;
  image.arch = safe_text(device.arch);
  image.board = safe_text(device.board);
  const bool has_grid = std::uint32_t{device.grid_x} * device.grid_y <= kMaxCores;
  image.grid_x = has_grid ? device.grid_x : std::uint16_t{0};
  image.grid_y = has_grid ? device.grid_y : std::uint16_t{0};
  image.l1_bytes_per_core = device.l1_bytes_per_core;
  image.l1_base = device.l1_base;
  image.l1_small_bytes_per_core = device.l1_small_bytes_per_core;
  image.dram_channels = device.dram_channels;
  image.dram_bytes_per_channel = device.dram_bytes_per_channel;
  image.trace_region_bytes = device.trace_region_bytes;
}

}  // namespace

DevicePlayback::DevicePlayback(const Tables& tables, const RecordedDevice& device,
                               ledger::FootprintTable& footprints)
    : device_(device), programs_(tables, device, footprints) {
  for (const Kind kind : kAllKinds) {
    const bool known = (device.known_kinds >> static_cast<unsigned>(kind) & 1) != 0;
    figures_.kinds[kind].known = known ? kAllFigures : 0;
  }
}

void DevicePlayback::add(const RecordedRequest& request) { account(request, true); }
void DevicePlayback::remove(const RecordedRequest& request) { account(request, false); }

void DevicePlayback::account(const RecordedRequest& request, bool add) {
  const auto change = [add](std::uint64_t& figure, std::uint64_t by) {
    figure = add ? figure + by : figure - by;
  };
  const std::uint64_t used = request.used_bytes();
  KindFigures& figures = figures_.kinds[request.kind];
  change(figures.used_bytes, used);
  change(figures.logical_bytes, request.bytes);
  change(figures.live, 1);
  change(figures.unsized, is_unsized(request) ? 1 : 0);
  ++(add ? figures.allocations : figures.frees);
  figures.known = kAllFigures;
  figures.peak_bytes = std::max(figures.peak_bytes, figures.used_bytes);
  if (request.kind == Kind::kernel) {
    change(figures_.kernel_role_bytes[std::min<std::size_t>(request.role, 2)], used);
    if (request.estimate) change(figures_.kernel_estimated_bytes, used);
  }
  if (!is_in_l1(request.kind)) return;
  if (request.kind == Kind::cb) change(figures_.loose_cb_bytes, used);
  change(figures_.l1_total_bytes, used);
  figures_.l1_total_peak_bytes = std::max(figures_.l1_total_peak_bytes, figures_.l1_total_bytes);
}

void DevicePlayback::account_programs() {
  const ledger::DeviceLedger& ledger = programs_.ledger();
  KindFigures& cbs = figures_.kinds[Kind::cb];
  const std::uint64_t physical = ledger.physical_bytes() + figures_.loose_cb_bytes;
  figures_.l1_total_bytes += physical - cbs.used_bytes;
  cbs.used_bytes = physical;
  cbs.logical_bytes = ledger.logical_bytes() + figures_.loose_cb_bytes;
  if (ledger.programs() > 0) cbs.known = kAllFigures;
  figures_.cb_resident_bytes = ledger.resident_bytes();
  figures_.programs = ledger.programs();
  cbs.peak_bytes = std::max(cbs.peak_bytes, cbs.used_bytes);
  figures_.l1_total_peak_bytes = std::max(figures_.l1_total_peak_bytes, figures_.l1_total_bytes);
}

void DevicePlayback::place(const RecordedProgram& program) {
  programs_.place(program);
  account_programs();
}

void DevicePlayback::remove(const RecordedProgram& program) {
  programs_.remove(program);
  account_programs();
}

void DevicePlayback::dispatch(const Launch& launch) {
  programs_.dispatch(launch);
  account_programs();
}

void DevicePlayback::settle() {
  if (programs_.settle()) account_programs();
}

segment::DeviceImage DevicePlayback::image() const {
  segment::DeviceImage image;
  static_cast<segment::DeviceFigures&>(image) = figures_;
  copy_identity(device_, image);
  const ledger::DeviceLedger& ledger = programs_.ledger();
  image.cb_resident_known = device_.resident_known;
  image.programs_known = figures_.kinds[Kind::cb].known != 0;
  image.cb_estimate = device_.cb_estimate;
  image.cores.resize(std::size_t{image.grid_x} * image.grid_y);
  for (std::uint32_t i = 0; i < image.cores.size(); ++i) {
    const ledger::DeviceLedger::Core core = ledger.core(i);
    image.cores[i] = {core.cb_bytes, core.resident_bytes, core.cb_end, 0};
  }
  return image;
}

}  // namespace ttmem::recording

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/core_mask.hpp"
#include "track/ledger/footprint.hpp"
#include "track/ledger/interval_union.hpp"

namespace ttmem::ledger {

struct Trace;

// A live program on one device.
struct Placement {
  std::uint64_t program = 0;
  FootprintRef footprint;
  // Number of cores to which the program, or a trace with it, was sent last.
  std::uint32_t resident_cores = 0;
  // True if nothing else was sent to any of the program's cores after the program. Dispatching the
  // program again then changes nothing.
  bool fully_resident = false;
  bool changed = false;      // changed since DeviceLedger::take_changed_programs()
  std::uint32_t traces = 0;  // number of traces that contain the program
  // Fields that the ledger does not use. They belong to the owner of the ledger.
  std::uint32_t slot = 0;  // index of the program's slot in the segment
  std::uint32_t name = 0;  // number of the text with the name; 0: no name
};

// The circular buffers of one device: physical, resident and logical bytes, exact after every call.
// Only for_each_program() loops over all programs.
//
// Physical bytes. Cores that have had the same CBs so far form a class with one IntervalUnion. A
// placement that covers only some cores of a class splits the class. There are at most as many
// splits as cores. If another live program has the same footprint, a placement only changes a
// count, which costs one hash lookup. This is the usual case. Otherwise a placement costs a
// logarithmic update per class.
//
// Resident bytes. The ledger stores for each core whether a program or a replayed trace was sent to
// the core last.
//
// take_changed_cores() and take_changed_programs() return the changes, so that the owner publishes
// only the changes. After std::bad_alloc the ledger must not be used any more. Not thread-safe.
class DeviceLedger {
 public:
  explicit DeviceLedger(std::uint32_t cores);
  ~DeviceLedger();
  DeviceLedger(const DeviceLedger&) = delete;
  DeviceLedger& operator=(const DeviceLedger&) = delete;

  enum class Placed { fresh, unchanged, replaced };

  // Places `program`, or replaces its footprint. Moves the earlier footprint to `footprint`, so
  // that the caller decides when to release it. A resident program stays resident, with its new
  // footprint, on the cores to which it was dispatched.
  Placed place(std::uint64_t program, FootprintRef&& footprint);

  // Makes the program resident on its cores. Returns false, and changes nothing, if `program` is
  // not placed.
  bool dispatch(std::uint64_t program);

  // Records the replay of a trace of these programs. Each core that any of these programs covers
  // then holds the program that takes the most bytes on the core. Ignores programs that are not
  // placed, and returns their number.
  std::uint32_t replay_trace(std::span<const std::uint64_t> programs);

  // Removes the program and its Placement. Returns false if `program` is not placed.
  bool remove(std::uint64_t program);

  // Returns null if `program` is not placed. The result is valid until the program is removed.
  [[nodiscard]] Placement* find(std::uint64_t program) noexcept;

  [[nodiscard]] std::uint64_t physical_bytes() const noexcept { return physical_bytes_; }
  [[nodiscard]] std::uint64_t resident_bytes() const noexcept { return resident_bytes_; }
  [[nodiscard]] std::uint64_t logical_bytes() const noexcept { return logical_bytes_; }
  [[nodiscard]] std::size_t programs() const noexcept { return placements_.size(); }

  struct Core {
    std::uint32_t cb_bytes;
    std::uint32_t resident_bytes;
    std::uint32_t cb_end;
  };
  [[nodiscard]] Core core(std::uint32_t index) const noexcept;

  template <typename Visitor>
  void for_each_program(Visitor&& visit) {
    for (auto& entry : placements_) visit(*entry.second);
  }

  // Returns the cores whose figures changed since the last call.
  [[nodiscard]] CoreMask take_changed_cores() noexcept;

  // Calls visit(placement) for every live program whose resident_cores changed since the last call.
  template <typename Visitor>
  void take_changed_programs(Visitor&& visit) {
    for (Placement* placement : changed_programs_) {
      placement->changed = false;
      visit(*placement);
    }
    changed_programs_.clear();
  }

 private:
  struct CoreClass {
    CoreMask cores;
    std::uint32_t core_count = 0;
    std::uint32_t bytes = 0;  // ranges.length()
    std::uint32_t end = 0;    // ranges.end()
    IntervalUnion ranges;
  };
  // The program or the trace that was sent to a core last. At most one of the two is set.
  struct Occupant {
    Placement* program = nullptr;
    Trace* trace = nullptr;
    std::uint32_t bytes = 0;
  };

  Placement* new_placement(std::uint64_t program);
  void use(Footprint* footprint);
  void unuse(Footprint* footprint);
  void apply(const Footprint& footprint, bool add);
  void split(std::size_t index, const CoreMask& inside);

  void occupy(std::uint32_t core, Occupant occupant);
  void vacate(Placement& placement);
  void set_resident_bytes(std::uint32_t core, std::uint32_t bytes) noexcept;
  void note_change(Placement& placement);

  [[nodiscard]] Trace* find_trace(std::span<const std::uint64_t> programs) noexcept;
  Trace* new_trace(std::span<const std::uint64_t> programs);
  void on_layout_change(Placement& placement, const Footprint& old, bool still_there);
  void refresh(Trace& trace, const CoreMask& cores) noexcept;
  void update_traces();

  std::uint32_t core_count_;
  std::uint64_t physical_bytes_ = 0;
  std::uint64_t resident_bytes_ = 0;
  std::uint64_t logical_bytes_ = 0;

  boost::unordered_flat_map<std::uint64_t, Placement*> placements_;
  std::deque<Placement> placement_pool_;
  std::vector<Placement*> free_placements_;
  boost::unordered_flat_map<Footprint*, std::uint32_t> uses_;

  std::vector<CoreClass> classes_;
  std::vector<std::uint16_t> class_of_;  // index into classes_, by core
  std::vector<Occupant> occupants_;      // by core
  std::vector<std::unique_ptr<Trace>> traces_;

  CoreMask changed_cores_;
  std::vector<Placement*> changed_programs_;
};

}  // namespace ttmem::ledger

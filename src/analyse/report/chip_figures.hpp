// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyse/report/buffer_places.hpp"
#include "analyse/report/moment.hpp"
#include "analyse/report/report.hpp"
#include "base/kinds.hpp"
#include "read/collector/core_geometry.hpp"
#include "read/collector/free_space.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"
#include "track/ledger/device_ledger.hpp"

namespace ttmem::report {

using recording::RecordedChip;
using recording::Tables;

// The highest or the lowest value of a figure so far, and its moment.
struct Record {
  std::int64_t bytes = 0;
  Moment moment{};
  bool is_set = false;

  void raise(std::int64_t now, const Moment& at) {
    if (!is_set || now > bytes) *this = {now, at, true};
  }
  void lower(std::int64_t now, const Moment& at) {
    if (!is_set || now < bytes) *this = {now, at, true};
  }
  [[nodiscard]] std::optional<Extreme> extreme() const {
    return is_set ? std::optional(Extreme{bytes, moment.time_ns}) : std::nullopt;
  }
};

// The figures of one chip while a recording is read: the use by all processes together, and the
// extremes. Follows the rules of the collector, one event at a time. Not thread-safe; the arguments
// must outlive this object.
class ChipFigures {
 public:
  ChipFigures(const Tables& tables, const RecordedChip& chip);

  // Records that a process opens or closes the chip. Call set_regions_fit() and note_all()
  // afterwards.
  void open(const recording::RecordedDevice& device);
  void close(const recording::RecordedDevice& device);
  // Returns the regions that the open devices state; nullopt if no device states any.
  [[nodiscard]] std::optional<Regions> regions() const;
  // Sets whether `places` has the regions that the open devices state. While a buffer of an earlier
  // opening is left, `places` keeps the regions of that opening.
  void set_regions_fit(bool fit) { regions_fit_ = fit; }
  void note_all(const BufferPlaces& places, const Moment& at);

  // Record that a buffer or kernel is added or removed. `places` already contains the change.
  void allocate(const recording::RecordedRequest& request, const BufferPlaces& places,
                const Moment& at);
  void free(const recording::RecordedRequest& request, const BufferPlaces& places,
            const Moment& at);
  // Records that the circular buffers of a process's programs change from `before` bytes to the
  // bytes of the ledger. A null ledger means 0 bytes.
  void programs_changed(const recording::RecordedDevice& device, ledger::DeviceLedger* ledger,
                        std::uint64_t before, const BufferPlaces& places, const Moment& at);

  [[nodiscard]] const Record& peak(Kind kind) const { return peaks_[kind]; }
  [[nodiscard]] const Record& l1_peak() const { return l1_peak_; }
  [[nodiscard]] const Record& least_largest_free(Kind kind) const { return largest_free_[kind]; }
  [[nodiscard]] const Record& least_headroom() const { return headroom_; }
  // Returns the peak of the L1_SMALL bytes on one core, over all processes.
  [[nodiscard]] const Record& l1_small_per_core() const { return small_per_core_; }

 private:
  struct OpenDevice {
    const recording::RecordedDevice* device;
    ledger::DeviceLedger* ledger;  // null: no program so far
  };
  // The highest end of circular buffers on a set of cores.
  struct Ends {
    std::uint64_t highest = 0;
    bool some_empty = true;  // true if a core has no circular buffer
  };

  void devices_changed();
  void update_ends(const recording::RecordedDevice& device, const CoreMask& changed);
  [[nodiscard]] std::uint64_t end_on(std::uint32_t core) const;
  [[nodiscard]] Ends ends_on(const CoreMask& cores) const;
  [[nodiscard]] std::int64_t room_below(std::uint64_t top, const Ends& ends) const;
  [[nodiscard]] std::int64_t least_room(const LowestBuffers& lowest) const;

  void note_use(Kind kind, const Moment& at);
  void note_free(Kind kind, const BufferPlaces& places, const Moment& at);
  void note_room(const BufferPlaces& places, const Moment& at);
  [[nodiscard]] bool knows(Kind kind) const {
    return (known_kinds_ >> static_cast<unsigned>(kind) & 1) != 0;
  }

  const Tables& tables_;
  const RecordedChip& chip_;
  std::string arch_;
  std::vector<OpenDevice> open_;
  std::uint32_t known_kinds_ = 0;  // kinds that the open devices report
  bool banks_agree_ = true;        // true: all open devices state the same banks
  bool regions_fit_ = false;
  bool limits_known_ = false;  // true: the L1 limits and the grid are known
  collector::L1Limits limits_;

  PerKind<std::uint64_t> used_{};
  std::uint64_t small_bytes_per_core_ = 0;
  std::uint64_t loose_cbs_ = 0;      // number of circular buffers without an address
  std::vector<std::uint64_t> ends_;  // end of the circular buffers of each core; 0: none
  Ends all_ends_;

  PerKind<Record> peaks_{};
  Record l1_peak_;
  PerKind<Record> largest_free_{};
  Record headroom_;
  Record small_per_core_;
};

}  // namespace ttmem::report

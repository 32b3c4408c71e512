// SPDX-License-Identifier: Apache-2.0
//
// The rows of a device: names, sizes and notes, without places on the screen. `ttmem` and `ttmem
// top` (with `--once` too) draw the rows. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/model/snapshot.hpp"
#include "text/bar.hpp"
#include "text/units.hpp"

namespace ttmem::views {

// A few words beside a figure.
struct Note {
  std::string text;
  std::string brief;  // shorter text for narrow places; empty: no shorter text
};

// Joins as many notes as fit into `width` cells, the most important first, without cutting a note.
// Uses the brief forms if some note with a brief form would not fit in full. `count_rest` is the
// option of joined_to_fit().
[[nodiscard]] std::string notes_to_fit(const std::vector<Note>& notes, std::size_t width,
                                       std::string_view between = ", ", bool count_rest = false);

inline constexpr std::string_view kNotPhysical = "physical n/a";

struct DeviceRow {
  enum class What : std::uint8_t {
    dram,
    l1,
    buffers,
    small,
    cb,
    kernels,
    trace,
    headroom,
    free,
    anomalies,
  };

  What what = What::dram;
  std::string_view name;  // "L1 buffers"
  std::string size{};     // "29.0 MiB", "n/a", "-112.5 KiB"; empty: the row has no figure
  model::Bytes used{};
  model::Bytes capacity{};  // capacity of the memory; a part of L1 has the capacity of L1
  model::Bytes peak{};
  std::uint64_t begin = 0;  // begin of this part in the bar of L1, in bytes
  // Severity of the row, or the part of L1. A clash is bad, an anomaly is a warning.
  text::Tone tone = text::Tone::none;
  // Sign before the size wherever the size is shown: ">=" if some memory may be missing ("<=" for
  // headroom), "~" for an estimate.
  std::string mark{};
  // True: the size is logical, because the physical size is unknown. Shown as "physical n/a".
  bool as_asked_for = false;
  bool minor = false;         // row is left out if there are many devices
  std::vector<Note> notes{};  // in order of importance

  [[nodiscard]] std::string marked_size() const { return mark + size; }
  // Returns true for a part of L1, which is drawn below the bar of L1.
  [[nodiscard]] bool is_part() const { return tone >= text::Tone::buffers; }
  // Returns true for a row of text without a bar, which is neither a memory nor a part of L1.
  [[nodiscard]] bool is_words() const { return what >= What::headroom; }
  // Returns true if the share or at least the capacity is known.
  [[nodiscard]] bool is_known() const { return used || capacity; }
  [[nodiscard]] std::optional<double> share() const;
  [[nodiscard]] text::BarPiece piece() const;
};

using DeviceRows = std::vector<DeviceRow>;

// Returns the rows of a device from top to bottom. DRAM, L1, L1 buffers, CB, kernels and headroom
// are always there; L1_SMALL, trace and anomalies only if not empty, free space only if known. An
// unknown size is "n/a".
[[nodiscard]] DeviceRows device_rows(const model::Device& device,
                                     text::Units units = text::Units::automatic);
// Returns the rows of device_rows(), but only free space and anomalies have notes. For many devices
// in little room.
[[nodiscard]] DeviceRows device_rows_without_notes(const model::Device& device,
                                                   text::Units units = text::Units::automatic);

// Returns the row `what`, which must be one of the rows that are always there.
[[nodiscard]] const DeviceRow& row_of(const DeviceRows& rows, DeviceRow::What what);

// Returns the parts of L1 as pieces of one bar.
[[nodiscard]] std::vector<text::BarPiece> l1_pieces(const DeviceRows& rows);

// Returns "L1 buffers" or another name, for a narrow place "L1 buf".
[[nodiscard]] std::string_view name_of_part(text::Tone part, bool brief = false);

struct DeviceTitle {
  std::string name;                    // "Device 0"
  std::string board;                   // the model in one word; empty: unknown
  std::vector<std::string> facts;      // model, grid
  std::vector<std::string> counts;     // processes, programs
  std::string uid;                     // empty: unknown, or in `facts`
  std::vector<std::string> sensors{};  // "43 C", "18 W", "1000 MHz"
};
[[nodiscard]] DeviceTitle device_title(const model::Device& device);

// Returns "headroom 412.0 KiB per core" or "CLASH -112.5 KiB per core".
[[nodiscard]] std::string headroom_in_brief(const model::Device& device,
                                            text::Units units = text::Units::automatic);

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
//
// The rows of a device: names, sizes and notes, without positions on the screen. `ttmem`, `ttmem
// top` and `ttmem top --once` draw these rows. Pure, safe from any thread.
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
  std::string brief;  // shorter text for narrow places; empty if there is none
};

// Joins as many notes as fit into `width` cells, the most important first. Never cuts a note. If
// the full text of a note that has a brief form would not fit, uses the brief forms of all notes.
// `count_rest` is an option of joined_to_fit().
[[nodiscard]] std::string notes_to_fit(const std::vector<Note>& notes, std::size_t width,
                                       std::string_view between = ", ", bool count_rest = false);

// Joins all notes in as many lines of `width` cells as necessary, without breaking a note. Uses the
// brief forms like notes_to_fit().
[[nodiscard]] std::vector<std::string> notes_in_lines(const std::vector<Note>& notes,
                                                      std::size_t width);

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
    shared,  // only if several processes hold memory of the device
    anomalies,
  };

  What what = What::dram;
  std::string_view name;  // such as "L1 buffers"
  // Such as "29.0 MiB", "n/a" or "-112.5 KiB". Empty if the row has no figure.
  std::string size{};
  model::Bytes used{};
  // The capacity of the memory. For a part of L1, the capacity of L1.
  model::Bytes capacity{};
  model::Bytes peak{};
  // For a part of L1: the position in bytes where the part starts in the bar of L1.
  std::uint64_t begin = 0;
  // For a part of L1: which part. For another row: its severity. A clash is bad, an anomaly is a
  // warning.
  text::Tone tone = text::Tone::none;
  // Sign that is always shown before the size. "~" means an estimate. If some memory may be
  // missing, the sign is ">=", or "<=" for headroom.
  std::string mark{};
  // True if the size is logical, because the physical size is unknown. The note "physical n/a" then
  // says so.
  bool as_asked_for = false;
  bool minor = false;         // true if the row is left out when there are many devices
  std::vector<Note> notes{};  // the most important note first

  [[nodiscard]] std::string marked_size() const { return mark + size; }
  // Returns true if the row is a part of L1. The bars of these rows are drawn below the bar of L1.
  [[nodiscard]] bool is_part() const { return tone >= text::Tone::buffers; }
  // Returns true if the row is text without a bar: headroom, free space, sharing
  // processes or anomalies.
  [[nodiscard]] bool is_words() const { return what >= What::headroom; }
  // Returns true if the used bytes or the capacity are known.
  [[nodiscard]] bool is_known() const { return used || capacity; }
  [[nodiscard]] std::optional<double> share() const;
  [[nodiscard]] text::BarPiece piece() const;
};

using DeviceRows = std::vector<DeviceRow>;

// Returns the rows of a device from top to bottom. There are always rows for DRAM, L1, L1 buffers,
// CB, kernels and headroom. L1_SMALL, trace and anomalies have a row only if they are not empty,
// free space only if it is known, sharing processes only if there are several. An unknown size is
// "n/a".
[[nodiscard]] DeviceRows device_rows(const model::Device& device,
                                     text::Units units = text::Units::automatic);
// Returns the rows of device_rows(), but only free space, sharing processes and anomalies have
// notes. For screens with many devices and no room for notes.
[[nodiscard]] DeviceRows device_rows_without_notes(const model::Device& device,
                                                   text::Units units = text::Units::automatic);

// Returns the row `what`, which must be a row that every device has.
[[nodiscard]] const DeviceRow& row_of(const DeviceRows& rows, DeviceRow::What what);

// Returns the parts of L1 as the pieces of one bar.
[[nodiscard]] std::vector<text::BarPiece> l1_pieces(const DeviceRows& rows);

// Returns the name of a part of L1 such as "L1 buffers". With `brief`, returns a short name such as
// "L1 buf".
[[nodiscard]] std::string_view name_of_part(text::Tone part, bool brief = false);

struct DeviceTitle {
  std::string name;                    // such as "Device 0"
  std::string board;                   // the model in one word; empty if unknown
  std::vector<std::string> facts;      // such as the model and the size of the grid
  std::vector<std::string> counts;     // numbers of processes and programs
  std::string uid;                     // empty if unknown or already in `facts`
  std::vector<std::string> sensors{};  // such as "43 C", "18 W", "1000 MHz"
};
[[nodiscard]] DeviceTitle device_title(const model::Device& device);

// Returns "2 processes share this chip; sums may overlap". Returns an empty text if at most one
// process holds memory of the device.
[[nodiscard]] std::string sharing_text(const model::Device& device);

// Returns "headroom 412.0 KiB per core" or "CLASH -112.5 KiB per core".
[[nodiscard]] std::string headroom_in_brief(const model::Device& device,
                                            text::Units units = text::Units::automatic);

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
//
// The rows of a device: names, sizes and notes, without their places. `ttmem`, `ttmem top` and its
// `--once` draw them. Pure, safe from any thread.
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
  std::string brief;  // the same where there is little room; empty: there is no shorter text
};

// As many notes as fit into `width` cells, the most important first, none of them cut. Uses the
// brief forms when a note that has one would not fit otherwise. `count_rest`: joined_to_fit().
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
  std::string size{};     // "29.0 MiB", "n/a", "-112.5 KiB"; empty: there is no figure
  model::Bytes used{};
  model::Bytes capacity{};  // of a part of L1: that of L1
  model::Bytes peak{};
  std::uint64_t begin = 0;  // where its piece of L1's bar begins, in bytes
  // How serious the row is, or which part of L1. A clash is bad, an anomaly is a warning.
  text::Tone tone = text::Tone::none;
  // Before the size wherever it is shown: ">=" when there may be more ("<=" for headroom),
  // "~" for an estimate.
  std::string mark{};
  bool as_asked_for = false;  // not what is taken, which is unknown: "physical n/a"
  bool minor = false;         // left out when there are many devices
  std::vector<Note> notes{};  // in order of importance

  [[nodiscard]] std::string marked_size() const { return mark + size; }
  // A part of L1, drawn below its bar.
  [[nodiscard]] bool is_part() const { return tone >= text::Tone::buffers; }
  // Neither a memory nor a part of one: text without a bar.
  [[nodiscard]] bool is_words() const { return what >= What::headroom; }
  // Whether the share, or at least the capacity, is known.
  [[nodiscard]] bool is_known() const { return used || capacity; }
  [[nodiscard]] std::optional<double> share() const;
  [[nodiscard]] text::BarPiece piece() const;
};

using DeviceRows = std::vector<DeviceRow>;

// The rows of a device from top to bottom. DRAM, L1, L1 buffers, CB, kernels and headroom are
// always there; L1_SMALL, trace and anomalies when there are any, free space when it is known.
// Unknown is "n/a".
[[nodiscard]] DeviceRows device_rows(const model::Device& device,
                                     text::Units units = text::Units::automatic);
// The same without notes, but those of free space and anomalies: for many devices in little room.
[[nodiscard]] DeviceRows device_rows_without_notes(const model::Device& device,
                                                   text::Units units = text::Units::automatic);

// One of the rows that are always there.
[[nodiscard]] const DeviceRow& row_of(const DeviceRows& rows, DeviceRow::What what);

// The parts of L1, as pieces of one bar.
[[nodiscard]] std::vector<text::BarPiece> l1_pieces(const DeviceRows& rows);

// "L1 buffers", in a narrow place "L1 buf".
[[nodiscard]] std::string_view name_of_part(text::Tone part, bool brief = false);

struct DeviceTitle {
  std::string name;                    // "Device 0"
  std::string board;                   // the model in one word; empty: unknown
  std::vector<std::string> facts;      // model, grid
  std::vector<std::string> counts;     // processes, programs
  std::string uid;                     // empty: unknown, or in the name
  std::vector<std::string> sensors{};  // "43 C", "18 W", "1000 MHz"
};
[[nodiscard]] DeviceTitle device_title(const model::Device& device);

// "headroom 412.0 KiB per core", "CLASH -112.5 KiB per core".
[[nodiscard]] std::string headroom_in_brief(const model::Device& device,
                                            text::Units units = text::Units::automatic);

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core_mask.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::exports {

// A program that was dispatched to a device, with its circular buffers.
struct SentProgram {
  std::string name{};
  const recording::Layout* layout = nullptr;  // nullptr: unknown
  std::size_t place = 0;                      // number of the device in the report
  std::uint16_t grid_x = 0;                   // grid of the device; 0: unknown
};

// Returns ranges in TT-Metal's notation: "{[0-0 - 7-7], [0-8 - 3-8]}", from corner to corner, both
// included.
[[nodiscard]] std::string core_range_set(const CoreMask& cores, std::uint16_t grid_x);

// The captured graph of one operation as JSON: a function for each program, with the circular
// buffers of the program. The graph is built directly as text, because a trace on a mesh has
// millions of nodes.
class TtnnGraph {
 public:
  // `max_bytes` limits the text: a program that would exceed this size is not added.
  explicit TtnnGraph(std::size_t max_bytes);

  // Adds a program. Returns false, and adds nothing, if the program does not fit.
  [[nodiscard]] bool add(const SentProgram& program);
  // Ends the graph and moves its text out. After this call the object may only be destroyed.
  [[nodiscard]] std::string take();

 private:
  void add_node(std::string_view type, std::string_view params);

  std::size_t max_bytes_;
  std::size_t nodes_ = 0;
  std::string text_ = "[";
};

}  // namespace ttmem::exports

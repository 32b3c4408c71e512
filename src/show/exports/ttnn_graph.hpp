// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core_mask.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::exports {

// A program that is sent to a device, for its circular buffers.
struct SentProgram {
  std::string name{};
  const recording::Layout* layout = nullptr;  // null: unknown
  std::size_t place = 0;                      // of its device
  std::uint16_t grid_x = 0;                   // of its device; 0: unknown
};

// "{[0-0 - 7-7], [0-8 - 3-8]}", from corner to corner, both included: as TT-Metal writes cores.
[[nodiscard]] std::string core_range_set(const CoreMask& cores, std::uint16_t grid_x);

// The captured graph of one operation, as JSON: a function for each program, with its circular
// buffers in it. It is text from the start: a trace on a mesh has millions of nodes.
class TtnnGraph {
 public:
  // Programs are taken while the text has at most so many bytes.
  explicit TtnnGraph(std::size_t max_bytes);

  // Returns false, and adds nothing, when the program does not fit.
  [[nodiscard]] bool add(const SentProgram& program);
  // Ends the graph and moves its text out; afterwards it may only be destroyed.
  [[nodiscard]] std::string take();

 private:
  void add_node(std::string_view type, std::string_view params);

  std::size_t max_bytes_;
  std::size_t nodes_ = 0;
  std::string text_ = "[";
};

}  // namespace ttmem::exports

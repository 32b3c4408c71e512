// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "read/imports/graph.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::imports {

// The functions of a graph that have begun and not ended, the outermost first.
class Functions {
 public:
  struct Open {
    const Node* node = nullptr;
    recording::Time begin = 0;
    std::string path{};  // "ttnn::linear/ttnn::matmul"; cut off at the maximum depth
  };

  // Begins a function inside the innermost open function. `node` must outlive this object.
  void begin(const Graph& graph, const Node& node, recording::Time time);
  // Ends the innermost open function with the name of `node`, and returns this function. Open
  // functions inside it count as never ended. Returns nullopt if no open function has this name,
  // because the function began before the capture.
  std::optional<Open> end(const Node& node);
  // Returns the innermost open function; null if no function is open.
  [[nodiscard]] const Open* innermost() const { return open_.empty() ? nullptr : &open_.back(); }
  // Returns the functions without an end, in the order of their begin. Call it after all nodes.
  [[nodiscard]] std::vector<const Node*> never_ended() const;

 private:
  std::vector<Open> open_;
  std::vector<const Node*> never_ended_;
};

}  // namespace ttmem::imports

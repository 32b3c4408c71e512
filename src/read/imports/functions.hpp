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
    std::string path{};  // "ttnn::linear/ttnn::matmul"; ends early when it is very deep
  };

  // `node` must outlive it, here and below.
  void begin(const Graph& graph, const Node& node, recording::Time time);
  // The innermost of that name, which ends, and with it those inside that never did. None: it began
  // before the capture.
  std::optional<Open> end(const Node& node);
  // Null outside of all.
  [[nodiscard]] const Open* innermost() const { return open_.empty() ? nullptr : &open_.back(); }
  // In the order of their begin, once all nodes were seen.
  [[nodiscard]] std::vector<const Node*> never_ended() const;

 private:
  std::vector<Open> open_;
  std::vector<const Node*> never_ended_;
};

}  // namespace ttmem::imports

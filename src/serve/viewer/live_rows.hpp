// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "read/recording/file/rows.hpp"

namespace ttmem::viewer {

// Identifies a row of a list: rows with equal keys at two moments are the same row.
using RowKey = std::array<std::uint64_t, 8>;

// A set of numbered texts. Each text is stored once.
class Texts {
 public:
  // Returns the number of the text. A new text gets the next number; the first number is 0.
  [[nodiscard]] std::size_t number_of(std::string text);

  [[nodiscard]] const std::vector<const std::string*>& all() const { return texts_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> texts_;
  std::size_t bytes_ = 0;
};

// The rows of a list over many moments. A row that stays the same over several moments is stored
// once.
class LiveRows {
 public:
  struct Row {
    std::size_t first = 0;  // first moment at which the row is in the list
    std::size_t last = 0;
    std::int64_t begin_ns = 0;
    std::string text{};  // members of a JSON object
  };

  // Adds a row of the list at a moment. Must be called in the order of the moments. `text` is
  // called only if the row is new.
  void add(std::size_t moment, const RowKey& key, std::int64_t begin_ns,
           const std::function<std::string()>& text);

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  boost::unordered_flat_map<RowKey, std::size_t> known_;  // index into rows_
  std::vector<Row> rows_;
  std::size_t bytes_ = 0;
};

}  // namespace ttmem::viewer

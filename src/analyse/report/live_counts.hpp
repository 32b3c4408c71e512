// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "read/recording/file/rows.hpp"

namespace ttmem::report {

// The number of live allocations of each request, either per device set or per device. Counted per
// device set, a buffer of a mesh is one count. Adding the buffer then takes the same time for any
// number of devices.
class LiveCounts {
 public:
  enum class By : std::uint8_t { set, device };
  explicit LiveCounts(By by = By::set) : by_(by) {}

  // `where` is a device set or a device, as chosen by `By`.
  void add(recording::RowId where, recording::RowId request) { ++counts_[key(where, request)]; }
  void remove(recording::RowId where, recording::RowId request) {
    const auto known = counts_.find(key(where, request));
    if (known != counts_.end() && --known->second == 0) counts_.erase(known);
  }

  [[nodiscard]] By by() const { return by_; }
  // Calls visit(device set or device, request, count), in any order.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (const auto& [key, count] : counts_) {
      visit(static_cast<recording::RowId>(key >> 32),
            static_cast<recording::RowId>(key & 0xffffffff), count);
    }
  }

 private:
  // Packs two row numbers into one key. Both numbers are far below 2^32, because the tables of
  // device sets and of requests are in memory.
  static std::uint64_t key(recording::RowId where, recording::RowId request) {
    return static_cast<std::uint64_t>(where) << 32 | static_cast<std::uint64_t>(request);
  }

  By by_;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> counts_;
};

}  // namespace ttmem::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/model/snapshot.hpp"
#include "read/remote/fault.hpp"

namespace ttmem::remote {

// The devices of a server, kept up to date by /api/v1/changes: each answer has only the changes
// since the previous answer. Has figures and processes, but no cores and no lists. Use it in one
// thread at a time.
class Mirror {
 public:
  enum class Detail : std::uint8_t {
    all,
    brief,  // DRAM, L1 and headroom; processes without their names
  };
  explicit Mirror(Detail detail = Detail::all) : detail_(detail) {}

  // Returns the target of the next question.
  [[nodiscard]] std::string target() const;

  // Applies an answer. If the answer is not valid, returns the fault and changes nothing.
  [[nodiscard]] std::optional<Fault> take(std::string_view json);

  // Returns the state of the last answer. Valid until the next take().
  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }
  // Returns the number of processes that died while they held memory, since the start of the
  // server. Returns nullopt if the server does not report this number.
  [[nodiscard]] std::optional<std::uint64_t> died() const { return died_; }

 private:
  Detail detail_;
  std::optional<std::uint64_t> number_;  // number of the last answer
  std::vector<std::string> keys_;        // keys of snapshot_.devices, in their order
  model::Snapshot snapshot_;
  std::optional<std::uint64_t> died_;
};

}  // namespace ttmem::remote

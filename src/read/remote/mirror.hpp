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

// The devices of a server, kept up to date by its /api/v1/changes: each answer has only what
// changed since the one before. Figures and processes; no cores, no lists. One thread at a time.
class Mirror {
 public:
  enum class Detail : std::uint8_t {
    all,
    brief,  // DRAM, L1 and headroom; processes without their names
  };
  explicit Mirror(Detail detail = Detail::all) : detail_(detail) {}

  // What to ask next.
  [[nodiscard]] std::string target() const;

  // Takes an answer over. When it is not one, says why, and everything is as before.
  [[nodiscard]] std::optional<Fault> take(std::string_view json);

  // As of the last answer. Valid until the next.
  [[nodiscard]] const model::Snapshot& snapshot() const { return snapshot_; }
  // Processes that died with memory since the server started; none: it does not tell.
  [[nodiscard]] std::optional<std::uint64_t> died() const { return died_; }

 private:
  Detail detail_;
  std::optional<std::uint64_t> number_;  // of the last answer
  std::vector<std::string> keys_;        // of snapshot_.devices, in their order
  model::Snapshot snapshot_;
  std::optional<std::uint64_t> died_;
};

}  // namespace ttmem::remote

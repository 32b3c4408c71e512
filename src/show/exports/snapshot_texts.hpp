// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "show/exports/snapshot_encoder.hpp"
#include "show/exports/stacks.hpp"

namespace ttmem::exports {

// The texts of a memory snapshot, each of which is written once. The encoder must outlive it.
class SnapshotTexts {
 public:
  explicit SnapshotTexts(SnapshotEncoder& encoder)
      : encoder_(encoder), no_frames_(encoder.share(std::span<const Shared>{})) {}

  [[nodiscard]] Shared word(std::string_view word);
  // The list of frames of a stack, the innermost first, which is how the viewer shows them. Names
  // that the viewer hides, because they are those of Python and libc, are spelled otherwise.
  [[nodiscard]] Shared frames(const Stack& stack);
  [[nodiscard]] Shared no_frames() const { return no_frames_; }

 private:
  SnapshotEncoder& encoder_;
  Shared no_frames_;
  std::map<std::string, Shared, std::less<>> words_;
  std::map<std::string, Shared> frames_;
};

}  // namespace ttmem::exports

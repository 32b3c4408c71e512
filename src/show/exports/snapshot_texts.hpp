// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "show/exports/snapshot_encoder.hpp"
#include "show/exports/stacks.hpp"

namespace ttmem::exports {

// The texts of a memory snapshot, each written once. The encoder must outlive this object.
class SnapshotTexts {
 public:
  explicit SnapshotTexts(SnapshotEncoder& encoder)
      : encoder_(encoder), no_frames_(encoder.share(std::span<const Shared>{})) {}

  [[nodiscard]] Shared word(std::string_view word);
  // Returns the frames of a stack, innermost first, as the viewer expects. The viewer hides
  // functions of Python and libc. A frame with such a name gets a similar name that the viewer
  // shows.
  [[nodiscard]] Shared frames(const Stack& stack);
  [[nodiscard]] Shared no_frames() const { return no_frames_; }

 private:
  SnapshotEncoder& encoder_;
  Shared no_frames_;
  std::map<std::string, Shared, std::less<>> words_;
  std::map<std::string, Shared> frames_;
};

}  // namespace ttmem::exports

// SPDX-License-Identifier: Apache-2.0
//
// Dictionaries and lists as Python's pickle or as JSON: all that a memory snapshot needs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"
#include "show/exports/output.hpp"

namespace ttmem::exports {

// Something that is written once and named often: the key of a dictionary, a stack.
enum class Shared : std::uint32_t {};

// A list while it grows.
struct EncodedList {
  std::string bytes{};
  std::size_t items = 0;
};

using EncodedValue = std::variant<std::uint64_t, Shared, const EncodedList*>;
struct EncodedField {
  Shared key;
  EncodedValue value;
};
using EncodedFields = std::span<const EncodedField>;

// Numbers must be below 2^53, above which JavaScript has gaps, and texts UTF-8. Not thread-safe.
class SnapshotEncoder {
 public:
  virtual ~SnapshotEncoder() = default;

  [[nodiscard]] virtual Shared share(std::string_view text) = 0;
  [[nodiscard]] virtual Shared share(EncodedFields fields) = 0;
  [[nodiscard]] virtual Shared share(std::span<const Shared> list) = 0;

  virtual void append(EncodedList& list, EncodedFields fields) const = 0;
  virtual void append(EncodedList& list, const EncodedList& item) const = 0;

  // What is shared so far takes.
  [[nodiscard]] virtual std::size_t shared_bytes() const = 0;

  // The file: one dictionary. Fails, before it writes anything, when no viewer could read the file.
  [[nodiscard]] virtual Result<void> finish(Output& output, EncodedFields fields) const = 0;
};

// Protocol 4: viewers before June 2026 refuse 5. Python and the viewer read what this writes.
[[nodiscard]] std::unique_ptr<SnapshotEncoder> make_pickle_encoder();
[[nodiscard]] std::unique_ptr<SnapshotEncoder> make_json_encoder();

}  // namespace ttmem::exports

// SPDX-License-Identifier: Apache-2.0
//
// Encodes a memory snapshot as Python pickle or JSON. A snapshot needs only dictionaries and lists.
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

// A value that is written once and referred to often: the key of a dictionary, or a stack.
enum class Shared : std::uint32_t {};

// A list to which items are appended. The items are already encoded.
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

// Encodes values. Numbers must be below 2^53, above which JavaScript has no exact integers. Texts
// must be UTF-8. Not thread-safe.
class SnapshotEncoder {
 public:
  virtual ~SnapshotEncoder() = default;

  [[nodiscard]] virtual Shared share(std::string_view text) = 0;
  [[nodiscard]] virtual Shared share(EncodedFields fields) = 0;
  [[nodiscard]] virtual Shared share(std::span<const Shared> list) = 0;

  virtual void append(EncodedList& list, EncodedFields fields) const = 0;
  virtual void append(EncodedList& list, const EncodedList& item) const = 0;

  // Returns the size of all shared values so far.
  [[nodiscard]] virtual std::size_t shared_bytes() const = 0;

  // Writes the file, which is one dictionary. Fails before writing if no viewer could read the
  // file.
  [[nodiscard]] virtual Result<void> finish(Output& output, EncodedFields fields) const = 0;
};

// Writes pickle protocol 4, because viewers before June 2026 refuse protocol 5. Both Python and the
// viewer can read the opcodes in use.
[[nodiscard]] std::unique_ptr<SnapshotEncoder> make_pickle_encoder();
[[nodiscard]] std::unique_ptr<SnapshotEncoder> make_json_encoder();

}  // namespace ttmem::exports

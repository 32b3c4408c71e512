// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "show/exports/snapshot_encoder.hpp"

namespace ttmem::exports {
namespace {

// The opcodes, with their names from Python's pickletools.
enum Opcode : std::uint8_t {
  kProto = 0x80,
  kEmptyDict = '}',
  kEmptyList = ']',
  kMark = '(',
  kSetItems = 'u',
  kAppends = 'e',
  kBinUnicode = 'X',
  kBinInt = 'J',
  kLong1 = 0x8a,
  kMemoize = 0x94,
  kBinGet = 'h',
  kLongBinGet = 'j',
  kStop = '.',
};
constexpr char kProtocol = 4;

// The maximum number of items for one opcode kAppends. The viewer passes these items to a function
// as arguments, and the number of arguments is limited.
constexpr std::size_t kMaxItems = 1000;

void put(std::string& bytes, Opcode opcode) { bytes += static_cast<char>(opcode); }

// Appends the lowest `count` bytes of `value`, little-endian.
void put_number(std::string& bytes, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

class PickleEncoder final : public SnapshotEncoder {
 public:
  Shared share(std::string_view text) override {
    std::string bytes;
    put(bytes, kBinUnicode);
    put_number(bytes, text.size(), 4);
    return memoize(bytes.append(text));
  }
  Shared share(EncodedFields fields) override {
    std::string bytes;
    put_fields(bytes, fields);
    return memoize(bytes);
  }
  Shared share(std::span<const Shared> list) override {
    EncodedList items;
    for (const Shared item : list) {
      begin_item(items);
      put_value(items.bytes, item);
    }
    std::string bytes;
    put_value(bytes, &items);
    return memoize(bytes);
  }

  void append(EncodedList& list, EncodedFields fields) const override {
    begin_item(list);
    put_fields(list.bytes, fields);
  }
  void append(EncodedList& list, const EncodedList& item) const override {
    begin_item(list);
    put_value(list.bytes, &item);
  }

  [[nodiscard]] std::size_t shared_bytes() const override { return shared_.bytes.size(); }

  Result<void> finish(Output& output, EncodedFields fields) const override {
    std::string bytes;
    put(bytes, kProto);
    bytes += kProtocol;
    put(bytes, kEmptyDict);
    put(bytes, kMark);
    // Writes the list of shared values first, so that all later values can refer to its entries.
    // The key of the list comes before the entries, so the key is written as a plain text.
    constexpr std::string_view key = "shared";
    put(bytes, kBinUnicode);
    put_number(bytes, key.size(), 4);
    bytes += key;
    output.write(bytes);
    write_value(output, &shared_);
    for (const EncodedField& field : fields) {
      write_value(output, field.key);
      write_value(output, field.value);
    }
    bytes.clear();
    put(bytes, kSetItems);
    put(bytes, kStop);
    output.write(bytes);
    return {};
  }

 private:
  // Appends a shared value and returns its number. A reader numbers memoised values in the same
  // way, from 0 on.
  Shared memoize(std::string_view value) {
    begin_item(shared_);
    shared_.bytes += value;
    put(shared_.bytes, kMemoize);
    return static_cast<Shared>(shared_.items - 1);
  }

  static void begin_item(EncodedList& list) {
    if (list.items > 0 && list.items % kMaxItems == 0) {
      put(list.bytes, kAppends);
      put(list.bytes, kMark);
    }
    ++list.items;
  }

  static void put_fields(std::string& bytes, EncodedFields fields) {
    put(bytes, kEmptyDict);
    put(bytes, kMark);
    for (const EncodedField& field : fields) {
      put_value(bytes, field.key);
      put_value(bytes, field.value);
    }
    put(bytes, kSetItems);
  }

  static void put_value(std::string& bytes, const EncodedValue& value) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      const bool is_small = *number <= std::numeric_limits<std::int32_t>::max();
      put(bytes, is_small ? kBinInt : kLong1);
      if (!is_small) bytes += char{8};
      put_number(bytes, *number, is_small ? 4 : 8);
    } else if (const auto* shared = std::get_if<Shared>(&value)) {
      const auto place = static_cast<std::uint32_t>(*shared);
      const bool is_small = place <= std::numeric_limits<std::uint8_t>::max();
      put(bytes, is_small ? kBinGet : kLongBinGet);
      put_number(bytes, place, is_small ? 1 : 4);
    } else {
      put(bytes, kEmptyList);
      put(bytes, kMark);
      bytes += std::get<const EncodedList*>(value)->bytes;
      put(bytes, kAppends);
    }
  }

  // Writes the same bytes as put_value(), but does not copy a list, because a list may be most of
  // the file.
  static void write_value(Output& output, const EncodedValue& value) {
    const EncodedList none;
    const auto* list = std::get_if<const EncodedList*>(&value);
    std::string bytes;
    put_value(bytes, list == nullptr ? value : EncodedValue(&none));
    const std::string_view all = bytes;
    // The two opcodes that begin a list come before its items.
    const std::size_t begin = list == nullptr ? all.size() : 2;
    output.write(all.substr(0, begin));
    if (list != nullptr) output.write((*list)->bytes);
    output.write(all.substr(begin));
  }

  EncodedList shared_;
};

}  // namespace

std::unique_ptr<SnapshotEncoder> make_pickle_encoder() { return std::make_unique<PickleEncoder>(); }

}  // namespace ttmem::exports

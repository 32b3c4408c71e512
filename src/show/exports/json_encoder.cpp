// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/safe_text.hpp"
#include "show/exports/snapshot_encoder.hpp"

namespace ttmem::exports {
namespace {

// A viewer reads the file into one string. The maximum is the length of the longest string in
// Chromium and Node.
constexpr std::uint64_t kMaxFileBytes = (1 << 29) - 24;

// Writes JSON. JSON has no references, so a shared value is written in full wherever it is used. In
// memory, a reference is the character kMark and the number of the shared value. JSON never
// contains kMark.
class JsonEncoder final : public SnapshotEncoder {
 public:
  Shared share(std::string_view text) override { return keep(json_text(nlohmann::json(text))); }
  Shared share(EncodedFields fields) override { return keep(text_of(fields)); }
  Shared share(std::span<const Shared> list) override {
    EncodedList items;
    for (const Shared item : list) add(items, text_of(item));
    return keep(text_of(&items));
  }

  void append(EncodedList& list, EncodedFields fields) const override {
    add(list, text_of(fields));
  }
  void append(EncodedList& list, const EncodedList& item) const override {
    add(list, text_of(&item));
  }

  [[nodiscard]] std::size_t shared_bytes() const override { return shared_bytes_; }

  Result<void> finish(Output& output, EncodedFields fields) const override {
    std::uint64_t bytes = 2 + fields.size();
    for_each_part(fields, [&](std::string_view part) { bytes += written_bytes(part); });
    if (bytes > kMaxFileBytes) {
      return Error{fmt::format(
          "the snapshot would have {} bytes of JSON, and no viewer reads more than {}: write a "
          ".pickle, or choose with --device or --kind",
          bytes, kMaxFileBytes)};
    }
    output.write("{");
    for_each_part(fields, [&](std::string_view part) { write(output, part); });
    output.write("}");
    return {};
  }

 private:
  static constexpr char kMark = '\1';
  static constexpr std::size_t kMarkBytes = 1 + sizeof(Shared);

  template <typename Use>
  void for_each_part(EncodedFields fields, Use&& use) const {
    for (const EncodedField& field : fields) {
      use(fmt::format("{}{}:", &field == fields.data() ? "" : ",", text_of(field.key)));
      if (const auto* list = std::get_if<const EncodedList*>(&field.value)) {
        use("[");
        use((*list)->bytes);
        use("]");
      } else {
        use(text_of(field.value));
      }
    }
  }
  // Calls plain(text) and shared(number) for the pieces of an encoded text.
  template <typename Plain, typename OfShared>
  static void for_each_piece(std::string_view text, Plain&& plain, OfShared&& shared) {
    for (;;) {
      const std::size_t at = text.find(kMark);
      plain(text.substr(0, at));
      if (at == std::string_view::npos) return;
      std::uint32_t number = 0;
      std::memcpy(&number, text.data() + at + 1, sizeof number);
      shared(number);
      text.remove_prefix(at + kMarkBytes);
    }
  }
  [[nodiscard]] std::uint64_t written_bytes(std::string_view text) const {
    std::uint64_t bytes = 0;
    for_each_piece(
        text, [&](std::string_view plain) { bytes += plain.size(); },
        [&](std::uint32_t number) { bytes += shared_[number].written_bytes; });
    return bytes;
  }
  void write(Output& output, std::string_view text) const {
    for_each_piece(
        text, [&](std::string_view plain) { output.write(plain); },
        [&](std::uint32_t number) { write(output, shared_[number].text); });
  }

  Shared keep(std::string text) {
    const std::uint64_t bytes = written_bytes(text);
    shared_bytes_ += text.size();
    shared_.push_back({std::move(text), bytes});
    return static_cast<Shared>(shared_.size() - 1);
  }
  static void add(EncodedList& list, std::string_view item) {
    if (list.items++ > 0) list.bytes += ',';
    list.bytes += item;
  }
  [[nodiscard]] static std::string text_of(const EncodedValue& value) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* shared = std::get_if<Shared>(&value)) {
      std::string text(kMarkBytes, kMark);
      std::memcpy(text.data() + 1, shared, sizeof *shared);
      return text;
    }
    return fmt::format("[{}]", std::get<const EncodedList*>(value)->bytes);
  }
  [[nodiscard]] static std::string text_of(EncodedFields fields) {
    std::string text = "{";
    for (const EncodedField& field : fields) {
      if (text.size() > 1) text += ',';
      text += fmt::format("{}:{}", text_of(field.key), text_of(field.value));
    }
    return text + '}';
  }

  struct Kept {
    std::string text;
    std::uint64_t written_bytes = 0;
  };
  std::vector<Kept> shared_;
  std::size_t shared_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SnapshotEncoder> make_json_encoder() { return std::make_unique<JsonEncoder>(); }

}  // namespace ttmem::exports

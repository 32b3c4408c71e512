// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "export/snapshot_encoder.hpp"

namespace ttmem::exporter {
namespace {

// JSON has no names for what is said twice: it is written again.
class JsonEncoder final : public SnapshotEncoder {
 public:
  Shared share(std::string_view text) override { return keep(nlohmann::json(text).dump()); }
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

  void finish(Output& output, EncodedFields fields) const override {
    output.write(text_of(fields));
  }

 private:
  Shared keep(std::string text) {
    texts_.push_back(std::move(text));
    return static_cast<Shared>(texts_.size() - 1);
  }
  static void add(EncodedList& list, std::string_view item) {
    if (list.items++ > 0) list.bytes += ',';
    list.bytes += item;
  }
  [[nodiscard]] std::string text_of(const EncodedValue& value) const {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* shared = std::get_if<Shared>(&value)) {
      return texts_[static_cast<std::size_t>(*shared)];
    }
    return fmt::format("[{}]", std::get<const EncodedList*>(value)->bytes);
  }
  [[nodiscard]] std::string text_of(EncodedFields fields) const {
    std::string text = "{";
    for (const EncodedField& field : fields) {
      if (text.size() > 1) text += ',';
      text += fmt::format("{}:{}", text_of(field.key), text_of(field.value));
    }
    return text + '}';
  }

  std::vector<std::string> texts_;
};

}  // namespace

std::unique_ptr<SnapshotEncoder> make_json_encoder() { return std::make_unique<JsonEncoder>(); }

}  // namespace ttmem::exporter

// SPDX-License-Identifier: Apache-2.0
#include "read/remote/known_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/job.hpp"
#include "base/kinds.hpp"
#include "base/parse_number.hpp"
#include "read/model/figure_names.hpp"
#include "read/remote/json_value.hpp"

namespace ttmem::remote {
namespace {

constexpr std::array kNames = {
    // names in documents
    "schema", "time_unix_ns", "host", "complete", "devices", "allocations", "programs", "warnings",
    "unread", "number", "all", "lists", "present", "cores", "key", "device", "dead_processes_total",
    // names in devices
    "id", "ids", "uid", "other_uids", "arch", "board", "grid", "x", "y", "bus_id", "temperature_c",
    "power_w", "aiclk_mhz", "state", "driver_number", "card_chips", "open_in", "open_seen_in",
    "untracked_processes", "capacities_from", "dram", "l1", "trace", "kinds", "kind", "channels",
    "capacity_bytes", "free_bytes_per_bank", "largest_free_bytes_per_bank", "bytes_per_core",
    "base_address", "small_region_bytes_per_core", "buffers", "lockstep_bytes",
    "small_lockstep_bytes", "small_free_bytes_per_bank", "small_largest_free_bytes_per_bank", "cb",
    "resident_bytes", "estimate", "kernels_persistent_bytes", "kernels_estimated_bytes",
    "headroom_bytes_per_core", "anomalies", "unknown_frees", "allocs_over_live",
    "overlapping_buffers", "unknown_programs", "bad_arguments", "left_at_close",
    "left_at_close_bytes", "processes", "per_core", "cb_bytes", "cb_resident_bytes", "l1_bytes",
    "l1_data_bytes", "headroom_bytes",
    // names in processes
    "pid", "name", "user", "source", "cb_estimate", "command", "host_pid", "pid_namespace",
    "device_supposed", "not_tracked", "may_hold", "foreign_pid", "segment",
    // names in allocations and programs
    "device_index", "device_indexes", "address", "bytes", "physical_bytes", "bytes_per_bank",
    "banks", "age_ns", "persistent", "label", "scope", "own_banks", "left_out", "program",
    "exclusive_bytes", "resident_cores", "cbs", "global"};

std::unordered_set<std::string> all_names() {
  std::unordered_set<std::string> names(kNames.begin(), kNames.end());
  for (const std::string_view name : model::kFigureNames) names.emplace(name);
  for (const JobField& field : kJobFields) names.emplace(field.name);
  for (const Kind kind : kDeviceKinds) names.insert(std::string(key_of(kind)) + "_bytes");
  return names;
}

// The maximum number of entries that all lists with this name may have together in a document. The
// limit is far above the largest machine.
struct ListLimit {
  std::string_view name;
  std::size_t max;
};
constexpr std::array kListLimits = {
    ListLimit{"devices", 1U << 12},     ListLimit{"present", 1U << 12},
    ListLimit{"processes", 1U << 16},   ListLimit{"per_core", 1U << 20},
    ListLimit{"allocations", 1U << 20}, ListLimit{"programs", 1U << 20},
    ListLimit{"cbs", 1U << 20}};
// The maximum number of values that are kept at the same time. A document without lists has fewer
// values, because it has at most kMaxFigureBytes.
constexpr std::size_t kMaxValues = std::size_t{1} << 21;

// Builds the document from the events of the parser. nlohmann's own builder checks all members of a
// list again whenever a member ends. This would take minutes for a few megabytes.
class KnownJsonBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit KnownJsonBuilder(const Complete& complete) : complete_(complete) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // does not occur in JSON text
  bool start_object(std::size_t) override { return start(Json::object()); }
  bool start_array(std::size_t) override { return start(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

  bool key(string_t& name) override {
    if (skipped_ > 0) return true;
    if (open_.size() == 1) section_ = name;
    key_ = std::move(name);
    skips_next_ = !is_known(key_);
    return true;
  }

  [[nodiscard]] Json take_document() { return std::move(document_); }
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

 private:
  static constexpr std::size_t kMaxDepth = 8;
  static constexpr std::size_t kUnlimited = kListLimits.size();

  // An object or a list that has not ended.
  struct Open {
    Json value;
    std::string name;   // member name in its parent object
    std::size_t held;   // value of held_ before it began
    std::size_t limit;  // index in kListLimits
  };

  // Returns true if the next value is left out.
  [[nodiscard]] bool skips() { return std::exchange(skips_next_, false) || skipped_ > 0; }

  bool add(Json value) {
    if (skips()) return true;
    if (!count()) return false;
    attach(std::move(value), key_);
    return true;
  }

  bool start(Json empty) {
    if (skips() || open_.size() > kMaxDepth) {
      ++skipped_;
      return true;
    }
    const std::size_t held = held_;
    if (!count()) return false;
    const bool is_member = !open_.empty() && open_.back().value.is_object();
    const std::size_t limit = is_member && empty.is_array() ? limit_of(key_) : kUnlimited;
    open_.push_back({std::move(empty), is_member ? key_ : std::string(), held, limit});
    return true;
  }

  bool end() {
    if (skipped_ > 0) {
      --skipped_;
      return true;
    }
    Open ended = std::move(open_.back());
    open_.pop_back();
    if (complete_(section_, static_cast<int>(open_.size()), ended.value) == Then::keep) {
      attach(std::move(ended.value), ended.name);
    } else {
      held_ = ended.held;
    }
    return true;
  }

  void attach(Json&& value, const std::string& name) {
    if (open_.empty()) {
      document_ = std::move(value);
    } else if (Json& parent = open_.back().value; parent.is_array()) {
      parent.push_back(std::move(value));
    } else {
      parent[name] = std::move(value);
    }
  }

  // Counts one more value. Returns false if a limit is exceeded.
  bool count() {
    if (++held_ > kMaxValues) return refuse(kMaxValues, "values");
    if (open_.empty() || open_.back().limit == kUnlimited) return true;
    const ListLimit& limit = kListLimits[open_.back().limit];
    return ++entries_[open_.back().limit] <= limit.max || refuse(limit.max, limit.name);
  }

  bool refuse(std::size_t max, std::string_view unit) {
    fault_ = too_large(fmt::format("{} {}", max, unit));
    return false;
  }

  static std::size_t limit_of(std::string_view name) {
    const auto* const found = std::find_if(kListLimits.begin(), kListLimits.end(),
                                           [&](const ListLimit& one) { return one.name == name; });
    return static_cast<std::size_t>(found - kListLimits.begin());
  }

  const Complete& complete_;
  std::vector<Open> open_;
  std::string section_;
  std::string key_;          // name of the next member
  bool skips_next_ = false;  // the next member is unknown
  std::size_t skipped_ = 0;  // number of open objects and lists inside a value that is left out
  std::size_t held_ = 0;
  std::array<std::size_t, kListLimits.size()> entries_{};
  Json document_;
  std::optional<Fault> fault_;
};

}  // namespace

Answer<Json> parse_known(std::string_view text, const Complete& complete) {
  KnownJsonBuilder builder(complete);
  const bool whole = Json::sax_parse(text, &builder);
  if (builder.fault()) return *builder.fault();
  return whole ? builder.take_document() : Json();
}

bool is_known(const std::string& name) {
  static const std::unordered_set<std::string> names = all_names();
  return names.contains(name);
}

std::optional<Fault> wrong_schema(const nlohmann::json& document, std::string_view schema) {
  const std::string found = text_of(document, "schema");
  if (found == schema) return std::nullopt;
  const std::string_view family = schema.substr(0, schema.rfind('v') + 1);
  const bool other_version =
      found.starts_with(family) &&
      parse_number<std::uint32_t>(std::string_view(found).substr(family.size())).has_value();
  if (other_version) {
    return Fault{Fault::Kind::newer, fmt::format("it speaks {}, this ttmem {}", found, schema),
                 "install the ttmem of that host here"};
  }
  return Fault{Fault::Kind::not_ttmem, "what answers there is not `ttmem serve`",
               "check the address and the port (9488 unless --http says another)"};
}

}  // namespace ttmem::remote

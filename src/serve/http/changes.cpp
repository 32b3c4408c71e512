// SPDX-License-Identifier: Apache-2.0
#include "serve/http/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/http/documents.hpp"
#include "show/views/brief_json.hpp"
#include "show/views/json.hpp"
#include "text/format.hpp"

namespace ttmem::serve {

void Changes::take(const model::Device& device, Known& known) {
  std::string figures = views::figures_json(device);
  if (figures != known.figures) {
    known.identity = identity_only(device);
    known.figures = std::move(figures);
    known.brief = views::brief_figures_json(device);
    known.number = ++number_;
  }
  if (device.cores != known.cores) {
    known.cores = device.cores;
    known.cores_text.clear();
    known.cores_number = ++number_;
  }
}

void Changes::note_list(std::uint64_t now, std::uint64_t& seen, std::uint64_t& number) {
  if (now == seen && number != 0) return;
  seen = now;
  number = ++number_;
}

void Changes::update(const model::Snapshot& snapshot, const Lists& lists) {
  time_unix_ns_ = snapshot.time_unix_ns;
  host_ = snapshot.host;
  std::vector<Known> before = std::exchange(devices_, {});
  bool others = before.size() != snapshot.devices.size();
  for (const model::Device& device : snapshot.devices) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const Known& known) {
      return !known.key.empty() && name_of(known.identity) == name_of(device);
    });
    others = others || old == before.end();
    Known& known = devices_.emplace_back(old != before.end() ? std::move(*old) : Known());
    if (old != before.end()) old->key.clear();
    known.key = text::key_of(device);
    take(device, known);
  }
  if (others) devices_number_ = ++number_;
  std::string warnings = warnings_part(snapshot);
  if (warnings != warnings_) {
    warnings_ = std::move(warnings);
    warnings_number_ = ++number_;
  }
  note_list(lists.allocations_and_programs, seen_.allocations_and_programs,
            list_numbers_.allocations_and_programs);
  note_list(lists.postmortems, seen_.postmortems, list_numbers_.postmortems);
}

std::string Changes::cores_part(const Question& question) const {
  if (!question.cores) return {};
  const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const Known& one) {
    return has_name(one.identity, *question.cores);
  });
  if (known == devices_.end()) return {};
  const std::uint64_t after = question.cores_after.value_or(0);
  if (after <= number_ && after >= known->cores_number) return {};
  if (known->cores_text.empty()) known->cores_text = views::cores_json(known->cores);
  return fmt::format(R"(,"cores":{{"key":{},"number":{},"per_core":{}}})", json_string(known->key),
                     known->cores_number, known->cores_text);
}

std::string Changes::since(const Question& question) const {
  const bool all = !question.after || *question.after < first_ || *question.after > number_;
  const std::uint64_t after = all ? 0 : *question.after;
  std::string text = fmt::format(
      R"({{"schema":"ttmem.changes.v1","number":{},"all":{},"time_unix_ns":{},)"
      R"("lists":{{"allocations":{},"programs":{},"postmortems":{}}},)"
      R"("dead_processes_total":{})",
      number_, all, time_unix_ns_, list_numbers_.allocations_and_programs,
      list_numbers_.allocations_and_programs, list_numbers_.postmortems, seen_.postmortems);
  if (all) text += fmt::format(R"(,"host":{})", json_string(host_));
  if (all || devices_number_ > after) {
    std::vector<std::string> keys;
    for (const Known& known : devices_) keys.push_back(json_string(known.key));
    text += fmt::format(R"(,"present":[{}])", text::join(keys, ","));
  }
  std::vector<std::string> changed;
  for (const Known& known : devices_) {
    if (!all && known.number <= after) continue;
    changed.push_back(fmt::format(R"({{"key":{},"number":{},"device":{}}})", json_string(known.key),
                                  known.number, question.brief ? known.brief : known.figures));
  }
  text += fmt::format(R"(,"devices":[{}])", text::join(changed, ","));
  if (all || warnings_number_ > after) text += "," + warnings_;
  return text + cores_part(question) + "}\n";
}

}  // namespace ttmem::serve

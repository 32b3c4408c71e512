// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/safe_text.hpp"
#include "cli/attach/cache.hpp"
#include "cli/attach/installation.hpp"
#include "cli/attach/runtime_library.hpp"
#include "cli/commands.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::cli {
namespace {

using attach::About;
using attach::CacheEntry;

constexpr const char* kAdapterExamples = R"(
Examples:
  ttmem adapter build                    for the TT-Metal that `ttmem run` would find
  ttmem adapter build --library build/lib/libtt_metal.so --headers .
  ttmem adapter list                     the adapters in the cache, ~/.cache/ttmem/adapters
  ttmem adapter remove 3f2a              the adapter whose ID begins with 3f2a
  ttmem adapter remove --all

An adapter is the part of ttmem that knows TT-Metal's own types. It is built for one library, with
the headers of the same version. The build ID of the library identifies the adapter.)";

struct AdapterOptions {
  std::string action;
  std::string id;
  std::string library;
  std::string headers;
  bool all = false;
};

int build(const AdapterOptions& options) {
  const auto library = attach::find_runtime({}, options.library);
  if (!library) return complain(library.error().message, kFailure);
  if (!*library) {
    return complain(
        "no TT-Metal was found; name its library with --library PATH, or set TT_METAL_HOME",
        kFailure);
  }
  const auto built = attach::build_adapter(**library, attach::installation(),
                                           {.headers = options.headers, .begins = say_building});
  if (!built) {
    return complain(fmt::format("no adapter for {}: {}", (*library)->path, built.error().message),
                    kFailure);
  }
  return print(fmt::format("{}\n", built->adapter()));
}

// Returns the state of an adapter, as shown in the column STATE of `ttmem adapter list`.
std::string_view state_of(const CacheEntry& entry) {
  if (!entry.built) return "failed";
  const auto library = attach::runtime_at(entry.about.library);
  const bool same = library && entry.id.starts_with(library->build_id + "-");
  return same ? "ready" : "library changed";
}

std::string table_of(const std::vector<CacheEntry>& entries) {
  using enum text::Column::Align;
  text::Table table({{"ID", left, 0, text::Column::Cut::end},
                     {"STATE", left},
                     {"BUILT", left, 2},
                     {"TTMEM", left, 3},
                     {"LIBRARY", left}});
  const text::TextOptions options = text_options(ColorWhen::automatic);
  for (const CacheEntry& entry : entries) {
    const About& about = entry.about;
    const auto known = [](const std::string& text) {
      return text.empty() ? std::string(text::kUnknown) : text;
    };
    const std::string when = about.built_unix_seconds == 0
                                 ? std::string(text::kUnknown)
                                 : text::format_time(about.built_unix_seconds * 1'000'000'000,
                                                     options.utc_offset_seconds);
    table.add_row({{entry.id},
                   {std::string(state_of(entry))},
                   {when},
                   {known(about.version)},
                   {known(about.library)}});
  }
  return table.render(0, options);
}

std::string json_of(const std::vector<CacheEntry>& entries) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto known = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  for (const CacheEntry& entry : entries) {
    const About& about = entry.about;
    nlohmann::ordered_json built;
    if (about.built_unix_seconds != 0) built = about.built_unix_seconds;
    list.push_back({{"id", entry.id},
                    {"state", state_of(entry)},
                    {"path", entry.built ? known(entry.adapter()) : known("")},
                    {"library", known(about.library)},
                    {"headers", known(about.headers)},
                    {"compiler", known(about.compiler)},
                    {"ttmem_version", known(about.version)},
                    {"built_unix", built}});
  }
  const nlohmann::ordered_json document = {{"schema", "ttmem.adapters.v1"}, {"adapters", list}};
  return json_text(document, 2) + "\n";
}

int list(bool json) {
  const auto entries = attach::list_entries();
  if (!entries) return complain(entries.error().message, kFailure);
  if (json) return print(json_of(*entries));
  if (entries->empty()) {
    return print(fmt::format("No adapters in {}.\n", safe_text(attach::cache_folder())));
  }
  return print(table_of(*entries));
}

int remove(const AdapterOptions& options) {
  if (options.all != options.id.empty()) {
    return complain("name one ID (`ttmem adapter list`), or write --all", kUsage);
  }
  const auto entries = attach::list_entries();
  if (!entries) return complain(entries.error().message, kFailure);
  std::vector<CacheEntry> chosen;
  for (const CacheEntry& entry : *entries) {
    if (entry.id.starts_with(options.id)) chosen.push_back(entry);
  }
  if (!options.all && chosen.size() != 1) {
    return complain(
        fmt::format("{} begins with '{}'; see `ttmem adapter list`",
                    chosen.empty() ? "no adapter's ID" : "more than one adapter's ID", options.id),
        kFailure);
  }
  for (const CacheEntry& entry : chosen) {
    if (const auto removed = attach::remove_entry(entry); !removed) {
      return complain(removed.error().message, kFailure);
    }
  }
  return print(fmt::format("Removed {}.\n", text::plural(chosen.size(), "adapter", "adapters")));
}

int run_action(const AdapterOptions& options, bool json) {
  const std::string& action = options.action;
  const bool builds = action == "build";
  const bool removes = action == "remove";
  if (!builds && !removes && action != "list") {
    return complain(action.empty() ? "adapter needs a word: build, list or remove"
                                   : fmt::format("unknown word '{}' after `ttmem adapter`; it is "
                                                 "build, list or remove",
                                                 action),
                    kUsage);
  }
  const bool given = !options.library.empty() || !options.headers.empty();
  const bool wrong = (given && !builds) || ((options.all || !options.id.empty()) && !removes) ||
                     (json && action != "list");
  if (wrong) {
    return complain(
        fmt::format("`ttmem adapter {}` does not take that; see ttmem adapter --help", action),
        kUsage);
  }
  return builds ? build(options) : removes ? remove(options) : list(json);
}

}  // namespace

void say_building(const std::string& library) {
  say(fmt::format("building the adapter for {} (about 30 s, once)", library));
}

void add_adapter(Command& app, CommonOptions& common) {
  auto options = std::make_shared<AdapterOptions>();
  Command command = app.add_subcommand(
      "adapter", "Build, list or remove the adapters that `ttmem run` attaches to TT-Metal",
      kAdapterExamples);
  command.add_option("ACTION", "", options->action, "build, list or remove");
  command.add_option("ID", "", options->id, "remove: the first characters of an ID");
  command.add_option("--library", "PATH", options->library,
                     "build: the library with TT-Metal's runtime");
  command.add_option("--headers", "DIR", options->headers,
                     "build: a checkout of TT-Metal, its build directory, or a package");
  command.add_flag("--all", options->all, "remove: all adapters");
  command.add_flag("--json", common.json, "list: as JSON");
  command.does([options, &common] { return run_action(*options, common.json); });
}

}  // namespace ttmem::cli

// SPDX-License-Identifier: Apache-2.0
#include "read/imports/import.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/plural.hpp"
#include "base/shell_quote.hpp"
#include "cli/commands.hpp"

namespace ttmem::cli {
namespace {

struct ImportOptions {
  std::string file;
  std::string out;
  bool overwrite = false;
};

constexpr const char* kImportExamples = R"(
Examples:
  ttmem import graph.json -o run.ttmem      a graph that ttnn captured, alone or as a report
  ttmem import model.jsonl -o model.ttmem   a capture of TT-Metal's hooks, as for ttmem replay
  ttmem report run.ttmem                    the next step)";

int run_import(const ImportOptions& options) {
  if (options.file.empty() || options.out.empty()) {
    return complain("import needs a FILE and -o, for example: ttmem import graph.json -o run.ttmem",
                    kUsage);
  }
  const auto imported = imports::import_file(options.file, options.out, options.overwrite);
  if (!imported) return complain(imported.error().message, kFailure);
  for (const std::string& note : imported->notes) say("note: " + note);
  say(fmt::format("imported {}, {}: {}, {}, {}", options.file, imported->what,
                  plural(imported->events, "event", "events"),
                  plural(imported->allocations, "buffer", "buffers"),
                  plural(imported->programs, "program", "programs")));
  say(fmt::format("see it with: ttmem report {}", shell_quote(options.out)));
  return kSuccess;
}

}  // namespace

void add_import(Command& app) {
  auto options = std::make_shared<ImportOptions>();
  Command command = app.add_subcommand(
      "import", "Convert a graph that ttnn captured, or a capture, into a recording",
      kImportExamples);
  command.add_option("FILE", "", options->file, "The graph or capture, recognized by its content");
  command.add_option("-o,--output", "OUT", options->out, "The recording to write");
  command.add_flag("-f,--force", options->overwrite, "Overwrite OUT");
  command.does([options] { return run_import(*options); });
}

}  // namespace ttmem::cli

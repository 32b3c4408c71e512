// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/fit.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/fit/fit_json.hpp"
#include "analyse/fit/fit_text.hpp"
#include "analyse/fit/scale.hpp"
#include "base/parse_number.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "read/placement/board.hpp"

namespace ttmem::cli {
namespace {

using fit::BoardFit;
using placement::Board;

struct FitOptions {
  std::string file;
  std::vector<Board> boards;
  fit::CarryOptions how;
  std::string max;
};

constexpr const char* kFitExamples = R"(
Examples:
  ttmem fit run.ttmem --board p100                  would this run fit on a p100?
  ttmem fit run.ttmem --board n150,n300,p150:13x10  on several boards, one with another grid
  ttmem fit run.ttmem --board p100 --scale kv=2     with everything under the scope kv twice as large
  ttmem fit run.ttmem --board p100 --max kv         how large may it be?
  ttmem fit run.ttmem --board p100 --l1-small 65536 --json

Every request of the recording is repeated, in order, with the allocator of the board. The exit status
is 0 if the run fits on all boards, 3 if it does not fit on one of them, and 4 if the answer is unknown
for one of them. docs/guides/fit.md explains the answers.)";

Result<std::vector<Board>> parse_boards(const std::string& text) {
  std::vector<Board> boards;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    auto board = placement::find_board(std::string_view(text).substr(begin, end - begin));
    if (!board) return board.error();
    boards.push_back(*std::move(board));
    begin = end + 1;
  }
  return boards;
}

Result<std::optional<std::uint64_t>> parse_bytes(const std::string& text) {
  const auto bytes = parse_number<std::uint64_t>(text);
  if (bytes) return bytes;
  return Error{"give a number of bytes, such as 65536"};
}

Result<BoardFit> judge(const FitOptions& options, const Board& board,
                       const recording::Reader& reader) {
  return options.max.empty() ? fit::fit(reader, board, options.how)
                             : fit::find_largest(reader, board, options.how, options.max);
}

int exit_code(const std::vector<BoardFit>& judged) {
  const auto has = [&](fit::Verdict verdict) {
    return std::any_of(judged.begin(), judged.end(),
                       [&](const BoardFit& board) { return board.verdict == verdict; });
  };
  if (has(fit::Verdict::does_not_fit)) return kLimit;
  return has(fit::Verdict::unknown) ? kUnknown : kSuccess;
}

int fit_command(const FitOptions& options, const CommonOptions& common) {
  if (options.file.empty() || options.boards.empty()) {
    return complain("`ttmem fit` needs a recording and a board: ttmem fit FILE --board p100",
                    kUsage);
  }
  const auto reader = recording::Reader::open(options.file);
  if (!reader) return complain(reader.error().message, kFailure);
  std::vector<BoardFit> judged;
  for (const Board& board : options.boards) {
    auto answer = judge(options, board, **reader);
    if (!answer) return complain(answer.error().message, kFailure);
    judged.push_back(*std::move(answer));
  }
  std::string text;
  if (common.json) text = fit::fit_json(judged);
  for (const BoardFit& board : judged) {
    if (common.json) break;
    if (!text.empty()) text += "\n";
    text += fit::fit_text(board, options.file, options.max, text_options(common));
  }
  const int printed = print(text);
  return printed != kSuccess ? printed : exit_code(judged);
}

}  // namespace

void add_fit(Command& app, CommonOptions& common) {
  auto options = std::make_shared<FitOptions>();
  Command command = app.add_subcommand(
      "fit", "Check whether a recorded run fits on another board, and how much larger it may be",
      kFitExamples);
  command.add_option("file", "FILE", options->file, "A recording of `ttmem record`");
  command.add_option("--board", "NAME,...", options->boards, parse_for("--board", parse_boards),
                     "Boards: n150, n300, p100, p150, ...; with a grid, p150:13x10");
  command.add_list("--scale", "SCOPE=FACTOR", options->how.scales,
                   parse_for("--scale", fit::parse_scale),
                   "Multiply the sizes of buffers under SCOPE; may be repeated");
  command.add_option("--max", "SCOPE", options->max,
                     "Find the largest factor for SCOPE that still fits");
  command.add_option("--l1-small", "BYTES", options->how.l1_small_size,
                     parse_for("--l1-small", parse_bytes),
                     "l1_small_size of the device (as in the recording)");
  command.add_option("--trace-region", "BYTES", options->how.trace_region_size,
                     parse_for("--trace-region", parse_bytes),
                     "trace_region_size of the device (as in the recording)");
  command.add_flag("--json", common.json, "As JSON: integers in bytes, unknown is null");
  command.add_option("--units", "UNIT", common.units, parse_for("--units", text::parse_units),
                     "Sizes of the text: auto, bytes, MiB or GiB");
  add_color(command, common);
  command.does([options, &common] { return fit_command(*options, common); });
}

}  // namespace ttmem::cli

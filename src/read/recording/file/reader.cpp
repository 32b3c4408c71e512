// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "read/recording/file/database.hpp"

namespace ttmem::recording {

struct Reader::State {
  Database database;
  Tables tables;
  std::uint64_t rows = 0;
  std::uint64_t dispatches = 0;  // how many of `rows` are dispatches
  Time end_ns = 0;
  std::function<void(double)> progress;
};

namespace {

constexpr std::uint64_t kRowsPerProgress = 1 << 16;

Result<std::int64_t> number_from(Database& database, const char* sql) {
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  if (!statement->step()) return database.error();
  return statement->integer(0);
}

// Opens a recording. If the recording has no end, its recorder may still run, and could not write
// while SQLite locks the file for a read. Therefore such a recording is copied, and the copy is
// read.
Result<Database> open_settled(const std::string& path) {
  auto database = Database::open(path, Database::Mode::read);
  if (!database) return database.error();
  const auto running = number_from(*database, "SELECT ended_ns IS NULL FROM run");
  // If the query failed, read_tables() reports that the file is not a recording.
  return running && *running != 0 ? database->copy() : std::move(database);
}

// Returns the time of the last event. This time stands for the end of a recording that has no end,
// because its writer was killed or still writes.
Result<Time> last_known(Database& database, const Tables& tables) {
  Time last = 0;
  std::vector<const char*> queries = {
      "SELECT max(begin_ns) FROM allocations", "SELECT max(end_ns) FROM allocations",
      "SELECT max(begin_ns) FROM programs",    "SELECT max(end_ns) FROM programs",
      "SELECT max(time_ns) FROM dispatches",   "SELECT max(time_ns) FROM timeline",
      "SELECT max(time_ns) FROM marks",        "SELECT max(end_ns) FROM gaps",
      "SELECT max(begin_ns) FROM devices",     "SELECT max(end_ns) FROM devices",
      "SELECT max(end_ns) FROM processes"};
  if (tables.has_partial_ends) queries.push_back("SELECT max(end_ns) FROM partial_ends");
  for (const char* sql : queries) {
    const auto time = number_from(database, sql);
    if (!time) return time.error();
    last = std::max(last, *time);
  }
  return last;
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  // SQLite sorts in temporary files. Because SIGXFSZ is ignored, a write beyond the file size limit
  // of the shell returns an error, like a write to a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  auto database = open_settled(path);
  if (!database) return database.error();
  auto tables = read_tables(*database);
  if (!tables) return tables.error();
  auto state =
      std::make_unique<State>(State{std::move(*database), std::move(*tables), 0, 0, 0, {}});
  for (const char* sql : {"SELECT max(id) FROM allocations", "SELECT max(id) FROM programs",
                          "SELECT max(id) FROM dispatches"}) {
    const auto rows = number_from(state->database, sql);
    if (!rows) return rows.error();
    // The last query counts the dispatches. `rows` still has this number.
    state->dispatches = static_cast<std::uint64_t>(std::max<RowId>(*rows, 0));
    state->rows += state->dispatches;
  }
  if (state->tables.run.ended_ns) {
    state->end_ns = *state->tables.run.ended_ns;
  } else {
    const auto last = last_known(state->database, state->tables);
    if (!last) return last.error();
    if (!is_possible(*last)) {
      return Error{fmt::format("{} is damaged: its last time is impossible", path)};
    }
    state->end_ns = *last;
  }
  return std::unique_ptr<Reader>(new Reader(std::move(state)));
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::~Reader() = default;

const std::string& Reader::path() const { return state_->database.path(); }
const Tables& Reader::tables() const { return state_->tables; }
std::uint64_t Reader::rows() const { return state_->rows; }
Time Reader::end_ns() const { return state_->end_ns; }
void Reader::set_progress(std::function<void(double)> progress) {
  state_->progress = std::move(progress);
}

std::unique_ptr<Story> Reader::story() const {
  return std::make_unique<Story>(state_->database, state_->tables);
}

Result<void> Reader::for_each_allocation(
    const std::function<void(const RecordedAllocation&)>& visit) const {
  return for_each_row(state_->database, state_->tables, visit);
}

Result<void> Reader::for_each_program(
    const std::function<void(const RecordedProgram&)>& visit) const {
  return for_each_row(state_->database, state_->tables, visit);
}

Result<void> Reader::for_each_event(const std::function<bool(const Event&)>& visit,
                                    Telling telling) const {
  Story story(state_->database, state_->tables, telling);
  const std::uint64_t skipped = telling == Telling::everything ? 0 : state_->dispatches;
  const auto rows = static_cast<double>(state_->rows - skipped);
  std::uint64_t told = 0;
  while (const Event* event = story.next()) {
    if (!visit(*event)) break;
    story.advance();
    if (story.rows_read() - told < kRowsPerProgress) continue;
    told = story.rows_read();
    if (state_->progress) state_->progress(static_cast<double>(told) / rows);
  }
  if (const auto failed = story.failed()) return *failed;
  return {};
}

}  // namespace ttmem::recording

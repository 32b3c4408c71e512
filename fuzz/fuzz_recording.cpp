// SPDX-License-Identifier: Apache-2.0
//
// A recording that anybody may have written. An input is what a stranger does to a good one: the
// last bytes say how it is read, and whether the rest changes values or bytes.
#include <fuzzer/FuzzedDataProvider.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/format.hpp"
#include "export/output.hpp"
#include "export/selection.hpp"
#include "leaks/leaks_json.hpp"
#include "leaks/recorded_leaks.hpp"
#include "recording/file/database.hpp"
#include "recording/file/reader.hpp"
#include "recording/file/writer.hpp"
#include "report/make_report.hpp"
#include "report/report_json.hpp"
#include "support/recorded_history.hpp"
#include "viewer/timeline.hpp"

namespace ttmem::fuzz {
namespace {

using recording::Database;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

struct Column {
  std::string table;
  std::string name;
};

// A good recording, in a folder that goes with this process.
class World {
 public:
  World() : folder_("/dev/shm/ttmem-fuzz-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    {
      const auto writer = recording::Writer::create(path(), recording::Run{}, true);
      require(static_cast<bool>(writer), "a recording can be written");
      const recording::RandomHistory history(**writer, 7, 60);
      require(static_cast<bool>((*writer)->finish(recording::Run{.ended_ns = 1000})), "all of it");
    }
    std::ifstream file(path(), std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(file), {});
    read_columns();
  }
  ~World() { std::filesystem::remove_all(folder_); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/run.ttmem"; }
  [[nodiscard]] const std::string& good() const { return good_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  void write(const std::string& bytes) const {
    std::filesystem::remove(path() + "-journal");
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  void read_columns() {
    auto database = Database::open(path(), Database::Mode::create);
    require(static_cast<bool>(database), "the recording can be opened");
    auto rows = database->prepare(
        "SELECT s.name, c.name FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS c "
        "WHERE s.type = 'table'");
    require(static_cast<bool>(rows), "it has columns");
    while (rows->step().value_or(false)) {
      columns_.push_back({std::string(rows->text(0)), std::string(rows->text(1))});
    }
  }

  std::string folder_;
  std::string good_;
  std::vector<Column> columns_;
};

void bind_value(recording::Statement& statement, FuzzedDataProvider& input, std::string& text) {
  switch (input.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      return statement.bind_null(1);
    case 1:
      return statement.bind(1, input.ConsumeIntegral<std::int64_t>());
    case 2:
      return statement.bind(1, input.ConsumeIntegralInRange<std::int64_t>(-2, 70));
    case 3:  // about a power of two
      return statement.bind(1, (std::uint64_t{1} << input.ConsumeIntegralInRange<int>(0, 63)) +
                                   input.ConsumeIntegralInRange<std::uint64_t>(0, 2) - 1);
    default:
      text = input.ConsumeRandomLengthString(64);
      return statement.bind(1, std::string_view(text));
  }
}

// Other values in some columns, of one row or of all.
void change_values(const World& world, FuzzedDataProvider& input) {
  auto database = Database::open(world.path(), Database::Mode::create);
  if (!database || !database->execute("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN")) {
    return;
  }
  std::string text;
  for (int left = 16; left > 0 && input.remaining_bytes() > 0; --left) {
    const Column& column =
        world.columns()[input.ConsumeIntegralInRange<std::size_t>(0, world.columns().size() - 1)];
    const bool one = input.ConsumeBool();
    const std::string sql = "UPDATE OR IGNORE " + column.table + " SET " + column.name + " = ?1" +
                            (one ? " WHERE rowid = ?2" : "");
    auto statement = database->prepare(sql.c_str());
    if (!statement) continue;  // it has no rowid
    bind_value(*statement, input, text);
    if (one) statement->bind(2, input.ConsumeIntegralInRange<std::int64_t>(1, 40));
    if (!statement->run()) break;
  }
  static_cast<void>(database->execute("COMMIT"));
}

void change_bytes(const World& world, FuzzedDataProvider& input) {
  std::string bytes = world.good();
  while (input.remaining_bytes() > 0) {
    bytes[input.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 1)] =
        input.ConsumeIntegral<char>();
  }
  world.write(bytes);
}

void require_json(const std::string& text) {
  require(nlohmann::json::accept(text), "what is written is JSON");
}

void read_report(recording::Reader& reader) {
  const auto report = report::make_report(reader, {});
  if (!report) return;
  require_json(report::report_json(*report, 100));
  const auto timeline = viewer::timeline_json(reader, *report, viewer::whole(reader), {});
  if (timeline) require_json(*timeline);
}

void read_leaks(recording::Reader& reader) {
  const auto leaks = leaks::recorded_leaks(reader, {}, {});
  if (leaks) require_json(leaks::leaks_json({*leaks}));
}

void write_export(recording::Reader& reader, const exporter::Format& format) {
  if (format.write == nullptr) return;
  auto output = exporter::Output::create("/dev/null", true);
  require(static_cast<bool>(output), "/dev/null can be written");
  const exporter::Selection selection(reader.tables(), {});
  static_cast<void>(
      exporter::write({.reader = reader, .selection = selection}, format, std::move(*output)));
}

// One of the ways to read it: all of them take a third of a second.
void read_somehow(const std::string& path, std::size_t way) {
  const auto reader = recording::Reader::open(path);
  if (!reader) return;
  if (way < std::size(exporter::kFormats)) return write_export(**reader, exporter::kFormats[way]);
  if (way == std::size(exporter::kFormats)) return read_leaks(**reader);
  read_report(**reader);
}

}  // namespace
}  // namespace ttmem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttmem;
  static const fuzz::World world;
  FuzzedDataProvider input(data, size);
  const auto way = input.ConsumeIntegralInRange<std::size_t>(0, std::size(exporter::kFormats) + 1);
  if (input.ConsumeBool()) {
    fuzz::change_bytes(world, input);
  } else {
    world.write(world.good());
    fuzz::change_values(world, input);
  }
  fuzz::read_somehow(world.path(), way);
  return 0;
}

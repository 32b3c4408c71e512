// SPDX-License-Identifier: Apache-2.0
//
// Reads a hostile recording. An input describes how an attacker changes a good recording. The last
// bytes of the input select three things: how the recording is read, whether the other bytes change
// values or bytes of the file, and whether a journal is in the same folder. Reading must not change
// any file.
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

#include "analyse/leaks/leaks_json.hpp"
#include "analyse/leaks/recorded_leaks.hpp"
#include "analyse/report/make_report.hpp"
#include "analyse/report/report_json.hpp"
#include "read/recording/file/database.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/file/writer.hpp"
#include "serve/viewer/timeline.hpp"
#include "show/exports/format.hpp"
#include "show/exports/output.hpp"
#include "show/exports/selection.hpp"
#include "support/recorded_history.hpp"

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

// A good recording, in a folder that the destructor removes.
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

  [[nodiscard]] std::string journal_path() const { return path() + "-journal"; }
  [[nodiscard]] std::string victim_path() const { return folder_ + "/victim"; }

  void write(const std::string& bytes) const {
    std::filesystem::remove(journal_path());
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  void write_journal(const std::string& bytes) const {
    std::ofstream(journal_path(), std::ios::binary | std::ios::trunc) << bytes;
    std::ofstream(victim_path()) << "precious";
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
    case 3:  // a power of two, or a number next to it
      return statement.bind(1, (std::uint64_t{1} << input.ConsumeIntegralInRange<int>(0, 63)) +
                                   input.ConsumeIntegralInRange<std::uint64_t>(0, 2) - 1);
    default:
      text = input.ConsumeRandomLengthString(64);
      return statement.bind(1, std::string_view(text));
  }
}

// Changes the values of some columns, in one row or in all rows.
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
    if (!statement) continue;  // the statement needs a rowid, and this table has none
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

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

// Makes a rollback journal with changed pages of the good recording and the name of a file that
// SQLite would delete.
std::string journal(const World& world, FuzzedDataProvider& input) {
  constexpr std::string_view magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  constexpr std::uint32_t page_bytes = 8192;
  const auto pages = static_cast<std::uint32_t>(world.good().size() / page_bytes);
  const auto records = input.ConsumeIntegralInRange<std::uint32_t>(0, 8);
  const auto usually = [&](std::uint32_t value) {
    return input.ConsumeIntegralInRange<int>(0, 7) == 0 ? input.ConsumeIntegral<std::uint32_t>()
                                                        : value;
  };
  std::string bytes(magic);
  bytes += big_endian(usually(records)) + big_endian(0) + big_endian(usually(pages)) +
           big_endian(usually(512)) + big_endian(usually(page_bytes));
  bytes.resize(512);
  for (std::uint32_t record = 0; record < records; ++record) {
    const auto number = input.ConsumeIntegralInRange<std::uint32_t>(1, pages);
    std::string page = world.good().substr((number - 1) * page_bytes, page_bytes);
    for (int left = input.ConsumeIntegralInRange<int>(0, 4); left > 0; --left) {
      page[input.ConsumeIntegralInRange<std::size_t>(0, page.size() - 1)] =
          input.ConsumeIntegral<char>();
    }
    std::uint32_t sum = 0;
    for (int at = page_bytes - 200; at > 0; at -= 200) {
      sum += static_cast<std::uint8_t>(page[static_cast<std::size_t>(at)]);
    }
    bytes += big_endian(usually(number)) + page + big_endian(usually(sum));
  }
  if (input.ConsumeBool()) {
    const std::string name = world.victim_path();
    std::uint32_t sum = 0;
    for (const char c : name) sum += static_cast<std::uint32_t>(c);
    bytes += big_endian(0x40000000 / page_bytes + 1) + name +
             big_endian(static_cast<std::uint32_t>(name.size())) + big_endian(sum);
    bytes += magic;
  }
  return bytes;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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

void write_export(recording::Reader& reader, const exports::ExportFormat& format) {
  if (format.write == nullptr) return;
  auto output = exports::Output::create("/dev/null", true);
  require(static_cast<bool>(output), "/dev/null can be written");
  const exports::Selection selection(reader.tables(), {});
  static_cast<void>(
      exports::write({.reader = reader, .selection = selection}, format, std::move(*output)));
}

// Reads the recording in one of several ways. One input does not use all ways, because all ways
// together take a third of a second.
void read_somehow(const std::string& path, std::size_t way) {
  const auto reader = recording::Reader::open(path);
  if (!reader) return;
  if (way < std::size(exports::kFormats)) return write_export(**reader, exports::kFormats[way]);
  if (way == std::size(exports::kFormats)) return read_leaks(**reader);
  read_report(**reader);
}

}  // namespace
}  // namespace ttmem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttmem;
  static const fuzz::World world;
  FuzzedDataProvider input(data, size);
  const auto way = input.ConsumeIntegralInRange<std::size_t>(0, std::size(exports::kFormats) + 1);
  const bool has_journal = input.ConsumeBool();
  const std::string journal = has_journal ? fuzz::journal(world, input) : std::string();
  if (input.ConsumeBool()) {
    fuzz::change_bytes(world, input);
  } else {
    world.write(world.good());
    fuzz::change_values(world, input);
  }
  const std::string before = fuzz::bytes_of(world.path());
  if (!has_journal) {
    fuzz::read_somehow(world.path(), way);
  } else {
    world.write_journal(journal);
    fuzz::read_somehow(world.path(), way);
    fuzz::require(fuzz::bytes_of(world.journal_path()) == journal, "the journal is as it was");
    fuzz::require(std::filesystem::exists(world.victim_path()), "no other file is deleted");
  }
  fuzz::require(fuzz::bytes_of(world.path()) == before, "the recording is as it was");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_depth.hpp"
#include "base/limits.hpp"
#include "base/parse_number.hpp"
#include "base/shorten.hpp"
#include "read/recording/file/core_text.hpp"
#include "read/recording/file/schema.hpp"

namespace ttmem::recording {
namespace {

// The maximum number of devices of a recording. A recording covers one machine, and the allocation
// server has the same limit for one machine.
constexpr std::size_t kMaxChips = 1024;

// The maximum length of a name; a longer name is shortened in the middle. Thousands of rows may
// share a name, and the output repeats it for each row: a small file would become gigabytes. Real
// names are far shorter: a segment has labels of 120 bytes, command lines of 256 bytes, and paths
// of at most 64 scopes.
constexpr std::size_t kMaxNameBytes = 4096;

std::string name_in(std::string_view text) {
  std::string name(std::min(text.size(), kMaxNameBytes), '\0');
  name.resize(shorten(text, name));
  return name;
}

// Sorts rows by time. Rows with the same time keep their order.
template <typename Row>
void sort_by_time(std::vector<Row>& rows, Time Row::*time) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return a.*time < b.*time; });
}

// Reads one table after another. Fails at a row that refers to a missing row, or whose id is not
// the next id: no recorder writes such a row.
class Loader {
 public:
  explicit Loader(Database& database) : database_(database) {}

  Result<Tables> load() {
    refuse_computed_columns();
    read_run();
    if (failed_) return *failed_;
    read_people();
    read_values();
    read_programs();
    read_moments();
    if (failed_) return *failed_;
    return std::move(tables_);
  }

 private:
  // The number of leading columns that identify a row. The values of these columns must grow from
  // row to row, because the pages of a damaged file may form a loop.
  enum class Key : int { none, one, two };

  // Calls use(statement) for each row. Fails if use() returns false, which means that the row is
  // invalid.
  template <typename Use>
  void each(const char* sql, Key key, Use&& use) {
    if (failed_) return;
    auto statement = database_.prepare(sql);
    if (!statement) {
      failed_ = statement.error();
      return;
    }
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::pair before(least, least);
    for (;;) {
      const std::optional<bool> row = statement->step();
      if (!row) failed_ = database_.error();
      if (!row || !*row) return;
      const std::pair known_by(key == Key::none ? 0 : statement->integer(0),
                               key == Key::two ? statement->integer(1) : 0);
      const bool grows = key == Key::none || known_by > before;
      before = known_by;
      if (!grows || !has_room_for(*statement) || !use(*statement)) {
        failed_ = damaged(sql);
        return;
      }
    }
  }

  // Returns false if the rows so far have more text than the file can contain. In a crafted file,
  // many rows can share the same bytes. A text takes at least half as many bytes in the file as in
  // memory.
  bool has_room_for(const Statement& s) {
    text_bytes_ += s.text_bytes();
    return text_bytes_ / 2 <= database_.file_bytes();
  }

  [[nodiscard]] Error damaged(std::string_view sql) const {
    return {
        fmt::format("{} is damaged: a row of '{}' is impossible, or refers to what is not there",
                    database_.path(), sql)};
  }

  template <typename T>
  static bool fits(std::int64_t value, T& out) {
    if (value < 0 || static_cast<std::uint64_t>(value) > std::numeric_limits<T>::max())
      return false;
    out = static_cast<T>(value);
    return true;
  }
  static bool at(const Statement& s, int column, Time& out) {
    out = s.integer(column);
    return is_possible(out);
  }
  static bool at(const Statement& s, int column, std::optional<Time>& out) {
    if (!s.is_null(column)) out = s.integer(column);
    return is_possible(out.value_or(0));
  }
  static bool bytes(const Statement& s, int column, std::uint64_t& out) {
    return fits(s.integer(column), out) && out <= kMaxBytes;
  }
  // Reads a reference to a row; 0 means none. Returns false if the row does not exist.
  template <typename T, typename Rows>
  static bool refer(const Statement& s, int column, const Rows& rows, T& out) {
    const std::int64_t id = s.integer(column);
    out = static_cast<T>(id);
    return id >= 0 && static_cast<std::uint64_t>(id) <= rows.size();
  }
  template <typename Rows>
  static bool next_of(const Statement& s, const Rows& rows) {
    return s.integer(0) == static_cast<std::int64_t>(rows.size()) + 1;
  }

  void refuse_computed_columns();
  void read_run();
  void read_people();
  void read_signals();
  void read_l1_peaks();
  void check_chips();
  void read_values();
  void read_programs();
  [[nodiscard]] bool has_table(std::string_view name);
  [[nodiscard]] bool has_column(std::string_view table, std::string_view name);
  void read_scope_visits();
  void read_moments();
  bool add_device(const Statement& s);
  bool add_request(const Statement& s);
  void read_layouts_of_buffers();

  Database& database_;
  Tables tables_;
  std::uint64_t text_bytes_ = 0;  // text of all rows so far
  std::optional<Error> failed_;
};

// Refuses computed columns, because computing a column may take any amount of time.
void Loader::refuse_computed_columns() {
  bool computes = false;
  each(
      "SELECT 1 FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS c "
      "WHERE s.type = 'table' AND c.hidden IN (2, 3) LIMIT 1",
      Key::none, [&](const Statement&) { return computes = true; });
  if (!computes) return;
  failed_ = Error{fmt::format("{} is not a recording of ttmem: a table has computed columns",
                              database_.path())};
}

void Loader::read_run() {
  if (failed_) return;
  auto schema = database_.prepare("SELECT schema FROM run");
  const auto row = schema ? schema->step() : std::nullopt;
  if (database_.is_empty() || (row && !*row)) {
    failed_ =
        Error{fmt::format("{} is not a recording of ttmem: it is empty; if it was to be one, its "
                          "recorder ended before "
                          "it wrote anything: record again",
                          database_.path())};
    return;
  }
  if (!row) {
    const Error why = database_.error();
    const bool other = why.message.find("no such table") != std::string::npos ||
                       why.message.find("not an error") != std::string::npos;
    failed_ = other ? Error{fmt::format("{} is not a recording of ttmem", database_.path())} : why;
    return;
  }
  if (schema->text(0) != kSchema) {
    failed_ = Error{fmt::format("{} is a recording of another version ({}); this ttmem reads {}",
                                database_.path(), schema->text(0), kSchema)};
    return;
  }
  each(
      "SELECT version, source, command, host, started_unix_ns, ended_ns, exit_code, events, "
      "lost_events, aggregate, imported FROM run LIMIT 1",
      Key::none, [&](const Statement& s) {
        Run& run = tables_.run;
        run.version = s.text(0);
        run.source = s.text(1);
        run.command = s.text(2);
        run.host = s.text(3);
        run.started_unix_ns = static_cast<std::uint64_t>(s.integer(4));
        if (!s.is_null(6)) run.exit_code = static_cast<int>(s.integer(6));
        run.events = static_cast<std::uint64_t>(s.integer(7));
        run.lost_events = static_cast<std::uint64_t>(s.integer(8));
        run.aggregate = s.integer(9) != 0;
        run.imported = s.text(10);
        return at(s, 5, run.ended_ns);
      });
  if (is_nested_too_deep(tables_.run.imported)) {
    failed_ = Error{fmt::format("{} is damaged: run.imported is nested deeper than {} levels",
                                database_.path(), kMaxJsonDepth)};
  }
  if (failed_ || !has_table("not_tracked")) return;
  each("SELECT reason, processes FROM not_tracked LIMIT 64", Key::none, [&](const Statement& s) {
    const std::int64_t processes = s.integer(1);
    if (processes <= 0) return false;
    tables_.run.not_tracked[name_in(s.text(0))] = static_cast<std::uint64_t>(processes);
    return true;
  });
}

void Loader::read_people() {
  each("SELECT id, pid, name, command, user, begin_ns, end_ns, killed FROM processes ORDER BY id",
       Key::one, [&](const Statement& s) {
         if (!next_of(s, tables_.processes)) return false;
         RecordedProcess& process = tables_.processes.emplace_back();
         process.id = s.integer(0);
         process.pid = static_cast<std::int32_t>(s.integer(1));
         process.name = name_in(s.text(2));
         process.command = name_in(s.text(3));
         process.user = name_in(s.text(4));
         // Older recorders took every process without a clean exit for killed.
         if (!s.is_null(7) && s.integer(7) == 0) process.killed = false;
         return at(s, 5, process.begin_ns) && at(s, 6, process.end_ns);
       });
  read_signals();
  each(
      "SELECT id, process, number, uid, arch, board, grid_x, grid_y, l1_bytes_per_core, l1_base, "
      "l1_small_bytes_per_core, dram_channels, dram_bytes_per_channel, trace_region_bytes, "
      "known_kinds, resident_known, cb_estimate, begin_ns, end_ns FROM devices ORDER BY id",
      Key::one, [&](const Statement& s) { return add_device(s); });
  read_l1_peaks();
  check_chips();
  tables_.has_partial_ends = has_table("partial_ends");
  each("SELECT id, device FROM device_sets ORDER BY id, device", Key::two, [&](const Statement& s) {
    RowId device = 0;
    auto& sets = tables_.device_sets;
    if (!refer(s, 1, tables_.devices, device) || device == 0) return false;
    if (next_of(s, sets)) sets.emplace_back();
    if (sets.empty() || s.integer(0) != static_cast<std::int64_t>(sets.size())) return false;
    sets.back().push_back(device);
    return sets.back().size() <= kMaxChips;
  });
}

// Reads which signals ended processes. A recording without this column does not tell a process that
// was killed from a process that called _exit().
void Loader::read_signals() {
  if (!has_column("processes", "signal")) return;
  each("SELECT id, killed, signal FROM processes ORDER BY id", Key::one, [&](const Statement& s) {
    RowId id = 0;
    if (!refer(s, 0, tables_.processes, id) || id == 0) return false;
    RecordedProcess& process = tables_.processes[static_cast<std::size_t>(id - 1)];
    if (!s.is_null(1)) process.killed = s.integer(1) != 0;
    return fits(s.integer(2), process.signal);
  });
}

// Reads the peaks of L1 that processes counted. Recordings of older versions lack this column.
void Loader::read_l1_peaks() {
  if (!has_column("devices", "l1_peak_bytes")) return;
  each("SELECT id, l1_peak_bytes FROM devices WHERE l1_peak_bytes IS NOT NULL ORDER BY id",
       Key::one, [&](const Statement& s) {
         RowId id = 0;
         if (!refer(s, 0, tables_.devices, id) || id == 0) return false;
         auto& peak = tables_.devices[static_cast<std::size_t>(id - 1)].l1_peak_bytes;
         return bytes(s, 1, peak.emplace());
       });
}

void Loader::check_chips() {
  std::set<std::pair<std::uint64_t, std::uint32_t>> chips;
  for (const RecordedDevice& device : tables_.devices) chips.emplace(device.uid, device.number);
  if (chips.size() <= kMaxChips) return;
  failed_ = Error{fmt::format("{} is damaged: it has {} devices, and no machine has more than {}",
                              database_.path(), chips.size(), kMaxChips)};
}

bool Loader::add_device(const Statement& s) {
  if (!next_of(s, tables_.devices)) return false;
  RecordedDevice& device = tables_.devices.emplace_back();
  device.id = s.integer(0);
  if (!refer(s, 1, tables_.processes, device.process) || device.process == 0) return false;
  const std::string_view uid = s.text(3);
  if (uid.starts_with("0x")) {
    device.uid = parse_number<std::uint64_t>(uid.substr(2), 16).value_or(0);
  }
  device.arch = name_in(s.text(4));
  device.board = name_in(s.text(5));
  // Impossible sizes count as unknown: a process may report anything about its devices.
  if (!bytes(s, 12, device.dram_bytes_per_channel)) device.dram_bytes_per_channel = 0;
  if (!bytes(s, 13, device.trace_region_bytes)) device.trace_region_bytes = 0;
  device.resident_known = s.integer(15) != 0;
  device.cb_estimate = s.integer(16) != 0;
  return at(s, 17, device.begin_ns) && at(s, 18, device.end_ns) &&
         fits(s.integer(2), device.number) && fits(s.integer(6), device.grid_x) &&
         fits(s.integer(7), device.grid_y) && fits(s.integer(8), device.l1_bytes_per_core) &&
         fits(s.integer(9), device.l1_base) &&
         fits(s.integer(10), device.l1_small_bytes_per_core) &&
         fits(s.integer(11), device.dram_channels) && fits(s.integer(14), device.known_kinds) &&
         std::uint32_t{device.grid_x} * device.grid_y <= kMaxCores;
}

void Loader::read_values() {
  const auto read_list = [&](const char* sql, std::vector<std::string>& list) {
    each(sql, Key::one, [&](const Statement& s) {
      if (!next_of(s, list)) return false;
      list.push_back(name_in(s.text(1)));
      return true;
    });
  };
  read_list("SELECT id, text FROM texts ORDER BY id", tables_.texts);
  read_list("SELECT id, path FROM scopes ORDER BY id", tables_.scopes);
  read_scope_visits();
  each("SELECT id, cores FROM core_sets ORDER BY id", Key::one, [&](const Statement& s) {
    const auto cores = parse_cores(s.text(1));
    if (!next_of(s, tables_.core_sets) || !cores) return false;
    tables_.core_sets.push_back(*cores);
    return true;
  });
  each(
      "SELECT id, kind, role, bytes, bytes_per_bank, banks, cores, own_banks, estimate, label, "
      "scope FROM requests ORDER BY id",
      Key::one, [&](const Statement& s) { return add_request(s); });
  read_layouts_of_buffers();
}

// Reads the layouts of buffers. Recordings of older versions do not have these columns; the layouts
// are then unknown.
void Loader::read_layouts_of_buffers() {
  if (!has_column("requests", "page_bytes")) return;
  each("SELECT id, spread, direction, page_bytes, shard_banks FROM requests ORDER BY id", Key::one,
       [&](const Statement& s) {
         RowId id = 0;
         if (!refer(s, 0, tables_.requests, id) || id == 0) return false;
         BufferLayout& layout = tables_.requests[static_cast<std::size_t>(id - 1)].layout;
         layout.spread = spread_named(s.text(1));
         layout.direction = direction_named(s.text(2));
         // An impossible page size counts as unknown: earlier recorders wrote any size that a
         // process reported.
         if (!bytes(s, 3, layout.page_bytes)) layout.page_bytes = 0;
         return fits(s.integer(4), layout.shard_banks);
       });
}

bool Loader::add_request(const Statement& s) {
  const auto kind = kind_named(s.text(1));
  if (!next_of(s, tables_.requests) || !kind) return false;
  RecordedRequest& request = tables_.requests.emplace_back();
  request.kind = *kind;
  request.has_bytes_per_bank = !s.is_null(4);
  request.own_banks = s.integer(7) != 0;
  request.estimate = s.integer(8) != 0;
  const bool sized = bytes(s, 3, request.bytes) && bytes(s, 4, request.bytes_per_bank) &&
                     fits(s.integer(5), request.banks) && request.banks <= kMaxBanks;
  return sized && fits(s.integer(2), request.role) && request.role <= 2 &&
         refer(s, 6, tables_.core_sets, request.cores) &&
         refer(s, 9, tables_.texts, request.label) && refer(s, 10, tables_.scopes, request.scope);
}

void Loader::read_programs() {
  each("SELECT id FROM layouts ORDER BY id", Key::one, [&](const Statement& s) {
    if (!next_of(s, tables_.layouts)) return false;
    tables_.layouts.emplace_back();
    return true;
  });
  each(
      "SELECT layout, position, address, bytes, cores, global FROM circular_buffers "
      "ORDER BY layout, position",
      Key::two, [&](const Statement& s) {
        RowId layout = 0;
        const auto cores = parse_cores(s.text(4));
        if (!refer(s, 0, tables_.layouts, layout) || layout == 0 || !cores) return false;
        RecordedCb& cb = tables_.layouts[static_cast<std::size_t>(layout - 1)].emplace_back();
        cb.cores = *cores;
        cb.global = s.integer(5) != 0;
        return fits(s.integer(2), cb.address) && fits(s.integer(3), cb.bytes);
      });
  each("SELECT id, trace FROM launches ORDER BY id", Key::one, [&](const Statement& s) {
    if (!next_of(s, tables_.launches)) return false;
    tables_.launches.emplace_back().trace = s.integer(1) != 0;
    return true;
  });
  each("SELECT launch, position, program FROM launch_programs ORDER BY launch, position", Key::two,
       [&](const Statement& s) {
         RowId launch = 0;
         if (!refer(s, 0, tables_.launches, launch) || launch == 0) return false;
         tables_.launches[static_cast<std::size_t>(launch - 1)].programs.push_back(
             static_cast<std::uint64_t>(s.integer(2)));
         return true;
       });
}

// Returns true if the file has the table. Recordings of older versions lack some tables.
bool Loader::has_table(std::string_view name) {
  bool found = false;
  const std::string sql =
      fmt::format("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{}'", name);
  each(sql.c_str(), Key::none, [&](const Statement&) { return found = true; });
  return found;
}

// Returns false in a recording of an older version, which did not have the column.
bool Loader::has_column(std::string_view table, std::string_view name) {
  bool found = false;
  const std::string sql =
      fmt::format("SELECT 1 FROM pragma_table_info('{}') WHERE name = '{}'", table, name);
  each(sql.c_str(), Key::none, [&](const Statement&) { return found = true; });
  return found;
}

void Loader::read_scope_visits() {
  if (!has_table("scope_visits")) return;
  each(
      "SELECT process, scope, entered, open, last_ns, before_ns FROM scope_visits "
      "ORDER BY process, scope",
      Key::two, [&](const Statement& s) {
        RowId process = 0;
        std::uint32_t scope = 0;
        ScopeVisits visits;
        if (!refer(s, 0, tables_.processes, process) || !refer(s, 1, tables_.scopes, scope)) {
          return false;
        }
        const bool sized = fits(s.integer(2), visits.entered) && fits(s.integer(3), visits.open) &&
                           at(s, 4, visits.last_ns) && at(s, 5, visits.before_ns);
        tables_.scope_visits[{process, scope}] = visits;
        return sized && process != 0 && scope != 0;
      });
}

void Loader::read_moments() {
  each("SELECT id, time_ns, process, name FROM marks ORDER BY id", Key::one,
       [&](const Statement& s) {
         Mark& mark = tables_.marks.emplace_back();
         mark.name = s.text(3);
         return at(s, 1, mark.time_ns) && refer(s, 2, tables_.processes, mark.process);
       });
  if (has_table("failures")) {
    each("SELECT id, time_ns, process, text FROM failures ORDER BY id", Key::one,
         [&](const Statement& s) {
           RecordedFailure& failure = tables_.failures.emplace_back();
           failure.text = s.text(3);
           return at(s, 1, failure.time_ns) && refer(s, 2, tables_.processes, failure.process) &&
                  failure.process != 0;
         });
  }
  each("SELECT id, process, begin_ns, end_ns, lost_events FROM gaps ORDER BY id", Key::one,
       [&](const Statement& s) {
         Gap& gap = tables_.gaps.emplace_back();
         gap.lost_events = static_cast<std::uint64_t>(s.integer(4));
         return refer(s, 1, tables_.processes, gap.process) && gap.process != 0 &&
                at(s, 2, gap.begin_ns) && at(s, 3, gap.end_ns);
       });
  each("SELECT id, time_ns, device, kind, used_bytes, peak_bytes FROM timeline ORDER BY id",
       Key::one, [&](const Statement& s) {
         const auto kind = kind_named(s.text(3));
         if (!kind) return false;
         RecordedSample& sample = tables_.timeline.emplace_back();
         sample.kind = *kind;
         sample.used_bytes = static_cast<std::uint64_t>(s.integer(4));
         sample.peak_bytes = static_cast<std::uint64_t>(s.integer(5));
         return at(s, 1, sample.time_ns) && refer(s, 2, tables_.devices, sample.device) &&
                sample.device != 0;
       });
  sort_by_time(tables_.marks, &Mark::time_ns);
  sort_by_time(tables_.failures, &RecordedFailure::time_ns);
  sort_by_time(tables_.gaps, &Gap::begin_ns);
  sort_by_time(tables_.timeline, &RecordedSample::time_ns);
}

}  // namespace

Result<Tables> read_tables(Database& database) { return Loader(database).load(); }

}  // namespace ttmem::recording

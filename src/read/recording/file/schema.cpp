// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/schema.hpp"

#include <array>
#include <cstddef>

namespace ttmem::recording {

const char* const kCreateTables = R"sql(
CREATE TABLE run (
  schema TEXT NOT NULL, version TEXT, source TEXT, command TEXT, host TEXT, started_unix_ns INTEGER,
  ended_ns INTEGER, exit_code INTEGER, events INTEGER, lost_events INTEGER, aggregate INTEGER,
  imported TEXT);
CREATE TABLE not_tracked (reason TEXT PRIMARY KEY, processes INTEGER) WITHOUT ROWID;
CREATE TABLE processes (
  id INTEGER PRIMARY KEY, pid INTEGER, name TEXT, command TEXT, user TEXT,
  begin_ns INTEGER, end_ns INTEGER, killed INTEGER, signal INTEGER);
CREATE TABLE devices (
  id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes, number INTEGER, uid TEXT, arch TEXT,
  board TEXT, grid_x INTEGER, grid_y INTEGER, l1_bytes_per_core INTEGER, l1_base INTEGER,
  l1_small_bytes_per_core INTEGER, dram_channels INTEGER, dram_bytes_per_channel INTEGER,
  trace_region_bytes INTEGER, known_kinds INTEGER, resident_known INTEGER, cb_estimate INTEGER,
  begin_ns INTEGER, end_ns INTEGER, l1_peak_bytes INTEGER);
CREATE TABLE device_sets (
  id INTEGER, device INTEGER REFERENCES devices, PRIMARY KEY (id, device)) WITHOUT ROWID;
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE scopes (id INTEGER PRIMARY KEY, path TEXT);
CREATE TABLE scope_visits (
  process INTEGER REFERENCES processes, scope INTEGER REFERENCES scopes, entered INTEGER,
  open INTEGER, last_ns INTEGER, before_ns INTEGER, PRIMARY KEY (process, scope)) WITHOUT ROWID;
CREATE TABLE core_sets (id INTEGER PRIMARY KEY, cores TEXT);
CREATE TABLE requests (
  id INTEGER PRIMARY KEY, kind TEXT, role INTEGER, bytes INTEGER, bytes_per_bank INTEGER,
  banks INTEGER, cores INTEGER REFERENCES core_sets, own_banks INTEGER, estimate INTEGER,
  label INTEGER REFERENCES texts, scope INTEGER REFERENCES scopes, spread TEXT, direction TEXT,
  page_bytes INTEGER, shard_banks INTEGER);
CREATE TABLE allocations (
  id INTEGER PRIMARY KEY, devices INTEGER, request INTEGER REFERENCES requests, number INTEGER,
  address INTEGER, begin_ns INTEGER, end_ns INTEGER, ending TEXT);
CREATE TABLE partial_ends (
  allocation INTEGER REFERENCES allocations, position INTEGER, devices INTEGER, rest INTEGER,
  end_ns INTEGER, ending TEXT, PRIMARY KEY (allocation, position)) WITHOUT ROWID;
CREATE TABLE layouts (id INTEGER PRIMARY KEY, circular_buffers INTEGER);
CREATE TABLE circular_buffers (
  layout INTEGER REFERENCES layouts, position INTEGER, address INTEGER, bytes INTEGER, cores TEXT,
  global INTEGER, PRIMARY KEY (layout, position)) WITHOUT ROWID;
CREATE TABLE programs (
  id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices, layout INTEGER REFERENCES layouts,
  number INTEGER, name INTEGER REFERENCES texts, scope INTEGER REFERENCES scopes,
  begin_ns INTEGER, end_ns INTEGER, ending TEXT);
CREATE TABLE launches (id INTEGER PRIMARY KEY, trace INTEGER);
CREATE TABLE launch_programs (
  launch INTEGER REFERENCES launches, position INTEGER, program INTEGER,
  PRIMARY KEY (launch, position)) WITHOUT ROWID;
CREATE TABLE dispatches (
  id INTEGER PRIMARY KEY, time_ns INTEGER, devices INTEGER, launch INTEGER REFERENCES launches);
CREATE TABLE marks (
  id INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER REFERENCES processes, name TEXT);
CREATE TABLE failures (
  id INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER REFERENCES processes, text TEXT);
CREATE TABLE gaps (
  id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes, begin_ns INTEGER, end_ns INTEGER,
  lost_events INTEGER);
CREATE TABLE timeline (
  id INTEGER PRIMARY KEY, time_ns INTEGER, device INTEGER REFERENCES devices, kind TEXT,
  used_bytes INTEGER, peak_bytes INTEGER);
CREATE VIEW allocation_list AS
  SELECT a.id, p.pid, p.name AS process, d.number AS device, r.kind, l.text AS label,
         s.path AS scope, a.number, a.address, r.bytes, r.bytes_per_bank, r.banks,
         CASE WHEN r.bytes_per_bank IS NULL OR r.banks IS NULL THEN r.bytes
              ELSE r.bytes_per_bank * r.banks END AS used_bytes,
         c.cores, a.begin_ns,
         CASE WHEN e.allocation IS NULL THEN a.end_ns ELSE e.end_ns END AS end_ns,
         CASE WHEN e.allocation IS NULL THEN a.ending ELSE e.ending END AS ending
  FROM allocations a
  JOIN requests r ON r.id = a.request
  JOIN device_sets m ON m.id = a.devices
  JOIN devices d ON d.id = m.device
  JOIN processes p ON p.id = d.process
  LEFT JOIN texts l ON l.id = r.label
  LEFT JOIN scopes s ON s.id = r.scope
  LEFT JOIN core_sets c ON c.id = r.cores
  LEFT JOIN partial_ends e ON e.allocation = a.id AND m.device IN
    (SELECT device FROM device_sets x WHERE x.id = e.devices);
CREATE VIEW program_list AS
  SELECT g.id, p.pid, p.name AS process, d.number AS device, g.number, n.text AS name,
         s.path AS scope, g.layout, g.begin_ns, g.end_ns, g.ending
  FROM programs g
  JOIN devices d ON d.id = g.device
  JOIN processes p ON p.id = d.process
  LEFT JOIN texts n ON n.id = g.name
  LEFT JOIN scopes s ON s.id = g.scope;
)sql";

namespace {

constexpr std::array<std::string_view, 6> kEndings = {
    "", "", "changed", "device_closed", "process_ended", "gap"};

constexpr std::array<std::string_view, 3> kSpreads = {"", "interleaved", "sharded"};
constexpr std::array<std::string_view, 3> kDirections = {"", "bottom_up", "top_down"};

template <typename T>
T named(const std::array<std::string_view, 3>& names, std::string_view name) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<T>(i);
  }
  return T{};
}

}  // namespace

std::string_view name_of(BufferLayout::Spread spread) {
  return kSpreads[static_cast<std::size_t>(spread)];
}
std::string_view name_of(BufferLayout::Direction direction) {
  return kDirections[static_cast<std::size_t>(direction)];
}
BufferLayout::Spread spread_named(std::string_view name) {
  return named<BufferLayout::Spread>(kSpreads, name);
}
BufferLayout::Direction direction_named(std::string_view name) {
  return named<BufferLayout::Direction>(kDirections, name);
}

std::string_view name_of(Ending ending) { return kEndings[static_cast<std::size_t>(ending)]; }

std::optional<Ending> ending_named(std::string_view name) {
  for (std::size_t i = 2; i < kEndings.size(); ++i) {
    if (kEndings[i] == name) return static_cast<Ending>(i);
  }
  return std::nullopt;
}

}  // namespace ttmem::recording

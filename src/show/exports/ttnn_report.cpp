// SPDX-License-Identifier: Apache-2.0
#include "show/exports/ttnn_report.hpp"

#include <fmt/format.h>

#include <utility>

namespace ttmem::exports {

using recording::Database;
using recording::Statement;

namespace {

// Creates also the tables that stay empty, because the viewer reads them. A journal is not needed,
// because an incomplete file is discarded.
constexpr const char* kCreateTables = R"sql(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE devices (
  device_id INT, num_y_cores INT, num_x_cores INT, num_y_compute_cores INT, num_x_compute_cores INT,
  worker_l1_size INT, l1_num_banks INT, l1_bank_size INT, address_at_first_l1_bank INT,
  address_at_first_l1_cb_buffer INT, num_banks_per_storage_core INT, num_compute_cores INT,
  num_storage_cores INT, total_l1_memory INT, total_l1_for_tensors INT,
  total_l1_for_interleaved_buffers INT, total_l1_for_sharded_buffers INT, cb_limit INT,
  rank INT DEFAULT 0);
CREATE TABLE operations (operation_id INT, name TEXT, duration FLOAT, rank INT DEFAULT 0,
                         UNIQUE (operation_id, rank));
CREATE TABLE operation_arguments (operation_id INT, name TEXT, value TEXT, rank INT DEFAULT 0);
CREATE TABLE stack_traces (operation_id INT, stack_trace TEXT, rank INT DEFAULT 0);
CREATE TABLE tensors (
  tensor_id INT, shape TEXT, dtype TEXT, layout TEXT, memory_config TEXT, device_id INT,
  address INT, buffer_type INT, rank INT DEFAULT 0);
CREATE TABLE input_tensors (operation_id INT, input_index INT, tensor_id INT, rank INT DEFAULT 0);
CREATE TABLE output_tensors (operation_id INT, output_index INT, tensor_id INT, rank INT DEFAULT 0);
CREATE TABLE local_tensor_comparison_records (
  tensor_id INT, golden_tensor_id INT, matches INT, desired_pcc FLOAT, actual_pcc FLOAT,
  rank INT DEFAULT 0);
CREATE TABLE global_tensor_comparison_records (
  tensor_id INT, golden_tensor_id INT, matches INT, desired_pcc FLOAT, actual_pcc FLOAT,
  rank INT DEFAULT 0);
CREATE TABLE buffers (
  operation_id INT, device_id INT, address INT, max_size_per_bank INT, buffer_type INT,
  buffer_layout INT, rank INT DEFAULT 0);
CREATE TABLE captured_graph (operation_id INT, captured_graph TEXT, rank INT DEFAULT 0);
CREATE TABLE errors (
  operation_id INT, operation_name TEXT, error_type TEXT, error_message TEXT, stack_trace TEXT,
  timestamp TEXT, rank INT DEFAULT 0);
CREATE TABLE report_metadata (key TEXT UNIQUE, value TEXT);
)sql";

constexpr std::int64_t kInterleaved = 0;

}  // namespace

Result<TtnnReport> TtnnReport::create(const std::string& path) {
  auto database = Database::open(path, Database::Mode::create);
  if (!database) return database.error();
  TtnnReport report(std::move(*database));
  const auto prepared = report.prepare();
  if (!prepared) return prepared.error();
  return report;
}

Result<void> TtnnReport::prepare() {
  const auto made = database_.execute(kCreateTables);
  if (!made) return made.error();
  const std::initializer_list<std::pair<Statement*, const char*>> statements = {
      {&metadata_, "INSERT INTO report_metadata VALUES (?, ?)"},
      {&device_,
       "INSERT INTO devices VALUES (?1, ?3, ?2, ?3, ?2, ?4, ?5, ?6, ?7, ?7, NULL, ?5, NULL, ?8, "
       "?9, NULL, NULL, ?10, 0)"},
      {&operation_, "INSERT INTO operations VALUES (?1, ?2, ?3 / 1e9, 0)"},
      {&argument_, "INSERT INTO operation_arguments VALUES (?, ?, ?, 0)"},
      {&stack_trace_, "INSERT INTO stack_traces VALUES (?, ?, 0)"},
      {&graph_, "INSERT INTO captured_graph VALUES (?, ?, 0)"},
      {&buffer_, "INSERT INTO buffers VALUES (?, ?, ?, ?, ?, ?, 0)"}};
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = std::move(*prepared);
  }
  return {};
}

void TtnnReport::run(Statement& statement) {
  if (!failed_ && !statement.run()) failed_ = database_.error();
}

void TtnnReport::add_metadata(std::string_view key, std::string_view value) {
  metadata_.bind(1, key);
  metadata_.bind(2, value);
  run(metadata_);
}

void TtnnReport::add_device(std::size_t place, const recording::RecordedDevice& device) {
  const std::uint64_t cores = std::uint64_t{device.grid_x} * device.grid_y;
  const std::uint64_t l1 = device.l1_bytes_per_core;
  const std::uint64_t kept = std::uint64_t{device.l1_base} + device.l1_small_bytes_per_core;
  const std::uint64_t bank = l1 > kept ? l1 - kept : 0;
  device_.bind(1, std::uint64_t{place});
  device_.bind_or_null(2, std::uint64_t{device.grid_x});
  device_.bind_or_null(3, std::uint64_t{device.grid_y});
  device_.bind_or_null(4, l1);
  device_.bind_or_null(5, cores);
  device_.bind_or_null(6, bank);
  device_.bind(7, device.l1_base);
  device_.bind_or_null(8, l1 * cores);
  device_.bind_or_null(9, bank * cores);
  device_.bind_or_null(10, l1 > device.l1_base ? l1 - device.l1_base : 0);
  run(device_);
}

void TtnnReport::add_operation(std::int64_t id, std::string_view name,
                               std::optional<recording::Time> ns) {
  operation_.bind(1, id);
  operation_.bind(2, name);
  operation_.bind(3, ns);
  run(operation_);
}

void TtnnReport::add_argument(std::int64_t operation, std::string_view name,
                              std::string_view value) {
  argument_.bind(1, operation);
  argument_.bind(2, name);
  argument_.bind(3, value);
  run(argument_);
}

void TtnnReport::add_stack_trace(std::int64_t operation, std::string_view text) {
  stack_trace_.bind(1, operation);
  stack_trace_.bind(2, text);
  run(stack_trace_);
}

void TtnnReport::add_graph(std::int64_t operation, std::string_view json) {
  graph_.bind(1, operation);
  graph_.bind(2, json);
  run(graph_);
}

void TtnnReport::add_buffer(std::int64_t operation, std::size_t place, std::uint64_t address,
                            const recording::RecordedRequest& request) {
  buffer_.bind(1, operation);
  buffer_.bind(2, std::uint64_t{place});
  buffer_.bind(3, address);
  buffer_.bind(4, request.bytes_per_bank);
  buffer_.bind(5, std::int64_t{buffer_type_of(request.kind)});
  // Leaves the layout of a sharded buffer empty, because it is unknown whether the buffer is
  // sharded by height, by width or by block.
  buffer_.bind(6, request.cores == 0 ? std::optional(kInterleaved) : std::nullopt);
  run(buffer_);
}

Result<void> TtnnReport::finish() {
  if (failed_) return *failed_;
  // Creates an index for the viewer's most frequent query.
  return database_.execute(
      "CREATE INDEX buffers_by_operation ON buffers (operation_id, device_id); COMMIT");
}

}  // namespace ttmem::exports

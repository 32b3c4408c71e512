// SPDX-License-Identifier: Apache-2.0
#include "show/exports/ttnn_report.hpp"

#include <fmt/format.h>

#include <utility>

namespace ttmem::exports {

using recording::Database;
using recording::Statement;

namespace {

// The tables of version 3.3, with the columns and constraints that ttnn creates. Creates also the
// tables that stay empty, because the viewer reads them. A journal is not needed, because an
// incomplete file is discarded.
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
  rank INT NOT NULL DEFAULT 0);
CREATE TABLE operations (operation_id INT, name TEXT, duration FLOAT, rank INT NOT NULL DEFAULT 0,
                         UNIQUE (operation_id, rank));
CREATE TABLE operation_arguments (
  operation_id INT, name TEXT, value TEXT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE source_files (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, contents TEXT);
CREATE TABLE stack_traces (
  operation_id INT, stack_trace TEXT, source_file_id INT REFERENCES source_files (id),
  rank INT NOT NULL DEFAULT 0);
CREATE TABLE tensors (
  tensor_id INT, shape TEXT, dtype TEXT, layout TEXT, memory_config TEXT, device_id INT,
  address INT, buffer_type INT, rank INT NOT NULL DEFAULT 0, UNIQUE (tensor_id, rank));
CREATE TABLE device_tensors (
  tensor_id INT, device_id INT, address INT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE input_tensors (
  operation_id INT, input_index INT, tensor_id INT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE output_tensors (
  operation_id INT, output_index INT, tensor_id INT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE tensor_lifetime (
  tensor_id INT, producer_operation_id INT, last_use_operation_id INT,
  deallocate_operation_id INT, producer_source_file TEXT, producer_source_line INT,
  last_use_source_file TEXT, last_use_source_line INT, rank INT NOT NULL DEFAULT 0,
  UNIQUE (tensor_id, rank));
CREATE TABLE tensor_consumers (
  tensor_id INT, operation_id INT, input_index INT, rank INT NOT NULL DEFAULT 0,
  UNIQUE (tensor_id, operation_id, input_index, rank));
CREATE TABLE tensor_producers (
  tensor_id INT, operation_id INT, output_index INT, rank INT NOT NULL DEFAULT 0,
  UNIQUE (tensor_id, operation_id, output_index, rank));
CREATE TABLE local_tensor_comparison_records (
  tensor_id INT, golden_tensor_id INT, matches INT, desired_pcc FLOAT, actual_pcc FLOAT,
  rank INT NOT NULL DEFAULT 0, UNIQUE (tensor_id, rank));
CREATE TABLE global_tensor_comparison_records (
  tensor_id INT, golden_tensor_id INT, matches INT, desired_pcc FLOAT, actual_pcc FLOAT,
  rank INT NOT NULL DEFAULT 0, UNIQUE (tensor_id, rank));
CREATE TABLE buffers (
  operation_id INT, device_id INT, address INT, max_size_per_bank INT, buffer_type INT,
  buffer_layout INT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE buffer_chunks (
  operation_id INT, device_id INT, address INT, bank_id INT, core_x INT, core_y INT,
  chunk_address INT, chunk_size INT, page_size INT, num_pages INT, buffer_type INT,
  rank INT NOT NULL DEFAULT 0);
CREATE TABLE captured_graph (
  operation_id INT, captured_graph TEXT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE nodes (
  operation_id INT, unique_id INT, node_operation_id INT, name TEXT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE edges (
  operation_id INT, source_unique_id INT, sink_unique_id INT, source_output_index INT,
  sink_input_index INT, key INT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE errors (
  operation_id INT, operation_name TEXT, error_type TEXT, error_message TEXT, stack_trace TEXT,
  timestamp TEXT, rank INT NOT NULL DEFAULT 0);
CREATE TABLE report_metadata (key TEXT UNIQUE, value TEXT);
)sql";

// The indexes are for the most frequent queries of the viewer. The producers are the same data as
// the outputs of the operations.
constexpr const char* kFinish = R"sql(
INSERT INTO tensor_producers
  SELECT tensor_id, operation_id, output_index, rank FROM output_tensors;
CREATE INDEX buffers_by_operation ON buffers (operation_id, device_id);
CREATE INDEX chunks_by_operation ON buffer_chunks (operation_id);
COMMIT;
)sql";

constexpr std::int64_t kInterleaved = 0;

// Returns true if the buffer is sharded. A buffer that lies on certain cores only is sharded, even
// if its layout was not reported.
bool is_sharded(const recording::RecordedRequest& request) {
  return request.layout.spread == BufferLayout::Spread::sharded ||
         (request.layout.spread != BufferLayout::Spread::interleaved && request.cores != 0);
}

// Returns the part of ttnn's memory_config that is known; empty if nothing is known.
std::string_view memory_config_of(const recording::RecordedRequest& request) {
  return request.layout.spread == BufferLayout::Spread::interleaved
             ? "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED)"
             : "";
}

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
      {&stack_trace_, "INSERT INTO stack_traces VALUES (?, ?, NULL, 0)"},
      {&graph_, "INSERT INTO captured_graph VALUES (?, ?, 0)"},
      {&buffer_, "INSERT INTO buffers VALUES (?, ?, ?, ?, ?, ?, 0)"},
      {&chunk_, "INSERT INTO buffer_chunks VALUES (?, ?, ?3, ?, ?, ?, ?3, ?, ?, NULL, ?, 0)"},
      {&tensor_, "INSERT INTO tensors VALUES (?, ?, '', '', ?, ?, ?, ?, 0)"},
      {&output_, "INSERT INTO output_tensors VALUES (?, ?, ?, 0)"},
      {&device_tensor_, "INSERT INTO device_tensors VALUES (?, ?, ?, 0)"}};
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
  buffer_.bind(6, is_sharded(request) ? std::nullopt : std::optional(kInterleaved));
  run(buffer_);
}

void TtnnReport::add_chunks(std::int64_t operation, std::size_t place, std::uint64_t address,
                            const recording::RecordedRequest& request, const CoreMask& cores,
                            std::uint16_t grid_x) {
  chunk_.bind(1, operation);
  chunk_.bind(2, std::uint64_t{place});
  chunk_.bind(3, address);
  chunk_.bind(7, request.bytes_per_bank);
  chunk_.bind_or_null(8, request.layout.page_bytes);
  chunk_.bind(9, std::int64_t{buffer_type_of(request.kind)});
  cores.for_each([&](std::uint32_t core) {
    chunk_.bind(4, core);
    chunk_.bind(5, core % grid_x);
    chunk_.bind(6, core / grid_x);
    run(chunk_);
  });
}

void TtnnReport::add_tensor(std::int64_t operation, const ReportTensor& tensor,
                            const recording::RecordedRequest& request) {
  tensor_.bind(1, tensor.id);
  tensor_.bind(2, tensor.name);
  tensor_.bind_or_null(3, memory_config_of(request));
  tensor_.bind(4, std::uint64_t{tensor.places.front()});
  tensor_.bind(5, tensor.address);
  tensor_.bind(6, std::int64_t{buffer_type_of(request.kind)});
  run(tensor_);
  output_.bind(1, operation);
  output_.bind(2, tensor.index);
  output_.bind(3, tensor.id);
  run(output_);
  for (const std::size_t place : tensor.places) {
    device_tensor_.bind(1, tensor.id);
    device_tensor_.bind(2, std::uint64_t{place});
    device_tensor_.bind(3, tensor.address);
    run(device_tensor_);
  }
}

Result<void> TtnnReport::finish() {
  if (failed_) return *failed_;
  return database_.execute(kFinish);
}

}  // namespace ttmem::exports

// SPDX-License-Identifier: Apache-2.0
//
// CSV with a row for each allocation on each device, and a row for each circular buffer of each
// program, ordered by begin_ns. An unknown value is an empty field.
#include <fmt/format.h>

#include <optional>

#include "base/safe_text.hpp"
#include "read/recording/file/core_text.hpp"
#include "read/recording/file/schema.hpp"
#include "show/exports/format.hpp"

namespace ttmem::exports {

using recording::Event;
using recording::RowId;
using recording::Tables;

namespace {

constexpr std::string_view kHeader =
    "pid,process,device,kind,label,scope,number,program,address,bytes,bytes_per_bank,banks,"
    "used_bytes,cores,begin_ns,end_ns,ending\n";

template <typename T>
std::string field_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

// Returns the last fields of a row.
template <typename End>
std::string times_of(recording::Time begin_ns, const End& end) {
  return fmt::format("{},{},{}\n", begin_ns, field_of(end.end_ns), recording::name_of(end.ending));
}

std::string begin_of_row(const Tables& tables, RowId id, Kind kind, std::uint32_t label,
                         std::uint32_t scope) {
  const recording::RecordedDevice& device = tables.device(id);
  const recording::RecordedProcess& process = tables.process(device.process);
  return fmt::format("{},{},{},{},{},{}", process.pid != 0 ? fmt::format("{}", process.pid) : "",
                     csv_field(process.name), device.number, name_of(kind),
                     csv_field(tables.text(label)), csv_field(tables.scope(scope)));
}

void write_allocation(const ExportJob& job, const recording::RecordedAllocation& allocation,
                      Output& output) {
  const Tables& tables = job.reader.tables();
  const recording::RecordedRequest& request = tables.request(allocation.request);
  if (!job.selection.has(request.kind)) return;
  const std::string cores =
      request.cores == 0 ? "" : recording::core_text(tables.core_set(request.cores));
  const std::string rest = fmt::format(
      ",{},,{},{},{},{},{},{},", allocation.number, field_of(allocation.address), request.bytes,
      request.has_bytes_per_bank ? fmt::format("{}", request.bytes_per_bank) : "",
      request.banks != 0 ? fmt::format("{}", request.banks) : "", request.used_bytes(),
      csv_field(cores));
  for (const RowId device : tables.device_set(allocation.devices)) {
    if (!job.selection.has(device)) continue;
    output.write(begin_of_row(tables, device, request.kind, request.label, request.scope) + rest +
                 times_of(allocation.begin_ns, end_on(tables, allocation, device)));
  }
}

void write_program(const ExportJob& job, const recording::RecordedProgram& program,
                   Output& output) {
  const Tables& tables = job.reader.tables();
  if (program.layout == 0 || !job.selection.has(Kind::cb) || !job.selection.has(program.device)) {
    return;
  }
  const std::string begin =
      begin_of_row(tables, program.device, Kind::cb, program.name, program.scope);
  for (const recording::RecordedCb& cb : tables.layout(program.layout)) {
    const std::uint32_t cores = cb.cores.count();
    const std::uint64_t bytes = std::uint64_t{cb.bytes} * cores;
    output.write(fmt::format("{},,{},{},{},{},{},{},{},{}", begin, program.number, cb.address,
                             bytes, cb.bytes, cores, cb.global ? 0 : bytes,
                             csv_field(recording::core_text(cb.cores)),
                             times_of(program.begin_ns, program)));
  }
}

}  // namespace

Result<Notes> write_csv(const ExportJob& job, Output& output) {
  output.write(kHeader);
  const auto passed = job.reader.for_each_event([&](const Event& event) {
    if (event.type == Event::Type::allocate) write_allocation(job, *event.allocation, output);
    if (event.type == Event::Type::place) write_program(job, *event.program, output);
    return true;
  });
  if (!passed) return passed.error();
  return Notes{};
}

}  // namespace ttmem::exports

// SPDX-License-Identifier: Apache-2.0
#include "read/imports/import.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "read/capture/capture.hpp"
#include "read/imports/graph_device.hpp"
#include "read/imports/graph_file.hpp"
#include "read/imports/import_capture.hpp"
#include "read/imports/import_graph.hpp"
#include "read/imports/upstream_peaks.hpp"
#include "read/recording/file/writer.hpp"

namespace ttmem::imports {
namespace {

enum class ImportFormat : std::uint8_t { unknown, recording, graph, capture };

// Maximum length of a line of a capture, in bytes.
constexpr std::size_t kFirstLineBytes = std::size_t{1} << 20;

// Returns true if the text begins like a capture, whose first line is an object with an event. A
// report of ttnn is a JSON object too, but has no event.
bool begins_with_event(const std::string& beginning) {
  const auto object =
      nlohmann::json::parse(beginning.substr(0, beginning.find('\n')), nullptr, false);
  return object.is_object() && object.contains("ev");
}

ImportFormat format_of(const std::string& beginning) {
  if (beginning.starts_with("SQLite format 3")) return ImportFormat::recording;
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == beginning.npos) return ImportFormat::unknown;
  if (beginning[first] == '[') return ImportFormat::graph;
  if (beginning[first] != '{') return ImportFormat::unknown;
  return begins_with_event(beginning.substr(first)) ? ImportFormat::capture : ImportFormat::graph;
}

Result<ImportFormat> detect_format(const std::string& file) {
  struct stat status {};
  const auto cannot = [&file](const std::string& why) {
    return Error{fmt::format("cannot import {}: {}", file, why)};
  };
  if (::stat(file.c_str(), &status) != 0) return cannot(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return cannot("it is not a file");
  if (static_cast<std::uint64_t>(status.st_size) > kMaxBytes) {
    return cannot("it is larger than 1 GiB; capture less at a time");
  }
  std::ifstream input(file, std::ios::binary);
  if (!input) return cannot(std::strerror(errno));
  std::string beginning(kFirstLineBytes, '\0');
  input.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(input.gcount()));
  const ImportFormat format = format_of(beginning);
  if (format == ImportFormat::recording) {
    return cannot(fmt::format("it is a database; try: ttmem report {}", file));
  }
  if (format == ImportFormat::unknown) {
    return cannot(
        "it is neither a graph of ttnn (JSON of ttnn.graph.end_graph_capture) nor a capture for "
        "ttmem replay (a JSON object a line)");
  }
  return format;
}

recording::Run new_run(std::string_view source) {
  recording::Run run;
  run.version =
      fmt::format("{}.{}.{}", TTMEM_VERSION_MAJOR, TTMEM_VERSION_MINOR, TTMEM_VERSION_PATCH);
  run.source = source;
  return run;
}

// Creates the recording `out`, and calls write(process, writer) to write the rows. Removes the file
// if it cannot be completed.
Result<Imported> write_recording(
    const std::string& file, const std::string& out, bool overwrite, recording::Run run,
    const std::function<Imported(recording::RowId, recording::Writer&)>& write) {
  auto writer = recording::Writer::create(out, run, overwrite);
  if (!writer) return writer.error();
  recording::RecordedProcess process;
  process.name = std::filesystem::path(file).filename();
  const Imported imported = write((*writer)->begin(process), **writer);
  run.ended_ns = imported.end_ns;
  run.events = imported.events;
  if (const auto done = (*writer)->finish(run); !done) {
    writer->reset();
    ::unlink(out.c_str());
    return done.error();
  }
  return imported;
}

Result<Imported> import_ttnn(const std::string& file, const std::string& out, bool overwrite) {
  std::ifstream input(file, std::ios::binary);
  const auto graph = read_graph(input, file);
  if (!graph) return graph.error();
  auto device = device_of(*graph);
  if (!device) return Error{fmt::format("cannot import {}: {}", file, device.error().message)};
  recording::Run run = new_run("ttnn-graph");
  run.started_unix_ns = graph->captured_unix_ns;
  run.imported = to_json(upstream_peaks(graph->nodes));
  return write_recording(file, out, overwrite, run,
                         [&](recording::RowId process, recording::Writer& writer) {
                           device->process = process;
                           device->id = writer.begin(*device);
                           return write_graph(*graph, *device, writer);
                         });
}

Result<Imported> import_events(const std::string& file, const std::string& out, bool overwrite) {
  const auto lines = capture::read_capture(file, std::nullopt);
  if (!lines) return lines.error();
  return write_recording(file, out, overwrite, new_run("capture"),
                         [&](recording::RowId process, recording::Writer& writer) {
                           return write_capture(*lines, process, writer);
                         });
}

}  // namespace

Result<Imported> import_file(const std::string& file, const std::string& out, bool overwrite) {
  const auto format = detect_format(file);
  if (!format) return format.error();
  std::error_code ignored;
  if (std::filesystem::equivalent(file, out, ignored)) {
    return Error{fmt::format("{} cannot become its own recording; give -o another name", file)};
  }
  return *format == ImportFormat::capture ? import_events(file, out, overwrite)
                                          : import_ttnn(file, out, overwrite);
}

}  // namespace ttmem::imports

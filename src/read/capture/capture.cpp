// SPDX-License-Identifier: Apache-2.0
#include "read/capture/capture.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <string_view>
#include <utility>

#include "read/capture/fields.hpp"

namespace ttmem::capture {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNameBytes = 64;  // maximum length of an unknown event's name in a message

ttmem_buffer_type buffer_type(Fields& fields) {
  static constexpr std::array<std::pair<std::string_view, ttmem_buffer_type>, 5> kTypes = {
      {{"DRAM", TTMEM_DRAM},
       {"L1", TTMEM_L1},
       {"SYSTEM_MEMORY", TTMEM_SYSTEM},
       {"L1_SMALL", TTMEM_L1_SMALL},
       {"TRACE", TTMEM_TRACE}}};
  const std::string name = fields.text("type");
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  fields.refuse("field 'type' is not DRAM, L1, L1_SMALL, TRACE or SYSTEM_MEMORY");
  return TTMEM_DRAM;
}

std::uint64_t buffer_id(Fields& fields) {
  const auto id = fields.number<std::uint64_t>("id");
  if (id + 1 == 0) fields.refuse("field 'id' is the largest 64-bit number; ids must be smaller");
  return id;
}

CaptureDevice::Banks banks(Fields& fields, const std::string& kind) {
  CaptureDevice::Banks banks;
  banks.count = fields.number<std::uint64_t>((kind + "_banks").c_str());
  banks.bytes = fields.number<std::uint64_t>((kind + "_bank_bytes").c_str());
  banks.alignment = fields.number<std::uint64_t>((kind + "_alignment").c_str());
  return banks;
}

std::optional<CaptureDevice::Allocator> allocator(Fields& fields) {
  if (!fields.has("dram_base")) return std::nullopt;
  return CaptureDevice::Allocator{fields.number<std::uint64_t>("dram_base"), banks(fields, "dram"),
                                  banks(fields, "l1"), banks(fields, "l1_small"),
                                  banks(fields, "trace")};
}

std::optional<BufferAlloc::Request> request(Fields& fields) {
  if (!fields.has("page_size")) return std::nullopt;
  BufferAlloc::Request request;
  if (fields.has("mesh_id")) request.mesh_id = fields.number<std::uint64_t>("mesh_id");
  request.layout = fields.text("layout");
  request.page_bytes = fields.number<std::uint64_t>("page_size");
  request.pages = fields.number<std::uint64_t>("pages");
  request.banks = fields.number<std::uint64_t>("banks");
  request.bottom_up = fields.flag("bottom_up");
  return request;
}

// Parses the lines in order. Checks each line against the devices and programs of earlier lines.
class Parser {
 public:
  [[nodiscard]] Result<CaptureLine> parse(std::string_view text) {
    const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
    // The JSON parser would stop at a zero byte without an error.
    if (object.is_discarded() || text.find('\0') != text.npos)
      return Error{"not valid JSON, or cut off"};
    Fields fields(object);
    CaptureLine line;
    line.entry = entry(fields);
    if (line.is_event()) {
      line.t_ns = fields.number<std::uint64_t>("t_ns");
      line.thread = fields.number<std::uint32_t>("thread");
    }
    if (fields.problem()) return Error{*fields.problem()};
    return line;
  }

 private:
  using Reader = CaptureEntry (Parser::*)(Fields&);

  CaptureEntry entry(Fields& fields) {
    static constexpr std::array<std::pair<std::string_view, Reader>, 9> kReaders = {
        {{"device", &Parser::device},
         {"mesh", &Parser::mesh},
         {"buffer_alloc", &Parser::buffer_alloc},
         {"buffer_free", &Parser::buffer_free},
         {"program_layout", &Parser::program_layout},
         {"cb_alloc", &Parser::cb_alloc},
         {"program_register", &Parser::program_register},
         {"cb_free_all", &Parser::cb_free_all},
         {"program_unregister", &Parser::program_unregister}}};
    const std::string name = fields.text("ev");
    for (const auto& [known, reader] : kReaders) {
      if (known == name) return (this->*reader)(fields);
    }
    fields.refuse(fmt::format("field 'ev': there is no event '{}'", name.substr(0, kMaxNameBytes)));
    return CaptureMesh{};
  }

  CaptureEntry device(Fields& fields) {
    const std::vector<std::uint16_t> grid = fields.grid("grid");
    CaptureDevice device;
    device.id = fields.number<std::uint32_t>("device");
    device.arch = fields.text("arch");
    device.grid_x = grid[0];
    device.grid_y = grid[1];
    device.l1_bytes_per_core = fields.number<std::uint32_t>("l1_bytes_per_core");
    device.l1_base = fields.number<std::uint32_t>("l1_base");
    device.l1_small_bytes_per_core = fields.number<std::uint32_t>("l1_small_bank_bytes");
    device.dram_channels = fields.number<std::uint32_t>("dram_channels");
    device.dram_bytes_per_channel = fields.number<std::uint64_t>("dram_bytes_per_channel");
    if (__builtin_mul_overflow(fields.number<std::uint64_t>("trace_bank_bytes"),
                               fields.number<std::uint64_t>("trace_banks"),
                               &device.trace_region_bytes)) {
      fields.refuse("'trace_bank_bytes' times 'trace_banks' is more than 64 bits hold");
    }
    device.allocator = allocator(fields);
    if (!devices_.insert(device.id).second) {
      fields.refuse(fmt::format("device {} was announced before", device.id));
    }
    return device;
  }

  CaptureEntry mesh(Fields& fields) {
    return CaptureMesh{fields.number<std::uint64_t>("mesh_id"), chips(fields)};
  }

  CaptureEntry buffer_alloc(Fields& fields) {
    BufferAlloc buffer;
    buffer.devices = devices_of(fields);
    buffer.id = buffer_id(fields);
    buffer.type = buffer_type(fields);
    buffer.address = fields.number<std::uint64_t>("addr");
    buffer.bytes = fields.number<std::uint64_t>("size");
    buffer.bytes_per_bank = fields.number<std::uint64_t>("bytes_per_bank");
    buffer.cores = fields.cores("cores");
    buffer.request = request(fields);
    return buffer;
  }

  CaptureEntry buffer_free(Fields& fields) {
    return BufferFree{devices_of(fields), buffer_id(fields), buffer_type(fields)};
  }

  CaptureEntry program_layout(Fields& fields) {
    const ProgramLayout layout{program_event(fields)};
    laid_out_.insert({layout.program, layout.device});
    return layout;
  }

  CaptureEntry program_register(Fields& fields) { return ProgramRegister{program_event(fields)}; }

  CaptureEntry program_unregister(Fields& fields) {
    const ProgramUnregister end{program_event(fields)};
    laid_out_.erase({end.program, end.device});
    return end;
  }

  CaptureEntry cb_alloc(Fields& fields) {
    CbAlloc cb;
    cb.device = device_of(fields);
    cb.program = fields.number<std::uint64_t>("program");
    cb.address = fields.number<std::uint64_t>("addr");
    cb.bytes = fields.number<std::uint64_t>("size");
    cb.cores = fields.cores("cores");
    cb.globally_allocated = fields.flag("globally_allocated");
    if (!laid_out_.contains({cb.program, cb.device})) {
      fields.refuse(fmt::format("a CB of program {} on device {} before its program_layout",
                                cb.program, cb.device));
    }
    return cb;
  }

  CaptureEntry cb_free_all(Fields& fields) {
    (void)device_of(fields);
    return CbFreeAll{};
  }

  [[nodiscard]] std::uint32_t known(Fields& fields, std::uint32_t device) const {
    if (!devices_.contains(device)) {
      fields.refuse(fmt::format("no line before announces device {}", device));
    }
    return device;
  }

  [[nodiscard]] std::uint32_t device_of(Fields& fields) const {
    return known(fields, fields.number<std::uint32_t>("device"));
  }

  [[nodiscard]] ProgramEvent program_event(Fields& fields) const {
    return {device_of(fields), fields.number<std::uint64_t>("program")};
  }

  [[nodiscard]] std::vector<std::uint32_t> chips(Fields& fields) const {
    std::vector<std::uint32_t> chips = fields.chips("chips");
    for (std::uint32_t chip : chips) (void)known(fields, chip);
    return chips;
  }

  // Returns the devices that a line names: the chips of its mesh, or its one device.
  [[nodiscard]] std::vector<std::uint32_t> devices_of(Fields& fields) const {
    if (fields.has("chips")) return chips(fields);
    return {device_of(fields)};
  }

  std::set<std::uint32_t> devices_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> laid_out_;  // pairs of program and device
};

Error cannot_read(const std::string& file, int error) {
  return Error{fmt::format("cannot read {}: {}; give the path of a capture (.jsonl)", file,
                           std::strerror(error))};
}

Error bad_line(const std::string& file, std::uint64_t number, const Error& reason) {
  return Error{fmt::format(
      "{}:{}: {}; {}", file, number, reason.message,
      number == 1 ? "give the path of a capture (.jsonl)"
                  : fmt::format("ttmem replay --lines {} replays what is before it", number - 1))};
}

// Returns the next line without its newline, or nullopt at the end of the input. Sets `input.bad()`
// if the input cannot be read, and `input.fail()` if the line is longer than `buffer`.
std::optional<std::string_view> next_line(std::istream& input, std::vector<char>& buffer) {
  input.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  const auto length = static_cast<std::size_t>(input.gcount());
  if (input.eof()) {
    if (length == 0) return std::nullopt;
    return std::string_view(buffer.data(), length);
  }
  return std::string_view(buffer.data(), length == 0 ? 0 : length - 1);
}

Result<std::vector<CaptureLine>> read_lines(std::istream& input, const std::string& file,
                                            std::optional<std::uint64_t> lines) {
  Parser parser;
  std::vector<CaptureLine> capture;
  std::vector<char> buffer(kMaxLineBytes);
  while (!lines || capture.size() < *lines) {
    const std::optional<std::string_view> text = next_line(input, buffer);
    if (input.bad()) return cannot_read(file, EIO);
    if (!text) break;
    const Result<CaptureLine> line =
        input.fail() ? Error{"longer than 1 MiB"} : parser.parse(*text);
    if (!line) return bad_line(file, capture.size() + 1, line.error());
    capture.push_back(*line);
  }
  if (capture.empty() && lines != 0) {
    return Error{fmt::format("{} is empty; a capture begins with a device line", file)};
  }
  return capture;
}

}  // namespace

std::string name_of_capture(const std::string& file) {
  return file == "-" ? "standard input" : file;
}

Result<std::vector<CaptureLine>> read_capture(const std::string& file,
                                              std::optional<std::uint64_t> lines) {
  if (file == "-") return read_lines(std::cin, name_of_capture(file), lines);
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return cannot_read(file, errno);
  if (S_ISDIR(status.st_mode)) return cannot_read(file, EISDIR);
  std::ifstream input(file);
  if (!input) return cannot_read(file, errno);
  return read_lines(input, file, lines);
}

}  // namespace ttmem::capture

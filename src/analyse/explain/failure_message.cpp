// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/failure_message.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/parse_number.hpp"
#include "base/safe_text.hpp"

namespace ttmem::explain {
namespace {

using Number = FailureMessage::Number;
using What = FailureMessage::What;

constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kMaxTextBytes =
    4096;  // maximum length of a sentence; the runtime writes hundreds of bytes

// Returns the first number after `key`. A few other words of the same sentence may stand between
// the key and the number, as in "but bank size is only 8 B". Returns nullopt if no number follows.
Number number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  const std::size_t first = rest.find_first_of(kDigits);
  if (first == std::string_view::npos) return std::nullopt;
  // The maximum number of characters between the key and the number. A number in another sentence
  // is not accepted.
  constexpr std::size_t most = 24;
  if (first > most || rest.substr(0, first).find_first_of(".;\n") != std::string_view::npos) {
    return std::nullopt;
  }
  rest = rest.substr(first);
  return parse_number<std::uint64_t>(rest.substr(0, rest.find_first_not_of(kDigits)));
}

// Returns the kind that follows the size, as in "allocate 552960 B L1 buffer" or "allocate 552960 B
// L1 across".
std::optional<Kind> kind_in(std::string_view text) {
  constexpr std::string_view unit = " B ";
  std::size_t begin = text.find("allocate ");
  begin = begin == std::string_view::npos ? begin : text.find(unit, begin);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(begin + unit.size());
  std::string lower(rest.substr(0, rest.find(' ')));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return kind_named(lower);
}

// Returns the cores of a message. The runtime wrote "[(x=0,y=0) - (x=7,y=7)]" until May 2026, and
// has written "[0-0 - 7-7]" since then.
std::optional<FailureMessage::Cores> cores_in(std::string_view text) {
  const std::size_t begin = text.find("core range ");
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(begin);
  const std::size_t open = rest.find('[');
  const std::size_t close = rest.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  rest = rest.substr(open, close - open);
  std::array<std::uint32_t, 4> numbers{};
  for (std::uint32_t& number : numbers) {
    const std::size_t first = rest.find_first_of(kDigits);
    if (first == std::string_view::npos) return std::nullopt;
    rest = rest.substr(first);
    const std::size_t end = std::min(rest.find_first_not_of(kDigits), rest.size());
    const auto value = parse_number<std::uint32_t>(rest.substr(0, end));
    if (!value) return std::nullopt;
    number = *value;
    rest = rest.substr(end);
  }
  return FailureMessage::Cores{numbers[0], numbers[1], numbers[2], numbers[3]};
}

void read_out_of_memory(std::string_view text, FailureMessage& failure) {
  failure.kind = kind_in(text);
  failure.bytes = number_after(text, "allocate ");
  failure.banks = number_after(text, "across ");
  failure.bytes_per_bank = number_after(text, "needs to store ");
  if (!failure.bytes_per_bank) failure.bytes_per_bank = number_after(text, "banks (");
  failure.bank_bytes = number_after(text, "bank size is ");
  failure.allocated_per_bank = number_after(text, "allocated: ");
  failure.free_per_bank = number_after(text, "free: ");
  failure.largest_free_per_bank = number_after(text, "largest free block: ");
}

void read_clash(std::string_view text, FailureMessage& failure) {
  failure.program = number_after(text, "in program ");
  failure.cores = cores_in(text);
  failure.l1_address = number_after(text, "allocated at ");
  if (!failure.l1_address) failure.l1_address = number_after(text, "allocation at ");
  failure.cb_end = number_after(text, "region ends at ");
}

void read_beyond_l1(std::string_view text, FailureMessage& failure) {
  failure.cores = cores_in(text);
  failure.cb_end = number_after(text, "grow to ");
  failure.l1_bytes = number_after(text, "beyond max L1 size of ");
}

// The words that identify a message, the first words of its sentence, and the function that reads
// the message.
struct MessagePattern {
  What what;
  std::string_view marker;
  std::string_view begins;
  void (*read)(std::string_view, FailureMessage&);
};

const std::array<MessagePattern, 13> kMessages = {{
    {What::out_of_memory, "Not enough space to allocate", "Out of Memory", read_out_of_memory},
    {What::out_of_memory, "Not enough space after considering dependencies", "Out of Memory",
     read_out_of_memory},
    {What::below_limit, "Cannot allocate at an address below", "Out of Memory",
     [](std::string_view text, FailureMessage& failure) {
       failure.limit = number_after(text, "address below ");
     }},
    {What::clash, "clash with L1 buffers on core range", "Statically allocated", read_clash},
    {What::clash, "clash with ServiceCoreManager-allocated", "Circular buffers on", read_clash},
    {What::beyond_l1, "beyond max L1 size of", "Statically allocated", read_beyond_l1},
    {What::trace_region, "Creating trace buffers of size", "Creating trace buffers",
     [](std::string_view text, FailureMessage& failure) {
       failure.needed = number_after(text, "of size ");
       failure.limit = number_after(text, "but only ");
     }},
    {What::trace_overlap, "Trace buffer at address", "Trace buffer at address",
     [](std::string_view, FailureMessage&) {}},
    {What::kernel_config, "too large for kernel config buffer", "Program size",
     [](std::string_view text, FailureMessage& failure) {
       failure.needed = number_after(text, "Program size (");
       failure.limit = number_after(text, "kernel config buffer (");
     }},
    {What::cb_beyond_buffer, "exceeds allocated L1 buffer", "Circular buffer size",
     [](std::string_view text, FailureMessage& failure) {
       failure.needed = number_after(text, "Circular buffer size ");
       failure.limit = number_after(text, "exceeds allocated L1 buffer");
     }},
    {What::cb_beyond_buffer, "Cannot set to globally allocated buffer", "",
     [](std::string_view, FailureMessage&) {}},
    {What::too_many_cbs, "exceeds max number of circular buffers per core", "Buffer index",
     [](std::string_view text, FailureMessage& failure) {
       failure.limit = number_after(text, "circular buffers per core");
     }},
    {What::active_trace, "potentially unsafe due to the existence of an active trace", "Allocating",
     [](std::string_view, FailureMessage&) {}},
}};

std::optional<FailureMessage> read(std::string_view line) {
  for (const MessagePattern& message : kMessages) {
    const std::size_t marker = line.find(message.marker);
    if (marker == std::string_view::npos) continue;
    const std::size_t begin =
        message.begins.empty() ? std::string_view::npos : line.rfind(message.begins, marker);
    const std::string_view sentence = line.substr(begin == std::string_view::npos ? marker : begin);
    FailureMessage failure;
    failure.what = message.what;
    failure.text = safe_text(sentence.substr(0, kMaxTextBytes));
    message.read(sentence, failure);
    return failure;
  }
  return std::nullopt;
}

}  // namespace

// The dry run's message of a clash has further lines with facts that the runtime's message lacks.
// These lines are not needed here.
std::vector<FailureMessage> find_failures(std::string_view text) {
  std::vector<FailureMessage> found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (auto failure = read(line)) found.push_back(std::move(*failure));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return found;
}

}  // namespace ttmem::explain

// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/failure_message.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "analyse/explain/wrapped_message.hpp"
#include "base/parse_number.hpp"
#include "base/safe_text.hpp"

namespace ttmem::explain {
namespace {

using Number = FailureMessage::Number;
using What = FailureMessage::What;

constexpr std::string_view kDigits = "0123456789";

// Returns the first number after `key`. A few other words of the same sentence may stand between
// the key and the number, as in "but bank size is only 8 B". Returns nullopt if no number follows.
Number number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  const std::size_t first = rest.find_first_of(kDigits);
  if (first == std::string_view::npos) return std::nullopt;
  // The maximum number of characters between the key and the number. Also refused are a number in
  // another sentence, a number after a placeholder ("{}"), and a digit in a word such as "L1".
  constexpr std::size_t most = 24;
  const std::string_view between = rest.substr(0, first);
  const bool is_in_word =
      !between.empty() && std::isalpha(static_cast<unsigned char>(between.back())) != 0;
  if (first > most || is_in_word || between.find_first_of(".;\n{") != std::string_view::npos) {
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

// One kind of message: the words that identify it, the beginning of its sentence, all its words as
// sentence_at() expects them, and the function that reads its figures.
struct MessagePattern {
  What what;
  std::string_view marker;
  std::string_view begins;
  std::string_view words;
  void (*read)(std::string_view, FailureMessage&);
};

constexpr std::string_view kClashWords =
    " Statically allocated circular buffers in program # clash with @ buffers on core range # - # "
    "@ buffer allocated at # and static circular buffer region ends at # | "
    "allocated dataflow buffers in | static dataflow buffer region ";
constexpr std::string_view kBankRequestWords =
    " Out of Memory: Not enough space to allocate # B @ buffer across # banks, where each bank "
    "needs to store # B, but bank size is # B (allocated: # B, free: # B, largest free block: # B) "
    "| size is only # B ";
constexpr std::string_view kDependenciesWords =
    " Out of Memory: Not enough space after considering dependencies to allocate # B @ across # "
    "banks # B per bank), bank size is # B (allocated: # B, free: # B, largest free block: # B) ";

const std::array<MessagePattern, 13> kMessages = {{
    {What::out_of_memory, "Not enough space to allocate", "Out of Memory", kBankRequestWords,
     read_out_of_memory},
    {What::out_of_memory, "Not enough space after considering dependencies", "Out of Memory",
     kDependenciesWords, read_out_of_memory},
    {What::below_limit, "Cannot allocate at an address below", "Out of Memory",
     " Out of Memory: Cannot allocate at an address below # Allocation at # ",
     [](std::string_view text, FailureMessage& failure) {
       failure.limit = number_after(text, "address below ");
     }},
    {What::clash, "clash with L1 buffers on core range", "Statically allocated", kClashWords,
     read_clash},
    {What::clash, "clash with ServiceCoreManager-allocated", "Circular buffers on",
     " Circular buffers on service-core range # - # in program # clash with "
     "ServiceCoreManager-allocated @ (lowest service allocation at # CB region ends at # ",
     read_clash},
    {What::beyond_l1, "beyond max L1 size of", "Statically allocated",
     " Statically allocated circular buffers on core range # - # grow to # B which is beyond max @ "
     "size of # B | allocated dataflow buffers on ",
     read_beyond_l1},
    {What::trace_region, "Creating trace buffers of size", "Creating trace buffers",
     " Creating trace buffers of size # on MeshDevice # but only # is allocated for trace region. "
     "| on device # but ",
     [](std::string_view text, FailureMessage& failure) {
       failure.needed = number_after(text, "of size ");
       failure.limit = number_after(text, "but only ");
     }},
    {What::trace_overlap, "Trace buffer at address", "Trace buffer at address", "",
     [](std::string_view, FailureMessage&) {}},
    {What::kernel_config, "too large for kernel config buffer", "Program size",
     " Program size # too large for kernel config buffer # on ",
     [](std::string_view text, FailureMessage& failure) {
       failure.needed = number_after(text, "Program size (");
       failure.limit = number_after(text, "kernel config buffer (");
     }},
    {What::cb_beyond_buffer, "exceeds allocated L1 buffer", "Circular buffer size",
     " Circular buffer size # B exceeds allocated @ buffer size # B | buffer bank size of # B ",
     [](std::string_view text, FailureMessage& failure) {
       failure.needed = number_after(text, "Circular buffer size ");
       failure.limit = number_after(text, "exceeds allocated L1 buffer");
     }},
    {What::cb_beyond_buffer, "Cannot set to globally allocated buffer", "", "",
     [](std::string_view, FailureMessage&) {}},
    {What::too_many_cbs, "exceeds max number of circular buffers per core", "Buffer index",
     " Buffer index # exceeds max number of circular buffers per core # ",
     [](std::string_view text, FailureMessage& failure) {
       failure.limit = number_after(text, "circular buffers per core");
     }},
    {What::active_trace, "potentially unsafe due to the existence of an active trace", "Allocating",
     "", [](std::string_view, FailureMessage&) {}},
}};

// Returns the offset in `line` at which the message begins. The marker of a message that may be
// wrapped may stand in a later line, so the beginning of its sentence suffices. Returns nullopt if
// the message does not begin in this line.
std::optional<std::size_t> begin_in(std::string_view line, const MessagePattern& message) {
  const std::size_t marker = line.find(message.marker);
  const bool has_marker = marker != std::string_view::npos;
  std::size_t begin = std::string_view::npos;
  if (has_marker && !message.begins.empty()) begin = line.rfind(message.begins, marker);
  if (!has_marker && !message.words.empty()) begin = line.find(message.begins);
  if (begin != std::string_view::npos) return begin;
  return has_marker ? std::optional(marker) : std::nullopt;
}

// A message, and the offset of the first line behind it.
struct Found {
  FailureMessage failure;
  std::size_t end = 0;
};

// Returns the message that begins in the first line of the text.
std::optional<Found> read(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  for (const MessagePattern& message : kMessages) {
    const auto begin = begin_in(line, message);
    if (!begin) continue;
    const Sentence sentence = sentence_at(text, *begin, message.words);
    if (sentence.text.find(message.marker) == std::string::npos) continue;
    FailureMessage failure;
    failure.what = message.what;
    failure.text = safe_text(sentence.text);
    message.read(sentence.text, failure);
    return Found{std::move(failure), sentence.end};
  }
  return std::nullopt;
}

using Numbers = std::array<Number, 13>;
constexpr std::size_t kIdentifying = 9;  // only the first 9 numbers differ from failure to failure

Numbers numbers_of(const FailureMessage& failure) {
  return {failure.bytes,
          failure.bytes_per_bank,
          failure.allocated_per_bank,
          failure.free_per_bank,
          failure.largest_free_per_bank,
          failure.program,
          failure.l1_address,
          failure.cb_end,
          failure.needed,
          failure.banks,
          failure.bank_bytes,
          failure.l1_bytes,
          failure.limit};
}

}  // namespace

// Skips the additional lines of the dry run's message about a clash. The runtime's message lacks
// these lines.
std::vector<FailureMessage> find_failures(std::string_view text) {
  std::vector<FailureMessage> found;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (auto one = read(text)) {
      end = std::max(end, one->end);
      found.push_back(std::move(one->failure));
    }
    text.remove_prefix(end);
  }
  return found;
}

bool can_be_same(const FailureMessage& a, const FailureMessage& b) {
  if (a.what != b.what || (a.kind && b.kind && a.kind != b.kind)) return false;
  const Numbers of_a = numbers_of(a);
  const Numbers of_b = numbers_of(b);
  bool is_identified = a.text == b.text;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    if (!of_a[i] || !of_b[i]) continue;
    if (*of_a[i] != *of_b[i]) return false;
    is_identified = is_identified || i < kIdentifying;
  }
  return is_identified;
}

}  // namespace ttmem::explain

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyse/explain/bank_request.hpp"
#include "analyse/explain/region_sizes.hpp"
#include "analyse/explain/untried_changes.hpp"
#include "analyse/explain/wording.hpp"
#include "base/format_bytes.hpp"
#include "base/saturating.hpp"

namespace ttmem::explain {
namespace {

// The maximum number of buffers that a suggestion moves or frees. The limit keeps suggestions
// small.
constexpr std::size_t kMaxToFree = 16;

void suggest_freeing(const Bank& bank, const Bank::Run& run, Kind kind, Explanation& result) {
  if (run.count > kMaxToFree) return;
  Suggestion suggestion{.action = "free", .tried = true, .buffers = of_run(bank, run)};
  suggestion.text =
      fmt::format("free {} before, if nothing needs it any more{}", listed(suggestion.buffers),
                  kind == Kind::l1 ? ", or keep it in DRAM" : "");
  result.suggestions.push_back(std::move(suggestion));
}

// Suggests bfloat8_b in place of bfloat16. The current type of the buffer is unknown.
void suggest_smaller_type(const BankRequest& request, const Bank& bank, Explanation& result) {
  const std::uint64_t smaller = as_bfloat8_b(request.needed);
  if (smaller > bank.largest_free() || (request.kind != Kind::dram && request.kind != Kind::l1))
    return;
  result.suggestions.push_back(
      {.action = "smaller_type",
       .tried = true,
       .text = fmt::format("store it as bfloat8_b, if it is bfloat16: {} in each bank would fit",
                           format_bytes(smaller, Scale::core))});
}

// Suggests DRAM for an L1 buffer. The page size of the buffer is unknown, so room for one
// additional page of the largest usual size is required.
void suggest_dram(const BankRequest& request, const DeviceMemory& memory, Explanation& result) {
  if (request.kind != Kind::l1 || !request.total) return;
  constexpr std::uint64_t page = 8192;
  const std::uint64_t channels = memory.facts.dram_channels;
  const auto bank = bank_of(memory, Kind::dram);
  if (!bank || bank->largest_free() < *request.total / channels + page) return;
  result.suggestions.push_back(
      {.action = "move_to_dram",
       .tried = true,
       .text = fmt::format(
           "put what is asked for into DRAM (memory_config=ttnn.DRAM_MEMORY_CONFIG): about {} in "
           "each of its {} banks, where {} are free in one block",
           format_bytes(*request.total / channels, Scale::core), channels,
           format_bytes(bank->largest_free(), Scale::core))});
}

// Suggests a smaller L1_SMALL region. Makes no suggestion for a request that is larger than the L1
// bank, because L1 would then have no room for circular buffers.
void suggest_smaller_l1_small(const BankRequest& request, const Bank& bank,
                              const DeviceMemory& memory, Explanation& result) {
  const std::uint64_t more = bank.missing_at_the_end(request.needed);
  const auto size = smaller_l1_small(memory, more);
  if (!size || request.needed > bank.bytes() || !bank.fits_with_more(more, request.needed)) return;
  result.suggestions.push_back(
      {.action = "l1_small_size",
       .tried = true,
       .text = fmt::format("open the device with l1_small_size={}{}", *size, l1_small_now(memory)),
       .bytes = size});
}

void suggest_smaller_trace_region(const BankRequest& request, const Bank& bank,
                                  const DeviceMemory& memory, Explanation& result) {
  const std::uint64_t more = bank.missing_at_the_end(request.needed);
  const auto size = smaller_trace_region(memory, more);
  if (!size || !bank.fits_with_more(more, request.needed)) return;
  result.suggestions.push_back(
      {.action = "trace_region_size",
       .tried = true,
       .text = fmt::format("open the device with {}; that is enough for the traces of now",
                           trace_region_setting(*size, memory.facts.dram_channels)),
       .bytes = size});
}

// Suggests to reallocate the holders of `run`, or to allocate the request before all holders of the
// bank. Makes each suggestion only if enough memory is free and the change makes the request fit.
void suggest_order(const BankRequest& request, const Bank& bank,
                   const std::optional<Bank::Run>& run, Explanation& result) {
  if (request.needed > bank.free_bytes()) return;
  if (run && run->count <= kMaxToFree && bank.fits_after_moving(*run, request.needed)) {
    Suggestion suggestion{.action = "reallocate", .tried = true, .buffers = of_run(bank, *run)};
    suggestion.text = fmt::format("ttnn.reallocate {}: the free blocks beside become one",
                                  listed(suggestion.buffers));
    result.suggestions.push_back(std::move(suggestion));
  }
  if (bank.fits_when_first(request.needed)) {
    result.suggestions.push_back(
        {.action = "allocate_earlier",
         .tried = true,
         .text = "allocate it before everything that is held now: then all of it fits"});
  }
}

// Returns a size of the trace region that suffices even if nothing of the present region is free.
// Returns nullopt if the message does not say how large the present region is.
Bytes enough_for_traces(const BankRequest& request) {
  if (!request.bank || request.banks.value_or(0) == 0) return std::nullopt;
  const std::uint64_t each = saturating_add(*request.bank, request.needed);
  const std::uint64_t all = saturating_mul(each, *request.banks);
  return all <= kMaxBytes ? Bytes(with_trace_margin(all)) : std::nullopt;
}

}  // namespace

std::vector<BufferHolder> of_run(const Bank& bank, const Bank::Run& run) {
  const auto holders = bank.holders().subspan(run.first, run.count);
  std::vector<BufferHolder> list(holders.begin(), holders.end());
  sort_largest_first(list);
  return list;
}

void suggest_for_bank(const BankRequest& request, const Bank& bank,
                      const std::optional<Bank::Run>& run, const DeviceMemory& memory,
                      Explanation& result) {
  suggest_order(request, bank, run, result);
  if (request.kind == Kind::l1) suggest_smaller_l1_small(request, bank, memory, result);
  if (request.kind == Kind::dram) suggest_smaller_trace_region(request, bank, memory, result);
  suggest_dram(request, memory, result);
  suggest_smaller_type(request, bank, result);
  if (run) suggest_freeing(bank, *run, request.kind, result);
}

void suggest_larger_region(const BankRequest& request, const DeviceMemory* memory,
                           Explanation& result) {
  if (request.kind == Kind::l1_small) {
    const auto size = memory != nullptr ? larger_l1_small(*memory, request.needed) : std::nullopt;
    // If no size was tried, the old size plus the request is suggested. This size suffices even if
    // nothing of the old region is free.
    const std::uint64_t enough = (request.bank.value_or(0) + request.needed + 63) / 64 * 64;
    result.suggestions.push_back(
        {.action = "l1_small_size",
         .tried = size.has_value(),
         .text =
             fmt::format("open the device with l1_small_size={} at least{}", size.value_or(enough),
                         memory != nullptr ? l1_small_now(*memory) : std::string()),
         .bytes = size.value_or(enough)});
    result.suggestions.push_back(
        {.action = "config_tensors_in_dram",
         .text = "for conv2d and pooling: config_tensors_in_dram=True keeps their tables, which "
                 "live as long as the cached program, out of L1_SMALL"});
    return;
  }
  const auto size = memory != nullptr ? larger_trace_region(*memory, request.needed) : std::nullopt;
  if (size) {
    result.suggestions.push_back(
        {.action = "trace_region_size",
         .tried = true,
         .text = fmt::format("open the device with {}",
                             trace_region_setting(*size, memory->facts.dram_channels)),
         .bytes = size});
  } else if (const Bytes enough = enough_for_traces(request)) {
    result.suggestions.push_back(
        {.action = "trace_region_size",
         .text = fmt::format("open the device with trace_region_size={} at least: 10 % above the "
                             "present region and this request together",
                             *enough),
         .bytes = enough});
  }
  result.suggestions.push_back(
      {.action = "release_trace",
       .text = "release traces that are not replayed any more (release_trace)"});
}

}  // namespace ttmem::explain

// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/bank_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/causes.hpp"
#include "analyse/explain/device_memory.hpp"
#include "analyse/explain/known_chips.hpp"
#include "analyse/explain/untried_changes.hpp"
#include "analyse/explain/wording.hpp"

namespace ttmem::explain {
namespace {

std::optional<BankRequest> request_of(const FailureMessage& failure,
                                      const std::optional<Bank>& bank) {
  if (!failure.kind || !is_bank_kind(*failure.kind)) return std::nullopt;
  BankRequest request{.kind = *failure.kind,
                      .total = failure.bytes,
                      .banks = failure.banks,
                      .bank = failure.bank_bytes,
                      .free = failure.free_per_bank,
                      .largest = failure.largest_free_per_bank};
  if (failure.bytes_per_bank) {
    request.needed = *failure.bytes_per_bank;
  } else if (failure.bytes && failure.banks.value_or(0) != 0) {
    request.needed = *failure.bytes / *failure.banks + (*failure.bytes % *failure.banks != 0);
  } else {
    return std::nullopt;
  }
  if (bank) {
    if (!request.bank) request.bank = bank->bytes();
    if (!request.free) request.free = bank->free_bytes();
    if (!request.largest) request.largest = bank->largest_free();
  }
  return request;
}

bool is_beyond_any_chip(const BankRequest& request) {
  return request.needed > largest_known_bank(request.kind);
}

Cause cause_of(const BankRequest& request) {
  if (is_beyond_any_chip(request)) return Cause::capacity;
  if (request.kind == Kind::l1_small) return Cause::l1_small_region;
  if (request.kind == Kind::trace) return Cause::trace_region;
  if (request.bank && request.needed > *request.bank) return Cause::capacity;
  if (request.free && request.needed > *request.free) return Cause::capacity;
  return request.largest && request.needed > *request.largest ? Cause::fragmentation
                                                              : Cause::unknown;
}

Bytes missing(const BankRequest& request, Cause cause) {
  Bytes there = cause == Cause::capacity ? request.free : request.largest;
  if (!there || (request.bank && request.needed > *request.bank)) there = request.bank;
  return there && request.needed > *there ? Bytes(request.needed - *there) : std::nullopt;
}

// Returns for example "900.0 KiB (921,600 B) of L1 are asked for in each bank".
std::string asked_for(const BankRequest& request) {
  return fmt::format("{} of {} are asked for in each bank", sized(request.needed),
                     title_of(request.kind));
}

std::string short_text(Bytes short_by) {
  return short_by ? fmt::format(": {} short", sized(*short_by)) : "";
}

std::string region_sentence(const BankRequest& request, Bytes short_by) {
  const bool is_small = request.kind == Kind::l1_small;
  const char* setting = is_small ? "l1_small_size" : "trace_region_size";
  if (request.bank == 0U) {
    return fmt::format("The device was opened without {} ({}=0), and {}.", title_of(request.kind),
                       setting, asked_for(request));
  }
  return fmt::format("The {} region ({}) is too small: {}{}{}.", title_of(request.kind), setting,
                     asked_for(request),
                     request.free ? fmt::format(", {} are free", sized(*request.free)) : "",
                     short_text(short_by));
}

// Explains a request that is larger than a bank of any known chip.
std::string beyond_any_chip_sentence(const BankRequest& request, Bytes short_by) {
  const std::string bank = request.bank ? fmt::format(", a whole bank here has {}{}",
                                                      sized(*request.bank), short_text(short_by))
                                        : std::string();
  return fmt::format(
      "Larger than any bank of any chip that ttmem knows: {}{}, and the largest bank of all chips "
      "has {}. It cannot fit even when nothing else is there.",
      asked_for(request), bank, sized(largest_known_bank(request.kind)));
}

std::string sentence_of(const BankRequest& request, Cause cause, Bytes short_by) {
  const std::string kind = title_of(request.kind);
  if (is_beyond_any_chip(request)) return beyond_any_chip_sentence(request, short_by);
  if (request.kind == Kind::l1_small || request.kind == Kind::trace) {
    return region_sentence(request, short_by);
  }
  if (request.bank && request.needed > *request.bank) {
    return fmt::format(
        "Larger than {}: {}, and a whole bank has {}{}. It cannot fit even when "
        "nothing else is there.",
        kind, asked_for(request), sized(*request.bank), short_text(short_by));
  }
  if (cause == Cause::capacity) {
    return fmt::format("{} is full: {}, {} are free{}.", kind, asked_for(request),
                       sized(*request.free), short_text(short_by));
  }
  if (cause == Cause::fragmentation) {
    return fmt::format("Fragmentation: {}, {} are free, but the largest block has {}{}.",
                       asked_for(request), sized(*request.free), sized(*request.largest),
                       short_text(short_by));
  }
  return fmt::format("Out of memory in {}: {}. {}", kind, asked_for(request),
                     request.largest ? "There is room for that in what is known."
                                     : "The message does not say how much was free.");
}

void explain_full_bank(const BankRequest& request, const Bank& bank, const DeviceMemory& memory,
                       Explanation& result) {
  const std::optional<Bank::Run> run = bank.smallest_run(request.needed);
  Picture picture{.title = fmt::format("every {} bank", title_of(request.kind))};
  if (run) {
    const auto holders = bank.holders();
    const std::size_t end = run->first + run->count;
    picture.asked_begin =
        run->first == 0 ? bank.region().range.begin : holders[run->first - 1].end();
    picture.asked_end = end == holders.size() ? bank.region().range.end : holders[end].address;
  }
  picture.bands =
      bands_of(bank.region().range, bank.holders(), picture.asked_begin, picture.asked_end);
  // Omits the picture if the bank has no holders.
  if (!bank.holders().empty()) result.picture = std::move(picture);
  // If the free memory is fragmented, lists only the holders of the run. Otherwise lists all
  // holders, because the free memory would be too small even in one block.
  list_in_the_way(run && result.cause == Cause::fragmentation
                      ? of_run(bank, *run)
                      : std::vector<BufferHolder>(bank.holders().begin(), bank.holders().end()),
                  result);
  suggest_for_bank(request, bank, run, memory, result);
}

// Explains a message that does not say how many bytes a bank needs.
void explain_unknown_size(const FailureMessage& failure, Explanation& result) {
  const bool is_in_banks = failure.kind && is_bank_kind(*failure.kind);
  if (is_in_banks && failure.bytes && *failure.bytes > largest_known_memory(*failure.kind)) {
    result.cause = Cause::capacity;
    result.sentence = fmt::format(
        "Larger than the {} of any chip that ttmem knows: {} are asked for, and the largest chip "
        "has {}. It cannot fit even when nothing else is there.",
        is_in_dram(*failure.kind) ? "DRAM" : "L1", sized(*failure.bytes),
        sized(largest_known_memory(*failure.kind)));
    return;
  }
  result.sentence =
      failure.bytes ? fmt::format(
                          "No room for a buffer of {}; the message does not say how much each bank "
                          "needs.",
                          sized(*failure.bytes))
                    : "No room for a buffer; the message does not say how large it was.";
}

// Adds the conclusions and suggestions that follow from the figures of the message alone.
void explain_without_bank(const BankRequest& request, Explanation& result) {
  if (!is_beyond_any_chip(request)) {
    if (const auto apart = set_apart(request)) result.sentence += " " + apart->sentence;
  }
  suggest_untried_for_request(request, result);
}

}  // namespace

void explain_request(const FailureMessage& failure, const DeviceMemory* memory,
                     Explanation& result) {
  std::optional<Bank> bank;
  if (memory != nullptr && failure.kind) bank = bank_of(*memory, *failure.kind);
  const std::optional<BankRequest> request = request_of(failure, bank);
  result.kind = failure.kind;
  result.bytes = failure.bytes;
  if (!request) return explain_unknown_size(failure, result);
  result.bytes_per_bank = request->needed;
  result.free_per_bank = request->free;
  result.largest_free_per_bank = request->largest;
  result.cause = cause_of(*request);
  result.short_by = missing(*request, result.cause);
  result.sentence = sentence_of(*request, result.cause, result.short_by);
  if (request->needed > kMaxBytes) return;
  const bool is_region = request->kind == Kind::l1_small || request->kind == Kind::trace;
  if (is_region && result.cause != Cause::capacity) suggest_larger_region(*request, memory, result);
  if (bank) return explain_full_bank(*request, *bank, *memory, result);
  explain_without_bank(*request, result);
}

}  // namespace ttmem::explain

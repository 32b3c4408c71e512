// SPDX-License-Identifier: Apache-2.0
#include "explain/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explain/bank.hpp"
#include "explain/causes.hpp"
#include "explain/wording.hpp"

namespace ttmem::explain {
namespace {

std::optional<Request> request_of(const Failure& failure, const std::optional<Bank>& bank) {
  if (!failure.kind) return std::nullopt;
  Request request{.kind = *failure.kind,
                  .total = failure.bytes,
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

Cause cause_of(const Request& request) {
  if (request.kind == Kind::l1_small) return Cause::l1_small_region;
  if (request.kind == Kind::trace) return Cause::trace_region;
  if (request.bank && request.needed > *request.bank) return Cause::capacity;
  if (request.free && request.needed > *request.free) return Cause::capacity;
  return request.largest && request.needed > *request.largest ? Cause::fragmentation
                                                              : Cause::unknown;
}

Bytes missing(const Request& request, Cause cause) {
  Bytes there = cause == Cause::capacity ? request.free : request.largest;
  if (!there || (request.bank && request.needed > *request.bank)) there = request.bank;
  return there && request.needed > *there ? Bytes(request.needed - *there) : std::nullopt;
}

std::string what_there_was(const Request& request) {
  const std::string kind = title_of(request.kind);
  if (request.bank == 0U) return fmt::format("the device was opened without {} at all", kind);
  if (request.bank && request.needed > *request.bank) {
    return fmt::format("a whole bank has {}, so that it cannot fit even when nothing else is there",
                       exact(*request.bank));
  }
  if (!request.free) return "how much was free the message does not say";
  if (request.needed > *request.free) return fmt::format("{} were free", exact(*request.free));
  if (!request.largest) return fmt::format("{} were free", exact(*request.free));
  return fmt::format("{} were free, the largest block of them has {}", exact(*request.free),
                     exact(*request.largest));
}

std::string verdict(const Request& request, Cause cause, Bytes short_by) {
  const std::string by = short_by ? fmt::format(", short by {}", exact(*short_by)) : "";
  switch (cause) {
    case Cause::capacity:
      return (request.bank && request.needed > *request.bank ? "too large" : "too full") + by;
    case Cause::fragmentation:
      return "fragmentation" + by;
    case Cause::l1_small_region:
    case Cause::trace_region:
      return fmt::format("the {} region is too small{}", title_of(request.kind), by);
    default:
      return "why it failed does not follow from these numbers";
  }
}

std::string sentence_of(const Request& request, Cause cause, Bytes short_by) {
  const std::string total = request.total ? fmt::format(" ({} in all)", exact(*request.total)) : "";
  return fmt::format("{} of {} were asked for in each bank{}; {}: {}.", exact(request.needed),
                     title_of(request.kind), total, what_there_was(request),
                     verdict(request, cause, short_by));
}

void list_in_the_way(std::vector<Holder> holders, Explanation& result) {
  std::stable_sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return a.bytes_per_bank > b.bytes_per_bank;
  });
  if (holders.size() > kMostHolders) {
    result.more_in_the_way = holders.size() - kMostHolders;
    holders.resize(kMostHolders);
  }
  result.in_the_way = std::move(holders);
}

void explain_full_bank(const Request& request, const Bank& bank, const DeviceMemory& memory,
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
  result.picture = std::move(picture);
  // For want of space everything is in the way, and the largest the most.
  list_in_the_way(run && result.cause == Cause::fragmentation
                      ? of_run(bank, *run)
                      : std::vector<Holder>(bank.holders().begin(), bank.holders().end()),
                  result);
  suggest_for_bank(request, bank, run, memory, result);
}

}  // namespace

void explain_request(const Failure& failure, const DeviceMemory* memory, Explanation& result) {
  std::optional<Bank> bank;
  if (memory != nullptr && failure.kind && memory->regions[*failure.kind] &&
      memory->without_address[*failure.kind] == 0) {
    bank =
        Bank::make(*failure.kind, *memory->regions[*failure.kind], memory->holders[*failure.kind]);
  }
  const std::optional<Request> request = request_of(failure, bank);
  result.kind = failure.kind;
  result.bytes = failure.bytes;
  if (!request) {
    result.sentence = "No room for a buffer; the message does not say how large it was.";
    return;
  }
  result.bytes_per_bank = request->needed;
  result.free_per_bank = request->free;
  result.largest_free_per_bank = request->largest;
  result.cause = cause_of(*request);
  result.short_by = missing(*request, result.cause);
  result.sentence = sentence_of(*request, result.cause, result.short_by);
  if (request->needed > kMostBytes) return;
  const bool is_region = request->kind == Kind::l1_small || request->kind == Kind::trace;
  if (is_region) suggest_larger_region(*request, memory, result);
  if (bank) explain_full_bank(*request, *bank, *memory, result);
}

}  // namespace ttmem::explain

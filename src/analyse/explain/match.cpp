// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/match.hpp"

#include <optional>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/causes.hpp"
#include "analyse/explain/tightest.hpp"
#include "read/placement/memory_map.hpp"

namespace ttmem::explain {
namespace {

using What = FailureMessage::What;

Match match_if(bool is_that) { return is_that ? Match::yes : Match::no; }

// Returns true if the message contains the figure and the state has another value.
bool differs(const FailureMessage::Number& said, std::uint64_t here) {
  return said && *said != here;
}

// Returns true if a bank with this largest free block can have refused the request.
bool can_have_failed(const FailureMessage& failure, std::uint64_t largest_free) {
  if (differs(failure.largest_free_per_bank, largest_free)) return false;
  return !failure.bytes_per_bank || largest_free < *failure.bytes_per_bank;
}

// Compares a bank with the message. The size of the request and the size of the bank do not
// identify a state, because a bank of another process can have the same size and lack room for the
// request too.
Match match_bank(const FailureMessage& failure, const Bank& bank) {
  if (!can_have_failed(failure, bank.largest_free()) ||
      differs(failure.free_per_bank, bank.free_bytes()) ||
      differs(failure.allocated_per_bank, bank.bytes() - bank.free_bytes())) {
    return Match::no;
  }
  const bool has_state =
      failure.largest_free_per_bank || failure.free_per_bank || failure.allocated_per_bank;
  return has_state && !differs(failure.bank_bytes, bank.bytes()) ? Match::yes : Match::unknown;
}

Match match_request(const FailureMessage& failure, const DeviceMemory& memory) {
  const Kind kind = *failure.kind;
  const std::uint64_t channels = memory.facts.dram_channels;
  if (kind == Kind::dram && channels != 0 && differs(failure.banks, channels)) return Match::no;
  if (!memory.regions[kind]) {
    return failure.bank_bytes.value_or(0) == 0 ? Match::unknown : Match::no;
  }
  const std::optional<Bank> bank = bank_of(memory, kind);
  return bank ? match_bank(failure, *bank) : Match::unknown;
}

Match match_clash(const FailureMessage& failure, const DeviceMemory& memory) {
  if (memory.without_address[Kind::l1] != 0) return Match::unknown;
  const auto& buffers = memory.holders[Kind::l1];
  if (buffers.empty() || buffers.front().address != *failure.l1_address) return Match::no;
  return find_program(failure, memory) != nullptr ? Match::yes : Match::unknown;
}

Match match_beyond_l1(const FailureMessage& failure, const DeviceMemory& memory) {
  const std::uint64_t l1_bytes = memory.facts.l1_bytes_per_core;
  if (l1_bytes != 0 && differs(failure.l1_bytes, l1_bytes)) return Match::no;
  return match_if(find_program(failure, memory) != nullptr);
}

// Compares the trace region with the message. The region has the requested size, rounded up to
// whole pages of each bank. Before January 2026 the size was requested per bank. The size does not
// identify a state, because many programs use the same size.
Match match_trace_region(const FailureMessage& failure, const DeviceMemory& memory) {
  const std::uint64_t channels = memory.facts.dram_channels;
  if (!memory.device->trace_capacity_bytes || channels == 0) return Match::unknown;
  if (*failure.limit > kMaxBytes) return Match::no;
  const std::uint64_t region = memory.facts.trace_region_bytes;
  const auto is_in_pages = [&](std::uint64_t asked) {
    return region >= asked && region - asked < channels * placement::kMaxTracePageBytes;
  };
  const bool is_region = is_in_pages(*failure.limit) || is_in_pages(*failure.limit * channels);
  return is_region ? Match::unknown : Match::no;
}

}  // namespace

bool has_figures_to_match(const FailureMessage& failure) {
  switch (failure.what) {
    case What::out_of_memory:
      return failure.kind &&
             (failure.largest_free_per_bank || failure.free_per_bank ||
              failure.allocated_per_bank || failure.bytes_per_bank || failure.bank_bytes == 0U);
    case What::clash:
      return failure.l1_address && failure.cb_end;
    case What::beyond_l1:
      return failure.cb_end && failure.l1_bytes;
    case What::trace_region:
      return failure.limit.has_value();
    default:
      return false;
  }
}

Match match(const FailureMessage& failure, const DeviceMemory& memory) {
  if (!has_figures_to_match(failure)) return Match::unknown;
  switch (failure.what) {
    case What::out_of_memory:
      return match_request(failure, memory);
    case What::clash:
      return match_clash(failure, memory);
    case What::beyond_l1:
      return match_beyond_l1(failure, memory);
    case What::trace_region:
      return match_trace_region(failure, memory);
    default:
      return Match::unknown;
  }
}

bool can_match(const FailureMessage& failure, const DeviceMemory& memory) {
  if (failure.what != What::out_of_memory || !failure.kind) return true;
  const Bytes largest = collected_largest_free(memory, *failure.kind);
  return !largest || can_have_failed(failure, *largest);
}

}  // namespace ttmem::explain

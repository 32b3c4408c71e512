// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/untried_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyse/explain/known_chips.hpp"
#include "analyse/explain/wording.hpp"
#include "read/placement/align.hpp"
#include "read/placement/memory_map.hpp"

namespace ttmem::explain {
namespace {

void suggest(const char* action, std::string text, Explanation& result, Bytes bytes = {}) {
  result.suggestions.push_back({.action = action, .text = std::move(text), .bytes = bytes});
}

// Returns the maximum size in each bank with which the request could fit, according to the message.
Bytes room_for(const BankRequest& request) {
  return request.largest ? request.largest : request.bank;
}

void suggest_joining_blocks(const BankRequest& request, Explanation& result) {
  suggest(
      "reallocate",
      "ttnn.deallocate what is not needed any more, then ttnn.reallocate what stays: this joins "
      "the free blocks",
      result);
  suggest("allocate_earlier",
          fmt::format("allocate this buffer and the other large buffers first: the free memory is "
                      "in blocks of at most {} between smaller buffers",
                      exact(*request.largest)),
          result);
}

void suggest_dram(const BankRequest& request, Explanation& result) {
  if (request.kind != Kind::l1) return;
  suggest("move_to_dram", "put what is asked for into DRAM (memory_config=ttnn.DRAM_MEMORY_CONFIG)",
          result);
}

void suggest_bfloat8_b(const BankRequest& request, Explanation& result) {
  const std::uint64_t smaller = as_bfloat8_b(request.needed);
  if (smaller > room_for(request).value_or(largest_known_bank(request.kind))) return;
  // If only the size of the bank is known, it is not certain that the smaller buffer fits.
  const bool is_enough = request.largest.has_value();
  suggest("smaller_type",
          fmt::format("store it as bfloat8_b, if it is bfloat16: {} in each bank{}", exact(smaller),
                      is_enough ? " would fit into the largest free block" : " instead"),
          result, smaller);
}

// Suggests a smaller request, of the size of the largest free block. If this size is unknown,
// suggests the size of a bank as the maximum.
void suggest_smaller_request(const BankRequest& request, Explanation& result) {
  const Bytes room = room_for(request);
  if (!room || *room == 0 || *room >= request.needed) return;
  const std::uint64_t percent = *room * 100 / request.needed;
  suggest(
      "shrink_request",
      fmt::format("ask for less at once: {} {} {} % of the request ({} of {} in each bank){}",
                  request.largest ? "the largest free block has" : "a whole bank has",
                  percent == 0 ? "less than" : "about", std::max<std::uint64_t>(percent, 1),
                  exact(*room), exact(request.needed),
                  request.kind == Kind::dram ? ", for example fewer tokens in a KV cache, a "
                                               "smaller batch, or several buffers"
                                             : ", for example smaller slices or a smaller batch"),
      result, room);
}

void suggest_freeing(const BankRequest& request, Explanation& result) {
  const std::string how_much =
      result.short_by ? fmt::format("; {} more must be free in each bank", exact(*result.short_by))
                      : std::string();
  suggest("free",
          fmt::format("ttnn.deallocate what is not needed any more{}{}",
                      request.kind == Kind::l1 ? " (conv2d: deallocate_activation=True)" : "",
                      how_much),
          result);
}

// Suggests more shards for an L1 buffer that is larger than a bank.
void suggest_more_cores(const BankRequest& request, Explanation& result) {
  if (request.kind != Kind::l1) return;
  suggest("more_cores", "shard it over more cores, if its shards do not lie on all cores yet",
          result);
}

// Suggests a smaller trace or L1_SMALL region, if the region has as many bytes as the request
// lacks.
void suggest_smaller_region(const BankRequest& request, Explanation& result) {
  const auto apart = set_apart(request);
  if (!apart || !result.short_by || apart->region_bytes < *result.short_by) return;
  const bool is_dram = request.kind == Kind::dram;
  suggest(is_dram ? "trace_region_size" : "l1_small_size",
          fmt::format("open the device with a smaller {}, if it is set: {} of each bank would be "
                      "enough",
                      is_dram ? "trace_region_size" : "l1_small_size", exact(*result.short_by)),
          result);
}

}  // namespace

std::uint64_t with_trace_margin(std::uint64_t bytes) {
  if (bytes > kMaxBytes) return bytes;
  return placement::align_up(bytes + placement::divide_up(bytes, 10),
                             placement::kMaxTracePageBytes);
}

void suggest_untried_for_request(const BankRequest& request, Explanation& result) {
  if (request.kind != Kind::dram && request.kind != Kind::l1) return;
  const bool is_beyond_bank =
      request.needed > request.bank.value_or(largest_known_bank(request.kind));
  if (result.cause == Cause::fragmentation) suggest_joining_blocks(request, result);
  suggest_dram(request, result);
  if (is_beyond_bank) suggest_more_cores(request, result);
  suggest_bfloat8_b(request, result);
  suggest_smaller_request(request, result);
  if (result.cause == Cause::capacity) suggest_smaller_region(request, result);
  if (!is_beyond_bank && result.cause != Cause::fragmentation) suggest_freeing(request, result);
}

void suggest_untried_for_clash(const FailureMessage& failure, Explanation& result) {
  if (result.short_by) {
    suggest("l1_small_size",
            fmt::format("open the device with an l1_small_size that is {} smaller, if it is set: "
                        "every L1 buffer lies higher then",
                        exact(*result.short_by)),
            result);
  }
  suggest("free",
          result.short_by
              ? fmt::format("ttnn.deallocate the L1 tensors that begin below {}, or keep them in "
                            "DRAM; the lowest begins at {}",
                            *failure.cb_end, *failure.l1_address)
              : std::string("ttnn.deallocate L1 tensors that are not needed any more, or keep them "
                            "in DRAM"),
          result);
  suggest("reallocate", "ttnn.reallocate the L1 tensors, if there is room further up", result);
  suggest("more_cores",
          "a larger core grid, or another shard layout, makes the circular buffers of each core "
          "smaller",
          result);
}

void suggest_untried_for_beyond_l1(Explanation& result) {
  suggest("more_cores",
          "a larger core grid, or another shard layout, makes the circular buffers of each core "
          "smaller",
          result);
  suggest("smaller_type", "bfloat8_b inputs: a tile takes 17/32 of the bytes of bfloat16", result);
  suggest("slice_in_dram", "conv2d: slice the input in DRAM, with more slices until it fits",
          result);
}

}  // namespace ttmem::explain

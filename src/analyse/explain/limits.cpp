// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "analyse/explain/causes.hpp"
#include "analyse/explain/region_sizes.hpp"
#include "analyse/explain/untried_changes.hpp"
#include "analyse/explain/wording.hpp"

namespace ttmem::explain {

void explain_trace_region(const FailureMessage& failure, const DeviceMemory* memory,
                          Explanation& result) {
  result.cause = Cause::trace_region;
  result.kind = Kind::trace;
  if (!failure.needed || !failure.limit || *failure.needed <= *failure.limit) {
    result.sentence =
        "The traces are larger than the region that was set up for them; the message does not say "
        "by how much.";
    result.suggestions.push_back(
        {.action = "trace_region_size", .text = "open the device with a larger trace_region_size"});
    return;
  }
  result.bytes = failure.needed;
  result.short_by = *failure.needed - *failure.limit;
  result.sentence = fmt::format(
      "The trace region is too small: all traces together, this one included, need {}, and "
      "trace_region_size is {}: {} short.",
      exact(*failure.needed), exact(*failure.limit), sized(*result.short_by));
  // Suggests the size in the unit of the message. In every version of the runtime, the message and
  // the setting use the same unit.
  const auto size = memory != nullptr ? trace_region_for(*memory, *failure.needed) : std::nullopt;
  const std::uint64_t with_margin = with_trace_margin(*failure.needed);
  const char* reason = "";
  if (!size) {
    reason = ": 10 % above the figure of the message, because other inputs make larger traces";
  } else if (*size > *failure.needed) {
    reason = ": each bank holds whole pages, which the figure of the message leaves out";
  }
  result.suggestions.push_back({.action = "trace_region_size",
                                .tried = size.has_value(),
                                .text = fmt::format("open the device with trace_region_size={}{}",
                                                    size.value_or(with_margin), reason),
                                .bytes = size.value_or(with_margin)});
  result.suggestions.push_back(
      {.action = "release_trace",
       .text = "release traces that are not replayed any more (release_trace)"});
  result.suggestions.push_back({.action = "trace_region_size",
                                .text = "with TT-Metal since January 2026: trace_region_size=0 "
                                        "places traces in DRAM as they come",
                                .bytes = 0});
  if (memory == nullptr) return;
  list_in_the_way(memory->holders[Kind::trace], result);
}

void explain_limit(const FailureMessage& failure, Explanation& result) {
  const std::string needed = failure.needed ? exact(*failure.needed) : "more";
  const std::string limit = failure.limit ? exact(*failure.limit) : "there is";
  const auto suggest = [&](const char* action, std::string text) {
    result.suggestions.push_back({.action = action, .text = std::move(text)});
  };
  if (failure.needed && failure.limit && *failure.needed > *failure.limit) {
    result.short_by = *failure.needed - *failure.limit;
  }
  switch (failure.what) {
    case FailureMessage::What::below_limit:
      result.kind = Kind::l1;
      result.sentence =
          fmt::format("An interleaved L1 buffer would have to lie {}.",
                      failure.limit ? fmt::format("below {}, where it must not", *failure.limit)
                                    : "lower than it may");
      suggest("move_to_dram", "keep this buffer in DRAM, or shard it");
      break;
    case FailureMessage::What::trace_overlap:
      result.cause = Cause::trace_region;
      result.kind = Kind::trace;
      result.sentence =
          "A trace without a region of its own met other buffers in DRAM: they were allocated "
          "after it was captured, where it lies.";
      suggest("trace_region_size", "set trace_region_size, so that traces have their own region");
      suggest("allocate_earlier", "allocate everything before the first trace is captured");
      break;
    case FailureMessage::What::kernel_config:
      result.sentence = fmt::format(
          "The kernels, arguments and semaphores of a program need {} of the kernel config buffer, "
          "which has {}. No buffer is in the way.",
          needed, limit);
      suggest("shrink_program",
              "fewer kernels or runtime arguments in one program; common "
              "arguments instead of one copy for each core");
      break;
    case FailureMessage::What::cb_beyond_buffer:
      result.kind = Kind::cb;
      result.sentence = fmt::format(
          "A circular buffer of {} is placed on an L1 buffer of {} a core: the tensor is smaller "
          "than what the operation reads from it.",
          needed, limit);
      suggest("shrink_cbs",
              "give the circular buffer at most the bytes of a shard, or larger "
              "shards to the tensor");
      break;
    case FailureMessage::What::too_many_cbs:
      result.kind = Kind::cb;
      result.sentence = fmt::format(
          "A program declares more circular buffers than a core has: {}. Bytes do not matter here.",
          failure.limit ? std::to_string(*failure.limit) : "32 on Wormhole, 64 on Blackhole");
      suggest("fewer_cbs", "share circular buffers, or split the operation");
      break;
    case FailureMessage::What::active_trace:
      result.kind = Kind::trace;
      result.sentence =
          "Buffers were allocated while a trace was live. A replay writes where they may lie now: "
          "this can end in wrong results or a hang, and no memory was short.";
      suggest("allocate_earlier",
              "allocate everything, and run every shape once, before the first trace is captured");
      suggest("trace_alloc_tracking",
              "TT_METAL_TRACE_ALLOC_TRACKING=1 makes the runtime say which buffers are at risk");
      break;
    default:
      break;
  }
}

}  // namespace ttmem::explain

// SPDX-License-Identifier: Apache-2.0
//
// The names of the results in JSON, and their descriptions for people.
#pragma once

#include <string_view>

#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

[[nodiscard]] constexpr std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::does_not_fit:
      return "does not fit";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

[[nodiscard]] constexpr std::string_view name_of(Why why) {
  switch (why) {
    case Why::none:
      return "";
    case Why::cores_missing:
      return "cores_missing";
    case Why::banks_missing:
      return "banks_missing";
    case Why::page_unknown:
      return "page_unknown";
    case Why::layout_unknown:
      return "layout_unknown";
    case Why::cores_unknown:
      return "cores_unknown";
    case Why::size_unknown:
      return "size_unknown";
    case Why::sub_device:
      return "sub_device";
    case Why::not_reported:
      return "not_reported";
    case Why::cbs_unknown:
      return "cbs_unknown";
    case Why::cb_order:
      return "cb_order";
    case Why::lost:
      break;
  }
  return "lost";
}

// Returns the text that follows the colon in "3 requests of l1, 1.20 MiB: ...".
[[nodiscard]] constexpr std::string_view reason(Why why) {
  switch (why) {
    case Why::none:
      return "";
    case Why::cores_missing:
      return "they lie on cores that the board does not have";
    case Why::banks_missing:
      return "their shards lie in DRAM banks that the board does not have";
    case Why::page_unknown:
      return "their page size was not reported, and the board has other banks";
    case Why::layout_unknown:
      return "their layout was not reported, and the board has other banks";
    case Why::cores_unknown:
      return "the cores of their shards were not reported";
    case Why::size_unknown:
      return "what they take in a bank was not reported";
    case Why::sub_device:
      return "they lie in the memory of a sub-device";
    case Why::not_reported:
      return "the process does not report what it has of it";
    case Why::cbs_unknown:
      return "the addresses of their circular buffers were not reported";
    case Why::cb_order:
      return "the addresses of their circular buffers do not follow from their order";
    case Why::lost:
      break;
  }
  return "the recording lost them (record with a larger TTMEM_EVENTS)";
}

}  // namespace ttmem::fit

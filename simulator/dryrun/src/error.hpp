// SPDX-License-Identifier: Apache-2.0
// TT-Metal reports errors by exceptions, so the dry run throws exceptions too.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

// The dry run calls these functions to report a failure. They exist only in a program that is
// linked with libttmem and with the processor for TT-Metal's hooks; otherwise they are null. In a
// program that `ttmem run` starts with the shared library, the preloaded stub detects the exception
// instead.
extern "C" [[gnu::weak]] void ttmem_report_failure(const char* text);
extern "C" [[gnu::weak]] void ttmem_tt_metal_flush();

namespace tt::tt_metal::dryrun {

template <typename... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw std::runtime_error(cat(parts...));
}

// Reports a failure if the program is linked with libttmem, then throws an out-of-memory error.
template <typename... Parts>
[[noreturn]] void fail_for_memory(const Parts&... parts) {
  const std::string text = cat(parts...);
  if (ttmem_report_failure != nullptr) ttmem_report_failure(text.c_str());
  throw std::runtime_error(text);
}

// Throws an out-of-memory error for circular buffers that are already placed. Flushes the processor
// first. Otherwise the processor would count these circular buffers only at the next hook, and they
// would be missing in the report.
template <typename... Parts>
[[noreturn]] void fail_for_placed(const Parts&... parts) {
  if (ttmem_tt_metal_flush != nullptr) ttmem_tt_metal_flush();
  fail_for_memory(parts...);
}

template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

}  // namespace tt::tt_metal::dryrun

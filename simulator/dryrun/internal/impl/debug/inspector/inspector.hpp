// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tt::tt_metal {

namespace detail {
class ProgramImpl;
}  // namespace detail

// The functions by which TT-Metal reports events to its debugger. They do nothing here. The
// preloaded stub defines functions of the same names and receives the events.
class Inspector {
 public:
  static void program_destroyed(const detail::ProgramImpl* program) noexcept;
};

}  // namespace tt::tt_metal

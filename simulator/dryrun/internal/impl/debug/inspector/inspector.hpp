// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tt::tt_metal {

namespace detail {
class ProgramImpl;
}  // namespace detail

// Where TT-Metal tells its debugger what happens. Nobody listens here; whoever is loaded before
// this library, and has the same functions, hears of it.
class Inspector {
 public:
  static void program_destroyed(const detail::ProgramImpl* program) noexcept;
};

}  // namespace tt::tt_metal

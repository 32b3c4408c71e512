// SPDX-License-Identifier: Apache-2.0
//
// How the end of a program is noticed.
#pragma once

#include <memory>
#include <tt-metalium/program.hpp>
#include <type_traits>

namespace ttmem::tt_metal {

// Expired from the moment on that the program is being destroyed: before TT-Metal reports that its
// circular buffers are gone, which it does without naming it. Empty when this TT-Metal's programs
// are made otherwise than is supposed here.
//
// A Program owns what it is by a shared pointer that it gives to nobody. It is its first member,
// which in a class of standard layout has the address of the whole.
[[nodiscard]] inline std::weak_ptr<const void> life_of(const ::tt::tt_metal::Program& program) {
  using Program = ::tt::tt_metal::Program;
  using Owner = std::shared_ptr<::tt::tt_metal::detail::ProgramImpl>;
  if constexpr (std::is_standard_layout_v<Program> && sizeof(Program) == sizeof(Owner)) {
    const auto* const owner = reinterpret_cast<const Owner*>(&program);
    if (owner->get() == &program.impl()) return *owner;
  }
  return {};
}

}  // namespace ttmem::tt_metal

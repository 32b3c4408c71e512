// SPDX-License-Identifier: Apache-2.0
// Detects the end of a program.
#pragma once

#include <memory>
#include <tt-metalium/program.hpp>
#include <type_traits>

namespace ttmem::tt_metal {

// Returns a pointer that expires when the destruction of the program begins. After that, TT-Metal
// reports the frees of the program's circular buffers without the name of the program. Returns an
// empty pointer if this TT-Metal implements Program in another way than expected here.
//
// A Program owns its implementation by a shared pointer that it does not share. The pointer is read
// at the address of the Program, because it is the first member of a class of standard layout.
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

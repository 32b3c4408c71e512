// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/random_text.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdint>

namespace ttmem::viewer {

std::string random_text() {
  std::array<std::uint64_t, 2> bits{};
  if (::getrandom(bits.data(), sizeof bits, 0) != sizeof bits) return {};
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace ttmem::viewer

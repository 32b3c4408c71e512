// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::tt_metal {

enum class MathFidelity : std::uint8_t {
  LoFi = 0,
  HiFi2 = 2,
  HiFi3 = 3,
  HiFi4 = 4,
  Invalid = 0xff
};

enum class UnpackToDestMode : std::uint8_t { UnpackToDestFp32, Default };

}  // namespace tt::tt_metal

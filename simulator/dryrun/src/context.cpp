// SPDX-License-Identifier: Apache-2.0
#include "impl/context/metal_context.hpp"
#include "impl/debug/inspector/inspector.hpp"

namespace tt::tt_metal {

MetalContext& MetalContext::instance() {
  static MetalContext context;
  return context;
}

void Inspector::program_destroyed(const detail::ProgramImpl* /*program*/) noexcept {}

}  // namespace tt::tt_metal

// SPDX-License-Identifier: Apache-2.0
#include "show/exports/stacks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/utf8.hpp"

namespace ttmem::exports {
namespace {

// The frames of kernels without a label, indexed by ttmem_kernel_role.
constexpr std::array<std::string_view, 3> kKernels = {"kernels of programs", "fabric kernels",
                                                      "dispatch kernels"};
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

Stack make(const recording::Tables& tables, recording::RowId device, Kind kind,
           std::string_view scope, std::string_view label) {
  const recording::RecordedDevice& where = tables.device(device);
  const std::string& process = tables.process(where.process).name;
  Stack stack = {where.arch.empty() ? "device" : "device " + valid_utf8(where.arch),
                 std::string(name_of(kind)),
                 process.empty() ? "(unknown process)" : valid_utf8(process)};
  while (!scope.empty()) {
    const std::size_t end = std::min(scope.find('/'), scope.size());
    if (end > 0) stack.push_back(valid_utf8(scope.substr(0, end)));
    scope.remove_prefix(std::min(end + 1, scope.size()));
  }
  stack.push_back(label.empty() ? "(no label)" : valid_utf8(label));
  return stack;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t bytes = decode_utf8(text).bytes;
    valid += bytes == 0 ? kReplacement : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return valid;
}

Stack stack_of(const recording::Tables& tables, recording::RowId device,
               const recording::RecordedRequest& request) {
  const bool named = request.label != 0 || request.kind != Kind::kernel;
  return make(tables, device, request.kind, tables.scope(request.scope),
              named ? tables.text(request.label) : kKernels[request.role]);
}

Stack stack_of(const recording::Tables& tables, recording::RowId device, std::uint32_t name,
               std::uint32_t scope) {
  return make(tables, device, Kind::cb, tables.scope(scope), tables.text(name));
}

}  // namespace ttmem::exports

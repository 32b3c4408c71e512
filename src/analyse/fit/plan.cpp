// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyse/fit/scale.hpp"

namespace ttmem::fit {
namespace {

using recording::RecordedRequest;
using recording::Tables;

std::vector<double> factors(const Tables& tables, const CarryOptions& options) {
  std::vector<double> all;
  for (const RecordedRequest& request : tables.requests) {
    const bool grows = !options.scales.empty() && can_grow(request.kind);
    all.push_back(grows ? factor_for(path_of(tables, request), options.scales) : 1);
  }
  return all;
}

// Returns an error if a scale matches no buffer, because such a scale is a mistake.
Result<void> check_scales(const Tables& tables, const CarryOptions& options) {
  for (const SizeScale& scale : options.scales) {
    const bool concerns_some = std::any_of(
        tables.requests.begin(), tables.requests.end(), [&](const RecordedRequest& request) {
          return can_grow(request.kind) && lies_under(path_of(tables, request), scale.scope);
        });
    if (!concerns_some) {
      return Error{"no buffer of the recording lies under '" + scale.scope +
                   "'; `ttmem report` names scopes and labels"};
    }
  }
  return {};
}

void translate_all(const Tables& recorded, const std::vector<double>& factors, const Target& target,
                   Plan& plan) {
  for (std::size_t i = 0; i < recorded.requests.size(); ++i) {
    const RecordedRequest& request = recorded.requests[i];
    const CoreMask* const cores = request.cores != 0 ? &recorded.core_set(request.cores) : nullptr;
    plan.requests.push_back(translate(request, cores, factors[i], target));
    plan.tables.requests.push_back(plan.requests.back().request);
  }
  for (const recording::Layout& layout : recorded.layouts) {
    plan.layouts.push_back(translate(layout, target));
    const TranslatedLayout& translated = plan.layouts.back();
    plan.tables.layouts.push_back(translated.why == Why::none ? translated.layout
                                                              : recording::Layout{});
  }
}

}  // namespace

Result<Plan> make_plan(const Tables& tables, const placement::Board& board,
                       const CarryOptions& options) {
  if (const auto checked = check_scales(tables, options); !checked) return checked.error();
  auto targets = find_targets(tables, board, options);
  if (!targets) return targets.error();
  Plan plan{.tables = tables, .targets = *std::move(targets), .requests = {}, .layouts = {}};
  plan.tables.requests.clear();
  plan.tables.layouts.clear();
  const std::vector<double> all_factors = factors(tables, options);
  for (const Target& target : plan.targets.targets)
    translate_all(tables, all_factors, target, plan);
  for (recording::RecordedDevice& device : plan.tables.devices) {
    const Target& target = plan.target(device.id);
    device = on_board(std::move(device), board, target);
  }
  return plan;
}

}  // namespace ttmem::fit

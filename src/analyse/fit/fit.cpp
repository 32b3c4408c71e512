// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/fit.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyse/fit/plan.hpp"
#include "analyse/fit/scale.hpp"
#include "analyse/fit/simulation.hpp"

namespace ttmem::fit {
namespace {

// The search for the largest factor ends at these factors.
constexpr double kLargestFactor = 65536;
constexpr double kSmallestFactor = 1.0 / 65536;
constexpr double kPrecision =
    1.01;  // the search stops when the failing factor is within 1 % of the fitting factor

Result<Plan> plan_for(const recording::Reader& reader, const placement::Board& board,
                      const CarryOptions& options) {
  const recording::Tables& tables = reader.tables();
  if (tables.run.aggregate) {
    return Error{"a recording with --aggregate has no requests; record without it"};
  }
  return make_plan(tables, board, options);
}

Result<BoardFit> simulate(const recording::Reader& reader, const placement::Board& board,
                          const Plan& plan) {
  Simulation simulation(plan);
  const auto told =
      reader.for_each_event([&](const recording::Event& event) { return simulation.apply(event); });
  if (!told) return told.error();
  simulation.finish();
  BoardFit result = simulation.result();
  result.board = board;
  return result;
}

Result<BoardFit> fit_with(const recording::Reader& reader, const placement::Board& board,
                          CarryOptions options, const SizeScale& scale) {
  options.scales.push_back(scale);
  const auto plan = plan_for(reader, board, options);
  return plan ? simulate(reader, board, *plan) : plan.error();
}

// Returns true if an estimate says more than the plan. This is so if requests use cores or banks
// that the board lacks, or if programs used the whole recorded grid and the board has another grid.
bool needs_estimate(const recording::Tables& recorded, const Plan& plan) {
  const auto is_missing = [](const auto& translated) {
    return translated.why == Why::cores_missing || translated.why == Why::banks_missing;
  };
  const bool may_grow = std::any_of(
      plan.targets.targets.begin(), plan.targets.targets.end(), [&](const Target& target) {
        return std::any_of(recorded.layouts.begin(), recorded.layouts.end(),
                           [&](const auto& layout) { return may_grow_with_grid(layout, target); });
      });
  return may_grow || std::any_of(plan.requests.begin(), plan.requests.end(), is_missing) ||
         std::any_of(plan.layouts.begin(), plan.layouts.end(), is_missing);
}

Result<std::optional<Estimate>> estimate(const recording::Reader& reader,
                                         const placement::Board& board, CarryOptions options) {
  options.estimate = true;
  const auto plan = plan_for(reader, board, options);
  if (!plan) return plan.error();
  auto result = simulate(reader, board, *plan);
  if (!result) return result.error();
  if (!result->unknown.empty()) return std::optional<Estimate>();
  const recording::RecordedDevice& first = reader.tables().devices.front();
  return std::optional(Estimate{.verdict = result->verdict,
                                .recorded = {first.grid_x, first.grid_y},
                                .devices = std::move(result->devices),
                                .failure = std::move(result->failure)});
}

// Returns why no buffer under the scope can be translated. Returns nullopt if at least one buffer
// can be translated. If the reasons differ, returns the reason of the first buffer.
std::optional<Why> why_none(const recording::Tables& recorded, const Plan& plan,
                            const std::string& scope) {
  std::optional<Why> why;
  for (std::size_t row = 0; row < plan.requests.size(); ++row) {
    const recording::RecordedRequest& request = recorded.requests[row % recorded.requests.size()];
    if (!can_grow(request.kind) || !lies_under(path_of(recorded, request), scope)) continue;
    if (plan.requests[row].why == Why::none) return std::nullopt;
    if (!why) why = plan.requests[row].why;
  }
  return why;
}

}  // namespace

Result<BoardFit> fit(const recording::Reader& reader, const placement::Board& board,
                     const CarryOptions& options) {
  const auto plan = plan_for(reader, board, options);
  if (!plan) return plan.error();
  auto result = simulate(reader, board, *plan);
  const bool is_certain = result && result->verdict == Verdict::does_not_fit;
  if (!result || is_certain || !needs_estimate(reader.tables(), *plan)) return result;
  auto estimated = estimate(reader, board, options);
  if (!estimated) return estimated.error();
  result->estimate = *std::move(estimated);
  return result;
}

Result<BoardFit> find_largest(const recording::Reader& reader, const placement::Board& board,
                              const CarryOptions& options, const std::string& scope) {
  // Tries the factor 1 first. An error here, for example that nothing lies under the scope, ends
  // the search.
  CarryOptions with_scope = options;
  with_scope.scales.push_back({scope, 1});
  auto result = fit(reader, board, with_scope);
  if (!result) return result;
  const auto plan = plan_for(reader, board, with_scope);
  if (!plan) return plan.error();
  result->scope_unknown = why_none(reader.tables(), *plan, scope);
  if (result->scope_unknown) return result;
  double good = result->failure ? 0 : 1;
  double bad = result->failure ? 1 : 0;  // 0: no factor has failed yet
  while (bad == 0 || bad > good * kPrecision) {
    const double next = bad == 0 ? good * 2 : (good == 0 ? bad / 2 : (good + bad) / 2);
    if (next > kLargestFactor || next < kSmallestFactor) break;
    const auto tried = fit_with(reader, board, options, {scope, next});
    if (!tried) return tried.error();
    (tried->failure ? bad : good) = next;
  }
  if (good > 0) result->largest_factor = good;
  if (bad > 0) result->smallest_failing_factor = bad;
  return result;
}

}  // namespace ttmem::fit

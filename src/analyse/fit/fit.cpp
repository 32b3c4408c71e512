// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/fit.hpp"

#include <utility>

#include "analyse/fit/plan.hpp"
#include "analyse/fit/simulation.hpp"

namespace ttmem::fit {
namespace {

// The search for the largest factor ends at these factors.
constexpr double kLargestFactor = 65536;
constexpr double kSmallestFactor = 1.0 / 65536;
constexpr double kPrecision =
    1.01;  // the search stops when the failing factor is within 1 % of the fitting factor

Result<BoardFit> fit_with(const recording::Reader& reader, const placement::Board& board,
                          CarryOptions options, const SizeScale& scale) {
  options.scales.push_back(scale);
  return fit(reader, board, options);
}

}  // namespace

Result<BoardFit> fit(const recording::Reader& reader, const placement::Board& board,
                     const CarryOptions& options) {
  const recording::Tables& tables = reader.tables();
  if (tables.run.aggregate) {
    return Error{"a recording with --aggregate has no requests; record without it"};
  }
  const auto plan = make_plan(tables, board, options);
  if (!plan) return plan.error();
  Simulation simulation(*plan);
  const auto told =
      reader.for_each_event([&](const recording::Event& event) { return simulation.apply(event); });
  if (!told) return told.error();
  simulation.finish();
  BoardFit result = simulation.result();
  result.board = board;
  return result;
}

Result<BoardFit> find_largest(const recording::Reader& reader, const placement::Board& board,
                              const CarryOptions& options, const std::string& scope) {
  // Tries the factor 1 first. Returns the error of fit_with(), for example if nothing lies under
  // the scope.
  auto result = fit_with(reader, board, options, {scope, 1});
  if (!result) return result;
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

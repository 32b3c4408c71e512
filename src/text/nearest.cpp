// SPDX-License-Identifier: Apache-2.0
#include "text/nearest.hpp"

#include <algorithm>

namespace ttmem::text {
namespace {

// Returns the minimum number of edits that turn `a` into `b`. An edit replaces, inserts or removes
// one letter, or swaps two adjacent letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        best[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = best[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best[i][j] = std::min({replaced, best[i - 1][j] + 1, best[i][j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) best[i][j] = std::min(best[i][j], best[i - 2][j - 2] + 1);
    }
  }
  return best[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // Accepts an edit distance of at most 2, and of at most half the length of `word`.
  std::size_t least = std::min<std::size_t>(3, word.size() / 2 + 1);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ttmem::text

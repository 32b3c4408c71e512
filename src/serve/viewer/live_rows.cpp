// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/live_rows.hpp"

#include <utility>

namespace ttmem::viewer {

std::size_t Texts::number_of(std::string text) {
  const std::size_t size = text.size();
  const auto [known, fresh] = numbers_.try_emplace(std::move(text), texts_.size());
  if (fresh) {
    texts_.push_back(&known->first);
    bytes_ += size;
  }
  return known->second;
}

void LiveRows::add(std::size_t moment, const RowKey& key, std::int64_t begin_ns,
                   const std::function<std::string()>& text) {
  const auto [known, fresh] = known_.try_emplace(key, rows_.size());
  if (!fresh && rows_[known->second].last + 1 >= moment) {
    rows_[known->second].last = moment;
    return;
  }
  known->second = rows_.size();
  rows_.push_back({moment, moment, begin_ns, text()});
  bytes_ += rows_.back().text.size();
}

}  // namespace ttmem::viewer

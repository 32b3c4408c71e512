// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "recording/file/tables.hpp"
#include "report/report.hpp"

namespace ttmem::report {

// How often each request was made, and how what is live of it changes from mark to mark. A mark
// costs what changed since the one before. Not thread-safe; `tables` must outlive it.
class RequestHistory {
 public:
  explicit RequestHistory(const recording::Tables& tables)
      : tables_(tables), requests_(tables.requests.size()) {}

  void allocate(const recording::Allocation& allocation, bool trace_is_live);
  void free(const recording::Allocation& allocation);
  void mark();

  [[nodiscard]] std::uint64_t marks() const { return marks_; }
  // Of those that were made more than once.
  [[nodiscard]] std::vector<Churn> churn() const;
  [[nodiscard]] std::vector<Growth> growth() const;
  [[nodiscard]] std::vector<Holder> while_trace_live() const;

 private:
  struct Request {
    std::uint64_t allocations = 0;
    std::uint64_t while_trace_live = 0;
    std::uint64_t live_bytes = 0;   // on all devices
    std::uint64_t first_bytes = 0;  // at the first mark
    std::uint64_t bytes_at_mark = 0;
    std::uint64_t grew = 0;
    bool shrank = false;
    bool changed = false;  // since the last mark
  };

  Request& change(const recording::Allocation& allocation, bool add);

  const recording::Tables& tables_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> changed_;
  std::uint64_t marks_ = 0;
};

}  // namespace ttmem::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/report/report.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

// Counts how often each request was made. Not thread-safe; `tables` must outlive this object.
class RequestHistory {
 public:
  explicit RequestHistory(const recording::Tables& tables)
      : tables_(tables), requests_(tables.requests.size()) {}

  void allocate(const recording::RecordedAllocation& allocation, bool trace_is_live);

  // Returns the requests that were made more than once, the most frequent first.
  [[nodiscard]] std::vector<Churn> churn() const;
  [[nodiscard]] std::vector<Holder> while_trace_live() const;

 private:
  struct Request {
    std::uint64_t allocations = 0;
    std::uint64_t while_trace_live = 0;
  };

  const recording::Tables& tables_;
  std::vector<Request> requests_;
};

}  // namespace ttmem::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "serve/socket/client.hpp"
#include "track/wire/message.hpp"

namespace ttmem::serve {

// Returns for example "21.75 MiB". Sizes below 0.01 MiB are in KiB or B. All other sizes are in MiB
// with two decimals, so that lines can be compared and added up.
[[nodiscard]] std::string log_bytes(std::uint64_t bytes);

// Returns for example "dram 1.25 MiB, cb 0.50 MiB": all kinds that are not zero.
[[nodiscard]] std::string text_of_kinds(const KindBytes& bytes);

// Writes one line per report at info level. Writes no line for a report about the connection
// itself, or for a CB whose program is not complete yet. Example:
//
//   [CB_FREE] [PID 4711] device 0: -0.25 MiB (total 21.75 MiB) cb
//
// The total is the bytes of that kind on that device that all clients of this server hold. flush()
// writes many lines at once, so that a busy client does not wait for a file.
class EventLog {
 public:
  explicit EventLog(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

  void report(const wire::Message& report, pid_t pid, const Change& change,
              const DeviceTotals& totals) {
    if (change.effect >= Change::Effect::waiting) return;
    if (logger_->should_log(spdlog::level::info)) write(report, pid, change, totals);
  }
  void flush() { logger_->flush(); }

 private:
  [[gnu::noinline]] void write(const wire::Message& report, pid_t pid, const Change& change,
                               const DeviceTotals& totals);

  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace ttmem::serve

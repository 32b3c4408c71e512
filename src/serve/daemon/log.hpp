// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <memory>

namespace ttmem::serve {

// The log of the server on standard error, as spdlog's default logger: every line is written at
// once. While a pipe is full, lines wait in memory: the server never waits for a reader of its log.
// Lines beyond a MiB are dropped, and a line says how many.
//
// Returns a second logger with the same output, whose lines are written at flush(), or with the
// next line of the default logger: for the many lines of events. One thread: that of the event
// loop.
[[nodiscard]] std::shared_ptr<spdlog::logger> log_to_stderr(bool quiet);

}  // namespace ttmem::serve

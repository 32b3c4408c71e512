// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <memory>

namespace ttmem::serve {

// Makes a log on standard error the default logger of spdlog. Every line is written at once. If
// standard error is a full pipe or socket, lines wait in memory, and the server does not wait for
// the reader of its log. If more than 1 MiB of lines wait, further lines are dropped, and a later
// line says how many were dropped.
//
// Returns a second logger with the same output, for the many lines of events. Its lines are written
// at flush(), or with the next line of the default logger. Used by one thread: the thread of the
// event loop.
[[nodiscard]] std::shared_ptr<spdlog::logger> log_to_stderr(bool quiet);

}  // namespace ttmem::serve

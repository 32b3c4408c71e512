// SPDX-License-Identifier: Apache-2.0
#include "read/remote/ask.hpp"

#include <fmt/format.h>

#include <string>

#include "read/remote/read_snapshot.hpp"

namespace ttmem::remote {

Answer<model::Snapshot> ask_snapshot(const Address& server, Lists lists,
                                     const ClientOptions& options) {
  const bool all = lists == Lists::all;
  const Answer<std::string> answer =
      fetch(server, all ? "/api/v1/snapshot?lists=1" : "/api/v1/snapshot",
            all ? kMaxListBytes : kMaxFigureBytes, options);
  if (answer.failed) return answer.fault;
  return read_snapshot(answer.value);
}

Error error_of(const Address& server, const Fault& fault) {
  return {fmt::format("cannot read {}: {}; {}", server.url(), fault.reason, fault.next_step)};
}

}  // namespace ttmem::remote

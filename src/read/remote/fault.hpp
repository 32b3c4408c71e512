// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ttmem::remote {

// Why there is no answer of a server, or none that can be used.
struct Fault {
  enum class Kind : std::uint8_t {
    unreachable,   // refused, no route, no such name
    timeout,       // nothing, or not all of it, in time
    unauthorized,  // it wants a token, or another one
    not_ttmem,     // something else answers there
    newer,         // a schema that this program does not know
    too_large,     // more than this program reads
    twice,         // it is asked under another name already
    failed,        // it says that it cannot
  };
  Kind kind = Kind::unreachable;
  std::string reason;  // "connection refused"
  std::string next_step;
};

// One word for a column or a program.
[[nodiscard]] constexpr std::string_view name_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::unreachable:
      return "unreachable";
    case Fault::Kind::timeout:
      return "timeout";
    case Fault::Kind::unauthorized:
      return "unauthorized";
    case Fault::Kind::not_ttmem:
      return "not_ttmem";
    case Fault::Kind::newer:
      return "newer";
    case Fault::Kind::too_large:
      return "too_large";
    case Fault::Kind::twice:
      return "twice";
    case Fault::Kind::failed:
      break;
  }
  return "failed";
}

// Of an answer that has more than "16 MiB".
[[nodiscard]] inline Fault too_large(const std::string& most) {
  return {Fault::Kind::too_large, "the answer has more than " + most,
          "run ttmem on that machine, where it has no such limit"};
}

// A value, or why there is none.
template <typename T>
struct Answer {
  Answer(T a_value) : value(std::move(a_value)) {}                    // NOLINT(*-explicit-*)
  Answer(Fault a_fault) : fault(std::move(a_fault)), failed(true) {}  // NOLINT(*-explicit-*)

  T value{};  // meaningless when it failed
  Fault fault{};
  bool failed = false;
};

}  // namespace ttmem::remote

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ttmem::remote {

// The reason why a server gave no answer, or no usable answer.
struct Fault {
  enum class Kind : std::uint8_t {
    unreachable,   // refused, no route, or unknown host name
    timeout,       // no complete answer in time
    unauthorized,  // the token is missing or wrong
    not_ttmem,     // another program answers
    newer,         // the answer has a newer schema than this program knows
    too_large,     // the answer is larger than this program reads
    twice,         // the same server is already asked under another name
    failed,        // the server reports a failure
  };
  Kind kind = Kind::unreachable;
  std::string reason;  // "connection refused"
  std::string next_step;
};

// Returns one word, for a table column or for scripts.
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

// Describes an answer that is larger than `most`, such as "16 MiB".
[[nodiscard]] inline Fault too_large(const std::string& most) {
  return {Fault::Kind::too_large, "the answer has more than " + most,
          "run ttmem on that machine, where it has no such limit"};
}

// A value, or the fault that prevented it.
template <typename T>
struct Answer {
  Answer(T a_value) : value(std::move(a_value)) {}                    // NOLINT(*-explicit-*)
  Answer(Fault a_fault) : fault(std::move(a_fault)), failed(true) {}  // NOLINT(*-explicit-*)

  T value{};  // meaningless if `failed`
  Fault fault{};
  bool failed = false;
};

}  // namespace ttmem::remote

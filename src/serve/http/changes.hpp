// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::serve {

// Makes the answers to the requests that pages send every second. An answer contains the devices
// whose figures changed since the previous answer to the same client. Every change of a device, of
// the warnings or of a list gets the next number. A client sends the number of its last answer, and
// gets the changes with higher numbers.
//
// The first number is the wall clock at the start of the server, in microseconds. There are only a
// few changes per second, so the numbers stay behind the clock. A server that starts later
// therefore never repeats a number.
//
// The JSON of a device is made once and sent to all clients. For one thread at a time.
class Changes {
 public:
  // The first change gets the number `start_unix_us` + 1.
  explicit Changes(std::uint64_t start_unix_us) : first_(start_unix_us), number_(start_unix_us) {}

  // A counter for each list, which grows when the list changes. An answer does not contain the
  // lists, only the numbers of their last changes. Clients request a changed list separately.
  struct Lists {
    std::uint64_t allocations_and_programs = 0;
    std::uint64_t postmortems = 0;
  };
  // Numbers the changes since the previous snapshot. `snapshot` may lack the lists of allocations
  // and programs.
  void update(const model::Snapshot& snapshot, const Lists& lists);

  struct Question {
    // The number of the last answer that the client got. If `after` is nullopt, or a number of
    // another server, the answer contains everything.
    std::optional<std::uint64_t> after{};
    std::optional<model::DeviceName> cores{};  // device whose figures per core are requested
    std::optional<std::uint64_t> cores_after{};
    bool brief = false;  // true: only the facts of a device that `ttmem fleet` needs
  };
  // Returns one line of JSON in the schema ttmem.changes.v1 (docs/reference/server-http.md).
  [[nodiscard]] std::string since(const Question& question) const;

  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  struct Known {
    model::Device identity;  // only the fields that name the device
    std::string key;         // key in the document: the uid, or else the PCI address or number
    std::string figures;     // JSON
    std::string brief;       // JSON with fewer fields
    std::uint64_t number = 0;
    std::vector<model::Core> cores;
    std::uint64_t cores_number = 0;
    mutable std::string cores_text;  // JSON, made at the first request
  };

  void take(const model::Device& device, Known& known);
  void note_list(std::uint64_t now, std::uint64_t& seen, std::uint64_t& number);
  [[nodiscard]] std::string cores_part(const Question& question) const;

  std::uint64_t first_;
  std::uint64_t number_;  // number of the last change
  std::vector<Known> devices_;
  std::uint64_t devices_number_ = 0;  // number of the last change in the set of devices
  std::string warnings_;              // JSON of the member `complete` and of the warnings
  std::uint64_t warnings_number_ = 0;
  Lists seen_;
  Lists list_numbers_;
  std::uint64_t time_unix_ns_ = 0;
  std::string host_;
};

}  // namespace ttmem::serve

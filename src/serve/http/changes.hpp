// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::serve {

// What pages ask for every second: the devices whose figures changed since the answer before. Every
// change of a device, of the warnings or of a list gets the next number; a client sends the number
// of its last answer, and gets what has a higher one.
//
// Numbers begin with the microseconds of the clock when the server started, and grow by a few each
// second, so that a later server never gives one of an earlier server again.
//
// A device is written once for all clients. One thread at a time.
class Changes {
 public:
  // `start_unix_us` is the number of nothing yet.
  explicit Changes(std::uint64_t start_unix_us) : first_(start_unix_us), number_(start_unix_us) {}

  // How far the lists are that clients ask for by themselves. A list changed when its figure is
  // another one than before.
  struct Lists {
    std::uint64_t allocations_and_programs = 0;
    std::uint64_t postmortems = 0;
  };
  // Takes over what is new in a snapshot, whose lists may be missing.
  void update(const model::Snapshot& snapshot, const Lists& lists);

  struct Question {
    std::optional<std::uint64_t> after{};      // none, or a number not given by this server: all
    std::optional<model::DeviceName> cores{};  // whose per-core figures are wanted
    std::optional<std::uint64_t> cores_after{};
    bool brief = false;  // of devices only what `ttmem fleet` needs
  };
  // Schema ttmem.changes.v1, in one line (docs/reference/server-http.md).
  [[nodiscard]] std::string since(const Question& question) const;

  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  struct Known {
    model::Device identity;  // only what it is named by
    std::string key;         // in the document: its uid, or else its PCI address or number
    std::string figures;     // JSON
    std::string brief;       // the same with less in it
    std::uint64_t number = 0;
    std::vector<model::Core> cores;
    std::uint64_t cores_number = 0;
    mutable std::string cores_text;  // JSON, made when somebody asks
  };

  void take(const model::Device& device, Known& known);
  void note_list(std::uint64_t now, std::uint64_t& seen, std::uint64_t& number);
  [[nodiscard]] std::string cores_part(const Question& question) const;

  std::uint64_t first_;
  std::uint64_t number_;  // of the last change
  std::vector<Known> devices_;
  std::uint64_t devices_number_ = 0;  // when one came or went
  std::string warnings_;              // JSON, with `complete`
  std::uint64_t warnings_number_ = 0;
  Lists seen_;
  Lists list_numbers_;
  std::uint64_t time_unix_ns_ = 0;
  std::string host_;
};

}  // namespace ttmem::serve

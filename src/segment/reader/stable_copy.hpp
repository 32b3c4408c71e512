// SPDX-License-Identifier: Apache-2.0
//
// How a reader gets an untorn copy of records that another process is writing, without a lock and
// without touching a word of them.
//
// Roles: one process writes a record; it marks the record's ticket (its first 4 or 8 bytes) as
// busy before it touches the body, and stores a new ticket after. This process copies the record
// three times, each copy beginning after the one before has ended, and takes the second copy when
// the tickets of the first and the third are equal and not busy.
//
// Why that is sound:
//  0. Assumption: read() copies aligned words of up to 8 bytes whole. POSIX does not promise it,
//     the kernels of the 64-bit machines that segments are made on do it. So a ticket or a figure
//     is never torn (invariant 5 of layout.hpp), and anything longer may be.
//  1. Tickets never come back: `seq` only grows (a repeat needs 2^31 writes between two copies), a
//     footprint or event number is used once. So equal tickets in the first and third copy mean
//     that the ticket did not change from the one to the other, and that no write began between.
//  2. The write that stored that ticket was complete before the first copy saw it, since the
//     ticket is stored last, with release. So the second copy, begun later, sees all of it.
//  3. A later write marks the ticket before it stores any of its body. Had one of its bytes shown
//     in the second copy, the mark would have been there before the third began, and would be seen.
// The order of the words within one copy does not matter: read() promises none. Two equal copies
// would not be enough: bytes from before the write in the first copy can equal bytes from after it
// in the second (a figure that goes 1, 2, 1), each copy being torn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

// Three copies of one range of a file. Not thread-safe.
class StableCopy {
 public:
  // False when the bytes are not there (any more).
  [[nodiscard]] bool load(const ByteSource& source, std::uint64_t offset, std::size_t bytes) {
    for (auto& copy : copies_) {
      if (copy.size() < bytes) copy.resize(bytes);
      if (source.read_at(offset, std::span(copy).first(bytes)) != bytes) return false;
      // The next copy, and whatever is read after the last, begins after this one has ended. Pairs
      // with the release fence and the release store in publish() (segment_writer.hpp), and with
      // the release stores of CbRecord::footprint and EventRecord::number.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return true;
  }

  // The record at `at`, whose ticket is an even `seq`. False when it is torn or being written.
  template <typename Record>
  [[nodiscard]] bool sequenced(std::size_t at, Record& record) const {
    const auto before = get<std::uint32_t>(copies_[0], at);
    record = get<Record>(copies_[1], at);
    return before % 2 == 0 && before == get<std::uint32_t>(copies_[2], at);
  }

  // The record at `at`, whose ticket must be `number`.
  template <typename Record>
  [[nodiscard]] bool numbered(std::size_t at, std::uint64_t number, Record& record) const {
    record = get<Record>(copies_[1], at);
    return get<std::uint64_t>(copies_[0], at) == number &&
           get<std::uint64_t>(copies_[2], at) == number;
  }

  // The second copy from `at` on, whether torn or not.
  [[nodiscard]] const std::byte* body(std::size_t at) const { return copies_[1].data() + at; }

 private:
  template <typename T>
  static T get(const std::vector<std::byte>& copy, std::size_t at) {
    T value;
    std::memcpy(&value, copy.data() + at, sizeof(T));
    return value;
  }

  std::array<std::vector<std::byte>, 3> copies_;
};

// A record is written within some ten stores. Missing it that often means that its writer died
// there, or writes it all the time.
inline constexpr int kStableTries = 8;

}  // namespace ttmem::segment

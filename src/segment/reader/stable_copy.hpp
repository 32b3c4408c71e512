// SPDX-License-Identifier: Apache-2.0
//
// How a reader gets an untorn copy of records that another process is writing, without a lock and
// without writing to the records.
//
// Roles: one process, the writer, writes a record. The writer marks the record's ticket (its first
// 4 or 8 bytes) as busy before it writes the body, and stores a new ticket afterwards. The reader
// copies the record three times. Each copy begins after the previous copy has ended. The reader
// takes the second copy if the tickets of the first and the third copy are equal and not busy.
//
// Why the second copy is then untorn:
//  0. Assumption: read() copies aligned words of up to 8 bytes whole. POSIX does not promise this,
//     but Linux does so on the 64-bit machines on which segments are made. So a ticket or a figure
//     is never torn (invariant 5 of layout.hpp), but anything longer may be torn.
//  1. Tickets never repeat: `seq` only grows (a repeat needs 2^31 writes between two copies), and a
//     footprint or event number is used only once. So equal tickets in the first and third copy
//     mean that the ticket did not change between these copies, and that no write began between
//     them.
//  2. The write that stored the ticket was complete before the first copy saw the ticket, because
//     the ticket is stored last, with release. So the second copy, which begins later, sees all of
//     that write.
//  3. A later write marks the ticket before it stores any of its body. If the second copy contained
//     a byte of the later write, the mark would have been stored before the third copy began, and
//     the third copy would show the mark.
//
// The order of the words within one copy does not matter: read() promises no order. Two equal
// copies would not be enough: bytes from before the write in the first copy can equal bytes from
// after the write in the second copy (a figure that goes 1, 2, 1), although each copy is torn.
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

// Holds three copies of one range of a file. Not thread-safe.
class StableCopy {
 public:
  // Copies the range three times. Returns false if the file does not contain the whole range.
  [[nodiscard]] bool load(const ByteSource& source, std::uint64_t offset, std::size_t bytes) {
    for (auto& copy : copies_) {
      if (copy.size() < bytes) copy.resize(bytes);
      if (source.read_at(offset, std::span(copy).first(bytes)) != bytes) return false;
      // Makes the next copy, and every read after the last copy, begin after this copy has ended.
      // Pairs with the release fence and the release store in publish() (segment_writer.hpp), and
      // with the release stores of CbRecord::footprint and EventRecord::number.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return true;
  }

  // Copies the record at `at`, whose ticket is a `seq`. Returns false if the record is torn or
  // being written.
  template <typename Record>
  [[nodiscard]] bool sequenced(std::size_t at, Record& record) const {
    const auto before = get<std::uint32_t>(copies_[0], at);
    record = get<Record>(copies_[1], at);
    return before % 2 == 0 && before == get<std::uint32_t>(copies_[2], at);
  }

  // Copies the record at `at`, whose ticket must be `number`. Returns false if the record is torn
  // or has another ticket.
  template <typename Record>
  [[nodiscard]] bool numbered(std::size_t at, std::uint64_t number, Record& record) const {
    record = get<Record>(copies_[1], at);
    return get<std::uint64_t>(copies_[0], at) == number &&
           get<std::uint64_t>(copies_[2], at) == number;
  }

  // Returns the second copy from `at` on, whether torn or not.
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

// The maximum number of attempts to copy a record. Writing a record takes about ten stores. If
// every attempt gives a torn copy, the writer died during the write, or writes the record all the
// time.
inline constexpr int kStableTries = 8;

}  // namespace ttmem::segment

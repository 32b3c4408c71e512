// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "track/wire/message.hpp"

namespace ttmem::transport {

// A bounded queue of messages. Pages that were never filled take no memory, and an empty ring
// starts again at its first page. If the server reads quickly, the ring therefore uses only a few
// pages.
//
// Not thread-safe, with one exception: the messages of front() stay valid and unchanged until pop()
// or clear(), also for a thread without the lock.
class MessageRing {
 public:
  // `capacity` is a power of two. Returns null if memory runs out.
  [[nodiscard]] static std::unique_ptr<MessageRing> create(std::size_t capacity) noexcept;
  ~MessageRing();
  MessageRing(const MessageRing&) = delete;
  MessageRing& operator=(const MessageRing&) = delete;

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(end_ - begin_);
  }
  [[nodiscard]] std::size_t room() const noexcept { return capacity_ - size(); }

  // Returns the next message, which the caller fills. Requires room() > 0.
  [[nodiscard]] wire::Message& push() noexcept { return messages_[end_++ & (capacity_ - 1)]; }

  // Returns the oldest messages, as many as are adjacent in memory. Empty if the ring is empty.
  [[nodiscard]] std::span<const wire::Message> front() const noexcept;
  void pop(std::size_t count) noexcept;
  void clear() noexcept { begin_ = end_ = 0; }

 private:
  MessageRing(wire::Message* messages, std::size_t capacity) noexcept
      : messages_(messages), capacity_(capacity) {}

  wire::Message* messages_;
  std::size_t capacity_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace ttmem::transport

// SPDX-License-Identifier: Apache-2.0
#include "track/transport/message_ring.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace ttmem::transport {

std::unique_ptr<MessageRing> MessageRing::create(std::size_t capacity) noexcept {
  void* memory = ::mmap(nullptr, capacity * sizeof(wire::Message), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* ring = new (std::nothrow) MessageRing(static_cast<wire::Message*>(memory), capacity);
  if (ring == nullptr) ::munmap(memory, capacity * sizeof(wire::Message));
  return std::unique_ptr<MessageRing>(ring);
}

MessageRing::~MessageRing() { ::munmap(messages_, capacity_ * sizeof(wire::Message)); }

std::span<const wire::Message> MessageRing::front() const noexcept {
  const auto first = static_cast<std::size_t>(begin_ & (capacity_ - 1));
  return {messages_ + first, std::min(size(), capacity_ - first)};
}

void MessageRing::pop(std::size_t count) noexcept {
  begin_ += count;
  if (begin_ == end_) clear();
}

}  // namespace ttmem::transport

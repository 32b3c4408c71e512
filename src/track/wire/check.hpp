// SPDX-License-Identifier: Apache-2.0
//
// Checks of messages. An old client with shorter messages, or a program that is not a client, may
// send bytes that look like messages. These checks keep such bytes out of the figures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/limits.hpp"
#include "track/wire/message.hpp"

namespace ttmem::wire {

inline constexpr std::int32_t kMaxDeviceId = 1023;
inline constexpr std::int32_t kMaxPid = 1 << 22;  // the limit of Linux
inline constexpr std::uint32_t kMaxCbs = 65536;   // maximum for one program
inline constexpr std::uint8_t kMaxBufferType = 4;
inline constexpr std::uint8_t kMaxRole = 2;

enum class MessageFault : std::uint8_t {
  none,
  type,         // none of the twelve types
  answer,       // a type that only servers send
  pid,          // negative, or above the limit of Linux
  device,       // negative, or above kMaxDeviceId
  size,         // larger than the memory of any device
  buffer_type,  // none of the five types
  role,         // none of the three roles of a kernel
  too_short,    // two or three shorter messages of an old client in one message
  details,      // too many banks or CBs, or an unknown ClientNotice
};

namespace detail {
inline constexpr std::array<std::string_view, 13> kTypeNames = {"",
                                                                "ALLOC",
                                                                "FREE",
                                                                "QUERY",
                                                                "RESPONSE",
                                                                "DUMP_REMAINING",
                                                                "DEVICE_INFO_QUERY",
                                                                "DEVICE_INFO_RESPONSE",
                                                                "CB_ALLOC",
                                                                "CB_FREE",
                                                                "KERNEL_LOAD",
                                                                "KERNEL_UNLOAD",
                                                                "DUMP_KERNELS"};
}  // namespace detail

[[nodiscard]] constexpr bool is_known(MessageType type) noexcept {
  return type >= MessageType::alloc && type <= MessageType::dump_kernels;
}

// Returns the name of the type, such as "ALLOC", or an empty text for an unknown type.
[[nodiscard]] constexpr std::string_view name_of(MessageType type) noexcept {
  return detail::kTypeNames[is_known(type) ? static_cast<std::size_t>(type) : 0];
}

// Returns true if a message of this type is a question, which gets one answer and changes nothing.
// All other messages of clients are reports, which get no answer.
[[nodiscard]] constexpr bool is_question(MessageType type) noexcept {
  return type == MessageType::query || type == MessageType::device_info_query ||
         type == MessageType::dump_remaining || type == MessageType::dump_kernels;
}

namespace detail {

// Returns true if a shorter message begins at byte `Size`. Two or three messages of an old client
// can fill one message of today's size. The first message is then valid, and the others would be
// lost. A second head with the same pid reveals the shorter messages; in a message of an original
// client, the bytes of a second head are zeros.
template <std::size_t Size>
[[nodiscard]] inline bool has_second_head(const Message& message) noexcept {
  const std::byte* second = reinterpret_cast<const std::byte*>(&message) + Size;
  std::int32_t pid = 0;
  std::memcpy(&pid, second + offsetof(Head, process_id), sizeof pid);
  return pid == message.head.process_id && pid != 0 &&
         is_known(static_cast<MessageType>(second[offsetof(Head, type)]));
}
[[nodiscard]] inline bool is_of_short_messages(const Message& message) noexcept {
  return has_second_head<kMessageBytes / 2>(message) || has_second_head<kMessageBytes / 3>(message);
}

}  // namespace detail

// Returns true if a question names the chip by its uid, in `buffer_id`, instead of by a number.
[[nodiscard]] constexpr bool names_uid(const Head& question) noexcept {
  return question.device_id == -1 && question.buffer_id != 0;
}

namespace detail {

[[nodiscard]] inline MessageFault fault_of_question(const Message& message) noexcept {
  // A QUERY must name one device, by its number or its uid. Other questions may have device -1.
  const bool one = message.type() == MessageType::query && !names_uid(message.head);
  const std::int32_t least = one ? 0 : -1;
  const bool possible = message.head.device_id >= least && message.head.device_id <= kMaxDeviceId;
  return possible ? MessageFault::none : MessageFault::device;
}

[[nodiscard]] inline MessageFault fault_of_details(const Message& message) noexcept {
  if (message.type() == MessageType::device_info_response) {
    const auto last = static_cast<std::uint32_t>(ClientNotice::goodbye);
    return message.device.is_available <= last ? MessageFault::none : MessageFault::details;
  }
  const ReportDetails& details = message.allocation;
  if (message.type() == MessageType::cb_alloc) {
    const bool counted =
        details.cb.count == 0 ? details.cb.index == 0 : details.cb.index < details.cb.count;
    return counted && details.cb.count <= kMaxCbs ? MessageFault::none : MessageFault::details;
  }
  if (details.bytes_per_bank > kMaxBytes) return MessageFault::size;
  return details.banks <= kMaxBanks ? MessageFault::none : MessageFault::details;
}

}  // namespace detail

// Returns the first fault of a message from a client, or MessageFault::none.
[[nodiscard]] inline MessageFault fault_of(const Message& message) noexcept {
  const Head& head = message.head;
  const MessageType type = message.type();
  if (!is_known(type)) return MessageFault::type;
  const bool details = message.has_details();
  if (type == MessageType::response || (type == MessageType::device_info_response && !details)) {
    return MessageFault::answer;
  }
  if (is_question(type)) return detail::fault_of_question(message);
  // A negative number becomes a large unsigned number, which is rejected too.
  if (static_cast<std::uint32_t>(head.device_id) > kMaxDeviceId) return MessageFault::device;
  if (static_cast<std::uint32_t>(head.process_id) > kMaxPid) return MessageFault::pid;
  if (head.size > kMaxBytes) return MessageFault::size;
  // A FREE from an original client has no buffer type to check.
  const bool typed = type == MessageType::alloc || (type == MessageType::free && details);
  if (typed && head.buffer_type > kMaxBufferType) return MessageFault::buffer_type;
  if (type == MessageType::kernel_load && head.buffer_type > kMaxRole) return MessageFault::role;
  if (details) return detail::fault_of_details(message);
  return detail::is_of_short_messages(message) ? MessageFault::too_short : MessageFault::none;
}

}  // namespace ttmem::wire

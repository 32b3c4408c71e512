// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/connection.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

namespace ttmem::serve {
namespace {

// The number of reads from a busy client before the other clients get their turn.
constexpr int kReadsPerTurn = 4;

// The number of turns in which the server polls a client after the client filled the read buffer.
// Such a client usually sends more within microseconds. Sleeping until more arrives would take
// longer, above all on a virtual machine.
constexpr int kTurnsAwake = 20;

}  // namespace

Connection::Connection(Socket socket, SessionContext& context, ConnectionId id, Peer peer,
                       std::vector<std::byte>& scratch, OnEnd on_end)
    : socket_(std::move(socket)),
      context_(context),
      session_(context, id, peer),
      scratch_(scratch),
      on_end_(std::move(on_end)) {}

void Connection::wait_to_read() {
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error) self->read();
                     });
}

void Connection::read() {
  bool more = true;
  for (int i = 0; i < kReadsPerTurn && more; ++i) {
    const Got got = read_once();
    if (got == Got::end) {
      context_.log.flush();
      return end();
    }
    more = got == Got::full;
    if (more) turns_awake_ = kTurnsAwake;
  }
  context_.log.flush();
  if (turns_awake_ == 0) return wait_to_read();
  // Yields the CPU once, because the client may need this CPU to send more.
  if (!more && turns_awake_ == kTurnsAwake) ::sched_yield();
  --turns_awake_;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->socket_.is_open()) self->read();
  });
}

void Connection::read_rest() {
  Got got = Got::some;
  for (std::size_t reads = 0; reads * scratch_.size() < kMaxRestBytes; ++reads) {
    got = read_once();
    if (got == Got::end || got == Got::nothing) break;
  }
  context_.log.flush();
  if (got == Got::end) end();
}

Connection::Got Connection::read_once() {
  std::memcpy(scratch_.data(), half_.data(), half_size_);
  const std::size_t room = scratch_.size() - half_size_;
  const ssize_t got =
      ::recv(socket_.native_handle(), scratch_.data() + half_size_, room, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Got::nothing;
  if (got <= 0) {
    if (half_size_ > 0) {
      context_.complaints.warn(fmt::format(
          "process {} ended in the middle of a message, after {} of {} bytes: ignored it",
          session_.peer().pid, half_size_, wire::kMessageBytes));
    }
    return Got::end;
  }
  const std::size_t size = half_size_ + static_cast<std::size_t>(got);
  const std::size_t whole = size / wire::kMessageBytes * wire::kMessageBytes;
  const auto verdict = session_.handle(std::span(scratch_).first(whole), answers_);
  half_size_ = size - whole;
  std::memcpy(half_.data(), scratch_.data() + whole, half_size_);
  if (!send() || verdict == Session::Verdict::close) return Got::end;
  return static_cast<std::size_t>(got) == room ? Got::full : Got::some;
}

// Sends as much of the answers as the socket has room for, and sends the rest later. Returns false
// if the connection must be closed.
bool Connection::send() {
  std::size_t done = 0;
  while (!waits_to_send_ && done < answers_.size()) {
    const ssize_t sent = ::send(socket_.native_handle(), answers_.data() + done,
                                answers_.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent < 0) break;
    done += static_cast<std::size_t>(sent);
  }
  answers_.erase(0, done);
  if (answers_.size() > kMaxUnreadBytes) {
    context_.complaints.warn(
        fmt::format("closed the connection of process {}: it asks and does not read the answers",
                    session_.peer().pid));
    return false;
  }
  if (!answers_.empty() && !waits_to_send_) wait_to_send();
  return true;
}

void Connection::wait_to_send() {
  waits_to_send_ = true;
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (error) return;
                       self->waits_to_send_ = false;
                       if (!self->send()) self->end();
                     });
}

void Connection::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::end() {
  close();
  if (on_end_) std::exchange(on_end_, nullptr)(shared_from_this());
}

}  // namespace ttmem::serve

// SPDX-License-Identifier: Apache-2.0
#include "compact_segment.hpp"

#include <algorithm>
#include <cstdint>

#include "segment/layout/layout.hpp"

namespace ttmem::fuzz {
namespace {

using segment::kChunkBytes;
using segment::kChunkTableOffset;
using segment::kHeaderBytes;

constexpr std::size_t kMaxChunks = 16;  // 1 MiB per segment, enough for two chunks of each kind

std::span<const std::byte> take(std::span<const std::byte>& rest, std::size_t count) {
  const auto taken = rest.first(std::min(count, rest.size()));
  rest = rest.subspan(taken.size());
  return taken;
}

std::size_t take_number(std::span<const std::byte>& rest, std::size_t bytes) {
  std::size_t number = 0;
  std::size_t shift = 0;
  for (const std::byte b : take(rest, bytes)) {
    number |= std::to_integer<std::size_t>(b) << shift;
    shift += 8;
  }
  return number;
}

}  // namespace

std::vector<std::byte> compact(std::span<const std::byte> segment) {
  const std::size_t chunks = (segment.size() - kHeaderBytes) / kChunkBytes;
  std::vector<std::byte> result(segment.begin(), segment.begin() + kChunkTableOffset);
  result.push_back(static_cast<std::byte>(chunks));
  for (std::size_t i = 0; i < chunks; ++i) {
    const auto chunk = segment.subspan(kHeaderBytes + i * kChunkBytes, kChunkBytes);
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    const auto end = std::find_if_not(chunk.rbegin(), chunk.rend(), is_zero).base();
    const auto length =
        std::min<std::size_t>(static_cast<std::size_t>(end - chunk.begin()), 0xffff);
    result.push_back(segment[kChunkTableOffset + i]);
    result.push_back(static_cast<std::byte>(length & 0xff));
    result.push_back(static_cast<std::byte>(length >> 8));
    result.insert(result.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(length));
  }
  return result;
}

std::vector<std::byte> expand(std::span<const std::byte> rest) {
  std::vector<std::byte> segment(kHeaderBytes);
  const auto header = take(rest, kChunkTableOffset);
  std::copy(header.begin(), header.end(), segment.begin());
  const std::size_t chunks = take_number(rest, 1) % (kMaxChunks + 1);
  segment.resize(kHeaderBytes + chunks * kChunkBytes);
  for (std::size_t i = 0; i < chunks; ++i) {
    segment[kChunkTableOffset + i] = static_cast<std::byte>(take_number(rest, 1));
    const auto body = take(rest, take_number(rest, 2));
    std::copy(body.begin(), body.end(),
              segment.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + i * kChunkBytes));
  }
  return segment;
}

}  // namespace ttmem::fuzz

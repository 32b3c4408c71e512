// SPDX-License-Identifier: Apache-2.0
#include "show/exports/gzip.hpp"

#include <zlib.h>

#include <array>
#include <new>

namespace ttmem::exports {
namespace {

// Makes inflateInit2() write a gzip header instead of a zlib header.
constexpr int kGzipHeader = 16;

}  // namespace

Gzip::Gzip(Output& output) : output_(output), stream_(std::make_unique<z_stream_s>()) {
  const int made = deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                MAX_WBITS + kGzipHeader, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
  if (made != Z_OK) throw std::bad_alloc();  // the only possible failure with these arguments
}

Gzip::~Gzip() { deflateEnd(stream_.get()); }

void Gzip::write(std::string_view bytes) { deflate(bytes, Z_NO_FLUSH); }
void Gzip::finish() { deflate({}, Z_FINISH); }

void Gzip::deflate(std::string_view bytes, int flush) {
  std::array<char, 1 << 15> buffer;
  // zlib counts bytes in 32 bits.
  constexpr std::size_t max_part = 1 << 30;
  do {
    const std::string_view part = bytes.substr(0, max_part);
    bytes.remove_prefix(part.size());
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_->avail_in = static_cast<uInt>(part.size());
    do {
      stream_->next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_->avail_out = buffer.size();
      ::deflate(stream_.get(), flush);
      output_.write({buffer.data(), buffer.size() - stream_->avail_out});
    } while (stream_->avail_out == 0);
  } while (!bytes.empty());
}

}  // namespace ttmem::exports

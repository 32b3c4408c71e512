// SPDX-License-Identifier: Apache-2.0
#include "base/gzip/gzip.hpp"

#include <zlib.h>

#include <array>
#include <new>
#include <utility>

namespace ttmem {
namespace {

// Selects the gzip format instead of the zlib format, if added to zlib's window bits.
constexpr int kGzipHeader = 16;

// The maximum size of one piece of input, because zlib counts input bytes in 32 bits.
constexpr std::size_t kMaxPiece = std::size_t{1} << 30;

// Makes the next piece of `bytes` the input of the stream, and removes it from `bytes`.
void take_piece(std::string_view& bytes, z_stream& stream) {
  const std::string_view piece = bytes.substr(0, kMaxPiece);
  bytes.remove_prefix(piece.size());
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
}

// Calls step(), which is deflate() or inflate(), until a call leaves room in the output buffer, and
// passes the output to `sink`. Returns the result of the last call.
template <typename Sink, typename Step>
int run(z_stream& stream, const Sink& sink, const Step& step) {
  std::array<char, 1 << 15> buffer;
  int state = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    state = step();
    sink(std::string_view(buffer.data(), buffer.size() - stream.avail_out));
  } while (stream.avail_out == 0);
  return state;
}

}  // namespace

GzipWriter::GzipWriter(Sink sink)
    : sink_(std::move(sink)), stream_(std::make_unique<z_stream_s>()) {
  const int made = deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                MAX_WBITS + kGzipHeader, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
  // These arguments are valid, so deflateInit2() fails only if it is out of memory.
  if (made != Z_OK) throw std::bad_alloc();
}

GzipWriter::~GzipWriter() { deflateEnd(stream_.get()); }

void GzipWriter::write(std::string_view bytes) { deflate(bytes, Z_NO_FLUSH); }
void GzipWriter::finish() { deflate({}, Z_FINISH); }

void GzipWriter::deflate(std::string_view bytes, int flush) {
  do {
    take_piece(bytes, *stream_);
    run(*stream_, sink_, [&] { return ::deflate(stream_.get(), flush); });
  } while (!bytes.empty());
}

std::string gzip(std::string_view bytes) {
  std::string packed;
  GzipWriter writer([&](std::string_view piece) { packed += piece; });
  writer.write(bytes);
  writer.finish();
  return packed;
}

std::string gunzip(std::string_view packed) {
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + kGzipHeader) != Z_OK) throw std::bad_alloc();
  std::string bytes;
  int state = Z_OK;
  while (state != Z_STREAM_END && !packed.empty()) {
    take_piece(packed, stream);
    state = run(
        stream, [&](std::string_view piece) { bytes += piece; },
        [&] { return inflate(&stream, Z_NO_FLUSH); });
  }
  inflateEnd(&stream);
  return bytes;
}

}  // namespace ttmem

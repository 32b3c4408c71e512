// SPDX-License-Identifier: Apache-2.0
//
// Compression and decompression in the gzip format, with zlib. Equal input gives equal output,
// because the output contains no time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace ttmem {

// Compresses a stream piece by piece. Not thread-safe.
class GzipWriter {
 public:
  // Receives the compressed bytes, piece by piece. A piece is valid only during the call.
  using Sink = std::function<void(std::string_view)>;

  explicit GzipWriter(Sink sink);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void write(std::string_view bytes);
  // Writes the end of the compressed stream. Call finish() once, after the last write().
  void finish();

 private:
  void deflate(std::string_view bytes, int flush);

  Sink sink_;
  std::unique_ptr<z_stream_s> stream_;
};

[[nodiscard]] std::string gzip(std::string_view bytes);

// Decompresses data in the gzip format. If the data has an error, returns the part before the first
// error. `packed` must come from a trusted source, because the size of the result has no limit.
[[nodiscard]] std::string gunzip(std::string_view packed);

}  // namespace ttmem

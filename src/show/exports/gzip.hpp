// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "show/exports/output.hpp"

struct z_stream_s;

namespace ttmem::exports {

// Compresses in the gzip format into an Output. The header has no time, so that the same bytes
// always give the same file.
class Gzip {
 public:
  explicit Gzip(Output& output);
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void write(std::string_view bytes);
  // Call once, after the last write().
  void finish();

 private:
  void deflate(std::string_view bytes, int flush);

  Output& output_;
  std::unique_ptr<z_stream_s> stream_;
};

}  // namespace ttmem::exports

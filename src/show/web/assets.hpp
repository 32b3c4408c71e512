// SPDX-License-Identifier: Apache-2.0
//
// The files of the page, embedded when the binary was built. The files never change, so they may be
// used from any thread and for the lifetime of the process.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ttmem::web {

struct Asset {
  std::string_view path;          // path of the URL, such as "/index.html"
  std::string_view content_type;  // including the charset
  std::string_view etag;          // hash of the content, in quotes
  std::span<const std::byte> gzip;
};

[[nodiscard]] std::span<const Asset> all();

// Returns the asset with this path, or nullptr.
[[nodiscard]] const Asset* find(std::string_view path);

// Returns the uncompressed content, for clients that do not accept gzip.
[[nodiscard]] std::string plain(const Asset& asset);

// Returns index.html with `source` in place of "live". `source` is "recording" if a server has the
// recording, and "file" if the page itself contains the recording.
[[nodiscard]] std::string page_over(std::string index, std::string_view source);

// Returns a sentence about the parts that this build of the page lacks, with the next step. Returns
// an empty text if the page is complete.
[[nodiscard]] std::string_view missing();

// Returns the content type by the extension of `name`, or "application/octet-stream" if unknown.
[[nodiscard]] std::string_view content_type_of(std::string_view name);

}  // namespace ttmem::web

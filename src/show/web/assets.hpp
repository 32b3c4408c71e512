// SPDX-License-Identifier: Apache-2.0
//
// The files of the page (web/), as they were when the binary was built. Constant: safe from any
// thread, valid for ever.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ttmem::web {

struct Asset {
  std::string_view path;          // as in the address: "/index.html"
  std::string_view content_type;  // with its charset
  std::string_view etag;          // of the content, in quotes
  std::span<const std::byte> gzip;
};

[[nodiscard]] std::span<const Asset> all();

// The asset with that path; null when there is none.
[[nodiscard]] const Asset* find(std::string_view path);

// Its content, for clients that do not take gzip.
[[nodiscard]] std::string plain(const Asset& asset);

// The page of index.html for data from `source`: "recording" (a server that has one) or "file" (the
// page itself has it) in place of "live".
[[nodiscard]] std::string page_over(std::string index, std::string_view source);

// What this build of the page lacks, and how to have it; empty: nothing.
[[nodiscard]] std::string_view missing();

// The type of a file by the end of its name; "application/octet-stream" when it is not known.
[[nodiscard]] std::string_view content_type_of(std::string_view name);

}  // namespace ttmem::web

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::exports {

// A file that has its name only when it is whole: until finish() it is beside that, under another
// name, and goes away with this object. Standard output ("-") and what is no regular file (a pipe,
// /dev/null) are written directly. Not thread-safe.
class Output {
 public:
  // Fails when there is such a file and it may not be overwritten.
  [[nodiscard]] static Result<Output> create(const std::string& path, bool overwrite);
  // Into an open file, which messages call `name`. Whoever opened it sees to what becomes of it.
  [[nodiscard]] static Output into(UniqueFd file, std::string name);
  ~Output();
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;

  // Does nothing after a failure, which finish() reports.
  void write(std::string_view bytes);
  // A reader of standard output that has gone is not a failure.
  [[nodiscard]] Result<void> finish();

 private:
  Output() = default;
  void flush();

  std::string path_;
  std::string unfinished_;  // its name until finish(); empty: written directly
  bool overwrite_ = false;
  UniqueFd fd_;
  std::string buffer_;
  int failed_ = 0;  // errno
};

// The same for a folder of files with known names.
class OutputFolder {
 public:
  [[nodiscard]] static Result<OutputFolder> create(const std::string& path, bool overwrite);
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;

  // Where a file of that name is to be written.
  [[nodiscard]] std::string file(std::string_view name) const;
  // Fails when the folder was there and has other files than `names`, which it replaces.
  [[nodiscard]] Result<void> finish(std::initializer_list<std::string_view> names);

 private:
  OutputFolder() = default;

  std::string path_;
  std::string unfinished_;
};

}  // namespace ttmem::exports

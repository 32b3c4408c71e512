// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::exports {

// A file that gets its name only when it is complete. Until finish() the file has another name in
// the same folder, and the destructor removes an unfinished file. Standard output ("-") and files
// that are not regular (a pipe, /dev/null) are written directly. Not thread-safe.
class Output {
 public:
  // Creates the file. Fails if a regular file with this name exists and `overwrite` is false.
  [[nodiscard]] static Result<Output> create(const std::string& path, bool overwrite);
  // Writes into an open file. Messages use `name` as the name of the file. The file is not removed
  // after a failure.
  [[nodiscard]] static Output into(UniqueFd file, std::string name);
  ~Output();
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;

  // Does nothing after a failure. finish() reports the failure.
  void write(std::string_view bytes);
  // Completes the file. Does not fail if the reader of standard output has closed its end.
  [[nodiscard]] Result<void> finish();

 private:
  Output() = default;
  void flush();

  std::string path_;
  std::string unfinished_;  // name until finish(); empty: the file is written directly
  bool overwrite_ = false;
  UniqueFd fd_;
  std::string buffer_;
  int failed_ = 0;  // errno of the first failure, or 0
};

// A folder with a fixed set of files. Like the file of Output, the folder gets its name only when
// it is complete.
class OutputFolder {
 public:
  [[nodiscard]] static Result<OutputFolder> create(const std::string& path, bool overwrite);
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;

  // Returns the path under which the caller must write the file `name`.
  [[nodiscard]] std::string file(std::string_view name) const;
  // Renames the folder to its final name. Replaces an existing folder if the folder has only files
  // from `names`; otherwise fails.
  [[nodiscard]] Result<void> finish(std::initializer_list<std::string_view> names);

 private:
  OutputFolder() = default;

  std::string path_;
  std::string unfinished_;
};

}  // namespace ttmem::exports

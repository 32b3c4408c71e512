// SPDX-License-Identifier: Apache-2.0
// Wraps SQLite with Result instead of error codes. Debian's C++ wrapper throws exceptions, which
// this project does not use.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "read/recording/file/read_only_vfs.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ttmem::recording {

// A prepared statement. Arguments are numbered from 1 and columns from 0, as in SQLite.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement, &destroy) {}

  void bind(int at, std::int64_t value);
  void bind(int at, std::uint64_t value) { bind(at, static_cast<std::int64_t>(value)); }
  void bind(int at, std::uint32_t value) { bind(at, std::int64_t{value}); }
  void bind(int at, int value) { bind(at, std::int64_t{value}); }
  void bind(int at, bool value) { bind(at, std::int64_t{value}); }
  // Does not copy the text, which must stay valid until after the next step().
  void bind(int at, std::string_view text);
  void bind_null(int at);
  template <typename T>
  void bind(int at, const std::optional<T>& value) {
    value ? bind(at, *value) : bind_null(at);
  }
  // Bind null if the value is 0 or empty.
  template <std::integral T>
  void bind_or_null(int at, T value) {
    value != 0 ? bind(at, value) : bind_null(at);
  }
  void bind_or_null(int at, std::string_view text) {
    text.empty() ? bind_null(at) : bind(at, text);
  }

  // Moves a query to its next row. Returns false if there is no further row, and nullopt after an
  // error, which Database::error() describes.
  [[nodiscard]] std::optional<bool> step();
  // Executes a statement that is not a query, and makes it ready to run again. Returns false after
  // an error.
  [[nodiscard]] bool run();
  void reset();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  // Returns a text that is valid until the next step().
  [[nodiscard]] std::string_view text(int column) const;
  // Returns the total size of all texts and blobs of the row.
  [[nodiscard]] std::uint64_t text_bytes() const;

 private:
  static void destroy(sqlite3_stmt* statement) noexcept;
  std::unique_ptr<sqlite3_stmt, void (*)(sqlite3_stmt*)> statement_{nullptr, &destroy};
};

class Database {
 public:
  // `read` is for untrusted files: nothing on the disk changes (ReadOnlyVfs), and no view, trigger
  // or virtual table of the file runs. The pages of a damaged file may form a loop, so a query
  // fails if it takes too many steps for a file of that size.
  enum class Mode : std::uint8_t { read, create };

  [[nodiscard]] static Result<Database> open(const std::string& path, Mode mode);

  // Copies the present content into memory or a temporary file. Error messages of the copy name the
  // original file. The file is locked only during the copy.
  [[nodiscard]] Result<Database> copy() const;

  [[nodiscard]] Result<void> execute(const char* sql);
  [[nodiscard]] Result<Statement> prepare(const char* sql);
  // Describes the last failure in a message that names the file.
  [[nodiscard]] Error error() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  // Returns true if the file has no bytes, or if undoing the journal leaves no bytes.
  [[nodiscard]] bool is_empty() const {
    return vfs_ != nullptr && (file_bytes_ == 0 || vfs_->is_undone_to_nothing());
  }
  // Returns the size that the file had when it was opened. The size limits the amount of data that
  // can be read from the file.
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  // The steps of SQLite's virtual machine that are left until the next prepare().
  struct Steps {
    std::uint64_t left = 0;
  };

  [[nodiscard]] static Result<Database> read(const std::string& path);
  [[nodiscard]] Result<void> connect(const char* name, const char* vfs);
  [[nodiscard]] Result<void> distrust();
  void refill_steps();
  static int count_steps(void* steps) noexcept;
  [[nodiscard]] Error error_of(int code, const char* reason) const;
  static void close(sqlite3* database) noexcept;

  // vfs_ and steps_ must outlive the connection, so they are declared before database_.
  std::unique_ptr<ReadOnlyVfs> vfs_;  // null: the default VFS of SQLite
  std::unique_ptr<Steps> steps_;      // null: no limit
  std::unique_ptr<sqlite3, void (*)(sqlite3*)> database_{nullptr, &close};
  std::string path_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace ttmem::recording

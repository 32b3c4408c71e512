// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/shell_quote.hpp"

namespace ttmem::recording {
namespace {

// The maximum time that a reader and a recorder wait for each other to release the file.
constexpr int kBusyMilliseconds = 10'000;

// The maximum length of a text, because any user may have written the file. The longest text that
// ttmem writes is a command line.
constexpr int kMaxTextBytes = 16 << 20;
// Limits of the steps of SQLite's virtual machine. Reading a row takes about one step per byte. The
// limit is higher, because several queries may run at the same time.
constexpr std::uint64_t kStepsPerByte = 16;
constexpr std::uint64_t kFewestSteps = 4'000'000;
constexpr int kStepsPerCount = 10'000;

}  // namespace

void Statement::destroy(sqlite3_stmt* statement) noexcept { sqlite3_finalize(statement); }

void Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), at, value);
}
void Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::bind_null(int at) { sqlite3_bind_null(statement_.get(), at); }

std::optional<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::nullopt;
}

bool Statement::run() {
  const bool done = step().has_value();
  reset();
  return done;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::uint64_t Statement::text_bytes() const {
  std::uint64_t sum = 0;
  for (int column = 0; column < sqlite3_column_count(statement_.get()); ++column) {
    const int type = sqlite3_column_type(statement_.get(), column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) continue;
    sum += static_cast<std::uint64_t>(sqlite3_column_bytes(statement_.get(), column));
  }
  return sum;
}

void Database::close(sqlite3* database) noexcept { sqlite3_close(database); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  if (mode == Mode::read) return read(path);
  Database database;
  database.path_ = path;
  if (const auto done = database.connect(path.c_str(), nullptr); !done) return done.error();
  return database;
}

Result<Database> Database::read(const std::string& path) {
  auto vfs = ReadOnlyVfs::open(path);
  if (!vfs) return vfs.error();
  Database database;
  database.path_ = path;
  database.vfs_ = std::move(*vfs);
  database.file_bytes_ = database.vfs_->file_bytes();
  if (const auto done = database.connect(ReadOnlyVfs::kFileName, database.vfs_->name()); !done) {
    return done.error();
  }
  const auto trusted = database.distrust();
  if (database.vfs_->has_write_ahead_log()) {
    return Error{fmt::format(
        "cannot read {}: it is in WAL mode, and reading would write files beside it; type: "
        "sqlite3 {} 'PRAGMA journal_mode=DELETE'",
        path, shell_quote(path))};
  }
  if (!trusted) return trusted.error();
  return database;
}

// Applies the settings that SQLite's documentation advises for untrusted files. Fails if the file
// cannot be read.
Result<void> Database::distrust() {
  sqlite3* const database = database_.get();
  for (const int feature : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
                            SQLITE_DBCONFIG_ENABLE_TRIGGER}) {
    sqlite3_db_config(database, feature, 0, nullptr);
  }
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_drop_modules(database, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxTextBytes);
  steps_ = std::make_unique<Steps>();
  refill_steps();
  sqlite3_progress_handler(database, kStepsPerCount, &count_steps, steps_.get());
  return execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; SELECT 1 FROM sqlite_schema");
}

void Database::refill_steps() {
  if (steps_) steps_->left = kFewestSteps + kStepsPerByte * file_bytes_;
}

// Returns 0 while steps are left; any other value interrupts the query.
int Database::count_steps(void* steps) noexcept {
  std::uint64_t& left = static_cast<Steps*>(steps)->left;
  left -= std::min<std::uint64_t>(left, kStepsPerCount);
  return left == 0 ? 1 : 0;
}

Result<void> Database::connect(const char* name, const char* vfs) {
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(name, &opened, flags, vfs);
  database_.reset(opened);
  if (code != SQLITE_OK) return error();
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  return {};
}

Result<Database> Database::copy() const {
  auto result = open("", Mode::create);  // a temporary file, which SQLite removes
  if (!result) return result.error();
  result->path_ = path_;
  sqlite3* const to = result->database_.get();
  sqlite3_backup* const backup = sqlite3_backup_init(to, "main", database_.get(), "main");
  if (backup == nullptr) return result->error();
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return error_of(code, sqlite3_errstr(code));
  result->file_bytes_ = vfs_->file_bytes();  // the present size, because the file may have grown
  if (const auto distrusted = result->distrust(); !distrusted) return distrusted.error();
  return result;
}

Error Database::error() const {
  return error_of(sqlite3_errcode(database_.get()), sqlite3_errmsg(database_.get()));
}

Error Database::error_of(int code, const char* reason) const {
  // SQLite writes nothing but temporary files for sorting while it reads a recording. A write error
  // therefore means that there is no room for temporary files.
  const int whole_code = sqlite3_extended_errcode(database_.get());
  if (steps_ != nullptr && (whole_code == SQLITE_FULL || whole_code == SQLITE_IOERR_WRITE)) {
    return {
        fmt::format("cannot sort {}: there is no room for temporary files; free some, or set "
                    "TMPDIR to another folder",
                    path_)};
  }
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {fmt::format("{}: there is no space left on its disk; free some", path_)};
    case SQLITE_NOTADB:
      return {fmt::format("{} is not a recording of ttmem", path_)};
    case SQLITE_CANTOPEN: {
      const int reason_number = sqlite3_system_errno(database_.get());
      return {fmt::format("cannot open {}: {}", path_,
                          reason_number != 0 ? std::strerror(reason_number) : reason)};
    }
    case SQLITE_READONLY:
      return {fmt::format("cannot write {}: it was moved or removed, or may only be read", path_)};
    case SQLITE_IOERR: {
      const int number = sqlite3_system_errno(database_.get());
      const char* const why = number != 0 ? std::strerror(number) : reason;
      if (vfs_ != nullptr) return {fmt::format("cannot read {}: {}", path_, why)};
      return {fmt::format("cannot write {}: {}; see its disk, and the limit of `ulimit -f`", path_,
                          why)};
    }
    case SQLITE_BUSY:
      return {
          fmt::format("{} is locked by another process that reads or writes it; end that, and "
                      "try again",
                      path_)};
    case SQLITE_CORRUPT:
      return {fmt::format("{} is damaged: {}; it was cut short or overwritten", path_, reason)};
    case SQLITE_INTERRUPT:
      return {fmt::format("{} is damaged: it has more rows than fit into it", path_)};
    case SQLITE_TOOBIG:
      return {fmt::format("{} is damaged: a text in it is longer than {} MiB", path_,
                          kMaxTextBytes >> 20)};
    default:
      return {fmt::format("{}: {}", path_, reason)};
  }
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  refill_steps();
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK) {
    return error();
  }
  return Statement(statement);
}

}  // namespace ttmem::recording

// SPDX-License-Identifier: Apache-2.0
#include "recording/file/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ttmem::recording {
namespace {

// A reader waits while the recorder commits, and the other way round.
constexpr int kBusyMilliseconds = 10'000;

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

void Database::close(sqlite3* database) noexcept { sqlite3_close(database); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  Database database;
  database.path_ = path;
  // For reading as well: a recorder that was killed while it wrote has left something to undo.
  const bool may_write = mode == Mode::create || ::access(path.c_str(), W_OK) == 0;
  const int flags = (may_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                    (mode == Mode::create ? SQLITE_OPEN_CREATE : 0);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database.database_.reset(opened);
  if (code != SQLITE_OK) return database.error();
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  return database;
}

Result<Database> Database::copy() const {
  auto result = open("", Mode::create);  // no name: SQLite removes it itself
  if (!result) return result.error();
  result->path_ = path_;
  sqlite3* const to = result->database_.get();
  sqlite3_backup* const backup = sqlite3_backup_init(to, "main", database_.get(), "main");
  if (backup == nullptr) return result->error();
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return error_of(code, sqlite3_errstr(code));
  return result;
}

Error Database::error() const {
  return error_of(sqlite3_errcode(database_.get()), sqlite3_errmsg(database_.get()));
}

Error Database::error_of(int code, const char* reason) const {
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
    case SQLITE_BUSY:
      return {
          fmt::format("{} is locked by another process that reads or writes it; end that, and "
                      "try again",
                      path_)};
    case SQLITE_CORRUPT:
      return {fmt::format("{} is damaged: {}; it was cut short or overwritten", path_, reason)};
    default:
      return {fmt::format("{}: {}", path_, reason)};
  }
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK) {
    return error();
  }
  return Statement(statement);
}

}  // namespace ttmem::recording

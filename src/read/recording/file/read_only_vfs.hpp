// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace ttmem::recording {

// The file system that SQLite sees while it reads one recording: the recording, its rollback
// journal, and temporary files without a name. No other file exists, and no file on the disk is
// changed, created or deleted. This matters because a journal may name any file for SQLite to
// delete (the super-journal).
//
// A journal counts only if it is a regular file, not a link, and belongs to the owner of the
// recording, to this user or to root. SQLite uses the journal to undo the last transaction of a
// killed recorder. The undone pages go to a temporary file and are read from there. Files ending in
// `-wal` and `-shm` do not exist for SQLite.
//
// A reader takes SQLite's shared lock on the file, so that a recorder and its readers wait for each
// other. Higher locks are only pretended, because the data that they would protect is private to
// this reader.
//
// One connection uses this object, and must be closed before the object is destroyed. Not
// thread-safe.
class ReadOnlyVfs {
 public:
  // The name of the recording for SQLite. Error messages must show the real path.
  static constexpr const char* kFileName = "/recording";

  // Fails if the file cannot be opened, or is not a regular file.
  [[nodiscard]] static Result<std::unique_ptr<ReadOnlyVfs>> open(const std::string& path);
  ~ReadOnlyVfs();
  ReadOnlyVfs(const ReadOnlyVfs&) = delete;
  ReadOnlyVfs& operator=(const ReadOnlyVfs&) = delete;

  // Returns the name of this VFS for sqlite3_open_v2().
  [[nodiscard]] const char* name() const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  // Returns true if the header, as last read, asks for a write-ahead log.
  [[nodiscard]] bool has_write_ahead_log() const;
  // Returns true if the journal undid the whole file, so that no byte is left.
  [[nodiscard]] bool is_undone_to_nothing() const;

 private:
  struct State;
  explicit ReadOnlyVfs(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::recording

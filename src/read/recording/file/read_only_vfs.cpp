// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/read_only_vfs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace ttmem::recording {
namespace {

constexpr const char* kJournalName = "/recording-journal";

// The bytes that SQLite locks in a database, fixed by its file format.
constexpr off_t kPendingByte = 0x40000000;
constexpr off_t kReservedByte = kPendingByte + 1;
constexpr off_t kSharedBytes = kPendingByte + 2;
constexpr off_t kSharedLength = 510;

constexpr std::size_t kHeaderBytes = 100;
// Offset of the write version in the header. The read version is in the next byte.
constexpr std::size_t kWriteVersion = 18;
constexpr std::byte kLogVersion{2};
constexpr int kSectorBytes = 512;  // a journal without pages is one sector long

using Bytes = std::span<std::byte>;

// Fills `to` from `offset` of the file. Returns the number of bytes read; nullopt after an error.
std::optional<std::size_t> read_at(int fd, Bytes to, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::pread(fd, &to[done], to.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

// Returns the SQLite code of a read. Fills the rest of a short read with zeros, as SQLite requires.
int read_result(Bytes to, std::optional<std::size_t> got) {
  if (!got) return SQLITE_IOERR_READ;
  if (*got == to.size()) return SQLITE_OK;
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(*got), to.end(), std::byte{0});
  return SQLITE_IOERR_SHORT_READ;
}

// Takes or releases a lock of the open file description. Closing another descriptor of the same
// file would release a lock of the process, but not this lock.
int set_lock(int fd, short type, off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return SQLITE_OK;
  return errno == EAGAIN || errno == EACCES || errno == EINTR ? SQLITE_BUSY : SQLITE_IOERR_LOCK;
}

// The blocks that were written over a read-only file, kept in a temporary file.
class Overlay {
 public:
  explicit Overlay(sqlite3_vfs& disk) : disk_(disk) {}
  ~Overlay() {
    if (file() != nullptr && file()->pMethods != nullptr) file()->pMethods->xClose(file());
  }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // SQLite writes whole pages, which are multiples of a block.
  static constexpr std::uint64_t kBlockBytes = 512;

  int write(std::span<const std::byte> from, std::uint64_t offset) {
    if (offset % kBlockBytes != 0 || from.size() % kBlockBytes != 0) return SQLITE_IOERR_WRITE;
    if (const int code = make_file(); code != SQLITE_OK) return code;
    for (; !from.empty(); from = from.subspan(kBlockBytes), offset += kBlockBytes) {
      const auto [known, is_new] = places_.try_emplace(offset / kBlockBytes, next_place_);
      if (is_new) ++next_place_;
      const std::uint64_t place = known->second;
      const int code = file()->pMethods->xWrite(file(), from.data(), kBlockBytes, offset_of(place));
      if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
  }

  // Discards everything that was written from `offset` to the end.
  void forget_from(std::uint64_t offset) {
    const std::uint64_t first = (offset + kBlockBytes - 1) / kBlockBytes;
    std::erase_if(places_, [&](const auto& block) { return block.first >= first; });
  }

  // `to` has the bytes of the file at `offset`. Replaces the bytes for which this overlay has
  // blocks.
  int read_over(Bytes to, std::uint64_t offset) {
    for (std::uint64_t at = offset, end = offset + to.size(); at < end;) {
      const std::uint64_t within = at % kBlockBytes;
      const std::uint64_t count = std::min(kBlockBytes - within, end - at);
      if (const auto place = places_.find(at / kBlockBytes); place != places_.end()) {
        const int code =
            file()->pMethods->xRead(file(), &to[at - offset], static_cast<int>(count),
                                    offset_of(place->second) + static_cast<sqlite3_int64>(within));
        if (code != SQLITE_OK) return code;
      }
      at += count;
    }
    return SQLITE_OK;
  }

 private:
  static sqlite3_int64 offset_of(std::uint64_t place) {
    return static_cast<sqlite3_int64>(place) * static_cast<sqlite3_int64>(kBlockBytes);
  }
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

  // Creates the temporary file. SQLite removes the file when it is closed.
  int make_file() {
    if (!memory_.empty()) return SQLITE_OK;
    memory_.resize(static_cast<std::size_t>(disk_.szOsFile) / sizeof(std::max_align_t) + 1);
    constexpr int flags = SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                          SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_DELETEONCLOSE;
    const int code = disk_.xOpen(&disk_, nullptr, file(), flags, nullptr);
    if (code != SQLITE_OK) memory_.clear();
    return code;
  }

  sqlite3_vfs& disk_;
  std::vector<std::max_align_t> memory_;  // of a sqlite3_file; empty: no file yet
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // block -> its place in the file
  std::uint64_t next_place_ = 0;
};

}  // namespace

struct ReadOnlyVfs::State {
  // The sqlite3_file of the recording and of its journal. SQLite provides the memory.
  struct File {
    sqlite3_file base;
    State* state;
    int journal;  // -1: this is the recording itself
  };

  [[nodiscard]] bool may_undo(const struct stat& journal) const {
    return S_ISREG(journal.st_mode) &&
           (journal.st_uid == owner || journal.st_uid == ::geteuid() || journal.st_uid == 0);
  }
  [[nodiscard]] bool has_journal() const {
    struct stat about {};
    return !is_undone && ::lstat(journal_path.c_str(), &about) == 0 && may_undo(about);
  }
  [[nodiscard]] UniqueFd open_journal() const {
    UniqueFd journal(::open(journal_path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat about {};
    const bool fine = journal && ::fstat(journal.get(), &about) == 0 && may_undo(about);
    return fine ? std::move(journal) : UniqueFd();
  }

  // Returns the size of the recording on the disk. If the journal is undone, returns the size that
  // the undone journal leaves.
  std::optional<std::uint64_t> size() const {
    if (undone_bytes) return undone_bytes;
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(about.st_size);
  }
  // Switches to the overlay: from now on the shared lock is kept, so that no writer changes the
  // file.
  int begin_overlay() {
    if (undone_bytes) return SQLITE_OK;
    undone_bytes = size();
    kept_bytes = undone_bytes.value_or(0);
    return undone_bytes ? SQLITE_OK : SQLITE_IOERR_FSTAT;
  }

  int read_recording(Bytes to, std::uint64_t offset) {
    const int code = read(to, offset);
    if (offset == 0 && to.size() >= kHeaderBytes) {
      has_log = to[kWriteVersion] == kLogVersion || to[kWriteVersion + 1] == kLogVersion;
    }
    return code;
  }
  int read(Bytes to, std::uint64_t offset) {
    if (!undone_bytes) return read_result(to, read_at(fd.get(), to, offset));
    const auto until = [&](std::uint64_t end) {
      return to.first(std::min<std::uint64_t>(to.size(), end - std::min(end, offset)));
    };
    const Bytes there = until(*undone_bytes);
    const int kept = read_result(there, read_at(fd.get(), until(kept_bytes), offset));
    if (kept != SQLITE_OK && kept != SQLITE_IOERR_SHORT_READ) return kept;
    const int code = overlay.read_over(there, offset);
    return code == SQLITE_OK ? read_result(to, there.size()) : code;
  }

  int write(std::span<const std::byte> from, std::uint64_t offset) {
    if (const int code = begin_overlay(); code != SQLITE_OK) return code;
    undone_bytes = std::max(*undone_bytes, offset + from.size());
    return overlay.write(from, offset);
  }
  int truncate(std::uint64_t size) {
    if (const int code = begin_overlay(); code != SQLITE_OK) return code;
    undone_bytes = size;
    kept_bytes = std::min(kept_bytes, size);
    overlay.forget_from(size);
    return SQLITE_OK;
  }

  int is_reserved(int& out) const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kReservedByte;
    lock.l_len = 1;
    if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) return SQLITE_IOERR_CHECKRESERVEDLOCK;
    out = lock.l_type == F_UNLCK ? 0 : 1;
    return SQLITE_OK;
  }
  int lock(int level) {
    if (level <= lock_level) return SQLITE_OK;
    // A writer that waits for readers locks the pending byte, so that no new reader begins.
    if (!has_shared_lock) {
      int code = set_lock(fd.get(), F_RDLCK, kPendingByte, 1);
      if (code != SQLITE_OK) return code;
      code = set_lock(fd.get(), F_RDLCK, kSharedBytes, kSharedLength);
      set_lock(fd.get(), F_UNLCK, kPendingByte, 1);
      if (code != SQLITE_OK) return code;
      has_shared_lock = true;
    }
    lock_level = level;
    return SQLITE_OK;
  }
  int unlock(int level) {
    lock_level = level;
    if (level != SQLITE_LOCK_NONE || undone_bytes) return SQLITE_OK;
    has_shared_lock = false;
    return set_lock(fd.get(), F_UNLCK, kSharedBytes, kSharedLength);
  }

  static State& of(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }
  static State& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->state; }
  static const sqlite3_io_methods* recording_methods();
  static const sqlite3_io_methods* journal_methods();
  int open(const char* name, sqlite3_file* file, int flags, int* out_flags);
  void set_up_vfs();

  explicit State(sqlite3_vfs& vfs_of_disk) : disk(vfs_of_disk), overlay(vfs_of_disk) {}

  sqlite3_vfs& disk;
  sqlite3_vfs vfs{};
  std::string vfs_name;
  UniqueFd fd;
  std::string journal_path;
  uid_t owner = 0;
  int lock_level = SQLITE_LOCK_NONE;  // the lock that SQLite believes to hold
  bool has_shared_lock = false;
  bool has_log = false;
  bool is_undone = false;  // the journal is undone, but still on the disk
  // Size of the recording as the undone journal leaves it. Empty if there is no overlay.
  std::optional<std::uint64_t> undone_bytes;
  // Number of bytes at the start of the file on the disk that still belong to the recording.
  std::uint64_t kept_bytes = 0;
  Overlay overlay;
};

// Returns the methods for the recording. Version 1 has no methods for mapping files or for the
// shared memory of a write-ahead log.
const sqlite3_io_methods* ReadOnlyVfs::State::recording_methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods m{};
    m.iVersion = 1;
    m.xClose = [](sqlite3_file* file) {
      of(file).undone_bytes.reset();
      return of(file).unlock(SQLITE_LOCK_NONE);
    };
    m.xRead = [](sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
      return of(file).read_recording({static_cast<std::byte*>(to), static_cast<std::size_t>(count)},
                                     static_cast<std::uint64_t>(offset));
    };
    m.xWrite = [](sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
      try {
        return of(file).write(
            {static_cast<const std::byte*>(from), static_cast<std::size_t>(count)},
            static_cast<std::uint64_t>(offset));
      } catch (const std::bad_alloc&) {
        return SQLITE_IOERR_NOMEM;
      }
    };
    m.xTruncate = [](sqlite3_file* file, sqlite3_int64 size) {
      return of(file).truncate(static_cast<std::uint64_t>(size));
    };
    m.xSync = [](sqlite3_file*, int) { return SQLITE_OK; };
    m.xFileSize = [](sqlite3_file* file, sqlite3_int64* out) {
      const auto bytes = of(file).size();
      *out = static_cast<sqlite3_int64>(bytes.value_or(0));
      return bytes ? SQLITE_OK : SQLITE_IOERR_FSTAT;
    };
    m.xLock = [](sqlite3_file* file, int level) { return of(file).lock(level); };
    m.xUnlock = [](sqlite3_file* file, int level) { return of(file).unlock(level); };
    m.xCheckReservedLock = [](sqlite3_file* file, int* out) { return of(file).is_reserved(*out); };
    m.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
    m.xSectorSize = [](sqlite3_file*) { return kSectorBytes; };
    m.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
    return m;
  }();
  return &methods;
}

// Returns the methods for the journal. Writes are ignored: SQLite marks a journal as undone by
// writing to it.
const sqlite3_io_methods* ReadOnlyVfs::State::journal_methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods m = *recording_methods();
    m.xClose = [](sqlite3_file* file) {
      ::close(reinterpret_cast<File*>(file)->journal);
      return SQLITE_OK;
    };
    m.xRead = [](sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
      const Bytes bytes(static_cast<std::byte*>(to), static_cast<std::size_t>(count));
      return read_result(bytes, read_at(reinterpret_cast<File*>(file)->journal, bytes,
                                        static_cast<std::uint64_t>(offset)));
    };
    m.xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_OK; };
    m.xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_OK; };
    m.xFileSize = [](sqlite3_file* file, sqlite3_int64* out) {
      struct stat about {};
      if (::fstat(reinterpret_cast<File*>(file)->journal, &about) != 0) return SQLITE_IOERR_FSTAT;
      *out = about.st_size;
      return SQLITE_OK;
    };
    m.xLock = [](sqlite3_file*, int) { return SQLITE_OK; };
    m.xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; };
    return m;
  }();
  return &methods;
}

int ReadOnlyVfs::State::open(const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if (name == nullptr) return disk.xOpen(&disk, name, file, flags, out_flags);
  File& opened = *reinterpret_cast<File*>(file);
  opened.state = this;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0 && std::string_view(name) == kFileName) {
    opened.base.pMethods = recording_methods();
  } else if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 && std::string_view(name) == kJournalName) {
    UniqueFd journal = open_journal();
    if (!journal) return SQLITE_CANTOPEN;
    opened.journal = journal.release();
    opened.base.pMethods = journal_methods();
  } else {
    return SQLITE_CANTOPEN;
  }
  // Pretends that the file is writable: SQLite undoes a journal only in a writable database.
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

void ReadOnlyVfs::State::set_up_vfs() {
  vfs_name = fmt::format("ttmem-read-{}", fmt::ptr(this));
  vfs = disk;  // time, sleep, random numbers and errors come from the real VFS
  vfs.iVersion = 2;
  vfs.szOsFile = std::max<int>(disk.szOsFile, sizeof(File));
  vfs.pNext = nullptr;
  vfs.zName = vfs_name.c_str();
  vfs.pAppData = this;
  vfs.xOpen = [](sqlite3_vfs* v, const char* name, sqlite3_file* file, int flags, int* out) {
    return of(v).open(name, file, flags, out);
  };
  vfs.xDelete = [](sqlite3_vfs* v, const char* name, int) {
    if (std::string_view(name) != kJournalName) return SQLITE_IOERR_DELETE;
    of(v).is_undone = true;
    return SQLITE_OK;
  };
  vfs.xAccess = [](sqlite3_vfs* v, const char* name, int, int* out) {
    *out = std::string_view(name) == kJournalName && of(v).has_journal() ? 1 : 0;
    return SQLITE_OK;
  };
  vfs.xFullPathname = [](sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  };
  vfs.xDlOpen = nullptr;
}

Result<std::unique_ptr<ReadOnlyVfs>> ReadOnlyVfs::open(const std::string& path) {
  sqlite3_initialize();
  auto state = std::make_unique<State>(*sqlite3_vfs_find(nullptr));
  state->fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!state->fd || ::fstat(state->fd.get(), &about) != 0) {
    return Error{fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  }
  if (!S_ISREG(about.st_mode)) {
    return Error{fmt::format("{} is not a recording of ttmem: it is a folder or a device", path)};
  }
  // For a symbolic link, SQLite keeps the journal beside the target.
  std::error_code unknown;
  const auto whole = std::filesystem::canonical(path, unknown);
  state->journal_path = (unknown ? path : whole.string()) + "-journal";
  state->owner = about.st_uid;
  state->set_up_vfs();
  if (sqlite3_vfs_register(&state->vfs, 0) != SQLITE_OK) return Error{"out of memory"};
  return std::unique_ptr<ReadOnlyVfs>(new ReadOnlyVfs(std::move(state)));
}

ReadOnlyVfs::ReadOnlyVfs(std::unique_ptr<State> state) : state_(std::move(state)) {}
ReadOnlyVfs::~ReadOnlyVfs() { sqlite3_vfs_unregister(&state_->vfs); }

const char* ReadOnlyVfs::name() const { return state_->vfs_name.c_str(); }
std::uint64_t ReadOnlyVfs::file_bytes() const { return state_->size().value_or(0); }
bool ReadOnlyVfs::has_write_ahead_log() const { return state_->has_log; }
bool ReadOnlyVfs::is_undone_to_nothing() const { return state_->undone_bytes == 0; }

}  // namespace ttmem::recording

// SPDX-License-Identifier: Apache-2.0
#include "segment/writer/segment_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/open_above_streams.hpp"
#include "base/thread_state_guard.hpp"
#include "segment/writer/whole_ids.hpp"

namespace ttmem::segment {
namespace {

constexpr std::uint64_t kRetryAfterNs = 1'000'000'000;
constexpr int kFileRetries = 20;
constexpr std::uint32_t kFewestEventChunks = 4;
constexpr int kMaxFilesOfOneName = 256;

// Reads a small file of /proc, as much as fits into `buffer`. Returns the number of bytes, or 0 on
// failure.
std::size_t read_file(const char* path, char* buffer, std::size_t size) noexcept {
  const UniqueFd fd = open_above_streams(path, O_RDONLY);
  if (!fd) return 0;
  const ssize_t got = ::read(fd.get(), buffer, size);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::uint64_t start_time_ticks() noexcept {
  char text[1024];
  const std::size_t size = read_file("/proc/self/stat", text, sizeof text - 1);
  text[size] = '\0';
  // Skips the name of the process, which is in parentheses and may itself contain blanks and
  // parentheses.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

// Returns false for a dead process, even if its parent has not yet waited for it.
bool is_running(pid_t pid) noexcept {
  if (::kill(pid, 0) != 0 && errno != EPERM) return false;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  char text[1024];
  const std::size_t size = read_file(path, text, sizeof text - 1);
  text[size] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  const bool has_state = name_end != nullptr && name_end[1] == ' ';
  return !has_state || (name_end[2] != 'Z' && name_end[2] != 'X');
}

// Returns the inode number of the pid namespace, which has 32 bits in every kernel. Returns 0 if
// /proc is missing.
std::uint32_t pid_namespace() noexcept {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? static_cast<std::uint32_t>(facts.st_ino) : 0;
}

std::array<std::uint8_t, 16> boot_id() noexcept {
  std::array<std::uint8_t, 16> id{};
  char text[40] = {};
  read_file("/proc/sys/kernel/random/boot_id", text, sizeof text - 1);
  std::size_t digits = 0;
  for (const char* at = text; *at != '\0' && digits < 32; ++at) {
    const char c = *at;
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) continue;
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | value);
    ++digits;
  }
  return id;
}

void describe_job(const Job& job, JobRecord& record) noexcept {
  job.id.copy(record.id, sizeof record.id);
  job.step.copy(record.step, sizeof record.step);
  job.partition.copy(record.partition, sizeof record.partition);
  job.rank.copy(record.rank, sizeof record.rank);
  job.ranks.copy(record.ranks, sizeof record.ranks);
  job.pod.copy(record.pod, sizeof record.pod);
  job.pod_uid.copy(record.pod_uid, sizeof record.pod_uid);
  job.pod_namespace.copy(record.pod_namespace, sizeof record.pod_namespace);
  job.container.copy(record.container, sizeof record.container);
}

void describe_run(std::string_view ids, RunRecord& record, FailureRecord& failure) noexcept {
  whole_ids(ids, sizeof record.ids - 1).copy(record.ids, sizeof record.ids - 1);
  ids.substr(0, ids.find(kRunSeparator)).copy(failure.run, sizeof failure.run);
}

}  // namespace

Error SegmentWriter::failed(const char* what, int error) {
  failure_error_ = error;
  return {std::string(what) + " " + path_ + ": " + std::strerror(error)};
}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::create(const Options& options) {
  const ThreadStateGuard guard;
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter);
  writer->in_memory_ = options.in_memory;
  const Identity self = identity_of(options);
  if (!options.in_memory) {
    writer->kept_for_ = options.kept_for;
    writer->kept_for_namespace_ = options.kept_for_namespace;
    if (const auto opened = writer->open_file(options, self); !opened) {
      writer->leave_mark(options, self);
      return opened.error();
    }
    // Removes the copy of the segment that this process made after a failure, before it called
    // exec.
    writer->remove_own_file(writer->path_ + kFailedSuffix.data(), self, OwnFile::removed);
  }
  Result<void> made = writer->map_header();
  if (made) {
    writer->describe_process(options, self);
    if (!writer->map_first_chunks(options)) {
      made = writer->failed("cannot grow", writer->header_->last_error);
    }
  }
  if (!made) {
    if (!options.in_memory) ::unlink(writer->path_.c_str());
    writer->leave_mark(options, self);
    return made.error();
  }
  // Stores the magic last (invariant 1). Pairs with the acquire fence in check_header(), which
  // checks the magic first.
  std::atomic_ref<std::uint64_t>(writer->header_->magic).store(kMagic, std::memory_order_release);
  return writer;
}

// Adds the ring. If this is not a proxy segment, also adds one chunk of each kind except texts and
// device sets, so that a small process seldom grows its segment.
bool SegmentWriter::map_first_chunks(const Options& options) {
  // If the ring does not fit into a small /dev/shm, tries a ring of half the size.
  std::uint32_t chunks = ring_chunks(options.event_chunks);
  while (!map_ring(chunks)) {
    if (chunks <= kFewestEventChunks) return false;
    chunks /= 2;
    next_try_ns_ = 0;
  }
  store(header_->last_error, 0);
  event_details_ = options.event_details;
  header_->event_details = event_details_ ? 1 : 0;
  return is_proxy_ ||
         (grow(devices_, ChunkKind::device, 0) && grow(allocations_, ChunkKind::allocation, 0) &&
          grow(programs_, ChunkKind::program, 0) && grow(cbs_, ChunkKind::cb, 0));
}

// Returns the number of chunks of the ring, a power of two. A ring with more than
// kFewestEventChunks takes at most a sixteenth of the free space, so that many processes have room.
std::uint32_t SegmentWriter::ring_chunks(std::uint32_t wanted) const noexcept {
  constexpr std::uint64_t part_of_free = 16;
  struct statvfs space {};
  if (in_memory_ || wanted <= kFewestEventChunks || ::fstatvfs(fd_.get(), &space) != 0 ||
      space.f_blocks == 0) {  // the file system has no limit
    return wanted;
  }
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::uint64_t chunks = std::bit_floor(free_bytes / part_of_free / kChunkBytes);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(chunks, kFewestEventChunks, wanted));
}

SegmentWriter::Identity SegmentWriter::identity_of(const Options& options) noexcept {
  Identity self{.pid_namespace = pid_namespace(), .boot_id = boot_id()};
  if (options.for_client) {
    self.pid = options.for_client->pid;
    self.start_time_ticks = options.for_client->start_time_ticks;
    // No start time means that /proc does not show the client: its pid is unknown, or belongs to an
    // unknown namespace.
    if (self.start_time_ticks == 0) self.pid_namespace = 0;
  } else {
    self.pid = ::getpid();
    self.start_time_ticks = start_time_ticks();
  }
  return self;
}

// Creates the file. A file with its name exists already in two cases: this process created that
// file before it called exec, or a process of another pid namespace has the same pid and start
// time. In the second case a number is added to the name.
Result<void> SegmentWriter::open_file(const Options& options, const Identity& self) {
  is_proxy_ = options.for_client.has_value();
  mode_ = options.mode;
  // Makes the path absolute, because the workload may change its current directory afterwards.
  char* resolved = ::realpath(options.directory.c_str(), nullptr);
  const std::string directory = resolved != nullptr ? resolved : options.directory;
  std::free(resolved);
  for (int number = 0; number < kMaxFilesOfOneName; ++number) {
    char name[96];
    const int size = std::snprintf(name, sizeof name, "/ttmem.%u.%d.%llu",
                                   static_cast<unsigned>(::geteuid()), static_cast<int>(self.pid),
                                   static_cast<unsigned long long>(self.start_time_ticks));
    base_path_ = directory + name;
    if (number > 0)
      std::snprintf(name + size, sizeof name - static_cast<std::size_t>(size), ".%d", number);
    path_ = directory + name + (is_proxy_ ? kProxySuffix.data() : "");
    for (int attempt = 0; attempt < kFileRetries; ++attempt) {
      const Result<bool> opened = open_new_file(options.mode);
      if (!opened) return opened.error();
      if (*opened) return {};
      if (!remove_own_file(path_, self, OwnFile::left_to_reader)) break;
    }
  }
  return failed("cannot create", EEXIST);
}

// Creates and locks the file. Returns false if a file with its name exists, or if a reaper locked
// or removed the new file.
Result<bool> SegmentWriter::open_new_file(mode_t mode) {
  fd_ = open_above_streams(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!fd_ && errno == EEXIST) return false;
  if (!fd_) return failed("cannot create", errno);
  ::fchmod(fd_.get(), mode);  // sets the bits that the umask removed in open()
  const bool locked = ::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK) {
    const Error error = failed("cannot lock", errno);
    ::unlink(path_.c_str());
    return error;
  }
  struct stat facts {};
  ::fstat(fd_.get(), &facts);
  file_device_ = facts.st_dev;
  file_number_ = facts.st_ino;
  // A reaper may mistake the new file, which was not locked at first, for the file of a dead
  // process. Such a reaper holds the lock, or has removed the file.
  if (locked && facts.st_nlink > 0) return true;
  fd_.reset();
  return false;
}

// Removes or renames the file `path` if this process wrote the file before it called exec (exec
// released the lock). Returns true if the name may be free now. Returns false if the file must
// stay, because it belongs to another process or is evidence of a client.
bool SegmentWriter::remove_own_file(const std::string& path, const Identity& self,
                                    OwnFile fate) noexcept {
  const UniqueFd old = open_above_streams(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (!old) return errno == ENOENT;
  Header header{};
  const bool whole = ::pread(old.get(), &header, sizeof header, 0) == ssize_t{sizeof header};
  const bool ours = whole && header.magic == kMagic && header.pid_namespace == self.pid_namespace &&
                    std::equal(self.boot_id.begin(), self.boot_id.end(), header.boot_id);
  // Keeps the file of an ended client as evidence, even if another process has the same pid now.
  const bool evidence = header.exit_state == static_cast<std::uint32_t>(ExitState::client_ended);
  // The shared lock fails only while the owner lives, because the owner holds an exclusive lock.
  if (!ours || evidence || ::flock(old.get(), LOCK_SH | LOCK_NB) != 0) return false;
  if (::flock(old.get(), LOCK_EX | LOCK_NB) != 0) {
    // A reader holds its lock for microseconds. Waits a millisecond, and the caller tries again.
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
    return true;
  }
  struct stat opened {};
  struct stat named {};
  const bool same = ::fstat(old.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  if (!same) return true;
  if (fate == OwnFile::left_to_reader && is_wanted()) {
    const auto state = static_cast<std::uint32_t>(ExitState::clean);
    const ssize_t told = ::pwrite(old.get(), &state, sizeof state, offsetof(Header, exit_state));
    if (told == ssize_t{sizeof state} && keep(path)) return true;
  }
  ::unlink(path.c_str());
  return true;
}

Result<void> SegmentWriter::map_header() {
  const int failure = reserve(0, kHeaderBytes);
  void* address = failure == 0 ? map(0, kHeaderBytes) : MAP_FAILED;
  if (address == MAP_FAILED) {
    return failed("cannot make room for", failure != 0 ? failure : errno);
  }
  header_ = static_cast<Header*>(address);
  return {};
}

void SegmentWriter::describe_process(const Options& options, const Identity& self) noexcept {
  Header& header = *header_;
  header.layout_version = kLayoutVersion;
  header.header_bytes = kHeaderBytes;
  header.chunk_bytes = kChunkBytes;
  header.device_bytes = sizeof(DeviceRecord);
  header.allocation_bytes = sizeof(AllocationSlot);
  header.program_bytes = sizeof(ProgramSlot);
  header.cb_bytes = sizeof(CbRecord);
  header.event_bytes = sizeof(EventRecord);
  header.text_bytes = sizeof(TextRecord);
  header.device_set_bytes = sizeof(DeviceSetRecord);
  header.uid = ::geteuid();
  header.pid = self.pid;
  header.start_time_ticks = self.start_time_ticks;
  header.pid_namespace = self.pid_namespace;
  std::copy(self.boot_id.begin(), self.boot_id.end(), header.boot_id);
  auto& run = *reinterpret_cast<RunRecord*>(reinterpret_cast<char*>(header_) + kRunOffset);
  describe_run(options.run, run, failure());
  describe_job(options.for_client ? options.for_client->job : options.job,
               *reinterpret_cast<JobRecord*>(reinterpret_cast<char*>(header_) + kJobOffset));
  header.created_unix_ns = clock_ns(CLOCK_REALTIME);
  header.created_ns = clock_ns(CLOCK_MONOTONIC);
  if (options.for_client) {
    const Process& process = *options.for_client;
    header.client_uid = process.uid;
    process.name.copy(header.name, sizeof header.name - 1);
    process.command.copy(header.command, sizeof header.command - 1);
    return;
  }
  std::size_t size = read_file("/proc/self/comm", header.name, sizeof header.name - 1);
  if (size > 0 && header.name[size - 1] == '\n') header.name[size - 1] = '\0';
  size = read_file("/proc/self/cmdline", header.command, sizeof header.command - 1);
  for (std::size_t i = 0; i + 1 < size; ++i) {
    if (header.command[i] == '\0') header.command[i] = ' ';
  }
}

bool SegmentWriter::is_our_file(int fd) const noexcept {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && facts.st_dev == file_device_ && facts.st_ino == file_number_;
}

// Returns true if fd_ refers to our file. If necessary, opens the file again: the workload may have
// closed our descriptor and reused its number. The lock survives such a close, because the mapping
// of the header keeps the lock.
bool SegmentWriter::has_file() noexcept {
  if (fd_ && is_our_file(fd_.get())) return true;
  fd_.release();
  fd_ = open_above_streams(path_.c_str(), O_RDWR | O_NOFOLLOW);
  if (fd_ && is_our_file(fd_.get())) return true;
  fd_.reset();
  return false;
}

void* SegmentWriter::map(off_t offset, std::size_t bytes) const noexcept {
  const int flags = in_memory_ ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_POPULATE,
                in_memory_ ? -1 : fd_.get(), in_memory_ ? 0 : offset);
}

bool SegmentWriter::may_reach(off_t size) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         static_cast<rlim_t>(size) <= limit.rlim_cur;
}

// Makes the file at least `offset` + `bytes` long and allocates the new pages. Returns 0, or an
// errno on failure.
int SegmentWriter::reserve(off_t offset, off_t bytes) noexcept {
  if (in_memory_) return 0;
  restore_deleted_file();
  if (!has_file()) return EBADF;
  if (!may_reach(offset + bytes)) return EFBIG;
  int error = EINTR;
  for (int attempt = 0; attempt < 10 && error == EINTR; ++attempt) {
    error = ::posix_fallocate(fd_.get(), offset, bytes);
  }
  return error;
}

// Returns `count` adjacent new chunks of one kind, or null.
void* SegmentWriter::map_chunks(ChunkKind kind, std::uint32_t count, std::uint64_t now_ns) {
  Header& header = *header_;
  if (now_ns < next_try_ns_) return nullptr;
  chunk_kinds_.reserve(chunk_kinds_.size() + count);  // may throw, so it comes before any change
  const ThreadStateGuard guard;
  const auto fail = [&](int error) {
    store(header.last_error, static_cast<std::int32_t>(error));
    next_try_ns_ = now_ns + kRetryAfterNs;
    return nullptr;
  };
  const auto first = static_cast<std::uint32_t>(chunk_kinds_.size());
  if (first + count > kMaxChunks) return fail(EFBIG);
  const off_t offset = kHeaderBytes + static_cast<off_t>(first) * kChunkBytes;
  const std::size_t bytes = std::size_t{count} * kChunkBytes;
  if (const int error = reserve(offset, static_cast<off_t>(bytes)); error != 0) {
    return fail(error);
  }
  void* address = map(offset, bytes);
  if (address == MAP_FAILED) return fail(errno);
  auto* table = reinterpret_cast<std::uint8_t*>(header_) + kChunkTableOffset;
  for (std::uint32_t i = first; i < first + count; ++i) {
    store(table[i], static_cast<std::uint8_t>(kind));
  }
  chunk_kinds_.insert(chunk_kinds_.end(), count, kind);
  // Stores the count after the kinds (invariant 4). Pairs with the acquire fence in map_segment().
  std::atomic_ref<std::uint32_t>(header.chunk_count)
      .store(first + count, std::memory_order_release);
  return address;
}

bool SegmentWriter::map_ring(std::uint32_t chunks) {
  ring_ = static_cast<EventRecord*>(map_chunks(ChunkKind::event, chunks, 0));
  if (ring_ == nullptr) return false;
  const std::uint32_t capacity = chunks * RecordArray<EventRecord>::kPerChunk;
  header_->event_capacity = capacity;
  ring_mask_ = capacity - 1;
  return true;
}

template <typename Record>
bool SegmentWriter::grow(RecordArray<Record>& array, ChunkKind kind, std::uint64_t now_ns) {
  array.chunks_.reserve(array.chunks_.size() + 1);
  void* chunk = map_chunks(kind, 1, now_ns);
  if (chunk == nullptr) return false;
  array.chunks_.push_back(static_cast<Record*>(chunk));
  return true;
}

template <typename Record>
std::uint32_t SegmentWriter::acquire(RecordArray<Record>& array, ChunkKind kind,
                                     std::vector<std::uint32_t>* free,
                                     std::uint32_t& published_count, std::uint64_t now_ns) {
  if (free != nullptr && !free->empty()) {
    const std::uint32_t index = free->back();
    free->pop_back();
    return index;
  }
  const std::uint32_t index = array.count_;
  if (index == array.capacity() && !grow(array, kind, now_ns)) return kNoSlot;
  // Reserves the memory for the list of free records now, because releasing a record must not
  // allocate.
  if (free != nullptr && free->capacity() <= index) free->reserve(2 * array.capacity());
  array.count_ = index + 1;
  store(published_count, index + 1);
  return index;
}

std::uint32_t SegmentWriter::acquire_device(std::uint64_t now_ns) {
  if (devices_.count() >= kMaxDevices) return kNoSlot;
  return acquire(devices_, ChunkKind::device, nullptr, header_->device_count, now_ns);
}

std::uint32_t SegmentWriter::acquire_device_set(std::uint64_t now_ns) {
  if (device_sets_.count() >= kMaxDeviceSets) return kNoSlot;
  return acquire(device_sets_, ChunkKind::device_set, nullptr, header_->device_set_count, now_ns);
}

std::uint32_t SegmentWriter::acquire_text(std::uint64_t now_ns) {
  if (texts_.count() >= kMaxTexts) return kNoSlot;
  return acquire(texts_, ChunkKind::text, nullptr, header_->text_count, now_ns);
}

std::uint32_t SegmentWriter::acquire_new_allocation(std::uint64_t now_ns) {
  return acquire(allocations_, ChunkKind::allocation, &free_allocations_, header_->allocation_count,
                 now_ns);
}

std::uint32_t SegmentWriter::acquire_program(std::uint64_t now_ns) {
  return acquire(programs_, ChunkKind::program, &free_programs_, header_->program_count, now_ns);
}

std::uint32_t SegmentWriter::acquire_cbs(std::uint32_t count, std::uint64_t now_ns) {
  const std::uint32_t size = std::bit_ceil(count);
  auto& free = free_cbs_[static_cast<std::size_t>(std::countr_zero(size))];
  if (!free.empty()) {
    const std::uint32_t first = free.back();
    free.pop_back();
    return first;
  }
  // The size of a run is a power of two, and the run begins at a multiple of its size, so no run
  // lies in two chunks. The alignment wastes less than the size of the run.
  const std::uint32_t first = (cbs_.count() + size - 1) / size * size;
  if (first + size > cbs_.capacity() && !grow(cbs_, ChunkKind::cb, now_ns)) return kNoSlot;
  cbs_.count_ = first + size;
  store(header_->cb_count, first + size);
  return first;
}

void SegmentWriter::release_cbs(std::uint32_t first, std::uint32_t count) {
  free_cbs_[static_cast<std::size_t>(std::countr_zero(std::bit_ceil(count)))].push_back(first);
}

// Returns true if a reader wants the segment (Options::kept_for) and may still live. A dead reader
// would never remove the segment. A reader of another pid namespace cannot be checked, and is
// assumed to live.
bool SegmentWriter::is_wanted() const noexcept {
  const bool is_visible = kept_for_namespace_ == 0 || kept_for_namespace_ == pid_namespace();
  return kept_for_ > 0 && (!is_visible || is_running(kept_for_));
}

void SegmentWriter::finish() noexcept {
  // The coarse clock, which also dates buffers. With an exact clock, the process could seem to end
  // after the first buffer of a process that takes over its device.
  store(header_->ended_ns, clock_ns(CLOCK_MONOTONIC_COARSE));
  // Stores the state after the time. Pairs with the reads of has_ended() and end_time() in
  // read/recording/recorder, which read the time after they have seen the state.
  std::atomic_ref<std::uint32_t>(header_->exit_state)
      .store(static_cast<std::uint32_t>(ExitState::clean), std::memory_order_release);
  leave_failed();
  if (!in_memory_ && !(is_wanted() && keep(path_))) ::unlink(path_.c_str());
  close_file();
}

void SegmentWriter::discard() noexcept {
  kept_for_ = 0;
  is_failure_forgotten_ = true;
  finish();
}

void SegmentWriter::leave_as_evidence() noexcept {
  store(header_->exit_state, static_cast<std::uint32_t>(ExitState::client_ended));
  abandon();
}

void SegmentWriter::close_file() noexcept {
  if (fd_ && !is_our_file(fd_.get())) fd_.release();
  fd_.reset();
}

SegmentWriter::~SegmentWriter() { abandon(); }

void SegmentWriter::abandon() noexcept {
  if (header_ == nullptr) return;
  close_file();
  const auto unmap = [](const auto& array) {
    for (auto* chunk : array.chunks_) ::munmap(chunk, kChunkBytes);
  };
  unmap(devices_);
  unmap(allocations_);
  unmap(programs_);
  unmap(cbs_);
  unmap(texts_);
  unmap(device_sets_);
  if (ring_ != nullptr) ::munmap(ring_, (ring_mask_ + 1) * sizeof(EventRecord));
  ::munmap(header_, kHeaderBytes);
  header_ = nullptr;
}

}  // namespace ttmem::segment

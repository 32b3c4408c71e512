// SPDX-License-Identifier: Apache-2.0
#include "segment/writer/segment_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
#include "base/thread_state_guard.hpp"

namespace ttmem::segment {
namespace {

constexpr std::uint64_t kRetryAfterNs = 1'000'000'000;
constexpr int kFileRetries = 20;
constexpr std::uint32_t kFewestEventChunks = 4;
constexpr int kMostFilesOfOneName = 256;

// Reads a small file of /proc, as much as fits. Returns the number of bytes, 0 on failure.
std::size_t read_file(const char* path, char* buffer, std::size_t size) noexcept {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  const ssize_t got = ::read(fd.get(), buffer, size);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::uint64_t start_time_ticks() noexcept {
  char text[1024];
  const std::size_t size = read_file("/proc/self/stat", text, sizeof text - 1);
  text[size] = '\0';
  // The name, in parentheses, may itself hold blanks and parentheses.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

// Also false for one that is dead and was not yet waited for.
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

// An inode number, 32 bits in every kernel. 0 when /proc is missing.
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

Error failed(const char* what, const std::string& path, int error) {
  return {std::string(what) + " " + path + ": " + std::strerror(error)};
}

}  // namespace

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::create(const Options& options) {
  const ThreadStateGuard guard;
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter);
  writer->in_memory_ = options.in_memory;
  const Identity self = identity_of(options);
  if (!options.in_memory) {
    if (const auto opened = writer->open_file(options, self); !opened) return opened.error();
    // That of the same process, before it called exec: it went on.
    writer->remove_own_file(writer->path_ + kFailedSuffix.data(), self);
    if (options.kept_for > 0) {
      writer->kept_for_ = options.kept_for;
      writer->kept_for_namespace_ = options.kept_for_namespace;
      writer->kept_path_ = writer->path_ + kKeptSuffix.data() + std::to_string(options.kept_for) +
                           "." + std::to_string(options.kept_for_namespace);
    }
  }
  Result<void> made = writer->map_header();
  if (made) {
    writer->describe_process(options, self);
    if (!writer->map_first_chunks(options)) {
      made = failed("cannot grow", writer->path_, writer->header_->last_error);
    }
  }
  if (!made) {
    if (!options.in_memory) ::unlink(writer->path_.c_str());
    return made.error();
  }
  // Stores the magic last: invariant 1. Readers check it first.
  std::atomic_ref<std::uint64_t>(writer->header_->magic).store(kMagic, std::memory_order_release);
  return writer;
}

// The ring and one chunk of each kind but texts and sets of devices, so that a small process never
// grows its segment.
bool SegmentWriter::map_first_chunks(const Options& options) {
  // A large ring may not fit into a small /dev/shm: then a smaller one must do.
  std::uint32_t chunks = options.event_chunks;
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

SegmentWriter::Identity SegmentWriter::identity_of(const Options& options) noexcept {
  Identity self{.pid_namespace = pid_namespace(), .boot_id = boot_id()};
  if (options.for_client) {
    self.pid = options.for_client->pid;
    self.start_time_ticks = options.for_client->start_time_ticks;
    // A process that is not visible here has a pid of another namespace, or none.
    if (self.start_time_ticks == 0) self.pid_namespace = 0;
  } else {
    self.pid = ::getpid();
    self.start_time_ticks = start_time_ticks();
  }
  return self;
}

// A file of that name is there when this process has called exec since, or when a process of
// another pid namespace has the same pid and start time: then the name gets a number.
Result<void> SegmentWriter::open_file(const Options& options, const Identity& self) {
  is_proxy_ = options.for_client.has_value();
  mode_ = options.mode;
  // The workload may change its directory afterwards.
  char* resolved = ::realpath(options.directory.c_str(), nullptr);
  const std::string directory = resolved != nullptr ? resolved : options.directory;
  std::free(resolved);
  for (int number = 0; number < kMostFilesOfOneName; ++number) {
    char name[96];
    const int size = std::snprintf(name, sizeof name, "/ttmem.%u.%d.%llu",
                                   static_cast<unsigned>(::geteuid()), static_cast<int>(self.pid),
                                   static_cast<unsigned long long>(self.start_time_ticks));
    if (number > 0)
      std::snprintf(name + size, sizeof name - static_cast<std::size_t>(size), ".%d", number);
    path_ = directory + name + (is_proxy_ ? kProxySuffix.data() : "");
    for (int attempt = 0; attempt < kFileRetries; ++attempt) {
      const Result<bool> opened = open_new_file(options.mode);
      if (!opened) return opened.error();
      if (*opened) return {};
      if (!remove_own_file(path_, self)) break;
    }
  }
  return failed("cannot create", path_, EEXIST);
}

// Makes and locks the file. False when there is one of that name.
Result<bool> SegmentWriter::open_new_file(mode_t mode) {
  fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd_ && errno == EEXIST) return false;
  if (!fd_) return failed("cannot create", path_, errno);
  ::fchmod(fd_.get(), mode);  // open() applied the umask
  const bool locked = ::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK) {
    const Error error = failed("cannot lock", path_, errno);
    ::unlink(path_.c_str());
    return error;
  }
  struct stat facts {};
  ::fstat(fd_.get(), &facts);
  file_device_ = facts.st_dev;
  file_number_ = facts.st_ino;
  // A reaper may have taken the new file for one whose writer died, and removed it.
  if (locked && facts.st_nlink > 0) return true;
  fd_.reset();
  return false;
}

// Removes the file of that name if this very process wrote it, before it called exec: that ended
// the lock. True when the name may be free now, false when the file is of another process.
bool SegmentWriter::remove_own_file(const std::string& path, const Identity& self) noexcept {
  const UniqueFd old(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!old) return errno == ENOENT;
  Header header{};
  const bool whole = ::pread(old.get(), &header, sizeof header, 0) == ssize_t{sizeof header};
  const bool ours = whole && header.magic == kMagic && header.pid_namespace == self.pid_namespace &&
                    std::equal(self.boot_id.begin(), self.boot_id.end(), header.boot_id);
  // What a client left when it ended is evidence, also when another has the same pid.
  const bool evidence = header.exit_state == static_cast<std::uint32_t>(ExitState::client_ended);
  // Only a living owner holds the lock against a shared one.
  if (!ours || evidence || ::flock(old.get(), LOCK_SH | LOCK_NB) != 0) return false;
  if (::flock(old.get(), LOCK_EX | LOCK_NB) != 0) {
    const timespec pause{0, 1'000'000};  // a reader holds it, for microseconds
    ::nanosleep(&pause, nullptr);
    return true;
  }
  struct stat opened {};
  struct stat named {};
  const bool same = ::fstat(old.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  if (same) ::unlink(path.c_str());
  return true;
}

Result<void> SegmentWriter::map_header() {
  const int failure = reserve(0, kHeaderBytes);
  void* address = failure == 0 ? map(0, kHeaderBytes) : MAP_FAILED;
  if (address == MAP_FAILED) {
    return failed("cannot make room for", path_, failure != 0 ? failure : errno);
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
  options.run.copy(failure().run, sizeof failure().run);
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

// The workload may have closed our descriptor and reused its number. The lock is not lost: the
// mapped header keeps it.
bool SegmentWriter::has_file() noexcept {
  if (fd_ && is_our_file(fd_.get())) return true;
  fd_.release();
  fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
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

// Makes the file long enough and allocates its pages. Returns 0 or the errno.
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
  const ThreadStateGuard guard;
  const auto fail = [&](int error) {
    store(header.last_error, static_cast<std::int32_t>(error));
    next_try_ns_ = now_ns + kRetryAfterNs;
    return nullptr;
  };
  const std::uint32_t first = header.chunk_count;
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
  // Stores the count after the kinds: invariant 4.
  std::atomic_ref<std::uint32_t>(header.chunk_count)
      .store(first + count, std::memory_order_release);
  return address;
}

bool SegmentWriter::map_ring(std::uint32_t chunks) {
  ring_ = static_cast<EventRecord*>(map_chunks(ChunkKind::event, chunks, 0));
  if (ring_ == nullptr) return false;
  header_->event_capacity = chunks * RecordArray<EventRecord>::kPerChunk;
  ring_mask_ = header_->event_capacity - 1;
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
                                     std::vector<std::uint32_t>* free, std::uint32_t& count,
                                     std::uint64_t now_ns) {
  if (free != nullptr && !free->empty()) {
    const std::uint32_t index = free->back();
    free->pop_back();
    return index;
  }
  if (count == array.capacity() && !grow(array, kind, now_ns)) return kNoSlot;
  // Releasing a record must not need memory.
  if (free != nullptr && free->capacity() <= count) free->reserve(2 * array.capacity());
  const std::uint32_t index = count;
  store(count, index + 1);
  return index;
}

std::uint32_t SegmentWriter::acquire_device(std::uint64_t now_ns) {
  if (header_->device_count >= kMaxDevices) return kNoSlot;
  return acquire(devices_, ChunkKind::device, nullptr, header_->device_count, now_ns);
}

std::uint32_t SegmentWriter::acquire_device_set(std::uint64_t now_ns) {
  if (header_->device_set_count >= kMaxDeviceSets) return kNoSlot;
  return acquire(device_sets_, ChunkKind::device_set, nullptr, header_->device_set_count, now_ns);
}

std::uint32_t SegmentWriter::acquire_text(std::uint64_t now_ns) {
  if (header_->text_count >= kMaxTexts) return kNoSlot;
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
  // The size of a run is a power of two, and it is aligned to that: no run crosses a chunk. The
  // alignment wastes less than the size of a run.
  const std::uint32_t first = (header_->cb_count + size - 1) / size * size;
  if (first + size > cbs_.capacity() && !grow(cbs_, ChunkKind::cb, now_ns)) return kNoSlot;
  store(header_->cb_count, first + size);
  return first;
}

void SegmentWriter::release_cbs(std::uint32_t first, std::uint32_t count) {
  free_cbs_[static_cast<std::size_t>(std::countr_zero(std::bit_ceil(count)))].push_back(first);
}

void SegmentWriter::finish() noexcept {
  store(header_->exit_state, static_cast<std::uint32_t>(ExitState::clean));
  // A reader that is gone would never take it away. Of one in another container nobody knows.
  const bool is_visible = kept_for_namespace_ == 0 || kept_for_namespace_ == pid_namespace();
  const bool wanted = kept_for_ > 0 && (!is_visible || is_running(kept_for_));
  leave_failed();
  const bool kept = wanted && ::rename(path_.c_str(), kept_path_.c_str()) == 0;
  if (!in_memory_ && !kept) ::unlink(path_.c_str());
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

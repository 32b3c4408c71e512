// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/job.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::segment {

// Stores one field in one piece. Relaxed: the order between fields is made by publish() and by the
// stores that end a record.
template <typename T>
void store(T& field, T value) noexcept {
  std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
}

// Runs `write` on a record whose `seq` tells readers that it is being written (invariant 2).
template <typename Write>
[[gnu::always_inline]] inline void publish(std::uint32_t& seq, Write&& write) noexcept {
  const std::uint32_t before = seq;
  store(seq, before + 1);
  // The odd number is stored before anything of the body.
  std::atomic_thread_fence(std::memory_order_release);
  write();
  // The body is stored before the even number.
  std::atomic_ref<std::uint32_t>(seq).store(before + 2, std::memory_order_release);
}

// The records of one kind, over all chunks of that kind. Records never move. The writer keeps its
// own counts and never reads the counts in the header, because the workload may overwrite the
// header by mistake.
template <typename Record>
class RecordArray {
 public:
  static constexpr std::uint32_t kPerChunk = kChunkBytes / sizeof(Record);

  [[nodiscard]] Record& operator[](std::uint32_t index) const noexcept {
    return chunks_[index / kPerChunk][index % kPerChunk];
  }
  [[nodiscard]] std::uint32_t capacity() const noexcept {
    return static_cast<std::uint32_t>(chunks_.size()) * kPerChunk;
  }
  // Returns the number of records ever used.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  friend class SegmentWriter;
  std::vector<Record*> chunks_;
  std::uint32_t count_ = 0;
};

// The segment of this process, or a proxy segment for another: creates the file, holds its lock for
// life, and hands out records.
//
// Not thread-safe: the caller holds a lock. Readers are other processes, and the writer never waits
// for them. When the file cannot grow (no space, a size limit), acquire_*() return kNoSlot, store
// the errno in the header, and try again after a second at the earliest. Raises no signal and
// throws nothing but std::bad_alloc.
class SegmentWriter {
 public:
  // The client that a proxy segment is about.
  struct Process {
    pid_t pid = 0;
    std::uint64_t start_time_ticks = 0;  // 0: unknown, /proc does not show it
    uid_t uid = 0;
    std::string name;
    std::string command;
    Job job{};
  };

  struct Options {
    std::string directory;
    mode_t mode = 0600;
    std::uint32_t event_chunks = 4;  // 4,096 events; a power of two
    bool event_details = false;      // for a recorder: events say all that there is to say
    bool in_memory = false;          // no file, and no reader
    // Makes a proxy segment: its name ends in kProxySuffix, and it gets chunks only when it needs
    // them, because a server has a thousand of these.
    std::optional<Process> for_client = std::nullopt;
    pid_t kept_for = 0;  // the reader that wants it after a clean exit (kKeptSuffix); 0: nobody
    std::uint32_t kept_for_namespace = 0;  // the pid namespace of that pid; 0: unknown
    std::string run{};                     // RunRecord::ids
    Job job{};                             // of this process; not of a client
  };

  // On failure, leaves a mark (kUntrackedSuffix) if possible.
  [[nodiscard]] static Result<std::unique_ptr<SegmentWriter>> create(const Options& options);
  ~SegmentWriter();  // abandons it
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_proxy() const noexcept { return is_proxy_; }
  [[nodiscard]] Header& header() noexcept { return *header_; }
  [[nodiscard]] DeviceRecord& device(std::uint32_t index) const noexcept { return devices_[index]; }
  [[nodiscard]] AllocationSlot& allocation(std::uint32_t index) const noexcept {
    return allocations_[index];
  }
  [[nodiscard]] ProgramSlot& program(std::uint32_t index) const noexcept {
    return programs_[index];
  }
  [[nodiscard]] CbRecord& cb(std::uint32_t index) const noexcept { return cbs_[index]; }
  [[nodiscard]] TextRecord& text(std::uint32_t index) const noexcept { return texts_[index]; }
  [[nodiscard]] DeviceSetRecord& device_set(std::uint32_t index) const noexcept {
    return device_sets_[index];
  }

  // Return the number of records ever used of each kind.
  [[nodiscard]] std::uint32_t device_count() const noexcept { return devices_.count(); }
  [[nodiscard]] std::uint32_t allocation_count() const noexcept { return allocations_.count(); }
  [[nodiscard]] std::uint32_t program_count() const noexcept { return programs_.count(); }
  [[nodiscard]] std::uint32_t text_count() const noexcept { return texts_.count(); }

  // Each returns an unused record, or kNoSlot.
  [[nodiscard]] std::uint32_t acquire_device(std::uint64_t now_ns);
  [[nodiscard]] std::uint32_t acquire_allocation(std::uint64_t now_ns) {
    if (free_allocations_.empty()) return acquire_new_allocation(now_ns);
    const std::uint32_t index = free_allocations_.back();
    free_allocations_.pop_back();
    return index;
  }
  [[nodiscard]] std::uint32_t acquire_program(std::uint64_t now_ns);
  // The first of `count` records that follow each other; `count` at most kMaxCbsPerProgram.
  [[nodiscard]] std::uint32_t acquire_cbs(std::uint32_t count, std::uint64_t now_ns);
  [[nodiscard]] std::uint32_t acquire_text(std::uint64_t now_ns);        // at most kMaxTexts
  [[nodiscard]] std::uint32_t acquire_device_set(std::uint64_t now_ns);  // at most kMaxDeviceSets

  void release_allocation(std::uint32_t index) { free_allocations_.push_back(index); }
  void release_program(std::uint32_t index) { free_programs_.push_back(index); }
  // May throw; the records then stay unused.
  void release_cbs(std::uint32_t first, std::uint32_t count);

  // An event with what its type needs of these.
  struct Event {
    EventType type;
    Kind kind = Kind::dram;
    std::uint8_t flags = 0;
    std::uint8_t role = 0;
    std::uint32_t device_id = 0;
    std::uint64_t id = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_per_bank = 0;
    std::uint32_t banks = 0;
    std::uint32_t slot = kNoSlot;
    std::uint64_t when_ns = 0;
  };

  // A ring for a recorder is larger than the caches: its lines are fetched so many records ahead.
  static constexpr std::uint64_t kAhead = 16;

  // The number that the next event will have.
  [[nodiscard]] std::uint64_t next_event() const noexcept { return events_ + 1; }
  // True if events have details.
  [[nodiscard]] bool has_event_details() const noexcept { return event_details_; }

  // Appends to the ring: the event, and `count` records of details, at most kMaxEventDetails.
  // Inline: every tracked call writes one.
  [[gnu::always_inline]] inline void write_event(const Event& from, const void* details = nullptr,
                                                 std::uint32_t count = 0) noexcept {
    const std::uint64_t number = events_ + 1;
    EventRecord& event = ring_[(number - 1) & ring_mask_];
    store(event.number, std::uint64_t{0});
    // Stores the zero, and the number of the last event, before the body, and the body before the
    // number. A reader that finds in `events` that its record was not yet due to be overwritten has
    // an untorn event.
    std::atomic_thread_fence(std::memory_order_release);
    event.when_ns = from.when_ns;
    event.type = static_cast<std::uint8_t>(from.type);
    event.kind = static_cast<std::uint8_t>(from.kind);
    event.flags = from.flags;
    event.role = from.role;
    event.device_id = from.device_id;
    event.id = from.id;
    event.address = from.address;
    event.bytes = from.bytes;
    event.bytes_per_bank = from.bytes_per_bank;
    event.banks = from.banks;
    event.slot = from.slot;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::memcpy(&ring_[(number + i) & ring_mask_],
                  static_cast<const char*>(details) + i * sizeof(EventRecord), sizeof(EventRecord));
      __builtin_prefetch(&ring_[(number + i + kAhead) & ring_mask_], 1);
    }
    if (event_details_) [[unlikely]] {
      store(header_->event_count, ++event_count_);
    }
    const std::uint64_t last = number + count;
    events_ = last;
    std::atomic_ref<std::uint64_t>(event.number).store(number, std::memory_order_release);
    std::atomic_ref<std::uint64_t>(header_->events).store(last, std::memory_order_release);
    // The next call's atomic exchange would otherwise wait for this cache line.
    __builtin_prefetch(&ring_[(last + (event_details_ ? kAhead : 0)) & ring_mask_], 1);
  }

  // Writes the file again if it was deleted (a logout may do that). Growth does so too. When it
  // fails, readers do not see this process until a later attempt succeeds.
  void restore_deleted_file() noexcept;

  // The record of failures.
  [[nodiscard]] FailureRecord& failure() noexcept;
  // Copies the segment, without its events, to a file beside it (kFailedSuffix), in place of an
  // earlier copy. Returns 0 or the errno; then an earlier copy stays. Takes at most
  // kMostFailedBytes, and a quarter of what is free.
  [[nodiscard]] int keep_failed() noexcept;
  static constexpr std::uint64_t kMostFailedBytes = 128 << 20;
  // Nobody needs to know of failures any more: removes the copy, if there is one.
  void drop_failed() noexcept;

  // For a clean exit: marks the segment and removes the file.
  void finish() noexcept;
  // The same, but nobody gets it: its figures are not to be trusted.
  void discard() noexcept;
  // For a proxy segment whose client ended and held something: marks the segment and lets go of
  // it, so that it is found like that of any dead process. As after abandon(), nothing else may be
  // called.
  void leave_as_evidence() noexcept;
  // Unmaps and closes the file, which stays. A forked child calls it for its parent's segment, so
  // that the lock ends with the parent. Nothing else may be called afterwards.
  void abandon() noexcept;
  // Closes the file alone. A child that was forked inside a call does it, so that the call can end.
  void close_file() noexcept;

 private:
  // What tells this process from all others.
  struct Identity {
    pid_t pid = 0;
    std::uint64_t start_time_ticks = 0;
    std::uint32_t pid_namespace = 0;
    std::array<std::uint8_t, 16> boot_id{};
  };

  SegmentWriter() = default;
  [[nodiscard]] static Identity identity_of(const Options& options) noexcept;
  Result<void> open_file(const Options& options, const Identity& self);
  Result<bool> open_new_file(mode_t mode);
  // The fate of the file that this process wrote before it called exec.
  enum class OwnFile : std::uint8_t { removed, left_to_reader };
  bool remove_own_file(const std::string& path, const Identity& self, OwnFile fate) noexcept;
  [[nodiscard]] Error failed(const char* what, int error);
  void leave_mark(const Options& options, const Identity& self) const noexcept;
  [[nodiscard]] bool is_wanted() const noexcept;
  [[nodiscard]] bool keep(const std::string& path) const noexcept;
  [[nodiscard]] std::uint32_t ring_chunks(std::uint32_t wanted) const noexcept;
  Result<void> map_header();
  [[nodiscard]] bool map_first_chunks(const Options& options);
  void describe_process(const Options& options, const Identity& self) noexcept;
  [[nodiscard, gnu::noinline]] std::uint32_t acquire_new_allocation(std::uint64_t now_ns);
  [[nodiscard]] bool is_our_file(int fd) const noexcept;
  [[nodiscard]] bool has_file() noexcept;
  // True if all visits of (kind, address, offset in the file) were.
  template <typename Visit>
  [[nodiscard]] bool all_of_chunks(Visit&& visit) const;
  [[nodiscard]] void* chunk(ChunkKind kind, std::size_t number) const noexcept;
  [[nodiscard]] bool fill(int file, const struct stat& old) noexcept;
  [[nodiscard]] std::uint64_t bytes_without_events() const noexcept;
  // At a clean exit: of a failure that could not be copied the segment itself stays, in place of
  // the copy. It takes no more room, and says what was said.
  void leave_failed() noexcept;
  [[nodiscard]] int write_failed(const std::string& path) noexcept;
  [[nodiscard]] void* map(off_t offset, std::size_t bytes) const noexcept;
  // False when a file of this size is above the limit of the process: SIGXFSZ would hit the
  // workload.
  [[nodiscard]] static bool may_reach(off_t size) noexcept;
  [[nodiscard]] int reserve(off_t offset, off_t bytes) noexcept;
  [[nodiscard]] void* map_chunks(ChunkKind kind, std::uint32_t count, std::uint64_t now_ns);
  [[nodiscard]] bool map_ring(std::uint32_t chunks);
  template <typename Record>
  [[nodiscard]] bool grow(RecordArray<Record>& array, ChunkKind kind, std::uint64_t now_ns);
  // A null `free`: records of this kind are never released.
  template <typename Record>
  [[nodiscard]] std::uint32_t acquire(RecordArray<Record>& array, ChunkKind kind,
                                      std::vector<std::uint32_t>* free,
                                      std::uint32_t& published_count, std::uint64_t now_ns);

  bool in_memory_ = false;
  pid_t kept_for_ = 0;  // the reader that wants it after a clean exit
  std::uint32_t kept_for_namespace_ = 0;
  UniqueFd fd_;  // empty if in_memory_
  dev_t file_device_ = 0;
  ino_t file_number_ = 0;
  bool is_proxy_ = false;
  bool is_failure_forgotten_ = false;  // nobody needs to know of one
  bool has_failed_ = false;            // there is a copy
  mode_t mode_ = 0600;
  std::string path_;
  std::string base_path_;  // the path without a number
  int failure_error_ = 0;  // the errno that explains why there is no segment
  Header* header_ = nullptr;
  std::vector<ChunkKind> chunk_kinds_;  // of each chunk of the file
  RecordArray<DeviceRecord> devices_;
  RecordArray<AllocationSlot> allocations_;
  RecordArray<ProgramSlot> programs_;
  RecordArray<CbRecord> cbs_;
  RecordArray<TextRecord> texts_;
  RecordArray<DeviceSetRecord> device_sets_;
  EventRecord* ring_ = nullptr;
  std::uint64_t ring_mask_ = 0;    // replaces a division, which costs too much
  std::uint64_t events_ = 0;       // number of the newest event
  std::uint64_t event_count_ = 0;  // with details, the number of records that are events
  bool event_details_ = false;
  std::vector<std::uint32_t> free_allocations_;
  std::vector<std::uint32_t> free_programs_;
  std::array<std::vector<std::uint32_t>, 11> free_cbs_;  // [i]: runs of 2^i CB records
  std::uint64_t next_try_ns_ = 0;
};

}  // namespace ttmem::segment

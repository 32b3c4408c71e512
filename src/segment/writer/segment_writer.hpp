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

// Stores one field in one piece. Relaxed suffices, because publish(), or the release store that
// completes a record, orders the fields.
template <typename T>
void store(T& field, T value) noexcept {
  std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
}

// Calls write(), which changes a record. During the call, the record's `seq` is odd, so that
// readers see that the record is being written (invariant 2 of layout.hpp).
template <typename Write>
[[gnu::always_inline]] inline void publish(std::uint32_t& seq, Write&& write) noexcept {
  const std::uint32_t before = seq;
  store(seq, before + 1);
  // Orders the store of the odd number before all stores of the body. Pairs with the acquire fence
  // in StableCopy::load().
  std::atomic_thread_fence(std::memory_order_release);
  write();
  // Orders all stores of the body before the store of the even number. Pairs with the acquire fence
  // in StableCopy::load().
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

// The segment of this process, or a proxy segment for another process. Creates the file, holds its
// lock as long as the object lives, and hands out records.
//
// Not thread-safe: the caller holds a lock. Readers are other processes, and the writer never waits
// for them. If the file cannot grow (no space, a size limit), acquire_*() return kNoSlot and store
// the errno in the header. The next attempt is made after a second at the earliest. Raises no
// signal and throws nothing but std::bad_alloc.
class SegmentWriter {
 public:
  // The client of a proxy segment.
  struct Process {
    pid_t pid = 0;
    std::uint64_t start_time_ticks = 0;  // 0: unknown, because /proc does not show the process
    uid_t uid = 0;
    std::string name;
    std::string command;
    Job job{};
  };

  struct Options {
    std::string directory;
    mode_t mode = 0600;
    std::uint32_t event_chunks = 4;  // power of two; 4 chunks hold 4,096 events
    bool event_details = false;      // write details after the events, for a recorder
    bool in_memory = false;          // no file, and therefore no readers
    // The client of a proxy segment; nullopt: not a proxy segment. At first, a proxy segment has no
    // chunks except the ring, because a server may have a thousand proxy segments.
    std::optional<Process> for_client = std::nullopt;
    // Reader that gets the segment after a clean exit (kKeptSuffix); 0 means none.
    pid_t kept_for = 0;
    std::uint32_t kept_for_namespace = 0;  // pid namespace of `kept_for`; 0 means unknown
    std::string run{};                     // RunRecord::ids
    Job job{};                             // job of this process, not of a client
  };

  // Creates and locks the segment. On failure, tries to leave a symbolic link that tells readers
  // the reason (kUntrackedSuffix).
  [[nodiscard]] static Result<std::unique_ptr<SegmentWriter>> create(const Options& options);
  ~SegmentWriter();  // calls abandon()
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

  // Each returns the number of records of its kind that were ever used.
  [[nodiscard]] std::uint32_t device_count() const noexcept { return devices_.count(); }
  [[nodiscard]] std::uint32_t allocation_count() const noexcept { return allocations_.count(); }
  [[nodiscard]] std::uint32_t program_count() const noexcept { return programs_.count(); }
  [[nodiscard]] std::uint32_t text_count() const noexcept { return texts_.count(); }

  // Each returns the index of an unused record, or kNoSlot if the segment has no room.
  [[nodiscard]] std::uint32_t acquire_device(std::uint64_t now_ns);
  [[nodiscard]] std::uint32_t acquire_allocation(std::uint64_t now_ns) {
    if (free_allocations_.empty()) return acquire_new_allocation(now_ns);
    const std::uint32_t index = free_allocations_.back();
    free_allocations_.pop_back();
    return index;
  }
  [[nodiscard]] std::uint32_t acquire_program(std::uint64_t now_ns);
  // Returns the index of the first of `count` consecutive records, or kNoSlot. `count` is at most
  // kMaxCbsPerProgram.
  [[nodiscard]] std::uint32_t acquire_cbs(std::uint32_t count, std::uint64_t now_ns);
  [[nodiscard]] std::uint32_t acquire_text(std::uint64_t now_ns);  // at most kMaxTexts records
  [[nodiscard]] std::uint32_t acquire_device_set(
      std::uint64_t now_ns);  // at most kMaxDeviceSets records

  void release_allocation(std::uint32_t index) { free_allocations_.push_back(index); }
  void release_program(std::uint32_t index) { free_programs_.push_back(index); }
  // May throw std::bad_alloc; the records are then never used again.
  void release_cbs(std::uint32_t first, std::uint32_t count);

  // An event. Its type determines which of the other fields are used.
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

  // If events have details, write_event() prefetches the record that is this many records ahead,
  // because such a ring is larger than the caches.
  static constexpr std::uint64_t kAhead = 16;

  // Returns the number of the next event.
  [[nodiscard]] std::uint64_t next_event() const noexcept { return events_ + 1; }
  [[nodiscard]] bool has_event_details() const noexcept { return event_details_; }

  // Appends an event and its `count` detail records, at most kMaxEventDetails, to the ring. Inline,
  // because every tracked call writes an event.
  [[gnu::always_inline]] inline void write_event(const Event& from, const void* details = nullptr,
                                                 std::uint32_t count = 0) noexcept {
    const std::uint64_t number = events_ + 1;
    EventRecord& event = ring_[(number - 1) & ring_mask_];
    store(event.number, std::uint64_t{0});
    // Orders the zero in `number`, and the previous store of `events`, before the stores of the
    // body. The release stores below order the body before the new `number` and `events`. A reader
    // first copies records and then reads `events`. The value shows which of the copied records the
    // writer cannot have begun to overwrite. Pairs with the acquire fence in event_reader.cpp.
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
    // Prefetches the record of a later event. Otherwise an atomic exchange in the call that writes
    // the later event would wait for the record's cache line.
    __builtin_prefetch(&ring_[(last + (event_details_ ? kAhead : 0)) & ring_mask_], 1);
  }

  // Writes the file again if it was deleted (a logout may delete it). Every attempt to grow the
  // segment calls this function too. If writing fails, readers do not see this process until a
  // later attempt succeeds.
  void restore_deleted_file() noexcept;

  // Returns the record of the last failure.
  [[nodiscard]] FailureRecord& failure() noexcept;
  // Copies the segment, without its events, to a file beside it (kFailedSuffix), and replaces an
  // earlier copy. Returns 0, or an errno on failure; an earlier copy then stays. The copy takes at
  // most kMaxFailedBytes, and at most a quarter of the free space.
  [[nodiscard]] int keep_failed() noexcept;
  static constexpr std::uint64_t kMaxFailedBytes = 128 << 20;
  // Removes the copy that keep_failed() made, if there is one. Call this function when no reader
  // needs the copy any more. A clean exit after this call leaves no copy either.
  void drop_failed() noexcept;

  // Ends the segment at a clean exit: sets ExitState::clean, and removes the file unless a reader
  // wants it (Options::kept_for).
  void finish() noexcept;
  // Ends the segment like finish(), but does not leave the segment to a reader, because its figures
  // may be wrong.
  void discard() noexcept;
  // Ends a proxy segment whose client ended while it still held something: sets
  // ExitState::client_ended and closes the file. Readers then treat the segment like that of any
  // dead process. Call nothing else afterwards.
  void leave_as_evidence() noexcept;
  // Unmaps and closes the file, but does not remove it. A forked child calls this function for its
  // parent's segment, so that the child does not hold the lock after the parent's end. Call nothing
  // else afterwards.
  void abandon() noexcept;
  // Closes the file and keeps the mappings. A child that was forked inside a call uses this
  // function, because the interrupted call still uses the mappings.
  void close_file() noexcept;

 private:
  // The values that distinguish this process from all others.
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
  // Calls visit(kind, address, offset in the file) for each chunk. Stops and returns false if a
  // call returns false.
  template <typename Visit>
  [[nodiscard]] bool all_of_chunks(Visit&& visit) const;
  [[nodiscard]] void* chunk(ChunkKind kind, std::size_t number) const noexcept;
  [[nodiscard]] bool fill(int file, const struct stat& old) noexcept;
  [[nodiscard]] std::uint64_t bytes_without_events() const noexcept;
  // If keep_failed() could not make a copy, keeps the segment itself in place of the copy at a
  // clean exit. The segment takes no new space, and contains the message of the failure.
  void leave_failed() noexcept;
  [[nodiscard]] int write_failed(const std::string& path) noexcept;
  [[nodiscard]] void* map(off_t offset, std::size_t bytes) const noexcept;
  // Returns false if RLIMIT_FSIZE forbids a file of this size. Growing the file would then raise
  // SIGXFSZ in the workload.
  [[nodiscard]] static bool may_reach(off_t size) noexcept;
  [[nodiscard]] int reserve(off_t offset, off_t bytes) noexcept;
  [[nodiscard]] void* map_chunks(ChunkKind kind, std::uint32_t count, std::uint64_t now_ns);
  [[nodiscard]] bool map_ring(std::uint32_t chunks);
  template <typename Record>
  [[nodiscard]] bool grow(RecordArray<Record>& array, ChunkKind kind, std::uint64_t now_ns);
  // Returns an unused record: from `free`, or a new record. `free` is null for a kind whose records
  // are never released.
  template <typename Record>
  [[nodiscard]] std::uint32_t acquire(RecordArray<Record>& array, ChunkKind kind,
                                      std::vector<std::uint32_t>* free,
                                      std::uint32_t& published_count, std::uint64_t now_ns);

  bool in_memory_ = false;
  pid_t kept_for_ = 0;  // reader that gets the segment after a clean exit
  std::uint32_t kept_for_namespace_ = 0;
  UniqueFd fd_;  // empty if in_memory_
  dev_t file_device_ = 0;
  ino_t file_number_ = 0;
  bool is_proxy_ = false;
  bool is_failure_forgotten_ = false;  // true: no reader needs the copy that keep_failed() made
  bool has_failed_ = false;            // true: the copy that keep_failed() made exists
  mode_t mode_ = 0600;
  std::string path_;
  std::string base_path_;  // the path without a number and without kProxySuffix
  int failure_error_ = 0;  // errno that explains why there is no segment
  Header* header_ = nullptr;
  std::vector<ChunkKind> chunk_kinds_;  // kind of each chunk of the file
  RecordArray<DeviceRecord> devices_;
  RecordArray<AllocationSlot> allocations_;
  RecordArray<ProgramSlot> programs_;
  RecordArray<CbRecord> cbs_;
  RecordArray<TextRecord> texts_;
  RecordArray<DeviceSetRecord> device_sets_;
  EventRecord* ring_ = nullptr;
  std::uint64_t ring_mask_ = 0;  // number of records in the ring - 1; a mask avoids a slow division
  std::uint64_t events_ = 0;     // Header::events
  std::uint64_t event_count_ = 0;  // Header::event_count
  bool event_details_ = false;
  std::vector<std::uint32_t> free_allocations_;
  std::vector<std::uint32_t> free_programs_;
  // [i] contains the first record of each unused run of 2^i CB records.
  std::array<std::vector<std::uint32_t>, 11> free_cbs_;
  std::uint64_t next_try_ns_ = 0;
};

}  // namespace ttmem::segment

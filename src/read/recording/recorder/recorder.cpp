// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/recorder.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/clock.hpp"
#include "base/saturating.hpp"

namespace ttmem::recording {
namespace {

// The age at which events are written. Younger events wait, because a process may publish an event
// some time after the time of the event. So the events of several processes are written in the
// order of their times.
constexpr Time kMergeDelay = 20'000'000;
constexpr Time kCommitEvery = 500'000'000;
// The pause between commits if a process has ended. A short pause lets the segment be removed soon.
constexpr Time kCommitAfterEndEvery = 50'000'000;
// The number of ProcessEvents::drain() calls that read a full ring: one call reads a million
// events, and the largest ring has four million.
constexpr int kPassesOfARing = 4;
constexpr Time kForever = std::numeric_limits<Time>::max();

void add_counts(const ProcessRecorder& process, Recorder::Figures& figures) {
  ++figures.processes;
  figures.events += process.events();
  figures.lost += process.lost();
  figures.failures += process.failures();
  if (process.lost() == 0) return;
  const std::uint32_t ring = process.ring_records();
  figures.smallest_ring = figures.smallest_ring == 0 ? ring : std::min(figures.smallest_ring, ring);
}

}  // namespace

Recorder::Recorder(Writer& writer, std::uint64_t began_ns) : writer_(writer), began_ns_(began_ns) {}

Time Recorder::now() const { return static_cast<Time>(clock_ns(CLOCK_MONOTONIC) - began_ns_); }

void Recorder::add(UniqueFd segment, Time earliest) {
  struct stat facts {};
  if (::fstat(segment.get(), &facts) != 0) return;
  if (!files_.emplace(facts.st_dev, facts.st_ino).second) return;
  starting_.push_back(
      std::make_unique<ProcessRecorder>(std::move(segment), began_ns_, earliest, writer_));
}

void Recorder::begin_ready_processes() {
  for (auto& process : starting_) {
    if (process->begin()) processes_.push_back(std::move(process));
  }
  std::erase(starting_, nullptr);
}

// Finds out which processes have ended. Returns the time before the search, by the coarse clock,
// which also dates buffers. The coarse clock may still show a time before the recording.
Time Recorder::look_for_ends() {
  const std::uint64_t coarse_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
  const auto time = static_cast<Time>(std::max(coarse_ns, began_ns_) - began_ns_);
  for (const auto& process : processes_) process->look_for_end(time);
  return time;
}

bool Recorder::has_any_ended() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process->has_ended(); });
}

bool Recorder::is_any_ending() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process->is_ending(); });
}

// Applies the events of all processes up to `time`, the oldest event first.
void Recorder::apply_until(Time time) {
  for (;;) {
    ProcessRecorder* first = nullptr;
    Time first_time = time;
    for (const auto& process : processes_) {
      const std::optional<Time> next = process->next_time();
      if (next && *next <= first_time) {
        first = process.get();
        first_time = *next;
      }
    }
    if (first == nullptr) return;
    first->apply_next();
  }
}

void Recorder::end_finished_processes() {
  for (auto& process : processes_) {
    // The process is drained after has_ended() returned true, so that all its events are read.
    if (!process->has_ended()) continue;
    process->drain();
    if (process->next_time()) continue;
    // now() is read after the process ended, also if the recorder itself was stopped in between.
    process->end(now());
    const RecordedProcess& row = process->row();
    if (!row.killed && process->is_in_own_namespace()) unknown_ends_[row.pid] = row;
    add_counts(*process, ended_);
    UniqueFd segment = process->take_segment();
    struct stat facts {};
    // The file is forgotten, because another file may soon get the same inode number.
    if (::fstat(segment.get(), &facts) == 0) files_.erase({facts.st_dev, facts.st_ino});
    ended_segments_.push_back(std::move(segment));
    process.reset();
  }
  std::erase(processes_, nullptr);
}

// Writes how a child ended that left no clean exit.
void Recorder::note_child(const ChildEnd& child) {
  const auto found = unknown_ends_.find(child.pid);
  if (found == unknown_ends_.end()) return;
  found->second.killed = child.signal != 0;
  found->second.signal = child.signal;
  writer_.change(found->second);
}

// Writes the present figures of the living processes. The figures of an ended process are written
// with the time of its end.
void Recorder::refresh(Time time) {
  for (const auto& process : processes_) {
    if (!process->has_ended()) process->refresh(time);
  }
  peak_bytes_ = std::max(peak_bytes_, figures().used_bytes);
}

Result<void> Recorder::look(Commit commit) {
  begin_ready_processes();
  const Time time = look_for_ends();
  for (const auto& process : processes_) process->drain();
  apply_until(time - kMergeDelay);
  const bool may_wait = commit == Commit::when_due;
  if (may_wait && time < last_commit_ + kCommitAfterEndEvery) return {};
  if (may_wait && time < last_commit_ + kCommitEvery && !has_any_ended()) return {};
  last_commit_ = time;
  refresh(time);
  end_finished_processes();
  return commit_figures();
}

Result<void> Recorder::commit_figures() {
  const Figures all = figures();
  writer_.count(all.events, all.lost);
  auto done = writer_.commit();
  if (done) written_ = all;
  return done;
}

// Applies all events of processes that have ended. For a running process, applies at least the
// events that are in its ring now: without a limit, the process could write faster than this loop
// reads.
void Recorder::apply_remaining_events() {
  bool more = true;
  for (int pass = 0; more; ++pass) {
    more = false;
    for (const auto& process : processes_) {
      if (pass >= kPassesOfARing && !process->has_ended()) continue;
      process->drain();
      more = more || process->next_time().has_value();
    }
    apply_until(kForever);
    static_cast<void>(commit_figures());  // if this commit fails, the last commit reports it
  }
}

Result<void> Recorder::finish(Run& run, std::optional<ChildEnd> child) {
  begin_ready_processes();
  look_for_ends();
  apply_remaining_events();
  const Time time = look_for_ends();
  refresh(time);
  end_finished_processes();
  if (child) note_child(*child);
  for (const auto& process : processes_) process->note_scopes();
  const Figures all = figures();
  run.ended_ns = now();
  run.events = all.events;
  run.lost_events = all.lost;
  return writer_.finish(run);
}

Recorder::Figures Recorder::figures() const {
  Figures all = ended_;
  for (const auto& process : processes_) {
    add_counts(*process, all);
    all.used_bytes = saturating_add(all.used_bytes, process->used_bytes());
  }
  all.peak_bytes = std::max(peak_bytes_, all.used_bytes);
  all.elapsed_ns = static_cast<std::uint64_t>(now());
  return all;
}

}  // namespace ttmem::recording

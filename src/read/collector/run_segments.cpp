// SPDX-License-Identifier: Apache-2.0
#include "read/collector/run_segments.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/run_id.hpp"
#include "segment/layout/layout.hpp"
#include "segment/layout/public_run_ids.hpp"
#include "segment/reader/run_ids.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::collector {
namespace {

using segment::FdSource;
using segment::HeaderState;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Returns the pid of the parent, which is field 4 of /proc/PID/stat; 0 if there is no such process.
std::int32_t parent_of(std::int32_t pid) {
  const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::string_view rest = std::string_view(stat).substr(end_of_name + 1);
  next_word(rest);  // skips the state, field 3
  return parse_number<std::int32_t>(next_word(rest)).value_or(0);
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Returns true if this process runs inside the run of another reader: $TTMEM_KEEP_FOR names a
// living reader. A reader of another pid namespace cannot be checked and counts as living.
bool has_outer_reader() {
  const std::string_view text = environment("TTMEM_KEEP_FOR");
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto pid = parse_number<std::int32_t>(text.substr(0, colon));
  const auto space = parse_number<std::uint32_t>(text.substr(std::min(colon + 1, text.size())));
  if (!pid || *pid == ::getpid()) return false;
  if (space && *space != 0 && *space != own_pid_namespace()) return true;
  // The id contains the reader's start time, so another process with the same pid does not match.
  const std::string begin = fmt::format("{}.{}.", *pid, space.value_or(0));
  for (const std::string& id : segment::split_run_ids(environment("TTMEM_RUN"))) {
    if (id.starts_with(begin)) return owner_of_run(id) == Owner::alive;
  }
  const auto facts = process_facts(*pid);
  return facts && !facts->is_ending;
}

bool is_same_file(int directory, const std::string& name, int fd) {
  struct stat named {};
  struct stat opened {};
  return ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

// Returns the wall-clock time of the last change, with the precision of CLOCK_REALTIME_COARSE.
std::uint64_t change_time(const OpenFile& file) {
  const timespec& time = file.facts.st_ctim;
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Returns true if the segment describes an out-of-memory failure of which no copy was kept.
bool has_uncopied_failure(int segment) {
  segment::FailureRecord failure{};
  return segment::read_value(FdSource(segment), segment::kFailureOffset, failure) &&
         failure.number != 0 && failure.not_kept_error != 0;
}

}  // namespace

std::size_t max_open_segments() {
  constexpr rlim_t ours = 24;
  constexpr rlim_t most = 1 << 16;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return std::clamp<rlim_t>(limit.rlim_cur - std::min(limit.rlim_cur, ours), 1, most);
}

RunSegments::RunSegments(const std::string& directory, Evidence evidence)
    : evidence_(evidence),
      began_ns_(clock_ns(CLOCK_MONOTONIC)),
      began_unix_ns_(clock_ns(CLOCK_REALTIME_COARSE)) {
  listing_.directory = directory;
  listing_.fd = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  events_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const bool watched =
      listing_.fd && events_ &&
      ::inotify_add_watch(events_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO) >= 0;
  if (!watched) {
    failure_ = fmt::format("cannot watch {}: {}", directory, std::strerror(errno));
    events_.reset();
  }
  is_outermost_ = !has_outer_reader();
  id_ = name_this_run(watched ? RunRole::reads : RunRole::starts);
  public_id_ = segment::public_run_ids(id_);
  if (!watched) return;
  remove_kept();
  if (!is_outermost_) return;
  // The text has the pid namespace too, because in a container the pid belongs to another process,
  // or to no process.
  const std::string reader = fmt::format("{}:{}", ::getpid(), own_pid_namespace());
  ::setenv("TTMEM_KEEP_FOR", reader.c_str(), 1);
}

RunSegments::~RunSegments() {
  is_ending_ = true;
  if (events_) remove_kept();
}

void RunSegments::read_events() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      if (event.len > 0) names_.emplace_back(buffer.data() + at + sizeof(event));
      if ((event.mask & IN_Q_OVERFLOW) != 0) add_all_names();
      at += sizeof(event) + event.len;
    }
  }
}

void RunSegments::list() {
  is_ending_ = true;
  add_all_names();
}

void RunSegments::add_all_names() {
  Result<Listing> all = list_directory(listing_.directory);
  if (!all) {
    warn(all.error().message);
    return;
  }
  starting_.clear();
  for (auto* names : {&all->segments, &all->kept, &all->marks}) {
    std::move(names->begin(), names->end(), std::back_inserter(names_));
  }
}

std::vector<UniqueFd> RunSegments::open_new(std::size_t room) {
  read_events();
  remove_deferred();
  claims_ = ClaimChecker();
  std::vector<UniqueFd> opened;
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  if (begin >= next_starting_ns_) {
    std::move(starting_.begin(), starting_.end(), std::back_inserter(names_));
    starting_.clear();
  }
  while (!names_.empty() && opened.size() < room) {
    std::string name = std::move(names_.front());
    names_.pop_front();
    if (!take(name, opened)) starting_.push_back(std::move(name));
  }
  // Limits the share of time spent on incomplete files, because other users can leave any number of
  // such files.
  constexpr std::uint64_t pause_factor = 9;
  const std::uint64_t end = clock_ns(CLOCK_MONOTONIC);
  if (begin >= next_starting_ns_) next_starting_ns_ = end + pause_factor * (end - begin);
  return opened;
}

// Handles one file. Returns false if the file must be handled again later.
bool RunSegments::take(const std::string& name, std::vector<UniqueFd>& opened) {
  if (parse_untracked_name(name)) {
    note_mark(name);
    return true;
  }
  const std::optional<KeptName> kept = parse_kept_name(name);
  const std::optional<SegmentName> segment = parse_segment_name(kept ? kept->segment : name);
  if (!segment) return true;
  // Opens the file first, because the file may soon be removed. If the file cannot be opened, warns
  // only if the file belongs to this run.
  DeniedFiles denied("read");
  std::vector<std::string> warnings;
  std::optional<OpenFile> file = open_file(listing_, name, denied, warnings);
  if (!file) {
    if (lineage_of(name, *segment) == Lineage::ours) {
      static_cast<void>(open_file(listing_, name, denied_, warnings_));
    }
  } else if (header_state(FdSource(file->fd.get())) == HeaderState::incomplete) {
    if (is_starting(name, *segment, *file)) return false;
  } else {
    take_complete(name, *segment, std::move(*file), opened);
  }
  lineages_.erase(name);
  return true;
}

void RunSegments::take_complete(const std::string& name, const SegmentName& segment, OpenFile file,
                                std::vector<UniqueFd>& opened) {
  const FdSource source(file.fd.get());
  const auto map = segment::map_segment(source);
  if (!map) {
    if (lineage_of(name, segment) != Lineage::ours) return;
    warn(fmt::format("cannot read {}: {}", listing_.path_of(name), map.error().message));
    return;
  }
  const Key key(file.facts.st_dev, file.facts.st_ino, map->header.created_ns, map->header.pid);
  if (const auto known = known_.find(key); known != known_.end()) {
    known->second.names.insert(name);
    if (known->second.is_released && remove_names(known->second, file.fd.get())) {
      known_.erase(known);
    }
    return;
  }
  std::vector<std::string> runs = segment::read_run_ids(source);
  // Any user can give a file this name, so the owner of the file is checked.
  const bool is_kept =
      is_kept_for_us(name) && (file.facts.st_uid == ::geteuid() || file.facts.st_uid == 0);
  if (!contains(runs, id_) && !is_kept) {
    const Lineage lineage = lineage_of(name, segment);
    if (lineage == Lineage::others) return;
    if (lineage == Lineage::unknown) {
      const bool ended_badly =
          map->header.exit_state != static_cast<std::uint32_t>(segment::ExitState::clean) &&
          owner_of(file.fd.get()) == Owner::gone;
      if (!runs.empty() || map->header.created_ns < began_ns_ || !ended_badly) return;
      ++strangers_;
      known_[key];  // adds the key, so that a stranger is counted only once
      return;
    }
  }
  if (!is_claim_right(name, segment, file)) return;
  known_[key] = {.names = {name}, .runs = std::move(runs)};
  opened.push_back(std::move(file.fd));
}

// Returns true if the owner of the file owns the process that the file describes. Warns if not.
bool RunSegments::is_claim_right(const std::string& name, const SegmentName& segment,
                                 const OpenFile& file) {
  const auto map = segment::map_segment(FdSource(file.fd.get()));
  if (!map) return false;
  segment::SegmentImage image;
  image.pid = map->header.pid;
  image.uid = map->header.uid;
  image.start_time_ticks = map->header.start_time_ticks;
  image.pid_namespace = map->header.pid_namespace;
  const bool alive = owner_of(file.fd.get()) == Owner::alive;
  // `segment` is parsed from the name without the suffix of a kept file.
  const auto claim = claims_.check(listing_.path_of(name), segment, image, file, alive);
  if (!claim) warn(claim.error().message);
  return claim.has_value();
}

// Returns true if take() must handle the file again, because a writer may still complete the header
// or has just completed it. A writer may complete the header if its process lives, or if the file
// changed in the last two seconds, which is more than a writer needs. If no writer is left, counts
// the process as not tracked or as a stranger, unless it belongs to another run.
bool RunSegments::is_starting(const std::string& name, const SegmentName& segment,
                              const OpenFile& file) {
  const Lineage lineage = lineage_of(name, segment);
  const auto facts = process_facts(segment.pid);
  const bool lives =
      facts && facts->start_time_ticks == segment.start_time_ticks && !facts->is_ending;
  if (lives || (!is_ending_ && change_time(file) + 2 * kSecond > clock_ns(CLOCK_REALTIME)))
    return true;
  // Reads the header again, because the writer may have completed the header just before its
  // process ended.
  const FdSource source(file.fd.get());
  if (header_state(source) != HeaderState::incomplete) return true;
  // The header may have the run ids already, because the writer stores them before it makes the
  // ring.
  const bool is_ours = lineage == Lineage::ours || contains(segment::read_run_ids(source), id_);
  const bool may_be_ours = lineage == Lineage::unknown && change_time(file) >= began_unix_ns_;
  if (!is_ours && !may_be_ours) return false;
  const Key key(file.facts.st_dev, file.facts.st_ino, 0, segment.pid);
  const bool is_new = known_.try_emplace(key).second;  // false: the file is counted already
  if (!is_ours) {
    strangers_ += is_new ? 1 : 0;
    return false;
  }
  if (is_new) ++not_tracked_["it ended while it started"];
  const bool removed = is_outermost_ && evidence_ == Evidence::is_removed &&
                       lock_to_remove(file.fd.get()) &&
                       is_same_file(listing_.fd.get(), name, file.fd.get());
  if (removed) ::unlinkat(listing_.fd.get(), name.c_str(), 0);
  return false;
}

// Returns Lineage::ours if the process of the segment is a descendant of this process. Keeps the
// first answer for a file, because the process may end before the next call.
RunSegments::Lineage RunSegments::lineage_of(const std::string& name, const SegmentName& segment) {
  const auto [known, is_new] = lineages_.try_emplace(name, Lineage::unknown);
  const std::optional<ProcessFacts> facts = process_facts(segment.pid);
  const bool same = facts && facts->start_time_ticks == segment.start_time_ticks;
  if (!is_new || !same) return known->second;
  const std::int32_t self = ::getpid();
  constexpr int deepest = 1000;
  std::int32_t pid = segment.pid;
  for (int i = 0; i < deepest && pid > 1; ++i) {
    pid = parent_of(pid);
    if (pid == self) return known->second = Lineage::ours;
  }
  return known->second = pid == 1 ? Lineage::others : Lineage::unknown;
}

void RunSegments::note_mark(const std::string& name) {
  if (marks_.contains(name)) return;
  const auto mark = read_untracked(listing_, name);
  if (!mark) return;
  if (!contains(mark->runs, public_id_) && lineage_of(name, mark->says.process) != Lineage::ours)
    return;
  count(*mark, not_tracked_);
  marks_.insert(name);
  lineages_.erase(name);
}

bool RunSegments::is_kept_for_us(const std::string& name) const {
  const std::optional<KeptName> kept = parse_kept_name(name);
  return kept && kept->reader == ::getpid() && kept->pid_namespace == own_pid_namespace();
}

bool RunSegments::is_wanted_by_inner_run(const std::vector<std::string>& runs, int segment) const {
  const bool uncopied_failure = has_uncopied_failure(segment);
  for (const std::string& id : runs) {
    if (id == id_ || id == public_id_) return false;
    if (!is_reader_id(id) && !uncopied_failure) continue;
    const Owner owner = owner_of_run(id);
    if (owner == Owner::alive || (owner == Owner::unknown && !is_ending_)) return true;
  }
  return false;
}

void RunSegments::release(UniqueFd segment) {
  struct stat facts {};
  const auto map = segment::map_segment(FdSource(segment.get()));
  if (!map || ::fstat(segment.get(), &facts) != 0) return;
  const Key key(facts.st_dev, facts.st_ino, map->header.created_ns, map->header.pid);
  const auto known = known_.find(key);
  if (known == known_.end()) return;
  known->second.is_released = true;
  if (remove_names(known->second, segment.get())) known_.erase(known);
}

// Removes the names of a segment, unless an inner reader may want the segment or this reader is not
// the outermost reader. Returns true if no name is left. The name that a killed process left is
// removed only under the lock, so that no other process removes or reuses the name at the same
// time.
bool RunSegments::remove_names(Known& known, int segment) {
  known.is_deferred = is_outermost_ && is_wanted_by_inner_run(known.runs, segment);
  if (!is_outermost_ || known.is_deferred) return false;
  const int directory = listing_.fd.get();
  for (const std::string& name : known.names) {
    if (!is_same_file(directory, name, segment)) continue;
    const std::optional<SegmentName> plain = parse_segment_name(name);
    const bool may_go =
        plain ? evidence_ == Evidence::is_removed && !plain->for_client && lock_to_remove(segment)
              : is_kept_for_us(name);
    if (may_go && is_same_file(directory, name, segment)) ::unlinkat(directory, name.c_str(), 0);
  }
  struct stat facts {};
  return ::fstat(segment, &facts) == 0 && facts.st_nlink == 0;
}

// Removes the deferred segments whose inner readers have ended.
void RunSegments::remove_deferred() {
  const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
  if (!is_outermost_ || (now < next_removal_ns_ && !is_ending_)) return;
  next_removal_ns_ = now + kSecond;
  for (auto& [key, known] : known_) {
    if (!known.is_deferred) continue;
    for (const std::string& name : known.names) {
      DeniedFiles denied("read");
      std::vector<std::string> warnings;
      const auto file = open_file(listing_, name, denied, warnings);
      const bool same =
          file && file->facts.st_dev == std::get<0>(key) && file->facts.st_ino == std::get<1>(key);
      if (!same) continue;
      static_cast<void>(remove_names(known, file->fd.get()));
      break;
    }
  }
}

// Keeps only the first warnings, because a directory with many bad files must not fill the screen.
void RunSegments::warn(std::string warning) {
  constexpr std::size_t max_warnings = 64;
  if (warnings_.size() < max_warnings) warnings_.push_back(std::move(warning));
}

void RunSegments::clean_up() {
  is_ending_ = true;
  remove_deferred();
  if (!is_outermost_ || evidence_ == Evidence::stays) return;
  for (const std::string& name : marks_) {
    const auto mark = read_untracked(listing_, name);
    if (!mark || mark->process == Owner::alive || is_wanted_by_inner_run(mark->runs, -1)) continue;
    ::unlinkat(listing_.fd.get(), name.c_str(), 0);
  }
}

// Removes the kept segments of this reader, and the segments kept for a killed reader that had the
// same pid.
void RunSegments::remove_kept() {
  const Result<Listing> all = list_directory(listing_.directory);
  if (!all) return;
  for (const std::string& name : all->kept) {
    if (!is_kept_for_us(name)) continue;
    const UniqueFd file(
        ::openat(listing_.fd.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const auto runs = segment::read_run_ids(FdSource(file.get()));
    const bool is_of_this_run = contains(runs, id_);
    if (!is_of_this_run || !is_wanted_by_inner_run(runs, file.get())) {
      ::unlinkat(listing_.fd.get(), name.c_str(), 0);
    }
  }
}

std::vector<std::string> RunSegments::warnings() const {
  std::vector<std::string> all = warnings_;
  denied_.append_warnings(listing_.directory, all);
  return all;
}

}  // namespace ttmem::collector

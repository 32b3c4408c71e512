// SPDX-License-Identifier: Apache-2.0
#include "read/collector/gather.hpp"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/plural.hpp"
#include "base/result.hpp"
#include "base/saturating.hpp"
#include "read/collector/claim.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/process_look.hpp"
#include "read/collector/segment_files.hpp"
#include "read/collector/untracked.hpp"
#include "read/collector/untracked_marks.hpp"
#include "segment/reader/segment_map.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::collector {
namespace {

using model::State;
using segment::HeaderState;
using segment::SegmentImage;

bool removed_meanwhile(const OpenFile& file) {
  struct stat now {};
  return ::fstat(file.fd.get(), &now) == 0 && now.st_nlink == 0;
}

class Gatherer {
 public:
  // `follows` is true if a later pass follows, for which this pass is the previous pass. `evidence`
  // already has the warnings about the directory itself.
  Gatherer(const Listing& listing, Evidence& previous, bool follows, Evidence& evidence)
      : listing_(listing), previous_(previous), follows_(follows), evidence_(evidence) {}

  void run() {
    evidence_.changed = false;
    evidence_.segments.reserve(listing_.segments.size());
    for (const std::string& name : listing_.segments) {
      if (auto found = segment(name)) evidence_.segments.push_back(std::move(*found));
    }
    for (const std::string& name : listing_.regions) {
      if (auto found = region(name)) evidence_.regions.push_back(std::move(*found));
    }
    marks();
    denied_.append_warnings(listing_.directory, evidence_.warnings);
    if (abandoned_ > 0) {
      evidence_.warnings.push_back(fmt::format(
          "left out {} in {}: the server that wrote for its clients is gone; start `ttmem serve` "
          "again, then clients reconnect, or run `ttmem clean`",
          abandoned_ == 1 ? "a segment" : fmt::format("{} segments", abandoned_),
          listing_.directory));
    }
    evidence_.changed = evidence_.changed ||
                        evidence_.segments.size() != previous_.segments.size() ||
                        evidence_.regions != previous_.regions;
  }

 private:
  void warn_unreadable(const std::string& name, const std::string& why) {
    evidence_.warnings.push_back(fmt::format("cannot read {}: {}", listing_.path_of(name), why));
  }

  std::optional<SegmentEvidence> segment(const std::string& name) {
    std::optional<OpenFile> file = open_file(listing_, name, denied_, evidence_.warnings);
    if (!file) return std::nullopt;
    SegmentEvidence* known = known_segment(name, *file);
    if (known != nullptr) {
      if (auto same = reuse(*known, *file)) return same;
    }
    auto found = read(name, *file, known);
    evidence_.changed = evidence_.changed || found.has_value();
    return found;
  }

  // Reads the marks of processes that could not create a segment. Counts the ended processes. Warns
  // about the other processes, because their memory is not seen.
  void marks() {
    NotTracked living;
    for (const std::string& name : listing_.marks) {
      const std::optional<UntrackedMark> mark = read_untracked(listing_, name);
      if (!mark) continue;
      if (mark->process == Owner::gone) {
        ++evidence_.dead_marks;
      } else {
        count(*mark, living);
      }
    }
    for (const std::string& sentence : sentences(living)) {
      evidence_.warnings.push_back(sentence + "; " + advice_for_untracked(listing_.directory));
    }
  }

  // Returns the evidence that the previous pass read from the same file. Searches forward only,
  // because both passes read the files sorted by name.
  SegmentEvidence* known_segment(const std::string& name, const OpenFile& file) {
    auto& known = previous_.segments;
    while (next_known_ < known.size() && known[next_known_].origin.name < name) ++next_known_;
    if (next_known_ == known.size()) return nullptr;
    SegmentEvidence& found = known[next_known_];
    const bool same = found.origin.name == name && found.origin.file_device == file.facts.st_dev &&
                      found.origin.file_number == file.facts.st_ino;
    return same ? &found : nullptr;
  }

  // Returns the known evidence if the file has not changed; nullopt if the file must be read. The
  // claim is not checked again, because it depends only on facts that stay the same for the same
  // file.
  std::optional<SegmentEvidence> reuse(SegmentEvidence& known, const OpenFile& file) {
    if (!known.origin.settled) return std::nullopt;
    if (!still_has(segment::FdSource(file.fd.get()), known.origin.fingerprint)) return std::nullopt;
    const bool alive = owner_of(file.fd.get()) == Owner::alive && known.this_boot;
    if (alive != (known.state == State::alive) || removed_meanwhile(file)) return std::nullopt;
    return std::move(known);
  }

  std::optional<SegmentEvidence> read(const std::string& name, const OpenFile& file,
                                      const SegmentEvidence* known) {
    const segment::FdSource source(file.fd.get());
    // An incomplete header means that the process is just starting, or died before the header was
    // complete.
    if (header_state(source) == HeaderState::incomplete) {
      evidence_.incomplete.push_back(name);
      return std::nullopt;
    }
    // The fingerprint is read before the content. If the content changes in between, the next pass
    // finds another fingerprint and reads the content again.
    std::optional<segment::Fingerprint> fingerprint;
    if (follows_) fingerprint = segment::read_fingerprint(source);
    Result<SegmentImage> image = segment::read_segment(source);
    const Owner owner = owner_of(file.fd.get());
    // Checks for a removal after the owner. A reaper holds the lock while it removes a segment, so
    // the owner of a removed segment may seem to live.
    if (removed_meanwhile(file)) return std::nullopt;
    if (!image) {
      warn_unreadable(name, image.error().message);
      return std::nullopt;
    }
    if (owner == Owner::unknown) {
      warn_unreadable(name,
                      "its file system has no locks, which show whether the owner lives; set "
                      "TTMEM_DIR to a directory in shared memory");
      return std::nullopt;
    }
    const SegmentName parsed = *parse_segment_name(name);
    const Result<Claim> claim =
        claims_.check(listing_.path_of(name), parsed, *image, file, owner == Owner::alive);
    if (!claim) {
      evidence_.warnings.push_back(claim.error().message);
      return std::nullopt;
    }
    // The lock shows only that the server released the segment; only the header shows whether the
    // client ended.
    if (parsed.for_client && owner == Owner::gone && !image->client_ended) {
      ++abandoned_;
      return std::nullopt;
    }
    SegmentEvidence evidence;
    evidence.image = std::move(*image);
    evidence.this_boot = is_this_boot(evidence.image.boot_id);
    evidence.state = owner == Owner::alive && evidence.this_boot ? State::alive : State::dead;
    if (evidence.state == State::alive) evidence.geometry = geometry_of(evidence.image);
    const bool by_another = parsed.for_client && claim->facts;
    evidence.user = user_name(by_another ? claim->facts->uids[0]
                                         : user_of(parsed, evidence.image, file.facts.st_uid));
    evidence.confirmed = claim->facts.has_value();
    evidence.foreign_pid = claim->foreign_pid;
    evidence.host_pid = claim->host_pid;
    evidence.job = known != nullptr ? known->job : job_of(evidence);
    evidence.origin = {name, file.facts.st_dev, file.facts.st_ino, {}, false};
    if (fingerprint) {
      evidence.origin.settled = settled(evidence, *fingerprint, known);
      evidence.origin.fingerprint = std::move(*fingerprint);
    }
    return evidence;
  }

  // Returns the job in the image, completed from /proc. A process in a container may not see its
  // own container or pod, but a reader outside the container does.
  Job job_of(const SegmentEvidence& evidence) {
    Job job = evidence.image.job;
    if (!evidence.confirmed || !evidence.host_pid) return job;
    const Job& seen = job_of_process(*evidence.host_pid);
    for (const JobField& field : kJobFields) {
      if ((job.*field.value).empty()) job.*field.value = seen.*field.value;
    }
    return job;
  }

  // Looks up each process only once in a pass, because a process has a row for each of its chips.
  const Job& job_of_process(std::int32_t pid) {
    const auto [known, fresh] = jobs_.try_emplace(pid);
    if (fresh) known->second = process_job(pid);
    return known->second;
  }

  // Returns true if the segment need not be read again while the fingerprint is the same. During
  // one call of the C interface, the writer may update the fingerprint before other figures, such
  // as the cores on which a program is resident. So a segment that has just changed is read once
  // more. The segment of a dead process no longer changes.
  static bool settled(const SegmentEvidence& evidence, const segment::Fingerprint& fingerprint,
                      const SegmentEvidence* known) {
    const bool seen_before = known != nullptr && known->state == evidence.state &&
                             known->origin.fingerprint == fingerprint;
    return seen_before && (evidence.state == State::dead || segment::is_settled(evidence.image));
  }

  // Returns true if `id` may be this boot. All zeros mean that the writer did not know the boot id.
  [[nodiscard]] bool is_this_boot(const BootId& id) const {
    return !boot_id_ || id == BootId{} || id == *boot_id_;
  }

  std::optional<RegionEvidence> region(const std::string& name) {
    std::optional<OpenFile> file = open_file(listing_, name, denied_, evidence_.warnings);
    if (!file) return std::nullopt;
    std::array<std::byte, kRegionBytes> bytes;
    const segment::FdSource source(file->fd.get());
    const std::size_t size = source.read_at(0, bytes);
    const Result<TtMetalRegion> decoded = decode_region(std::span(bytes).first(size));
    if (!decoded) {
      warn_unreadable(name, decoded.error().message);
      return std::nullopt;
    }
    RegionEvidence evidence{.file = name,
                            .version = decoded->version,
                            .uid = decoded->uid,
                            .device_id = decoded->device_id,
                            .rows = {}};
    for (const RegionRow& row : decoded->rows) add_row(name, row, file->facts.st_uid, evidence);
    return evidence;
  }

  void add_row(const std::string& name, const RegionRow& row, std::uint32_t file_owner,
               RegionEvidence& evidence) {
    const std::optional<ProcessFacts> facts = process_facts(row.pid);
    // A process that began after the row's last update is another process with the same pid. The
    // slack allows for a change of the wall clock; pids are not reused that fast.
    constexpr std::uint64_t slack_ns = 2'000'000'000;
    const bool alive = facts && start_unix_ns(facts->start_time_ticks) <=
                                    saturating_add(row.updated_unix_ns, slack_ns);
    if (!alive) {
      evidence.rows.push_back({row, State::dead, user_name(file_owner), {}});
    } else if (facts->owned_by(file_owner) || facts->owned_by(0)) {
      evidence.rows.push_back(
          {row, State::alive, user_name(facts->uids[0]), job_of_process(row.pid)});
    } else {
      evidence_.warnings.push_back(fmt::format(
          "left out a row of {}: the file belongs to {}, but the row names process {} of another "
          "user; find out who made it",
          listing_.path_of(name), user_name(file_owner), row.pid));
    }
  }

  const Listing& listing_;
  Evidence& previous_;
  bool follows_;
  Evidence& evidence_;
  ClaimChecker claims_;
  std::map<std::int32_t, Job> jobs_;  // by pid
  std::size_t next_known_ = 0;        // index into previous_.segments
  std::optional<BootId> boot_id_ = boot_id();
  DeniedFiles denied_{"read"};
  std::uint64_t abandoned_ = 0;  // number of proxy segments whose server is gone
};

// Returns TTMEM_HOST if set, else the host name. In a pod, the host name is the name of the pod, so
// TTMEM_HOST can contain the name of the node.
std::string host_name() {
  if (const char* named = environment("TTMEM_HOST"); *named != '\0') return named;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Limits the number of warnings, so that a directory with many bad files does not fill the screen.
void bound_warnings(std::vector<std::string>& warnings) {
  constexpr std::size_t most = 64;
  if (warnings.size() <= most) return;
  const std::size_t more = warnings.size() - most;
  warnings.resize(most);
  warnings.push_back(fmt::format("{} more warnings are not shown", more));
}

Evidence gather_pass(const std::string& directory, Evidence previous, bool follows) {
  Evidence evidence;
  evidence.host = host_name();
  evidence.user = user_name(::geteuid());
  evidence.directory = directory;
  Result<Listing> listing = list_directory(directory);
  evidence.listed = listing.has_value();
  if (!listing) {
    evidence.warnings.push_back(listing.error().message);
    evidence.unread = evidence.warnings;
  } else {
    struct statvfs space {};
    if (::fstatvfs(listing->fd.get(), &space) == 0) {
      const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
      if (auto warning = low_space_warning(directory, free_bytes)) {
        evidence.warnings.push_back(std::move(*warning));
      }
    }
    const auto before = static_cast<std::ptrdiff_t>(evidence.warnings.size());
    evidence.failed = listing->failed;
    Gatherer(*listing, previous, follows, evidence).run();
    // All warnings of the Gatherer concern data that were left out.
    evidence.unread.assign(evidence.warnings.begin() + before, evidence.warnings.end());
    bound_warnings(evidence.warnings);
    bound_warnings(evidence.unread);
  }
  if (evidence.dead_marks > 0) {
    evidence.warnings.push_back(fmt::format(
        "{} not tracked, for lack of room in {}; `ttmem clean` says why, and forgets it",
        plural(evidence.dead_marks, "process that has ended was", "processes that have ended were"),
        directory));
  }
  evidence.driver = driver::read_driver(system_root());
  evidence.untracked = find_untracked(evidence, listing ? &*listing : nullptr, previous.untracked);
  // A new sensor value does not count as a change, because sensor values change all the time.
  evidence.changed = evidence.changed || evidence.driver.chips != previous.driver.chips ||
                     evidence.untracked != previous.untracked ||
                     evidence.warnings != previous.warnings || evidence.host != previous.host ||
                     evidence.directory != previous.directory;
  // The times are read after all evidence, so that no age is negative.
  evidence.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
  evidence.time_unix_ns = clock_ns(CLOCK_REALTIME);
  return evidence;
}

}  // namespace

std::optional<std::string> low_space_warning(const std::string& directory,
                                             std::uint64_t free_bytes) {
  if (free_bytes >= kLowSpaceBytes) return std::nullopt;
  return fmt::format(
      "{} is full ({} bytes left): new processes cannot be tracked, and lists of running ones "
      "are incomplete; free space there (`ttmem clean` removes what dead processes left)",
      directory, free_bytes);
}

Evidence gather(const std::string& directory, Evidence previous) {
  return gather_pass(directory, std::move(previous), true);
}

Evidence gather(const std::string& directory) { return gather_pass(directory, {}, false); }

}  // namespace ttmem::collector

// SPDX-License-Identifier: Apache-2.0
#include "collector/run_segments.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "collector/process_info.hpp"

namespace ttmem::collector {
namespace {

// Field 4 of /proc/PID/stat; 0 when there is no such process.
std::int32_t parent_of(std::int32_t pid) {
  const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::string_view rest = std::string_view(stat).substr(end_of_name + 1);
  next_word(rest);  // the state
  return parse_number<std::int32_t>(next_word(rest)).value_or(0);
}

enum class Lineage : std::uint8_t { ours, others, unknown };

// Whether this process started that one, or one that did.
Lineage lineage_of(const SegmentName& name) {
  const std::optional<ProcessFacts> facts = process_facts(name.pid);
  if (!facts || facts->start_time_ticks != name.start_time_ticks) return Lineage::unknown;
  const std::int32_t self = ::getpid();
  constexpr int deepest = 1000;
  std::int32_t pid = name.pid;
  for (int i = 0; i < deepest && pid > 1; ++i) {
    pid = parent_of(pid);
    if (pid == self) return Lineage::ours;
  }
  return pid == 1 ? Lineage::others : Lineage::unknown;
}

// The files that were kept for this process. Another container may have one with its pid.
std::vector<std::string> kept_for_us(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::string name = it->path().filename().string();
    const std::optional<KeptName> kept = parse_kept_name(name);
    const bool is_ours =
        kept && kept->reader == ::getpid() && kept->pid_namespace == own_pid_namespace();
    if (is_ours) names.push_back(std::move(name));
  }
  return names;
}

// Also those that an earlier reader with the same pid left behind when it was killed.
void remove_kept(const Listing& listing) {
  for (const std::string& name : kept_for_us(listing.directory)) {
    ::unlinkat(listing.fd.get(), name.c_str(), 0);
  }
}

}  // namespace

RunSegments::RunSegments(const std::string& directory) {
  listing_.directory = directory;
  listing_.fd = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  events_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const bool watched =
      listing_.fd && events_ &&
      ::inotify_add_watch(events_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO) >= 0;
  if (watched) {
    remove_kept(listing_);
    // With the namespace: in a container the pid means another process, or none.
    const std::string reader = fmt::format("{}:{}", ::getpid(), own_pid_namespace());
    ::setenv("TTMEM_KEEP_FOR", reader.c_str(), 1);
    return;
  }
  failure_ = fmt::format("cannot watch {}: {}", directory, std::strerror(errno));
  events_.reset();
}

RunSegments::~RunSegments() {
  if (events_) remove_kept(listing_);
}

std::vector<UniqueFd> RunSegments::open_new() {
  std::vector<UniqueFd> opened;
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return opened;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      if (event.len > 0) open_segment(buffer.data() + at + sizeof(event), opened);
      at += sizeof(event) + event.len;
    }
  }
}

void RunSegments::open_segment(const std::string& name, std::vector<UniqueFd>& opened) {
  const std::optional<SegmentName> parsed = parse_segment_name(name);
  if (!parsed) return;
  // First: it may be gone a moment later.
  std::optional<OpenFile> file = open_file(listing_, name, denied_, warnings_);
  if (!file) return;
  const Lineage lineage = lineage_of(*parsed);
  if (lineage == Lineage::unknown) strangers_.push_back(std::move(file->fd));
  if (lineage == Lineage::ours) opened.push_back(std::move(file->fd));
}

std::vector<UniqueFd> RunSegments::open_kept() {
  std::vector<UniqueFd> opened;
  for (const std::string& name : kept_for_us(listing_.directory)) {
    std::optional<OpenFile> file = open_file(listing_, name, denied_, warnings_);
    if (file) opened.push_back(std::move(file->fd));
  }
  return opened;
}

std::vector<std::string> RunSegments::warnings() const {
  std::vector<std::string> all = warnings_;
  denied_.append_warnings(listing_.directory, all);
  return all;
}

}  // namespace ttmem::collector

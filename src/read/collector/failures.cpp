// SPDX-License-Identifier: Apache-2.0
#include "read/collector/failures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "read/collector/build_snapshot.hpp"
#include "read/collector/claim.hpp"
#include "read/collector/failed_copy.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/segment_files.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::collector {
namespace {

// Builds a Snapshot as if the process of `segment` were the only process of the machine.
model::Snapshot snapshot_of(SegmentEvidence segment, const segment::FailureImage& failure,
                            const std::string& directory) {
  Evidence evidence;
  evidence.time_unix_ns = failure.when_unix_ns;
  evidence.monotonic_ns = failure.when_ns;
  evidence.directory = directory;
  evidence.listed = true;
  segment.geometry = geometry_of(segment.image);
  evidence.segments.push_back(std::move(segment));
  return build_snapshot(evidence);
}

class Finder {
 public:
  explicit Finder(const Listing& listing) : listing_(listing) {}

  Failures run() {
    for (const std::string& name : listing_.failed) {
      const FailedName failed = *parse_failed_name(name);
      if (failed.is_complete) add(name, failed.segment);
    }
    // Reads the segments too, because a copy may belong to an earlier failure. A segment always
    // describes the last failure of its process, even if no copy could be made.
    for (const std::string& name : listing_.segments) {
      if (!parse_segment_name(name)->for_client) add(name, name);
    }
    denied_.append_warnings(listing_.directory, result_.denied);
    std::stable_sort(
        result_.list.begin(), result_.list.end(),
        [](const Failure& a, const Failure& b) { return a.time_unix_ns > b.time_unix_ns; });
    return std::move(result_);
  }

 private:
  // Adds the failure in the file `name`, which is the segment `segment` or a copy of it.
  void add(const std::string& name, const std::string& segment) {
    const std::optional<OpenFile> file = open_file(listing_, name, denied_, result_.warnings);
    if (!file) return;
    auto image = segment::read_segment(segment::FdSource(file->fd.get()));
    const bool is_copy = name != segment;
    if (!image || !image->failure) {
      if (is_copy) warn_about(name, image ? "it has no failure" : image.error().message);
      return;
    }
    const auto claim =
        claims_.check(listing_.path_of(name), *parse_segment_name(segment), *image, *file, false);
    if (!claim) {
      result_.warnings.push_back(claim.error().message);
      return;
    }
    SegmentEvidence evidence;
    evidence.image = std::move(*image);
    evidence.user = user_name(file->facts.st_uid);
    evidence.foreign_pid = claim->foreign_pid;
    evidence.host_pid = claim->host_pid;
    evidence.origin = {name, file->facts.st_dev, file->facts.st_ino, {}, false};
    Failure failure = failure_of(std::move(evidence), is_copy);
    failure.is_alive = owner_of(listing_, segment) == Owner::alive;
    const auto [known, is_new] = found_.try_emplace(segment, result_.list.size());
    if (is_new) {
      result_.list.push_back(std::move(failure));
    } else if (failure.time_unix_ns > result_.list[known->second].time_unix_ns) {
      result_.list[known->second] = std::move(failure);
    }
  }

  Failure failure_of(SegmentEvidence evidence, bool is_copy) const {
    const segment::SegmentImage& image = evidence.image;
    const segment::FailureImage said = *image.failure;
    Failure failure;
    failure.pid = image.pid;
    if (evidence.foreign_pid) failure.pid_namespace = image.pid_namespace;
    failure.name = image.name;
    failure.command = image.command;
    failure.user = evidence.user;
    failure.run = said.run;
    failure.time_unix_ns = said.when_unix_ns;
    failure.text = said.text;
    if (said.not_kept_error != 0) {
      failure.not_kept = fmt::format("the state of that moment could not be kept: {}",
                                     std::generic_category().message(said.not_kept_error));
    } else if (!is_copy) {
      failure.not_kept = "of the state of that moment there is no copy";
    }
    failure.snapshot = snapshot_of(std::move(evidence), said, listing_.directory);
    return failure;
  }

  void warn_about(const std::string& name, const std::string& why) {
    result_.warnings.push_back(fmt::format("cannot read {}: {}", listing_.path_of(name), why));
  }

  const Listing& listing_;
  ClaimChecker claims_;
  DeniedFiles denied_{"read"};
  std::map<std::string, std::size_t> found_;  // by segment name: index into result_.list
  Failures result_;
};

}  // namespace

Failures failures(const std::string& directory) {
  const Result<Listing> listing = list_directory(directory);
  if (!listing) return {.list = {}, .warnings = {listing.error().message}, .denied = {}};
  return Finder(*listing).run();
}

}  // namespace ttmem::collector

// SPDX-License-Identifier: Apache-2.0
#include "read/collector/claim.hpp"

#include <fmt/core.h>

namespace ttmem::collector {
namespace {

// Returns the process with this pid. Returns nullopt if there is no such process, or if the segment
// states another start time.
std::optional<ProcessFacts> same_start(std::int32_t pid, const segment::SegmentImage& image) {
  std::optional<ProcessFacts> facts = process_facts(pid);
  if (facts && facts->start_time_ticks != image.start_time_ticks) facts.reset();
  return facts;
}

}  // namespace

Claim ClaimChecker::find(const SegmentName& name, const segment::SegmentImage& image,
                         const OpenFile& file, bool alive) {
  Claim claim;
  const bool known = image.pid_namespace != 0 && own_namespace_ != 0;
  claim.foreign_pid = known && image.pid_namespace != own_namespace_;
  if (!claim.foreign_pid) claim.facts = same_start(image.pid, image);
  // Users may send signals to the pid of a living process. So this pid is accepted only if the
  // start time is right or the process holds the lock. The pid of a dead process or of a client is
  // accepted without proof if it is of this pid namespace.
  const bool needs_no_proof = known && !claim.foreign_pid && (!alive || name.for_client);
  if (claim.facts || needs_no_proof) claim.host_pid = image.pid;
  // The lock of a proxy segment does not lead to the client, because the server holds the lock.
  if (claim.host_pid || !alive || name.for_client) return claim;
  claim.host_pid = holders_.holder_of(file.facts.st_dev, file.facts.st_ino);
  if (!claim.host_pid) return claim;
  claim.foreign_pid = claim.foreign_pid || *claim.host_pid != image.pid;
  claim.facts = same_start(*claim.host_pid, image);
  return claim;
}

Result<Claim> ClaimChecker::check(const std::string& path, const SegmentName& name,
                                  const segment::SegmentImage& image, const OpenFile& file,
                                  bool alive) {
  if (name !=
      SegmentName{image.uid, image.pid, image.start_time_ticks, name.number, name.for_client}) {
    return Error{
        fmt::format("left out {}: by its content it is ttmem.{}.{}.{}; find out who renamed it",
                    path, image.uid, image.pid, image.start_time_ticks)};
  }
  Claim claim = find(name, image, file, alive);
  const std::uint32_t owner = file.facts.st_uid;
  // For a pid of another pid namespace, the user id in the segment is not compared with the owner
  // of the file, because a container may have its own user ids.
  if (image.uid != owner && !claim.foreign_pid) {
    return Error{
        fmt::format("left out {}: it belongs to {}, but names {} as its user; find out who made it",
                    path, user_name(owner), user_name(image.uid))};
  }
  // Root may own the segment of another user's process. Either the process has dropped its
  // privileges, or root's server writes the segment for a client.
  if (!claim.facts || claim.facts->owned_by(owner) || owner == 0) return claim;
  return Error{
      fmt::format("left out {}: it belongs to {}, but names process {} of another user; find "
                  "out who made it",
                  path, user_name(owner), *claim.host_pid)};
}

}  // namespace ttmem::collector

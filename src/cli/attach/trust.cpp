// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/trust.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace ttmem::attach {
namespace {

namespace fs = std::filesystem;
using Objection = std::optional<std::string>;

constexpr int kMaxLinks = 40;  // maximum number of symbolic links in one path, as in Linux

// A directory, link or file on the path.
struct Place {
  fs::path path = "/";
  struct stat facts {};

  // Reads `facts`. Returns 0 or an errno.
  [[nodiscard]] int look() { return ::lstat(path.c_str(), &facts) == 0 ? 0 : errno; }

  // Returns true for a directory where users can move and remove only their own files.
  [[nodiscard]] bool is_sticky() const {
    return S_ISDIR(facts.st_mode) && (facts.st_mode & S_ISVTX) != 0;
  }
};

Objection cannot_read(const Place& place, int reason) {
  return fmt::format("cannot read {}: {}", place.path.string(), std::strerror(reason));
}

// Returns why `place`, in the directory `above`, is not trusted, or nullopt if it is trusted. The
// owner of / is trusted like root, because in a user namespace root may have another user id. In a
// sticky directory like /tmp, the owner of / is not trusted, because in a user namespace files of
// several users may appear with the user id of the owner of /.
Objection judge(const Place& place, const Place& above, uid_t owner_of_all) {
  const uid_t owner = place.facts.st_uid;
  const bool is_ours = owner == ::geteuid() || owner == 0;
  if (!is_ours && (owner != owner_of_all || above.is_sticky())) {
    return fmt::format("{} belongs to user {}, who could put anything there", place.path.string(),
                       owner);
  }
  // The mode of a link is not checked, because it has no meaning.
  const bool is_link = S_ISLNK(place.facts.st_mode);
  if (!is_link && !place.is_sticky() && (place.facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format("others may write to {}; remove that right (chmod go-w)",
                       place.path.string());
  }
  return std::nullopt;
}

// Appends the names of a path in reverse order, so that the first name of the path is at the back.
void push_names(const fs::path& path, std::vector<fs::path>& names) {
  const fs::path relative = path.relative_path();
  const std::vector<fs::path> forward(relative.begin(), relative.end());
  names.insert(names.end(), forward.rbegin(), forward.rend());
}

}  // namespace

std::optional<std::string> distrust(const std::string& path) {
  Place root;
  if (const int reason = root.look(); reason != 0) return cannot_read(root, reason);
  const uid_t owner_of_all = root.facts.st_uid;
  if (auto why = judge(root, root, owner_of_all)) return why;
  std::vector<fs::path> names;
  push_names(path, names);
  Place here = root;
  for (int links = 0; !names.empty();) {
    const fs::path name = std::move(names.back());
    names.pop_back();
    if (name.empty() || name == ".") continue;
    Place next{name == ".." ? here.path.parent_path() : here.path / name, {}};
    const int reason = next.look();
    if (reason != 0) return reason == ENOENT ? std::nullopt : cannot_read(next, reason);
    // Does not judge the parent directory ("..") again, because the loop judged it on the way down.
    if (auto why = name == ".." ? std::nullopt : judge(next, here, owner_of_all)) return why;
    if (!S_ISLNK(next.facts.st_mode)) {
      here = std::move(next);
      continue;
    }
    std::error_code failed;
    const fs::path target = fs::read_symlink(next.path, failed);
    if (failed || ++links > kMaxLinks) {
      return fmt::format("cannot follow the symbolic link {}", next.path.string());
    }
    if (target.is_absolute()) here = root;
    push_names(target, names);
  }
  return std::nullopt;
}

}  // namespace ttmem::attach

// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/cache.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/environment.hpp"
#include "cli/attach/hash.hpp"
#include "cli/attach/trust.hpp"

namespace ttmem::attach {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice = "set XDG_CACHE_HOME to a directory of your own";

std::string home_folder() {
  std::string home = environment("HOME");
  if (home.starts_with("/")) return home;
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr || user->pw_dir == nullptr ? std::string() : user->pw_dir;
}

// Fails if another user could change or replace the adapter or a directory in its path.
Result<void> check_trust(const CacheEntry& entry) {
  const auto why = distrust(entry.adapter());
  return why ? Result<void>(Error{fmt::format("{}; {}", *why, kAdvice)}) : Result<void>();
}

About read_about(const std::string& folder) {
  std::ifstream file(folder + "/about.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  About about;
  if (!json.is_object()) return about;
  const auto take = [&](const char* key, std::string& value) {
    if (const auto it = json.find(key); it != json.end() && it->is_string()) value = *it;
  };
  take("library", about.library);
  take("headers", about.headers);
  take("compiler", about.compiler);
  take("ttmem_version", about.version);
  if (const auto it = json.find("built_unix"); it != json.end() && it->is_number_unsigned()) {
    about.built_unix_seconds = *it;
  }
  return about;
}

CacheEntry entry_named(const std::string& id) {
  CacheEntry entry;
  entry.id = id;
  entry.folder = cache_folder() + "/" + id;
  return entry;
}

void fill(CacheEntry& entry) {
  std::error_code ignored;
  entry.built = fs::is_regular_file(entry.adapter(), ignored);
  entry.about = read_about(entry.folder);
}

// Makes the folder and its missing parents. Only the user has access to new folders.
Result<void> make_folders(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return {};
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    if (auto made = make_folders(folder.parent_path()); !made) return made;
  }
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Error{
      fmt::format("cannot create {}: {}; {}", folder.string(), std::strerror(errno), kAdvice)};
}

}  // namespace

const char* ttmem_version() { return TTMEM_VERSION_TEXT; }

std::string cache_folder() {
  std::string base = environment("XDG_CACHE_HOME");
  // Ignores a relative path, as the XDG specification requires.
  if (!base.starts_with("/")) {
    const std::string home = home_folder();
    if (home.empty()) return {};
    base = home + "/.cache";
  }
  return base + "/ttmem/adapters";
}

Result<std::string> adapter_id(const RuntimeLibrary& library, const Installation& installation) {
  std::vector<std::string> sources;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(installation.sources, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) sources.push_back(it->path().string());
  }
  const bool some = std::any_of(sources.begin(), sources.end(),
                                [](const auto& path) { return path.ends_with(".cpp"); });
  if (!some || ::access(installation.stub.c_str(), R_OK) != 0) {
    return Error{fmt::format("this installation has no {}; install ttmem again",
                             some ? installation.stub : installation.sources)};
  }
  std::sort(sources.begin(), sources.end());
  Hash hash;
  hash.add(installation.library);
  for (const std::string& source : sources) {
    const std::optional<std::string> content = hash_of_file(source);
    if (!content) return Error{fmt::format("cannot read {}; install ttmem again", source)};
    hash.add(fs::path(source).filename().string());
    hash.add(*content);
  }
  return library.build_id + "-" + hash.hex();
}

Result<std::optional<CacheEntry>> find_entry(const std::string& id) {
  if (cache_folder().empty()) return std::optional<CacheEntry>();
  CacheEntry entry = entry_named(id);
  std::error_code ignored;
  if (!fs::exists(entry.folder, ignored)) return std::optional<CacheEntry>();
  if (auto trusted = check_trust(entry); !trusted) return trusted.error();
  fill(entry);
  return std::optional(std::move(entry));
}

Result<CacheEntry> make_entry(const std::string& id) {
  if (cache_folder().empty()) return Error{fmt::format("there is no home directory; {}", kAdvice)};
  CacheEntry entry = entry_named(id);
  // Checks the trust before the first folder is created, so that nothing is created in a folder of
  // another user.
  if (auto trusted = check_trust(entry); !trusted) return trusted.error();
  if (auto made = make_folders(entry.folder); !made) return made.error();
  if (auto trusted = check_trust(entry); !trusted) return trusted.error();
  if (::access(entry.folder.c_str(), W_OK) != 0) {
    return Error{
        fmt::format("cannot write to {}: {}; {}", entry.folder, std::strerror(errno), kAdvice)};
  }
  return entry;
}

bool write_about(const CacheEntry& entry) {
  const nlohmann::json json = {{"library", entry.about.library},
                               {"headers", entry.about.headers},
                               {"compiler", entry.about.compiler},
                               {"ttmem_version", entry.about.version},
                               {"built_unix", entry.about.built_unix_seconds}};
  const std::string path = entry.folder + "/about.json";
  std::ofstream file(path + ".new");
  file << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  file.close();
  return file.good() && ::rename((path + ".new").c_str(), path.c_str()) == 0;
}

Result<std::vector<CacheEntry>> list_entries() {
  std::vector<CacheEntry> entries;
  const std::string folder = cache_folder();
  std::error_code failed;
  if (folder.empty() || !fs::exists(folder, failed)) return entries;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    CacheEntry entry = entry_named(it->path().filename().string());
    fill(entry);
    entries.push_back(std::move(entry));
  }
  if (failed) return Error{fmt::format("cannot read {}: {}", folder, failed.message())};
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return entries;
}

Result<void> remove_entry(const CacheEntry& entry) {
  // Removes entries only from a trusted folder. In any other folder, a link of another user could
  // redirect the removal.
  if (const auto why = distrust(cache_folder())) {
    return Error{fmt::format("cannot remove {}: {}", entry.folder, *why)};
  }
  std::error_code failed;
  fs::remove_all(entry.folder, failed);
  if (!failed) return {};
  return Error{fmt::format("cannot remove {}: {}", entry.folder, failed.message())};
}

}  // namespace ttmem::attach

// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/adapter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "cli/attach/child.hpp"
#include "cli/attach/compile_flags.hpp"
#include "cli/attach/compiler.hpp"

namespace ttmem::attach {
namespace {

namespace fs = std::filesystem;
using CommandLine = std::vector<std::string>;

// Takes the lock that a process holds while it builds an adapter. Linux releases the lock when the
// process ends. On a file system without locks, two processes may build the same adapter at the
// same time. This is harmless, because each process puts its complete file in place with rename().
UniqueFd lock(const CacheEntry& entry) {
  UniqueFd file(::open((entry.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  while (file && ::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) file.reset();
  }
  return file;
}

// Removes files of an interrupted build. The caller holds the lock.
void remove_leftovers(const CacheEntry& entry) {
  std::error_code failed;
  for (fs::directory_iterator it(entry.folder, failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string name = it->path().filename().string();
    const bool stays =
        name == "adapter.so" || name == "about.json" || name == "build.log" || name == "lock";
    if (!stays) ::unlink(it->path().c_str());
  }
}

std::vector<std::string> sources_in(const std::string& folder) {
  std::vector<std::string> sources;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->path().extension() == ".cpp") sources.push_back(it->path().string());
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

// Builds one adapter in the folder of its cache entry.
class Build {
 public:
  Build(CacheEntry& entry, const RuntimeLibrary& library, const Installation& installation,
        const CompileFlags& flags, CommandLine compiler)
      : entry_(entry),
        library_(library),
        installation_(installation),
        flags_(flags),
        compiler_(std::move(compiler)),
        // The names of temporary files end with the pid, because on a file system without locks two
        // processes may build at the same time.
        mark_(fmt::format(".{}", ::getpid())) {}

  // Builds the adapter. On failure, the message is one line with the path of the log.
  Result<void> run() {
    ::unlink(entry_.log().c_str());
    ::unlink(log().c_str());
    const bool good = compile() && link() && complete();
    if (!good) ::rename(log().c_str(), entry_.log().c_str());
    for (const std::string& file : made_) ::unlink(file.c_str());
    if (good) return {};
    return Error{
        fmt::format("it could not be built with the headers in {}; {} says why, and `ttmem adapter "
                    "build` tries "
                    "again",
                    flags_.headers, entry_.log())};
  }

 private:
  [[nodiscard]] std::string log() const { return entry_.log() + mark_; }
  [[nodiscard]] std::string result() const { return entry_.adapter() + mark_; }
  [[nodiscard]] std::string object() const { return result() + ".o"; }

  [[nodiscard]] bool execute(const CommandLine& command) const {
    {
      std::ofstream file(log(), std::ios::app);
      for (const std::string& word : command) file << word << " ";
      file << "\n";
    }
    // Turns tracking off for the compiler.
    const ChildOptions options{.environment = {{"TT_ALLOC_TRACKING_ENABLED", ""}},
                               .directory = flags_.directory,
                               .log = log()};
    const Result<Ended> ended = run_child(command, options, std::chrono::hours(1));
    return ended && ended->succeeded();
  }

  // Compiles all sources as one file, because parsing TT-Metal's headers takes nearly all of the
  // time.
  [[nodiscard]] bool compile() {
    const std::string all = fmt::format("{}/all{}.cpp", entry_.folder, mark_);
    made_ = {all, object()};
    std::ofstream file(all);
    for (const std::string& source : sources_in(installation_.sources)) {
      file << "#include \"" << source << "\"\n";
    }
    file.close();
    CommandLine command = compiler_;
    command.insert(command.end(), {"-std=c++20", "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-w",
                                   "-c", all, "-o", object(), "-I" + installation_.sources});
    command.insert(command.end(), flags_.flags.begin(), flags_.flags.end());
    return file.good() && execute(command);
  }

  // Links the adapter with the runtime. The loader then finds the runtime by its soname, even if
  // the runtime belongs to a Python package.
  [[nodiscard]] bool link() {
    CommandLine command = compiler_;
    command.insert(command.end(),
                   {"-shared", "-fPIC", "-o", result(), "-Wl,--no-as-needed", object()});
    command.insert(command.end(),
                   {library_.path, installation_.library,
                    "-Wl,-rpath," + fs::path(installation_.library).parent_path().string()});
    made_.push_back(result());
    return execute(command);
  }

  // Puts the adapter in place. Returns false on failure, and if the runtime lacks a symbol that the
  // adapter needs. The check finds adapters that were built with the headers of another version,
  // before they fail in the user's program.
  [[nodiscard]] bool complete() {
    // Preloads the runtime, because the loader finds a preloaded library by its soname even if no
    // file has that name.
    const Loaded loaded = files_loaded_by(
        result(), {{"LD_PRELOAD", library_.path},
                   {"LD_LIBRARY_PATH", fs::path(library_.path).parent_path().string()},
                   {"LD_WARN", "yes"},
                   {"LD_BIND_NOW", "1"}});
    if (!loaded.undefined.empty()) {
      std::ofstream file(log(), std::ios::app);
      for (const std::string& name : loaded.undefined) {
        file << library_.path << " does not define " << name << "\n";
      }
      file << "The headers are not those that it was built with.\n";
      return false;
    }
    entry_.about = {.library = library_.path,
                    .headers = flags_.headers,
                    .compiler = compiler_[0],
                    .version = ttmem_version(),
                    .built_unix_seconds = static_cast<std::uint64_t>(std::time(nullptr))};
    made_.push_back(log());
    entry_.built = ::chmod(result().c_str(), 0700) == 0 && write_about(entry_) &&
                   ::rename(result().c_str(), entry_.adapter().c_str()) == 0;
    return entry_.built;
  }

  CacheEntry& entry_;
  const RuntimeLibrary& library_;
  const Installation& installation_;
  const CompileFlags& flags_;
  CommandLine compiler_;
  std::string mark_;
  std::vector<std::string> made_;  // files to remove
};

enum class Again : std::uint8_t { if_missing, always };

Result<CacheEntry> make(const RuntimeLibrary& library, const Installation& installation,
                        const BuildOptions& options, const std::string& id, Again again) {
  const Result<CompileFlags> flags = compile_flags(library, options.headers);
  if (!flags) return flags.error();
  Result<CommandLine> compiler = find_compiler();
  if (!compiler) return compiler.error();
  Result<CacheEntry> entry = make_entry(id);
  if (!entry) return entry.error();
  const UniqueFd held = lock(*entry);
  if (held) remove_leftovers(*entry);
  if (again == Again::if_missing) {
    auto meanwhile = find_entry(id);
    if (meanwhile && *meanwhile && (*meanwhile)->built) return std::move(**meanwhile);
  }
  if (options.begins) options.begins(library.path);
  Build build(*entry, library, installation, *flags, std::move(*compiler));
  if (auto built = build.run(); !built) return built.error();
  return entry;
}

}  // namespace

Result<CacheEntry> find_or_build(const RuntimeLibrary& library, const Installation& installation,
                                 const BuildOptions& options) {
  const Result<std::string> id = adapter_id(library, installation);
  if (!id) return id.error();
  Result<std::optional<CacheEntry>> known = find_entry(*id);
  if (!known) return known.error();
  if (*known && (*known)->built) return std::move(**known);
  if (*known && ::access((*known)->log().c_str(), F_OK) == 0) {
    return Error{fmt::format(
        "it could not be built the last time; {} says why, and `ttmem adapter build` tries again",
        (*known)->log())};
  }
  return make(library, installation, options, *id, Again::if_missing);
}

Result<CacheEntry> build_adapter(const RuntimeLibrary& library, const Installation& installation,
                                 const BuildOptions& options) {
  const Result<std::string> id = adapter_id(library, installation);
  if (!id) return id.error();
  return make(library, installation, options, *id, Again::always);
}

}  // namespace ttmem::attach

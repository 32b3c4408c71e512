// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/compile_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "cli/attach/ninja_flags.hpp"

namespace ttmem::attach {
namespace {

namespace fs = std::filesystem;

// kInternal is a header that only a checkout has. kPublic is a header that every package has too.
constexpr const char* kInternal = "impl/program/program_impl.hpp";
constexpr const char* kPublic = "tt-metalium/program.hpp";
// The path of the object files of the CMake target `impl`. The flags of these objects include all
// flags that the runtime's headers need.
constexpr const char* kObject = "tt_metal/impl/CMakeFiles/impl.dir/";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_checkout(const fs::path& root) { return is_there(root / "tt_metal" / kInternal); }

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the folders inside `folder`, the newest first. CPM's cache keeps old versions of a
// package.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) found.emplace_back(it->last_write_time(ignored), it->path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& entry : found) paths.push_back(std::move(entry.second));
  return paths;
}

std::optional<CompileFlags> of_build(const fs::path& build) {
  // Looks for several files, because Ninja Multi-Config writes one file for each configuration.
  for (const char* file : {"build.ninja", "CMakeFiles/impl-Release.ninja",
                           "CMakeFiles/impl-RelWithDebInfo.ninja", "CMakeFiles/impl-Debug.ninja"}) {
    if (!is_there(build / file)) continue;
    if (auto flags = flags_in_ninja(content_of(build / file), kObject)) {
      return CompileFlags{build.string(), std::move(*flags), build.string()};
    }
  }
  return std::nullopt;
}

// Returns the folder in which CPM stores a package: CACHE/<name>/<hash>, or one folder below.
std::optional<std::string> package_folder(const fs::path& cache, const std::string& name,
                                          const std::string& header_folder,
                                          const std::string& header) {
  for (const fs::path& version : folders_in(cache / name)) {
    std::vector<fs::path> places = folders_in(version);
    places.insert(places.begin(), version);
    for (const fs::path& place : places) {
      if (is_there(place / header_folder / header)) return (place / header_folder).string();
    }
  }
  return std::nullopt;
}

// Returns the flags for a checkout that has no build. They are the flags that the checkout's CMake
// files would set. All include directories are needed, because the system's fmt, spdlog or json may
// have another ABI.
Result<CompileFlags> of_sources(const fs::path& root) {
  CompileFlags flags{root.string(), {}, root.string()};
  for (const char* define :
       {"-DFMT_HEADER_ONLY=1", "-DSPDLOG_FMT_EXTERNAL", "-DNTEST",
        "-DENCHANTUM_ENABLE_MSVC_SPEEDUP=1", "-DTT_ENABLE_LIGHT_METAL_TRACE=1", "-DTRACY_ENABLE"}) {
    flags.flags.emplace_back(define);
  }
  for (const char* folder :
       {"tt_metal/api", "tt_metal/api/tt-metalium", "tt_metal", "tt_metal/impl", "tt_metal/hw/inc",
        "", "tt_stl", "tt_metal/hostdevcommon/api", "tt_metal/llrt"}) {
    flags.flags.push_back("-I" + (root / folder).string());
  }
  const auto add_system = [&](const std::string& folder) {
    flags.flags.emplace_back("-isystem");
    flags.flags.push_back(folder);
  };
  add_system((root / "tt_metal/third_party/umd/device/api").string());
  if (const fs::path tracy = root / "tt_metal/third_party/tracy/public"; is_there(tracy)) {
    add_system(tracy.string());
  }
  const std::string cache =
      environment_or("CPM_SOURCE_CACHE", (root / ".cpmcache").string().c_str());
  using Package = std::array<const char*, 3>;
  for (const Package& package : {Package{"enchantum", "enchantum/include", "enchantum"},
                                 {"fmt", "include", "fmt/format.h"},
                                 {"reflect", "", "reflect"},
                                 {"tt-logger", "include", "tt-logger"},
                                 {"spdlog", "include", "spdlog/spdlog.h"},
                                 {"nlohmann_json", "include", "nlohmann/json.hpp"}}) {
    const auto folder = package_folder(cache, package[0], package[1], package[2]);
    if (!folder) {
      return Error{fmt::format(
          "{} has no build.ninja, and the package {} is not in {}; build TT-Metal there, or set "
          "CPM_SOURCE_CACHE to where its packages are",
          root.string(), package[0], cache)};
    }
    add_system(*folder);
  }
  return flags;
}

Result<CompileFlags> of_checkout(const fs::path& root) {
  std::vector<fs::path> builds = {root / "build", root / "build_Release"};
  for (fs::path& folder : folders_in(root)) {
    if (folder.filename().string().starts_with("build_")) builds.push_back(std::move(folder));
  }
  for (const fs::path& build : builds) {
    if (auto flags = of_build(build)) return std::move(*flags);
  }
  return of_sources(root);
}

CompileFlags of_folder(const fs::path& folder) {
  return {folder.string(), {"-I" + folder.string()}, folder.string()};
}

// Returns the flags for a package's folder of headers, and for the third-party headers below it.
CompileFlags of_package(const fs::path& include) {
  CompileFlags flags = of_folder(include);
  flags.flags.insert(flags.flags.end(), {"-DFMT_HEADER_ONLY=1", "-DSPDLOG_FMT_EXTERNAL",
                                         "-DENCHANTUM_ENABLE_MSVC_SPEEDUP=1"});
  if (const fs::path others = include / "metalium-thirdparty"; is_there(others)) {
    flags.flags.insert(flags.flags.end(), {"-isystem", others.string()});
  }
  return flags;
}

Result<CompileFlags> of_given(const fs::path& given) {
  std::error_code ignored;
  const fs::path folder = fs::absolute(given, ignored);
  if (auto flags = of_build(folder)) return std::move(*flags);
  if (is_checkout(folder)) return of_checkout(folder);
  if (is_there(folder / kInternal)) return of_folder(folder);
  for (const fs::path& include : {folder, folder / "include"}) {
    if (is_there(include / kPublic)) return of_package(include);
  }
  return Error{fmt::format(
      "{} has neither tt_metal/{}, nor a build.ninja of TT-Metal, nor {}; give a checkout, its "
      "build directory, or the headers of a package",
      folder.string(), kInternal, kPublic)};
}

}  // namespace

Result<CompileFlags> compile_flags(const RuntimeLibrary& library, const std::string& given) {
  if (!given.empty()) return of_given(given);
  const fs::path path = library.path;
  const fs::path folder = path.parent_path();
  // The library is in PREFIX/lib or PREFIX/lib/x86_64-linux-gnu. The dry run's library may be in a
  // subfolder of PREFIX/lib or PREFIX/lib/x86_64-linux-gnu.
  const fs::path prefixes[] = {folder.parent_path(), folder.parent_path().parent_path(),
                               folder.parent_path().parent_path().parent_path()};
  for (const fs::path& prefix : prefixes) {
    const fs::path headers = prefix / "include/ttmem-dryrun";
    const bool dryrun = path.filename().string().starts_with("libttmem_dryrun.so");
    if (dryrun && is_there(headers / kInternal)) return of_folder(headers);
  }
  // The library is in CHECKOUT/build_Release/lib after installation. Before the installation, it is
  // in CHECKOUT/build_Release/tt_metal, where the linker writes it.
  const fs::path build = folder.parent_path();
  for (const fs::path& place : {folder, build}) {
    if (auto flags = of_build(place)) return std::move(*flags);
  }
  if (is_checkout(build.parent_path())) return of_checkout(build.parent_path());
  for (const char* variable : {"TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME"}) {
    const fs::path root = environment(variable);
    if (!root.empty() && is_checkout(root)) return of_checkout(root);
  }
  for (const fs::path& prefix : prefixes) {
    if (is_there(prefix / "include" / kPublic)) return of_package(prefix / "include");
  }
  return Error{
      "TT-Metal's headers are needed, which wheels do not have; set TT_METAL_HOME to a checkout of "
      "the same commit, or install the package tt-metalium-dev of the same version and name its "
      "headers (`ttmem adapter build --headers /usr/include`)"};
}

}  // namespace ttmem::attach

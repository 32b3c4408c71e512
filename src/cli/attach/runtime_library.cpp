// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/runtime_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/environment.hpp"
#include "cli/attach/child.hpp"
#include "cli/attach/elf_file.hpp"
#include "cli/attach/hash.hpp"

namespace ttmem::attach {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// The symbol of tt::tt_metal::Buffer::allocate_impl(). In every build, exactly one library exports
// it.
constexpr std::string_view kMarker = "_ZN2tt8tt_metal6Buffer13allocate_implEv";
// The stub of ttmem, which also defines kMarker but does not contain the runtime.
constexpr std::string_view kStub = "libttmem_preload.so";

constexpr seconds kPatience{20};

std::vector<std::string> words_of(std::string_view text, std::string_view between) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Returns the files of a folder for whose names `fits` returns true, sorted. Returns an empty list
// if the folder cannot be read.
template <typename Fits>
std::vector<std::string> files_in(const fs::path& folder, Fits fits) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (fits(it->path().filename().string())) found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::string> first_runtime(const std::vector<std::string>& paths) {
  const auto found = std::find_if(paths.begin(), paths.end(), has_runtime);
  return found == paths.end() ? std::nullopt : std::optional(*found);
}

// Finds the runtime in a folder. Skips ttmem's own libraries, which may be in a folder of
// LD_LIBRARY_PATH. One of them is the dry run, which is used only for commands that are linked with
// the dry run.
std::optional<std::string> in_folder(const fs::path& folder) {
  return first_runtime(files_in(folder, [](const std::string& name) {
    return name.starts_with("libtt") && !name.starts_with("libttmem") &&
           name.find(".so") != std::string::npos;
  }));
}

std::optional<std::string> in_library_path() {
  for (const std::string& folder : words_of(environment("LD_LIBRARY_PATH"), ":;")) {
    // Skips a relative folder, which may contain files of any user.
    if (!folder.starts_with("/")) continue;
    if (auto found = in_folder(folder)) return found;
  }
  return std::nullopt;
}

// Returns the path of the program that runs a script, or an empty text. After `#!/usr/bin/env`, the
// program is the first word that is neither an option nor an assignment.
std::string interpreter_of_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!")) return {};
  line.resize(std::min(line.find('\n'), line.size()));
  const std::vector<std::string> words = words_of(std::string_view(line).substr(2), " \t");
  if (words.empty()) return {};
  if (fs::path(words[0]).filename() != "env") return words[0];
  const auto program = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return !word.starts_with("-") && word.find('=') == std::string::npos;
  });
  return program == words.end() ? std::string() : find_program(*program);
}

// Returns the folders of the package ttnn, without importing the package. Python searches
// site-packages and PYTHONPATH, as it does for the command, but not the current directory
// (ChildOptions::directory).
std::vector<std::string> folders_of_ttnn(const std::string& python) {
  constexpr const char* question =
      "import importlib.util as u\n"
      "spec = u.find_spec('ttnn')\n"
      "print('\\n'.join(spec.submodule_search_locations or []) if spec else '')";
  const Result<Ended> answer =
      run_child({python, "-c", question}, {.environment = {{"LD_PRELOAD", ""}}}, kPatience);
  if (!answer || !answer->succeeded()) return {};
  return words_of(answer->output, "\n");
}

std::optional<std::string> in_python_package(const std::string& program) {
  std::string python = program;
  if (const std::string runs_it = interpreter_of_script(program); !runs_it.empty())
    python = runs_it;
  if (!fs::path(python).filename().string().starts_with("python")) return std::nullopt;
  const auto is_library = [](const std::string& name) {
    return name.find(".so") != std::string::npos;
  };
  for (const std::string& folder : folders_of_ttnn(python)) {
    if (auto found = in_folder(folder + "/build/lib")) return found;
    std::vector<std::string> modules = files_in(folder, is_library);
    const std::vector<std::string> more = files_in(folder + "/build/lib", is_library);
    modules.insert(modules.end(), more.begin(), more.end());
    if (auto found = first_runtime(modules)) return found;
    for (const std::string& module : modules) {
      if (auto found = first_runtime(files_loaded_by(module).paths)) return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> in_checkout(const std::string& root) {
  if (root.empty()) return std::nullopt;
  std::vector<std::string> builds = {root + "/build", root + "/build_Release"};
  const std::vector<std::string> more =
      files_in(root, [](const std::string& name) { return name.starts_with("build_"); });
  builds.insert(builds.end(), more.begin(), more.end());
  for (const std::string& build : builds) {
    // The runtime is in `lib` after installation, and in `tt_metal` before the installation.
    for (const char* part : {"/lib", "/tt_metal"}) {
      if (auto found = in_folder(build + part)) return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> in_system() {
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    if (auto found = in_folder(folder)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> search(const std::vector<std::string>& command) {
  std::string program = command.empty() ? std::string() : find_program(command[0]);
  // Makes a relative path absolute only if the user typed a path with a slash. Any other relative
  // path comes from a relative directory in PATH, which may contain files of other users.
  if (!program.empty() && command[0].find('/') != std::string::npos) {
    std::error_code failed;  // if this fails, the path stays relative, and no Python is run
    program = fs::absolute(program, failed).string();
  }
  if (!program.empty()) {
    if (auto found = first_runtime(files_loaded_by(program).paths)) return found;
  }
  if (auto found = in_library_path()) return found;
  if (!program.empty()) {
    if (auto found = in_python_package(program)) return found;
  }
  for (const char* root : {"TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME"}) {
    if (auto found = in_checkout(environment(root))) return found;
  }
  return in_system();
}

}  // namespace

bool has_runtime(const std::string& path) {
  if (fs::path(path).filename().string().starts_with(kStub)) return false;
  const std::optional<ElfFile> elf = ElfFile::open(path);
  return elf && elf->defines(kMarker);
}

Result<RuntimeLibrary> runtime_at(const std::string& path) {
  const std::optional<ElfFile> elf = ElfFile::open(path);
  if (!elf) {
    return Error{
        fmt::format("{} cannot be read as a library; give the path of libtt_metal.so", path)};
  }
  if (!has_runtime(path)) {
    return Error{fmt::format(
        "{} does not have TT-Metal's runtime in it; give the path of libtt_metal.so", path)};
  }
  std::error_code failed;
  RuntimeLibrary library{fs::canonical(path, failed).string(), elf->build_id()};
  if (failed) library.path = path;
  if (library.build_id.empty()) {
    const std::optional<std::string> hash = hash_of_file(path);
    if (!hash) return Error{fmt::format("{} cannot be read to its end; try again", path)};
    library.build_id = "file-" + *hash;
  }
  return library;
}

Result<std::optional<RuntimeLibrary>> find_runtime(const std::vector<std::string>& command,
                                                   const std::string& given) {
  const std::string named = given.empty() ? environment("TTMEM_TT_METAL_LIBRARY") : given;
  const std::optional<std::string> path = named.empty() ? search(command) : std::optional(named);
  if (!path) return std::optional<RuntimeLibrary>();
  Result<RuntimeLibrary> library = runtime_at(*path);
  if (!library) return library.error();
  return std::optional(std::move(*library));
}

Loaded files_loaded_by(const std::string& path,
                       std::vector<std::pair<std::string, std::string>> more) {
  Loaded loaded;
  if (!ElfFile::open(path)) return loaded;
  // Uses the dynamic loader of ttmem itself, because the loader that `path` names could be any
  // program.
  const std::optional<ElfFile> self = ElfFile::open("/proc/self/exe");
  const std::string loader = self ? self->interpreter() : std::string();
  if (loader.empty()) return loaded;
  more.emplace_back("LD_TRACE_LOADED_OBJECTS", "1");
  const bool preloads = std::any_of(more.begin(), more.end(), [](const auto& variable) {
    return variable.first == "LD_PRELOAD";
  });
  if (!preloads) more.emplace_back("LD_PRELOAD", "");
  // Resolves links, because a path like "/proc/self/exe" names another file in the child.
  std::error_code failed;
  const std::string file = fs::canonical(path, failed).string();
  if (failed) return loaded;
  const Result<Ended> answer =
      run_child({loader, file}, {.environment = more, .errors_too = true}, kPatience);
  if (!answer) return loaded;
  constexpr std::string_view complaint = "undefined symbol: ";
  for (const std::string& line : words_of(answer->output, "\n")) {
    if (line.starts_with(complaint)) {
      const std::vector<std::string> words = words_of(line.substr(complaint.size()), " \t,()");
      if (words.size() == 2 && words[1] == file) loaded.undefined.push_back(words[0]);
      continue;
    }
    // Lines are like "\tlibx.so.1 => /path/libx.so.1 (0x00007...)" or "\t/path/libx.so (0x...)".
    const std::size_t begin = line.find('/');
    const std::size_t end = line.rfind(" (");
    if (begin != std::string::npos && end != std::string::npos && begin < end) {
      loaded.paths.push_back(line.substr(begin, end - begin));
    }
  }
  return loaded;
}

}  // namespace ttmem::attach

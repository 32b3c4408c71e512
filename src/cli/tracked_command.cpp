// SPDX-License-Identifier: Apache-2.0
#include "cli/tracked_command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/environment.hpp"
#include "cli/attach/adapter.hpp"
#include "cli/attach/installation.hpp"
#include "cli/attach/runtime_library.hpp"
#include "cli/commands.hpp"

namespace ttmem::cli {
namespace {

// The exit codes that shells return for a command that is not found, and for a command that cannot
// be started.
constexpr int kNotFound = 127;
constexpr int kNotStarted = 126;

void say_without(const std::string& library, const std::string& why) {
  say(fmt::format("no adapter{}: {} (without it, only what the program reports itself is seen)",
                  library.empty() ? "" : " for " + library, why));
}

// Returns the adapter for the TT-Metal that the command would load. If there can be no adapter,
// prints the reason and returns nullopt. If the command loads no TT-Metal, prints nothing and
// returns nullopt.
std::optional<std::string> adapter_for(const std::vector<std::string>& command,
                                       const std::string& given,
                                       const attach::Installation& installation) {
  const auto library = attach::find_runtime(command, given);
  if (!library) {
    say_without("", library.error().message);
    return std::nullopt;
  }
  if (!*library) return std::nullopt;
  const std::string& path = (*library)->path;
  // A stub whose path contains a blank or a colon cannot be preloaded, because these characters
  // separate the libraries in LD_PRELOAD.
  if (installation.stub.find_first_of(" :") != std::string::npos) {
    say_without(path,
                fmt::format("{} cannot be preloaded, its path has a blank or a colon; install "
                            "ttmem elsewhere",
                            installation.stub));
    return std::nullopt;
  }
  const auto found =
      attach::find_or_build(**library, installation, {.headers = {}, .begins = say_building});
  if (!found) {
    say_without(path, found.error().message);
    return std::nullopt;
  }
  return found->adapter();
}

// Adds the stub at the end of LD_PRELOAD, because a library that is already in LD_PRELOAD, such as
// a sanitizer, may have to be the first. Does nothing if LD_PRELOAD already contains the stub. This
// happens if `ttmem run` runs `ttmem run`.
void preload(const std::string& stub) {
  const std::string before = environment("LD_PRELOAD");
  if ((":" + before + ":").find(":" + stub + ":") != std::string::npos) return;
  setenv("LD_PRELOAD", (before.empty() ? stub : before + ":" + stub).c_str(), 1);
}

}  // namespace

void TrackedCommand::add_options(Command& command) {
  command.add_flag("--ops", ops, "Make each operation a scope of its allocations");
  command.add_flag("--keep-shm-tracking", keep_shm_tracking, "Leave TT-Metal's own statistics on");
  command.add_flag("--no-adapter", no_adapter, "Track only what the program reports itself");
  command.add_option("--library", "PATH", library,
                     "The library with TT-Metal's runtime, if ttmem does not find it");
}

void TrackedCommand::prepare(const std::vector<std::string>& command) const {
  setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
  if (no_adapter) return;
  const attach::Installation installation = attach::installation();
  const auto adapter = adapter_for(command, library, installation);
  if (!adapter) return;
  preload(installation.stub);
  setenv("TTMEM_ADAPTER", adapter->c_str(), 1);
  if (ops) setenv("TTMEM_OPS", "1", 1);
  if (!keep_shm_tracking) setenv("TT_METAL_SHM_TRACKING_DISABLED", "1", 1);
}

std::vector<std::string> without_dashes(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments[0] == "--") arguments.erase(arguments.begin());
  return arguments;
}

int cannot_run(const std::string& command, int reason) {
  const bool missing = reason == ENOENT;
  say(fmt::format("cannot run '{}': {}; {}", command, std::strerror(reason),
                  missing ? "check its spelling and PATH" : "check that it is an executable file"));
  return missing ? kNotFound : kNotStarted;
}

}  // namespace ttmem::cli

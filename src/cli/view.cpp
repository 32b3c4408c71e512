// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/http_address.hpp"
#include "cli/recordings.hpp"
#include "serve/viewer/document.hpp"
#include "serve/viewer/serve_recordings.hpp"

namespace ttmem::cli {
namespace {

constexpr std::uint16_t kPort = 9489;

constexpr const char* kViewExamples = R"(
Examples:
  ttmem view run.ttmem                  opens a browser, or prints the address to open
  ttmem view old.ttmem new.ttmem        two recordings side by side
  ttmem view run.ttmem --no-open --http 127.0.0.1:9000
                                        over ssh: ssh -L 9000:127.0.0.1:9000 HOST, then open
                                        the address that it prints
  ttmem report run.ttmem --html run.html
                                        the same page in one file, for a ticket

The page has the timeline, with a cursor that moves all views to a moment, what the peak was made
of, leaks, and exports. docs/guides/page.md explains it.)";

struct ViewOptions {
  std::vector<std::string> files;
  std::optional<serve::HttpOptions> http;
  std::string assets;
  bool no_open = false;
};

// Returns true if a browser could show a window on this machine.
bool has_screen() {
  return *environment("DISPLAY") != '\0' || *environment("WAYLAND_DISPLAY") != '\0';
}

// Starts the browser independently of this process. Ctrl-C in the terminal does not end the
// browser, the output of the browser does not appear in the terminal, and the browser does not
// ignore the signals that this process ignores.
void open_browser(const std::string& url) {
  // Lets Linux reap the browser, because no code waits for its end.
  std::signal(SIGCHLD, SIG_IGN);
  sigset_t usual;
  sigemptyset(&usual);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &usual);
  for (const int ours : {SIGCHLD, SIGPIPE, SIGXFSZ}) sigaddset(&usual, ours);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  }
  // Starts the browser in /. If PATH contains a relative directory, no program in the directory of
  // the recording can then be run.
  posix_spawn_file_actions_addchdir_np(&files, "/");
  std::string program = "xdg-open";
  std::string address = url;
  const std::array<char*, 3> arguments = {program.data(), address.data(), nullptr};
  pid_t ignored = 0;
  ::posix_spawnp(&ignored, program.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
}

int view_command(const ViewOptions& options) {
  if (options.files.empty() || options.files.size() > 2) {
    return complain("`ttmem view` needs a recording, or two: ttmem view FILE [OTHER]", kUsage);
  }
  auto runs = open_runs(options.files);
  if (!runs) return complain(runs.error().message, kFailure);
  auto document = view_document_of(*runs, viewer::Shown::served);
  if (!document) return complain(document.error().message, kFailure);
  viewer::ViewServerOptions serve;
  serve.any_port = !options.http;
  serve.http = options.http.value_or(serve::HttpOptions{.port = kPort});
  serve.http.assets = options.assets;
  serve.ready = [&](const std::string& url) {
    const bool opens = !options.no_open && has_screen();
    say(fmt::format("{} is on {} until Ctrl-C", fmt::join(options.files, ", "), url));
    if (opens) open_browser(url);
  };
  const auto served = viewer::serve_recordings(std::move(*runs), std::move(*document), serve);
  return served ? kSuccess : complain(served.error().message, kFailure);
}

}  // namespace

void add_view(Command& app) {
  auto options = std::make_shared<ViewOptions>();
  Command command = app.add_subcommand(
      "view", "Show one or two recordings as a page: timeline, cores, peaks, leaks", kViewExamples);
  const auto any_file = [](const std::string& text) -> Result<std::string> { return text; };
  command.add_list("files", "FILE...", options->files, any_file,
                   "A recording of `ttmem record`; two recordings are shown side by side");
  command.add_option(
      "--http", "TEXT", options->http,
      [](const std::string& text) -> Result<std::optional<serve::HttpOptions>> {
        auto http = parse_http(text, kPort);
        if (!http) return http.error();
        return std::optional(std::move(*http));
      },
      fmt::format("ADDRESS:PORT of the page (127.0.0.1:{}, or any free port)", kPort));
  command.add_flag("--no-open", options->no_open, "Only print the address; do not open a browser");
  command.add_option("--assets", "DIR", options->assets,
                     "For work on the page: a folder whose files replace the built-in files");
  command.does([options] { return view_command(*options); });
}

}  // namespace ttmem::cli

// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/recording_api.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/environment.hpp"
#include "base/unique_fd.hpp"
#include "serve/http/page.hpp"
#include "serve/http/request_rules.hpp"
#include "serve/viewer/timeline.hpp"
#include "show/exports/format.hpp"
#include "show/exports/output.hpp"
#include "show/web/assets.hpp"

namespace ttmem::viewer {
namespace {

using serve::error_response;
using serve::HttpRequest;
using serve::HttpResponse;
using serve::RequestTarget;

HttpResponse ok(std::string_view content_type, std::string body) {
  HttpResponse response;
  response.content_type = content_type;
  response.body = std::move(body);
  return response;
}

Result<TimeRange> range_in(const RequestTarget& target, const TimeRange& all) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const auto from = serve::number_in(target, "from", most, 0);
  if (!from) return from.error();
  const auto to = serve::number_in(target, "to", most);
  if (!to) return to.error();
  const TimeRange range{static_cast<Time>(from->value_or(0)),
                        std::min(static_cast<Time>(to->value_or(most)), all.to_ns)};
  if (range.from_ns < range.to_ns) return range;
  return Error{"from: must be before to, and before the end of the recording"};
}

const exports::ExportFormat* format_in(const RequestTarget& target) {
  const auto asked = target.query.find("format");
  if (asked == target.query.end()) return nullptr;
  const auto& all = exports::kFormats;
  const auto found = std::find_if(all.begin(), all.end(), [&](const exports::ExportFormat& one) {
    return one.name == asked->second && one.write != nullptr;
  });
  return found != all.end() ? &*found : nullptr;
}

// Creates a file without a name. The file disappears when it is closed, even if this process is
// killed. On failure, returns an empty descriptor and sets `errno`.
UniqueFd open_nameless(const std::string& folder) {
  UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  // Tries another way only if the file system lacks O_TMPFILE.
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string path = folder + "/ttmem-XXXXXX";
  file = UniqueFd(::mkostemp(path.data(), O_CLOEXEC));
  if (file) ::unlink(path.c_str());
  return file;
}

std::string export_name(const ShownRecording& run, const exports::ExportFormat& format) {
  std::string name = std::filesystem::path(run.name).stem().string();
  // Keeps only characters without a special meaning in an HTTP header, because the name is sent in
  // a header.
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-' && c != '_'; },
      '_');
  return fmt::format("{}.{}", name, format.ending);
}

HttpResponse export_response(const ShownRecording& run, const exports::ExportFormat& format) {
  const std::string folder = environment_or("TMPDIR", "/tmp");
  auto file = std::make_shared<UniqueFd>(open_nameless(folder));
  UniqueFd written(*file ? ::fcntl(file->get(), F_DUPFD_CLOEXEC, 0) : -1);
  if (!written) {
    return error_response(500, fmt::format("cannot make a temporary file in {}: {}; set TMPDIR "
                                           "to a folder that can have one",
                                           folder, std::strerror(errno)));
  }
  const exports::Selection selection(run.reader->tables(), {});
  const auto notes =
      exports::write({.reader = *run.reader, .selection = selection}, format,
                     exports::Output::into(std::move(written), "a temporary file in " + folder));
  if (!notes) return error_response(500, notes.error().message);
  HttpResponse response = ok("application/octet-stream", {});
  response.file = std::move(file);
  response.headers = {{"Content-Disposition",
                       fmt::format("attachment; filename=\"{}\"", export_name(run, format))}};
  return response;
}

}  // namespace

RecordingApi::RecordingApi(std::vector<ShownRecording> runs, std::string document,
                           const std::string& secret, std::string assets)
    : document_(std::move(document)), prefix_("/" + secret), assets_(std::move(assets)) {
  for (ShownRecording& run : runs)
    runs_.push_back(std::make_shared<const ShownRecording>(std::move(run)));
}

HttpResponse RecordingApi::answer(const HttpRequest& request, const serve::HostRule& hosts) const {
  Result<RequestTarget> target = serve::parse_target(request.target);
  if (!target) return error_response(400, target.error().message);
  if (auto refused = serve::refused_host(request, *target, hosts)) return std::move(*refused);
  if (!target->path.starts_with(prefix_ + "/")) {
    return error_response(404, "there is nothing; open the address that ttmem view printed");
  }
  target->path.erase(0, prefix_.size());
  if (auto refused = serve::refused_form(request, target->path)) return std::move(*refused);
  return answer_path(request, *target);
}

HttpResponse RecordingApi::answer_path(const HttpRequest& request,
                                       const RequestTarget& target) const {
  if (target.path == "/") return page(request);
  if (target.path == "/api/v1/recording") return ok("application/json", document_);
  if (target.path == "/api/v1/timeline") return timeline(target);
  if (target.path == "/api/v1/export") return exported(target);
  if (auto file = serve::page_response(request, target.path, assets_)) return std::move(*file);
  return error_response(404, fmt::format("there is no {}", target.path));
}

HttpResponse RecordingApi::page(HttpRequest request) const {
  request.accept_encoding.clear();
  request.if_none_match.clear();
  auto index = serve::page_response(request, "/", assets_);
  if (!index) return error_response(404, "this build has no page");
  index->body = web::page_over(std::move(index->body), "recording");
  std::erase_if(index->headers, [](const auto& header) { return header.first == "ETag"; });
  return std::move(*index);
}

HttpResponse RecordingApi::timeline(const RequestTarget& target) const {
  const auto names = serve::check_names(target, {"run", "from", "to"});
  if (!names) return error_response(400, names.error().message);
  const auto run = run_in(target);
  if (!run) return error_response(400, run.error().message);
  const auto range = range_in(target, whole(*(*run)->reader));
  if (!range) return error_response(400, range.error().message);
  HttpResponse response;
  response.later = [run = *run, range = *range] {
    Result<std::string> text = timeline_json(*run->reader, run->report, range, {});
    return text ? ok("application/json", std::move(*text))
                : error_response(500, text.error().message);
  };
  return response;
}

HttpResponse RecordingApi::exported(const RequestTarget& target) const {
  const auto names = serve::check_names(target, {"run", "format"});
  if (!names) return error_response(400, names.error().message);
  const auto run = run_in(target);
  if (!run) return error_response(400, run.error().message);
  const exports::ExportFormat* const format = format_in(target);
  if (format == nullptr) {
    return error_response(400, "format: must be one of the exports of api/v1/recording");
  }
  HttpResponse response;
  response.later = [run = *run, format] { return export_response(*run, *format); };
  return response;
}

Result<std::shared_ptr<const ShownRecording>> RecordingApi::run_in(
    const RequestTarget& target) const {
  const auto number = serve::number_in(target, "run", runs_.size() - 1, 0);
  if (!number) return number.error();
  return runs_[static_cast<std::size_t>(number->value_or(0))];
}

}  // namespace ttmem::viewer

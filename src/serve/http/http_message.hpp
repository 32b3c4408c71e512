// SPDX-License-Identifier: Apache-2.0
//
// Requests and responses as values, without a socket.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace ttmem::serve {

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";
  unsigned version = 11;           // 10 for HTTP/1.0, 11 for HTTP/1.1
  std::vector<std::string> hosts;  // values of all Host headers
  bool has_body = false;
  std::string authorization{};  // the first Authorization header
  bool has_more_authorizations = false;
  std::string accept_encoding{};
  std::string if_none_match{};
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type;
  // A HEAD request gets the same body as GET here, but only its length is sent. Empty if the status
  // is 304.
  std::string body;
  // An open file for content that may be too long for memory. If set, the whole file is sent
  // instead of `body`.
  std::shared_ptr<UniqueFd> file{};
  std::string allow;  // allowed methods, if the status is 405
  std::vector<std::pair<std::string, std::string>> headers{};  // additional headers
  // A function that computes the response, or empty if this response is complete. Used if the
  // computation takes long. One worker thread calls the functions of all responses, one after the
  // other.
  std::function<HttpResponse()> later{};
  // While this pointer exists, the response counts as a long answer
  std::shared_ptr<void> ticket{};
};

// Returns a response with this status and the body {"error": ...}.
[[nodiscard]] HttpResponse error_response(unsigned status, std::string_view message);

}  // namespace ttmem::serve

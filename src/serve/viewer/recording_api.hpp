// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http_host.hpp"
#include "serve/http/http_message.hpp"
#include "serve/http/http_query.hpp"
#include "serve/viewer/document.hpp"

namespace ttmem::viewer {

// Serves the page over recordings, and the API that the page uses. All addresses begin with
// `/SECRET/`. Other users of the machine do not know the secret and get nothing.
//
// The recordings are not thread-safe. Only the one worker thread of the server reads them, for one
// answer at a time.
class RecordingApi {
 public:
  // `document` is the document of the runs. `assets` is a folder whose files replace the files in
  // the binary; empty: none.
  RecordingApi(std::vector<ShownRecording> runs, std::string document, const std::string& secret,
               std::string assets);

  [[nodiscard]] serve::HttpResponse answer(const serve::HttpRequest& request,
                                           const serve::HostRule& hosts) const;

 private:
  [[nodiscard]] serve::HttpResponse answer_path(const serve::HttpRequest& request,
                                                const serve::RequestTarget& target) const;
  [[nodiscard]] serve::HttpResponse page(serve::HttpRequest request) const;
  [[nodiscard]] serve::HttpResponse timeline(const serve::RequestTarget& target) const;
  [[nodiscard]] serve::HttpResponse exported(const serve::RequestTarget& target) const;
  [[nodiscard]] Result<std::shared_ptr<const ShownRecording>> run_in(
      const serve::RequestTarget& target) const;

  std::vector<std::shared_ptr<const ShownRecording>> runs_;
  std::string document_;
  std::string prefix_;  // "/SECRET"
  std::string assets_;
};

}  // namespace ttmem::viewer

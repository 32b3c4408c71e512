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

// The page over recordings, and what it asks for. All addresses begin with `/SECRET/`: whoever does
// not know that, as the other users of the machine, gets nothing.
//
// Answers that read a recording are made later, by another thread, one after the other: that thread
// has the recordings to itself.
class RecordingApi {
 public:
  // `document` is that of the runs. `assets`: a folder whose files go before those of the binary;
  // empty: none.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_host.hpp"
#include "server/http/http_message.hpp"
#include "server/http/http_query.hpp"
#include "viewer/document.hpp"

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
  RecordingApi(std::vector<Run> runs, std::string document, const std::string& secret,
               std::string assets);

  [[nodiscard]] server::HttpResponse answer(const server::HttpRequest& request,
                                            const server::HostRule& hosts) const;

 private:
  [[nodiscard]] server::HttpResponse answer_path(const server::HttpRequest& request,
                                                 const server::Target& target) const;
  [[nodiscard]] server::HttpResponse page(server::HttpRequest request) const;
  [[nodiscard]] server::HttpResponse timeline(const server::Target& target) const;
  [[nodiscard]] server::HttpResponse exported(const server::Target& target) const;
  [[nodiscard]] Result<std::shared_ptr<const Run>> run_in(const server::Target& target) const;

  std::vector<std::shared_ptr<const Run>> runs_;
  std::string document_;
  std::string prefix_;  // "/SECRET"
  std::string assets_;
};

}  // namespace ttmem::viewer

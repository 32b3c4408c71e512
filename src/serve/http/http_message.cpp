// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_message.hpp"

#include "serve/http/documents.hpp"

namespace ttmem::serve {

HttpResponse error_response(unsigned status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = error_json(message);
  return response;
}

}  // namespace ttmem::serve

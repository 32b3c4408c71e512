// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ttmem/ttmem.h"

namespace ttmem {

// Names a part of the program. While the object lives, allocations and programs of this thread
// carry its name, after the names of the enclosing scopes: "decoder.0/attention".
//
//   const ttmem::Scope scope("decoder.0");
class Scope {
 public:
  explicit Scope(const char* name) { ttmem_scope_push(name); }
  ~Scope() { ttmem_scope_pop(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

}  // namespace ttmem

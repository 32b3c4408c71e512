// SPDX-License-Identifier: Apache-2.0
//
// What is taken on this thread is called.
#pragma once

namespace ttmem::adapter {

// While it lives, what this thread takes has this name, also inside an operation.
class Label {
 public:
  explicit Label(const char* name);
  ~Label();
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  const char* const outer_;
};

// The label that lives, else the operation that runs. Null when there is neither. Valid until the
// thread's next operation.
//
// Operations are heard of only when $TTMEM_OPS is 1: ttnn tells them to those that listen, and
// collects their arguments first, which costs. A thread listens from its first call of this
// function on, or of the next; so the first operation of a thread may have no name.
[[nodiscard]] const char* current_label();
void listen_to_operations();

}  // namespace ttmem::adapter

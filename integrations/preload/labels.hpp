// SPDX-License-Identifier: Apache-2.0
//
// What is taken on this thread is called, and where it comes from.
#pragma once

namespace ttmem::preload {

// While it lives, what this thread takes has this name.
class ThreadLabel {
 public:
  explicit ThreadLabel(const char* name);
  ~ThreadLabel();
  ThreadLabel(const ThreadLabel&) = delete;
  ThreadLabel& operator=(const ThreadLabel&) = delete;

 private:
  const char* const outer_;
};

// The label that lives. Null when there is none.
[[nodiscard]] const char* current_label();

// While it lives, what this thread takes lies in the scope of the operation that runs, if any.
//
// Operations are heard of only when $TTMEM_OPS is 1: ttnn tells them to those that listen, and
// collects their arguments first, which costs. A thread listens from its first InOperation on, or
// from listen_to_operations(); so the first operation of a thread may have no name.
class InOperation {
 public:
  InOperation();
  ~InOperation();
  InOperation(const InOperation&) = delete;
  InOperation& operator=(const InOperation&) = delete;

 private:
  bool is_in_one_ = false;
};
void listen_to_operations();

}  // namespace ttmem::preload

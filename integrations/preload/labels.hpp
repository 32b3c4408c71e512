// SPDX-License-Identifier: Apache-2.0
// Names and scopes of the memory that this thread allocates.
#pragma once

namespace ttmem::preload {

// While the object lives, memory that this thread allocates has this name.
class ThreadLabel {
 public:
  explicit ThreadLabel(const char* name);
  ~ThreadLabel();
  ThreadLabel(const ThreadLabel&) = delete;
  ThreadLabel& operator=(const ThreadLabel&) = delete;

 private:
  const char* const outer_;
};

// Returns the current label; null if there is none.
[[nodiscard]] const char* current_label();

// While the object lives, memory that this thread allocates belongs to the scope of the running
// operation, if any.
//
// Operations are only known if $TTMEM_OPS is 1. This is not the default, because ttnn collects the
// arguments of each operation for listeners, which takes time. A thread listens from its first
// InOperation, or from listen_to_operations(), so the first operation of a thread may have no name.
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

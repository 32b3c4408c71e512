// SPDX-License-Identifier: Apache-2.0
// Assigns names and scopes to the memory that this thread allocates.
#pragma once

namespace ttmem::preload {

// Names the memory that this thread allocates while this object lives.
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

// If an operation is running on this thread, puts the memory that the thread allocates while this
// object lives into the scope of the operation.
//
// Operations are only known if $TTMEM_OPS is 1. Operations are not known by default, because ttnn
// spends time on the arguments of each operation if a listener is present. A thread listens from
// its first InOperation, or from listen_to_operations(), so the first operation of a thread may
// have no name.
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

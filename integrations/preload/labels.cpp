// SPDX-License-Identifier: Apache-2.0
#include "labels.hpp"

#include <ttmem/ttmem.h>

#include <algorithm>
#include <any>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tt-metalium/graph_tracking.hpp>
#include <utility>
#include <vector>

namespace ttmem::preload {
namespace {

namespace tm = ::tt::tt_metal;

thread_local const char* label_of_this_thread = nullptr;

const char* frame_of(void* address) { return static_cast<const char*>(address); }

// Receives the begin and the end of the operations on one thread.
class OperationListener final : public tm::IGraphProcessor {
 public:
  [[nodiscard]] bool is_capture_processor() const override { return false; }

  void track_function_start(std::string_view name, std::span<tm::TrackedArgument>) override {
    const char* const frame = frame_of(__builtin_frame_address(0));
    drop_ended_operations(frame);
    running_.push_back({frame, std::string(name)});
  }
  void track_function_end() override { end(); }
  void track_function_end(const std::any&) override { end(); }

  // Returns the innermost running operation that is public, which means that a model may call it.
  // Operations that are not public (building blocks of ttnn, and the runtime's functions that make
  // a tensor) run inside public operations. If no public operation is running, returns the
  // innermost operation. Returns null if no operation is running.
  [[nodiscard]] const char* operation(const char* frame) {
    drop_ended_operations(frame);
    const auto is_public = [](const Operation& each) {
      return each.name.starts_with("ttnn::") && !each.name.starts_with("ttnn::prim::");
    };
    const auto found = std::find_if(running_.rbegin(), running_.rend(), is_public);
    if (found != running_.rend()) return found->name.c_str();
    return running_.empty() ? nullptr : running_.back().name.c_str();
  }

 private:
  struct Operation {
    const char* frame;  // stack address at which the operation began
    std::string name;
  };

  void end() {
    if (!running_.empty()) running_.pop_back();
  }
  // Removes operations that ended by an exception, because TT-Metal does not report their end. The
  // stack grows downwards: if the present frame is clearly above the frame of an operation, the
  // operation has ended. While an ended operation is still listed, operation() prefers newer
  // operations.
  void drop_ended_operations(const char* frame) {
    constexpr std::ptrdiff_t clearly = 1024;
    while (!running_.empty() && frame - running_.back().frame > clearly) running_.pop_back();
  }

  std::vector<Operation> running_;  // the outermost first
};

// Removes the listener from TT-Metal's list before the list is destroyed at the end of the thread.
// Buffers that are freed during exit still read that list, so the list must be empty by then. An
// object of this class is created after the list, and is therefore destroyed before the list.
class ThisThread {
 public:
  ~ThisThread() {
    listener_ = nullptr;
    has_ended_ = true;
    const auto& all = tm::GraphTracker::instance().get_processors();
    if (all.size() == 1 && all.front() == owned_) tm::GraphTracker::instance().pop_processor();
  }
  void listen() {
    tm::GraphTracker& tracker = tm::GraphTracker::instance();
    // Listens only if the list of listeners is empty. A temporary listener is added after this
    // listener and removes the last entry when it ends. If this listener were the last entry, it
    // would be removed instead.
    if (!tracker.get_processors().empty()) return;
    if (!owned_) owned_ = std::make_shared<OperationListener>();
    listener_ = owned_.get();
    tracker.push_processor(owned_);
  }
  [[nodiscard]] static OperationListener* listener() { return listener_; }
  [[nodiscard]] static bool has_ended() { return has_ended_; }

 private:
  // Null if the thread does not listen, or is ending.
  static thread_local OperationListener* listener_;
  static thread_local bool has_ended_;

  std::shared_ptr<OperationListener> owned_;
};
thread_local OperationListener* ThisThread::listener_ = nullptr;
thread_local bool ThisThread::has_ended_ = false;

bool wants_operations() {
  static const bool wanted = [] {
    const char* const value = ::secure_getenv("TTMEM_OPS");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return wanted;
}

}  // namespace

ThreadLabel::ThreadLabel(const char* name) : outer_(std::exchange(label_of_this_thread, name)) {}
ThreadLabel::~ThreadLabel() { label_of_this_thread = outer_; }

void listen_to_operations() {
  if (!wants_operations() || ThisThread::has_ended()) return;
  // Creates TT-Metal's list of listeners, because `here` must be created after the list.
  static_cast<void>(tm::GraphTracker::instance().get_processors());
  thread_local ThisThread here;
  here.listen();
}

const char* current_label() { return label_of_this_thread; }

InOperation::InOperation() {
  if (!wants_operations()) return;
  listen_to_operations();
  OperationListener* const listener = ThisThread::listener();
  if (listener == nullptr) return;
  const char* const operation = listener->operation(frame_of(__builtin_frame_address(0)));
  if (operation == nullptr) return;
  ttmem_scope_push(operation);
  is_in_one_ = true;
}

InOperation::~InOperation() {
  if (is_in_one_) ttmem_scope_pop();
}

}  // namespace ttmem::preload

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tt-metalium/graph_tracking.hpp>

namespace tt::tt_metal {

thread_local std::vector<std::shared_ptr<IGraphProcessor>> GraphTracker::processors;

GraphTracker& GraphTracker::instance() {
  static GraphTracker tracker;
  return tracker;
}

bool GraphTracker::is_enabled() const {
  return std::any_of(processors.begin(), processors.end(),
                     [](const auto& processor) { return processor->is_capture_processor(); });
}

void GraphTracker::push_processor(const std::shared_ptr<IGraphProcessor>& processor) {
  processors.push_back(processor);
}

void GraphTracker::pop_processor() {
  if (!processors.empty()) processors.pop_back();
}

const std::vector<std::shared_ptr<IGraphProcessor>>& GraphTracker::get_processors() const {
  return processors;
}

void GraphTracker::clear() { processors.clear(); }

void GraphTracker::track_allocate(const Buffer* buffer) {
  for (const auto& processor : processors) processor->track_allocate(buffer);
}

void GraphTracker::track_deallocate(Buffer* buffer) {
  for (const auto& processor : processors) processor->track_deallocate(buffer);
}

void GraphTracker::track_allocate_cb(const CoreRangeSet& core_range_set, std::uint64_t addr,
                                     std::uint64_t size, bool is_globally_allocated,
                                     const IDevice* device) {
  for (const auto& processor : processors) {
    processor->track_allocate_cb(core_range_set, addr, size, is_globally_allocated, device);
  }
}

void GraphTracker::track_allocate_dataflow_buffer(const CoreRangeSet& core_range_set,
                                                  std::uint64_t addr, std::uint64_t size,
                                                  bool borrows_memory, const IDevice* device) {
  for (const auto& processor : processors) {
    processor->track_allocate_dataflow_buffer(core_range_set, addr, size, borrows_memory, device);
  }
}

void GraphTracker::track_allocate_scratchpad(const CoreRangeSet& core_range_set, std::uint64_t addr,
                                             std::uint64_t size, const IDevice* device) {
  for (const auto& processor : processors) {
    processor->track_allocate_scratchpad(core_range_set, addr, size, device);
  }
}

void GraphTracker::track_deallocate_cb(const IDevice* device) {
  for (const auto& processor : processors) processor->track_deallocate_cb(device);
}

void GraphTracker::track_program(Program* program, const IDevice* device) {
  for (const auto& processor : processors) processor->track_program(program, device);
}

}  // namespace tt::tt_metal

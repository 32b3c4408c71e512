// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyse/fit/allocator.hpp"
#include "analyse/fit/fit.hpp"
#include "analyse/fit/plan.hpp"
#include "analyse/fit/unknowns.hpp"
#include "analyse/report/story_figures.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/story.hpp"

namespace ttmem::fit {

// Sends the events of a recording through the allocators of another board, up to the first request
// that fails. Computes the figures in the same way as `ttmem report`.
//
// There is one allocator for each set of devices that has buffers, so a mesh and its submesh have
// different allocators. A program is checked for a clash with the buffers of the mesh on which it
// runs.
//
// Not thread-safe; `plan` must outlive the simulation.
class Simulation {
 public:
  explicit Simulation(const Plan& plan);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Processes one event. Must be called for every event, in order. Returns false when a request has
  // failed; no further events are needed.
  [[nodiscard]] bool apply(const recording::Event& event);
  // Must be called once, after the last event.
  void finish();

  // Returns the result without BoardFit::board.
  [[nodiscard]] BoardFit result() const;

 private:
  using RowId = recording::RowId;
  struct Live {
    RowId set = 0;  // device set whose allocator placed the buffer; 0: not placed
    std::optional<std::uint64_t> address{};
  };
  struct LiveRow {
    recording::RecordedAllocation allocation;
    Live live;
  };
  // A program while it is being placed on one device after another.
  struct Placing {
    recording::RecordedProgram program{};
    std::vector<RowId> devices{};  // empty: no program is being placed
  };

  void allocate(const recording::Event& event);
  void free(const recording::Event& event);
  void place(const recording::RecordedProgram& program);
  void remove(const recording::RecordedProgram& program);
  void dispatch(const recording::Dispatch& dispatch);

  void tell(recording::Event event, const LiveRow& row);
  void tell(recording::Event::Type type, const recording::RecordedProgram& recorded);
  [[nodiscard]] bool put(const recording::RecordedAllocation& allocation, Live& live);
  void take_back(const recording::RecordedAllocation& allocation, const Live& live);
  // Returns the placement of the previous row of the allocation, if that row ended as `changed` and
  // the given row continues the allocation. In recordings of older versions the allocation may
  // continue on fewer devices.
  [[nodiscard]] std::optional<Live> taken_over(const recording::RecordedAllocation& allocation);
  void end_leaving();
  // Returns true if `program` is the program that is being placed on one device after another.
  [[nodiscard]] bool is_placing(const recording::RecordedProgram& program) const;
  void check_placing();
  void check_program(const recording::RecordedProgram& program, RowId layout,
                     const std::vector<RowId>& devices, bool at_dispatch);

  // Returns the process that has these devices. The numbers of allocations and programs are unique
  // only within a process.
  [[nodiscard]] RowId process_with(RowId set) const {
    return plan_.tables.device(plan_.tables.device_set(set).front()).process;
  }
  [[nodiscard]] Allocator& allocator(RowId set);
  [[nodiscard]] std::vector<RowId> sets_for(const std::vector<RowId>& devices) const;
  void fail(const recording::RecordedAllocation& allocation, const Allocator& in, Cause cause);
  void fail(const recording::RecordedProgram& program, const std::vector<RowId>& devices,
            const placement::CbStack& stack, std::optional<std::uint64_t> lowest,
            const std::vector<RowId>& sets, bool at_dispatch);
  [[nodiscard]] std::vector<PlacedBuffer> placed_in(const std::vector<RowId>& sets) const;
  void describe(const std::vector<RowId>& devices, std::uint32_t scope, std::uint32_t label,
                FailedRequest& failure);
  void note_what_was_not_reported();

  const Plan& plan_;
  recording::Chips chips_;
  report::StoryFigures figures_;
  Unknowns unknown_;
  std::vector<std::unique_ptr<Allocator>> allocators_;  // by device set; null: not used yet
  std::vector<std::vector<RowId>> sets_of_device_;
  boost::unordered_flat_map<RowId, LiveRow> live_;  // by allocation
  boost::unordered_flat_map<std::pair<RowId, std::uint64_t>, recording::RecordedProgram>
      programs_;                  // by device and number of the program
  std::vector<LiveRow> leaving_;  // rows that ended as `changed` at now_
  Placing placing_;
  Time now_ = 0;
  std::uint64_t requests_ = 0;
  std::optional<FailedRequest> failure_;
  RowId failing_ = 0;  // first device of the failing request; 0 means none
};

}  // namespace ttmem::fit

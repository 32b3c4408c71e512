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
#include "analyse/report/chips.hpp"
#include "analyse/report/story_figures.hpp"
#include "read/recording/file/story.hpp"

namespace ttmem::fit {

// Tells the story of a recording to the allocators of another board, up to the first request that
// fails. Figures come from the pass that `ttmem report` makes.
//
// A mesh has an allocator of its own, and so has a submesh of it: there is one for each set of
// devices that buffers lie on. A program is compared with the buffers of the mesh that it runs on.
//
// Not thread-safe; `plan` must outlive it.
class Simulation {
 public:
  explicit Simulation(const Plan& plan);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Call for every event, in their order. False: it failed, and there is nothing more to say.
  [[nodiscard]] bool apply(const recording::Event& event);
  // Call once, after the last.
  void finish();

  // Fills in all but the board.
  [[nodiscard]] BoardFit result() const;

 private:
  using RowId = recording::RowId;
  struct Live {
    RowId set = 0;  // whose allocator has it; 0: it is not placed
    std::optional<std::uint64_t> address{};
  };
  struct LiveRow {
    recording::Allocation allocation;
    Live live;
  };
  // A program that is placed on one device after the other.
  struct Placing {
    recording::Program program{};
    std::vector<RowId> devices{};  // empty: none is
  };

  void allocate(const recording::Allocation& allocation);
  void free(const recording::Allocation& allocation);
  void place(const recording::Program& program);
  void remove(const recording::Program& program);
  void dispatch(const recording::Dispatch& dispatch);

  void tell(recording::Event::Type type, const recording::Allocation& recorded, const Live& live);
  void tell(recording::Event::Type type, const recording::Program& recorded);
  [[nodiscard]] bool put(const recording::Allocation& allocation, Live& live);
  void take_back(const recording::Allocation& allocation, const Live& live);
  // Of what ended as `changed`, which may go on in another row, on fewer devices.
  [[nodiscard]] std::optional<Live> taken_over(const recording::Allocation& allocation);
  void end_leaving();
  // True if it is the program that was placed on another device just now.
  [[nodiscard]] bool is_placing(const recording::Program& program) const;
  void check_placing();
  void check_program(const recording::Program& program, RowId layout,
                     const std::vector<RowId>& devices, bool at_dispatch);

  // Whose devices they are. Numbers of allocations and programs are those of a process.
  [[nodiscard]] RowId process_with(RowId set) const {
    return plan_.tables.device(plan_.tables.device_set(set).front()).process;
  }
  [[nodiscard]] Allocator& allocator(RowId set);
  [[nodiscard]] std::vector<RowId> sets_for(const std::vector<RowId>& devices) const;
  void fail(const recording::Allocation& allocation, const Allocator& in, Cause cause);
  void fail(const recording::Program& program, const std::vector<RowId>& devices,
            const placement::CbStack& stack, std::optional<std::uint64_t> lowest,
            const std::vector<RowId>& sets, bool at_dispatch);
  [[nodiscard]] std::vector<PlacedBuffer> placed_in(const std::vector<RowId>& sets) const;
  void describe(const std::vector<RowId>& devices, std::uint32_t scope, std::uint32_t label,
                Failure& failure);
  void note_what_was_not_reported();

  const Plan& plan_;
  report::Chips chips_;
  report::StoryFigures figures_;
  Unknowns unknown_;
  std::vector<std::unique_ptr<Allocator>> allocators_;  // by set; null: none yet
  std::vector<std::vector<RowId>> sets_of_device_;
  boost::unordered_flat_map<RowId, LiveRow> live_;  // by allocation
  boost::unordered_flat_map<std::pair<RowId, std::uint64_t>, recording::Program>
      programs_;                  // by device and number
  std::vector<LiveRow> leaving_;  // ended as `changed` just now
  Placing placing_;
  Time now_ = 0;
  std::uint64_t requests_ = 0;
  std::optional<Failure> failure_;
  RowId failing_ = 0;  // the first of its devices; 0: none
};

}  // namespace ttmem::fit

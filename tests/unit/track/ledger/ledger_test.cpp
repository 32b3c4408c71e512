// SPDX-License-Identifier: Apache-2.0
//
// Compares the ledger with a model over random histories. The model keeps every program's CBs and
// counts every byte after each change. Further tests check cases of the seeds
// (docs/internals/seeds.md).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "track/ledger/device_ledger.hpp"

namespace ttmem::ledger {
namespace {

// Returns the ranges, flags and core masks of the CBs as words.
std::vector<std::uint64_t> key_of(const std::vector<Cb>& cbs) {
  std::vector<std::uint64_t> key;
  for (const Cb& cb : cbs) {
    key.push_back(cb.range.begin);
    key.push_back(cb.range.end);
    key.push_back(cb.global ? 1 : 0);
    for (std::uint64_t word : cb.cores.words) key.push_back(word);
  }
  return key;
}

FootprintRef acquire(FootprintTable& table, const std::vector<Cb>& cbs) {
  return table.acquire(key_of(cbs), [&] { return cbs; });
}

// A model that computes each figure directly from its definition.
class BruteForce {
  // The programs of the last dispatch to a core.
  struct Sent {
    std::vector<std::uint64_t> programs;
    bool is_trace = false;
  };

 public:
  explicit BruteForce(std::uint32_t cores) : last_(cores) {}

  void place(std::uint64_t program, const std::vector<Cb>& cbs) { programs_[program] = cbs; }
  void dispatch(std::uint64_t program) { send({program}, false); }
  void replay_trace(const std::vector<std::uint64_t>& programs) { send(programs, true); }
  void send(const std::vector<std::uint64_t>& programs, bool is_trace) {
    std::vector<std::uint64_t> placed;
    for (std::uint64_t program : programs) {
      if (programs_.contains(program)) placed.push_back(program);
    }
    for (std::uint32_t core = 0; core < last_.size(); ++core) {
      for (std::uint64_t program : placed) {
        if (covers(program, core)) last_[core] = {placed, is_trace};
      }
    }
  }
  void destroy(std::uint64_t program) {
    programs_.erase(program);
    for (auto& last : last_) std::erase(last.programs, program);
  }

  [[nodiscard]] std::uint32_t core_bytes(std::uint32_t core) const {
    std::vector<Interval> ranges;
    for (const auto& [program, cbs] : programs_) collect(cbs, core, ranges);
    return union_of(ranges);
  }
  [[nodiscard]] std::uint32_t core_resident(std::uint32_t core) const {
    std::uint32_t most = 0;
    for (std::uint64_t program : last_[core].programs) {
      std::vector<Interval> ranges;
      collect(programs_.at(program), core, ranges);
      most = std::max(most, union_of(ranges));
    }
    return most;
  }
  [[nodiscard]] std::uint32_t core_end(std::uint32_t core) const {
    std::vector<Interval> ranges;
    for (const auto& [program, cbs] : programs_) collect(cbs, core, ranges);
    std::uint32_t end = 0;
    for (const Interval& range : ranges) end = std::max(end, range.end);
    return end;
  }
  [[nodiscard]] std::uint64_t logical() const {
    std::uint64_t sum = 0;
    for (const auto& [program, cbs] : programs_) {
      for (const Cb& cb : cbs) {
        if (!cb.global) sum += std::uint64_t{cb.cores.count()} * cb.range.length();
      }
    }
    return sum;
  }
  // Returns the number of cores on which the program is resident. The program is resident on a core
  // if the last dispatch to this core included it. If that dispatch was a trace, the program must
  // also have CBs on the core.
  [[nodiscard]] std::uint32_t resident_cores(std::uint64_t program) const {
    std::uint32_t count = 0;
    for (std::uint32_t core = 0; core < last_.size(); ++core) {
      const auto& [sent, is_trace] = last_[core];
      const bool there = std::find(sent.begin(), sent.end(), program) != sent.end();
      if (there && (!is_trace || covers(program, core))) ++count;
    }
    return count;
  }
  [[nodiscard]] const auto& programs() const { return programs_; }

 private:
  [[nodiscard]] bool covers(std::uint64_t program, std::uint32_t core) const {
    const auto& cbs = programs_.at(program);
    return std::any_of(cbs.begin(), cbs.end(), [&](const Cb& cb) { return cb.cores.test(core); });
  }
  static void collect(const std::vector<Cb>& cbs, std::uint32_t core, std::vector<Interval>& out) {
    for (const Cb& cb : cbs) {
      if (!cb.global && cb.cores.test(core) && cb.range.length() > 0) out.push_back(cb.range);
    }
  }
  static std::uint32_t union_of(const std::vector<Interval>& ranges) {
    std::vector<bool> covered(4096, false);
    for (const Interval& range : ranges) {
      for (std::uint32_t at = range.begin; at < range.end; ++at) covered[at] = true;
    }
    return static_cast<std::uint32_t>(std::count(covered.begin(), covered.end(), true));
  }

  std::map<std::uint64_t, std::vector<Cb>> programs_;
  std::vector<Sent> last_;
};

// The figures that the owner of a ledger publishes. The test applies only the changes that the
// ledger returns.
struct Published {
  std::vector<DeviceLedger::Core> cores;
  std::map<std::uint64_t, std::uint32_t> resident_cores;

  void follow(DeviceLedger& ledger) {
    ledger.take_changed_cores().for_each(
        [&](std::uint32_t core) { cores[core] = ledger.core(core); });
    ledger.take_changed_programs(
        [&](Placement& p) { resident_cores[p.program] = p.resident_cores; });
  }
};

std::vector<Cb> any_cbs(std::uint32_t grid_x, std::uint32_t grid_y) {
  std::vector<Cb> cbs(*rc::gen::inRange<std::size_t>(0, 5));
  for (Cb& cb : cbs) {
    const auto x0 = *rc::gen::inRange<std::uint32_t>(0, grid_x);
    const auto x1 = *rc::gen::inRange<std::uint32_t>(x0, grid_x);
    const auto y0 = *rc::gen::inRange<std::uint32_t>(0, grid_y);
    const auto y1 = *rc::gen::inRange<std::uint32_t>(y0, grid_y);
    for (std::uint32_t y = y0; y <= y1; ++y) {
      for (std::uint32_t x = x0; x <= x1; ++x) cb.cores.set(y * grid_x + x);
    }
    cb.range.begin = *rc::gen::inRange<std::uint32_t>(0, 40);
    cb.range.end = cb.range.begin + *rc::gen::inRange<std::uint32_t>(0, 40);
    cb.global = *rc::gen::inRange(0, 6) == 0;
  }
  return cbs;
}

void compare(DeviceLedger& ledger, const BruteForce& model, Published& published,
             std::uint32_t cores) {
  published.follow(ledger);
  std::uint64_t physical = 0;
  std::uint64_t resident = 0;
  for (std::uint32_t core = 0; core < cores; ++core) {
    physical += model.core_bytes(core);
    resident += model.core_resident(core);
    RC_ASSERT(published.cores[core].cb_bytes == model.core_bytes(core));
    RC_ASSERT(published.cores[core].resident_bytes == model.core_resident(core));
    RC_ASSERT(published.cores[core].cb_end == model.core_end(core));
  }
  for (const auto& [program, cbs] : model.programs()) {
    RC_ASSERT(published.resident_cores[program] == model.resident_cores(program));
  }
  RC_ASSERT(ledger.physical_bytes() == physical);
  RC_ASSERT(ledger.resident_bytes() == resident);
  RC_ASSERT(ledger.logical_bytes() == model.logical());
  RC_ASSERT(ledger.programs() == model.programs().size());
}

RC_GTEST_PROP(Ledger, AgreesWithTheBruteForceModelAtEveryStep, ()) {
  const auto grid_x = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto grid_y = *rc::gen::inRange<std::uint32_t>(1, 4);
  const std::uint32_t cores = grid_x * grid_y;
  FootprintTable table;
  DeviceLedger ledger(cores);
  BruteForce model(cores);
  Published published{std::vector<DeviceLedger::Core>(cores), {}};
  // Uses few layouts, so that several programs share a footprint, as cached programs do.
  std::vector<std::vector<Cb>> layouts(*rc::gen::inRange<std::size_t>(1, 6));
  for (auto& layout : layouts) layout = any_cbs(grid_x, grid_y);

  const auto steps = *rc::gen::inRange(1, 80);
  for (int step = 0; step < steps; ++step) {
    const auto program = *rc::gen::inRange<std::uint64_t>(0, 8);
    const bool known = model.programs().contains(program);
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
      case 1:
      case 2: {
        const auto& cbs = layouts[*rc::gen::inRange<std::size_t>(0, layouts.size())];
        ledger.place(program, acquire(table, cbs));
        model.place(program, cbs);
        break;
      }
      case 3:
        RC_ASSERT(ledger.remove(program) == known);
        model.destroy(program);
        published.resident_cores.erase(program);
        break;
      case 4:
      case 5:
        RC_ASSERT(ledger.dispatch(program) == known);
        model.dispatch(program);
        break;
      default: {
        std::vector<std::uint64_t> programs(*rc::gen::inRange<std::size_t>(0, 5));
        for (auto& p : programs) p = *rc::gen::inRange<std::uint64_t>(0, 8);
        ledger.replay_trace(programs);
        model.replay_trace(programs);
      }
    }
    compare(ledger, model, published, cores);
  }
  while (!model.programs().empty()) {
    const std::uint64_t program = model.programs().begin()->first;
    RC_ASSERT(ledger.remove(program));
    model.destroy(program);
    compare(ledger, model, published, cores);
  }
  RC_ASSERT(table.size() == 0U);
}

CoreMask rectangle(std::uint32_t x1, std::uint32_t y1) {
  CoreMask cores;
  for (std::uint32_t y = 0; y <= y1; ++y) {
    for (std::uint32_t x = 0; x <= x1; ++x) cores.set(y * 8 + x);
  }
  return cores;
}

class WormholeLedger : public ::testing::Test {
 protected:
  FootprintTable table;
  DeviceLedger ledger{64};
};

// Tests the case "Physical vs Logical" of seed 000 (docs/internals/seeds.md) with 30 cached
// programs of 10 MiB at the same addresses.
TEST_F(WormholeLedger, ThirtyCachedProgramsTake300LogicalAnd10Physical) {
  const std::vector<Cb> cbs = {{{105664, 105664 + 163840}, rectangle(7, 7), false}};
  for (std::uint64_t program = 0; program < 30; ++program) {
    EXPECT_EQ(ledger.place(program, acquire(table, cbs)), DeviceLedger::Placed::fresh);
  }
  EXPECT_EQ(ledger.logical_bytes(), 300U << 20);
  EXPECT_EQ(ledger.physical_bytes(), 10U << 20);
  EXPECT_EQ(ledger.resident_bytes(), 0U);
  EXPECT_EQ(table.size(), 1U);
}

TEST_F(WormholeLedger, PlacingTheSameLayoutAgainChangesNothing) {
  const std::vector<Cb> cbs = {{{1000, 2000}, rectangle(7, 7), false}};
  ledger.place(1, acquire(table, cbs));
  ledger.dispatch(1);
  EXPECT_EQ(ledger.place(1, acquire(table, cbs)), DeviceLedger::Placed::unchanged);
  EXPECT_EQ(ledger.physical_bytes(), 64000U);
  EXPECT_EQ(ledger.resident_bytes(), 64000U);
}

TEST_F(WormholeLedger, AnotherLayoutReplacesTheOldOne) {
  ledger.place(1, acquire(table, {{{1000, 2000}, rectangle(7, 7), false}}));
  EXPECT_EQ(ledger.place(1, acquire(table, {{{1000, 1500}, rectangle(3, 3), false}})),
            DeviceLedger::Placed::replaced);
  EXPECT_EQ(ledger.physical_bytes(), 16U * 500);
  EXPECT_EQ(ledger.logical_bytes(), 16U * 500);
}

TEST_F(WormholeLedger, AGlobalCbIsNotCountedAgain) {
  ledger.place(1, acquire(table, {{{1000, 2000}, rectangle(7, 7), true}}));
  ledger.dispatch(1);
  EXPECT_EQ(ledger.physical_bytes(), 0U);
  EXPECT_EQ(ledger.logical_bytes(), 0U);
  EXPECT_EQ(ledger.programs(), 1U);
}

TEST_F(WormholeLedger, ADispatchTakesTheCoresFromTheProgramBefore) {
  ledger.place(1, acquire(table, {{{1000, 3000}, rectangle(7, 7), false}}));
  ledger.place(2, acquire(table, {{{1000, 2000}, rectangle(3, 3), false}}));
  ledger.dispatch(1);
  ledger.dispatch(2);
  EXPECT_EQ(ledger.resident_bytes(), 48U * 2000 + 16U * 1000);
  EXPECT_EQ(ledger.find(1)->resident_cores, 48U);
  EXPECT_EQ(ledger.find(2)->resident_cores, 16U);
  ledger.remove(2);
  EXPECT_EQ(ledger.resident_bytes(), 48U * 2000);
}

TEST_F(WormholeLedger, ATraceReplayHoldsTheLargestProgramOnEachCore) {
  ledger.place(1, acquire(table, {{{1000, 3000}, rectangle(3, 3), false}}));
  ledger.place(2, acquire(table, {{{1000, 2000}, rectangle(7, 7), false}}));
  const std::vector<std::uint64_t> programs = {1, 2, 99};
  EXPECT_EQ(ledger.replay_trace(programs), 1U);
  EXPECT_EQ(ledger.resident_bytes(), 16U * 2000 + 48U * 1000);
  EXPECT_EQ(ledger.find(1)->resident_cores, 16U);
  EXPECT_EQ(ledger.find(2)->resident_cores, 64U);
  ledger.remove(1);
  EXPECT_EQ(ledger.resident_bytes(), 64U * 1000);
}

}  // namespace
}  // namespace ttmem::ledger

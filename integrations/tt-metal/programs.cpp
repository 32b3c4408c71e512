// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <tt-metalium/circular_buffer.hpp>
#include <utility>

#include "program_life.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

namespace {

// TT-Metal reports the frees of a program while the program is destroyed. Frees that are not
// reported within this time happened on a thread that is not attached. They will never be reported.
constexpr std::uint64_t kFreeTimeoutNs = 1'000'000'000;

// The number of programs that are checked whenever a list is added. With this limit, the time for a
// list does not depend on the number of programs.
constexpr std::size_t kChecksPerList = 64;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

bool contains(const ChipNumbers& chips, std::uint32_t chip) {
  return std::binary_search(chips.begin(), chips.end(), chip);
}

// Returns the chips that are in both lists, sorted.
ChipNumbers intersection(const ChipNumbers& a, const ChipNumbers& b) {
  ChipNumbers both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

void add_to(ChipNumbers& all, const ChipNumbers& more) {
  ChipNumbers both;
  std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(both));
  all = std::move(both);
}

// Returns true if the lists differ at most in sizes and addresses, so that both may be layouts of
// the same program.
bool same_shape(const std::vector<ProgramCb>& a, const std::vector<ProgramCb>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ProgramCb& x, const ProgramCb& y) {
                      return x.is_view == y.is_view && x.cores == y.cores;
                    });
}

bool begins_with(const std::vector<ProgramCb>& list, const std::vector<ProgramCb>& declared) {
  return !declared.empty() && declared.size() <= list.size() &&
         std::equal(declared.begin(), declared.end(), list.begin(),
                    [](const ProgramCb& x, const ProgramCb& y) {
                      return x.bytes == y.bytes && x.is_view == y.is_view && x.cores == y.cores;
                    });
}

// Returns the circular buffers that are not views. When a program is placed on further chips,
// TT-Metal reports only these.
std::vector<ProgramCb> without_views(const std::vector<ProgramCb>& cbs) {
  std::vector<ProgramCb> own;
  std::copy_if(cbs.begin(), cbs.end(), std::back_inserter(own),
               [](const ProgramCb& cb) { return !cb.is_view; });
  return own;
}

// Returns the circular buffers that a program declares. They have no addresses yet.
std::vector<ProgramCb> declared_by(const tm::Program& program) {
  std::vector<ProgramCb> cbs;
  for (const auto& cb : program.circular_buffers()) {
    cbs.push_back({CoreRanges(cb->core_ranges()), 0, cb->size(), cb->globally_allocated()});
  }
  return cbs;
}

}  // namespace

// ---- Figures ----

void Programs::estimate(const ChipNumbers& chips) {
  for (const std::uint32_t chip : chips) {
    if (estimated_.insert(chip).second) ttmem_cb_estimate(chip, 1);
  }
}

// Counts the removal of a program from the chip. After the last program is removed, the figures of
// the chip are exact again.
void Programs::removed_from(std::uint32_t chip) {
  if (--live_[chip] != 0 || estimated_for_good_.contains(chip)) return;
  if (estimated_.erase(chip) != 0) ttmem_cb_estimate(chip, 0);
}

Programs::Program& Programs::add(Program program) {
  program.id = next_++;
  const std::uint64_t id = program.id;
  return programs_.insert_or_assign(id, std::move(program)).first->second;
}

void Programs::place(Program& program, const ChipNumbers& chips, bool is_new_layout) {
  for (const std::uint32_t chip : chips) {
    if (!contains(program.chips, chip)) ++live_[chip];
  }
  program.placed(chips, is_new_layout);
}

void Programs::remove(Table::iterator program) {
  program->second.destroyed(chips_);
  for (const std::uint32_t chip : program->second.chips) removed_from(chip);
  if (program->second.identity != nullptr) named_.erase(program->second.identity);
  expected_.erase(program->first);
  silent_.erase(program->first);
  programs_.erase(program);
}

// ---- Named programs ----

Programs::Program* Programs::find(const void* identity) {
  const auto named = named_.find(identity);
  if (named == named_.end()) return nullptr;
  const auto program = programs_.find(named->second);
  if (!program->second.knows_end || !program->second.life.expired()) return &program->second;
  // The known program has been destroyed, and another program now has its address.
  remove_named(program, now_ns());
  return nullptr;
}

std::uint64_t Programs::name(const tm::Program& program) {
  const void* const identity = &program.impl();
  if (const Program* known = find(identity)) return known->id;
  Program fresh;
  fresh.identity = identity;
  fresh.life = life_of(program);
  fresh.knows_end = !fresh.life.expired();
  fresh.expected = declared_by(program);
  const std::uint64_t id = add(std::move(fresh)).id;
  named_[identity] = id;
  expected_.insert(id);
  return id;
}

std::size_t Programs::length_of(std::uint64_t program) const {
  const auto found = programs_.find(program);
  if (found == programs_.end()) return 0;
  return found->second.is_listed ? found->second.cbs.size() : found->second.expected.size();
}

int Programs::kernels_known(std::uint64_t program) const {
  const auto found = programs_.find(program);
  return found == programs_.end() ? 0 : found->second.kernels_known;
}

void Programs::kernels_of(std::uint64_t id, const KernelBytes& bytes,
                          const tm::CoreRangeSet& cores) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) return;
  Program& program = found->second;
  ++program.kernels_known;
  program.kernel_bytes = bytes;
  program.kernel_cores = cores;
  program.kernels.reset();
}

void Programs::load_kernels(Program& program) {
  if (program.kernels || program.kernel_bytes.per_core == 0) return;
  KernelSizes sizes;
  if (program.kernel_cores.empty()) {
    sizes = assumed_kernels(program.kernel_bytes.per_core, program.cbs, {});
  } else {
    sizes.estimate = program.kernel_bytes.estimate;
    sizes.add(CoreRanges(program.kernel_cores), program.kernel_bytes.per_core);
  }
  program.kernels = std::make_shared<const KernelSizes>(std::move(sizes));
}

void Programs::send(Program& program, const OpenMesh& mesh) {
  load_kernels(program);
  if (std::includes(program.chips.begin(), program.chips.end(), mesh.chips.begin(),
                    mesh.chips.end())) {
    static_cast<const PlacedProgram&>(program).dispatched(mesh);
    if (program.of_several) estimate(mesh.chips);
    return;
  }
  OpenMesh some;
  some.chips = intersection(program.chips, mesh.chips);
  if (some.chips.empty()) return;
  for (const std::uint32_t chip : some.chips) some.open.push_back(&chips_.all().at(chip));
  static_cast<const PlacedProgram&>(program).dispatched(some);
  if (program.of_several) estimate(some.chips);
}

void Programs::dispatched(std::uint64_t id, const OpenMesh& mesh) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) return;
  Program& program = found->second;
  program.sent_to = nullptr;
  program.of_several = false;
  // If a program has no circular buffers, or only views, TT-Metal may never report its list. So the
  // declared list is added now. If the program has views, TT-Metal reports its free even without a
  // list.
  const std::vector<ProgramCb> declared = program.expected;
  if (!program.is_listed && without_views(declared).empty()) {
    listed_named(program, declared, mesh.chips);
  }
  if (program.is_listed) send(program, mesh);
}

void Programs::announced(std::uint64_t id, const OpenMesh& mesh, bool of_several) {
  dispatched(id, mesh);
  const auto found = programs_.find(id);
  if (found == programs_.end()) return;
  found->second.sent_to = &mesh;
  found->second.of_several = of_several;
  if (of_several && found->second.is_listed)
    estimate(intersection(found->second.chips, mesh.chips));
}

// Removes a named program. Its frees are reported later, on the thread that destroys the program.
void Programs::remove_named(Table::iterator program, std::uint64_t when_ns) {
  if (!program->second.frees.empty()) dead_.push_back({program->second.frees, when_ns});
  remove(program);
}

void Programs::forget(const tm::Program& program) {
  const Program* const known = find(&program.impl());
  if (known == nullptr) return;
  remove_named(programs_.find(known->id), std::numeric_limits<std::uint64_t>::max());
}

void Programs::remove_destroyed(std::size_t at_most) {
  const std::uint64_t now = now_ns();
  std::erase_if(dead_, [&](const Dead& dead) {
    return dead.when_ns < now && now - dead.when_ns > kFreeTimeoutNs;
  });
  // Each call continues after the program that the last call checked last.
  for (std::size_t i = std::min(at_most, programs_.size()); i > 0; --i) {
    auto program = programs_.upper_bound(last_checked_);
    if (program == programs_.end()) program = programs_.begin();
    last_checked_ = program->first;
    if (program->second.knows_end && program->second.life.expired()) remove_named(program, now);
  }
}

void Programs::remove_destroyed_silent() {
  for (auto id = silent_.begin(); id != silent_.end();) {
    const auto program = programs_.find(*id++);
    if (program->second.knows_end && program->second.life.expired()) remove(program);
  }
}

void Programs::replayed(const std::vector<const tm::Program*>& programs, const ChipNumbers& chips) {
  for (const std::uint32_t chip : chips) {
    std::vector<std::uint64_t> ids;
    for (const tm::Program* program : programs) {
      const Program* const known = find(&program->impl());
      if (known != nullptr && contains(known->chips, chip)) ids.push_back(known->id);
    }
    if (ids.empty()) continue;
    ttmem_trace_replay(chip, ids.data(), static_cast<std::uint32_t>(ids.size()));
  }
}

// ---- Lists ----

bool Programs::fits(const Program& program, const CbList& list) const {
  if (!program.is_listed) return same_shape(program.expected, list.cbs());
  return same_shape(program.cbs, list.cbs()) || without_views(program.cbs) == list.cbs();
}

// Returns the named program whose expected circular buffers are the first ones in `list`. If
// several programs match, returns the program with the most circular buffers. If several of these
// declare the same circular buffers, returns any of them, because the figures are the same.
Programs::Program* Programs::find_expecting(const CbList& list) {
  Program* longest = nullptr;
  for (const std::uint64_t id : expected_) {
    Program& program = programs_.at(id);
    if (!begins_with(list.cbs(), program.expected)) continue;
    if (longest == nullptr || program.expected.size() > longest->expected.size()) {
      longest = &program;
    }
  }
  return longest;
}

void Programs::listed(const CbList& list, std::uint64_t current) {
  remove_destroyed(kChecksPerList);
  // If the list is not even, other circular buffers were reported before every chip had the whole
  // list. Some chips lack a part of the list, so the figures of its chips are estimates.
  if (!list.is_even()) estimate(list.chips());
  const auto named = programs_.find(current);
  if (named != programs_.end() && fits(named->second, list)) {
    listed_named(named->second, list.cbs(), list.chips());
    return;
  }
  // If a workload has several programs, the runtime's own threads place them. No hook names the
  // program on these threads, so a program is found by the circular buffers that it declares.
  CbList rest = list;
  while (!rest.empty()) {
    Program* const program = find_expecting(rest);
    if (program == nullptr) break;
    const std::size_t length = program->expected.size();
    listed_named(*program,
                 {rest.cbs().begin(), rest.cbs().begin() + static_cast<std::ptrdiff_t>(length)},
                 rest.chips());
    rest = rest.after(length);
  }
  if (!rest.empty()) listed_unnamed(rest);
}

void Programs::listed_named(Program& program, const std::vector<ProgramCb>& cbs,
                            const ChipNumbers& chips) {
  const bool further_chips_only =
      program.is_listed && cbs != program.cbs && cbs == without_views(program.cbs);
  const bool is_new_layout = !program.is_listed || (!further_chips_only && cbs != program.cbs);
  if (is_new_layout) {
    program.cbs = cbs;
    // Without `kernel_cores`, the kernels are assumed to be on the cores of the layout.
    if (program.kernel_cores.empty()) program.kernels.reset();
  }
  program.is_listed = true;
  program.expected.clear();
  expected_.erase(program.id);
  if (!cbs.empty()) add_to(program.frees, chips);
  if (program.frees.empty()) {
    silent_.insert(program.id);
  } else {
    silent_.erase(program.id);
  }
  place(program, chips, is_new_layout);
  if (program.sent_to != nullptr) send(program, *program.sent_to);
}

void Programs::listed_unnamed(const CbList& list) {
  const ChipNumbers chips = list.chips();
  // The list may be the new layout of a known program instead of a new program. The figures are
  // estimates if this is possible.
  const bool is_estimate = std::all_of(
      chips.begin(), chips.end(), [&](std::uint32_t chip) { return estimated_.contains(chip); });
  const bool may_be_known =
      !is_estimate && std::any_of(programs_.begin(), programs_.end(), [&](const auto& each) {
        const Program& other = each.second;
        return same_shape(other.cbs, list.cbs()) && !intersection(other.chips, chips).empty();
      });
  Program& program = add({});
  program.cbs = list.cbs();
  program.is_listed = true;
  place(program, chips, true);
  if (may_be_known || list.may_have_two_programs()) estimate(chips);
}

// ---- Frees ----

Programs::Table::iterator Programs::youngest_unnamed(std::uint32_t chip) {
  for (auto program = programs_.end(); program != programs_.begin();) {
    --program;
    if (!program->second.knows_end && contains(program->second.chips, chip)) return program;
  }
  return programs_.end();
}

// Returns true if every other unnamed program on the chip has the same layout and chips. Then it
// does not matter which of them is removed.
bool Programs::is_only_choice(const Program& program, std::uint32_t chip) const {
  return std::all_of(programs_.begin(), programs_.end(), [&](const auto& each) {
    const Program& other = each.second;
    return other.knows_end || !contains(other.chips, chip) ||
           (other.cbs == program.cbs && other.chips == program.chips);
  });
}

void Programs::freed(FreeRow& row, std::uint32_t chip) {
  for (FreeRow::Part& part : row.parts_) {
    if (std::erase(part.still_to_come, chip) != 0) return;
  }
  const std::size_t noticed_before = dead_.size();
  remove_destroyed(programs_.size());
  const auto victim = youngest_unnamed(chip);
  const auto dead = std::find_if(dead_.rbegin(), dead_.rend(),
                                 [&](const Dead& each) { return contains(each.frees, chip); });
  if (dead != dead_.rend()) {
    const auto index = static_cast<std::size_t>(std::distance(dead, dead_.rend()) - 1);
    // If the program's end was noticed before this call, its frees may have happened unseen, on a
    // thread that is not attached. The free of this call may then belong to another program.
    if (index < noticed_before && victim != programs_.end()) estimate({chip});
    std::erase(dead->frees, chip);
    row.parts_.push_back({std::move(dead->frees), std::nullopt});
    dead_.erase(std::next(dead).base());
    return;
  }
  if (const auto pending = pending_frees_.find(chip); pending != pending_frees_.end()) {
    if (--pending->second == 0) pending_frees_.erase(pending);
    if (victim != programs_.end()) estimate({chip});
    return;
  }
  if (victim == programs_.end())
    return;  // the program was placed unseen, on a thread that is not attached
  if (views_.contains(chip)) {
    estimated_for_good_.insert(victim->second.chips.begin(), victim->second.chips.end());
    estimate(victim->second.chips);
  } else if (!estimated_.contains(chip) && !is_only_choice(victim->second, chip)) {
    estimate(victim->second.chips);
  }
  PlacedProgram whole = victim->second;
  ChipNumbers others = whole.chips;
  std::erase(others, chip);
  remove(victim);
  row.parts_.push_back({std::move(others), std::move(whole)});
}

void Programs::end(FreeRow& row) {
  for (FreeRow::Part& part : row.parts_) {
    const ChipNumbers still =
        part.whole ? intersection(part.still_to_come, part.whole->chips) : ChipNumbers{};
    if (still.empty()) continue;
    Program& program = add({});
    program.cbs = std::move(part.whole->cbs);
    program.is_listed = true;
    place(program, still, true);
  }
  row.parts_.clear();
}

// ---- Closed chips ----

void Programs::closed(std::uint32_t chip) {
  pending_frees_.erase(chip);
  for (Dead& dead : dead_) std::erase(dead.frees, chip);
  for (auto each = programs_.begin(); each != programs_.end();) {
    const auto program = each++;
    if (std::erase(program->second.chips, chip) == 0) continue;
    if (program->second.knows_end) continue;
    ++pending_frees_[chip];
    if (program->second.chips.empty()) remove(program);
  }
  live_.erase(chip);
  estimated_.erase(chip);
  estimated_for_good_.erase(chip);
  views_.erase(chip);
}

void Programs::forget_all() {
  programs_.clear();
  named_.clear();
  expected_.clear();
  silent_.clear();
  dead_.clear();
  pending_frees_.clear();
  live_.clear();
  estimated_.clear();
  estimated_for_good_.clear();
  views_.clear();
}

}  // namespace ttmem::tt_metal

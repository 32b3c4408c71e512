// SPDX-License-Identifier: Apache-2.0
//
// TT-Metal's hooks report lists of circular buffers, and frees, without a program. This file
// assigns each list and each free to a program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tt-metalium/program.hpp>
#include <unordered_map>
#include <vector>

#include "cb_list.hpp"
#include "kernel_bytes.hpp"
#include "open_chips.hpp"
#include "placed_program.hpp"

namespace ttmem::tt_metal {

// The programs of the process. A program is *named* if host code or ttnn reported which program
// runs. Each list of a named program replaces the earlier list of the program, and the end of the
// program is detected. A list that belongs to no named program counts as a new, unnamed program. A
// free without a name counts for the youngest unnamed program. If this may be wrong, the circular
// buffers of the chip are reported as estimates until the chip has no program or is closed.
//
// `chips`, the argument of the constructor, must outlive this object. Not thread-safe.
class Programs {
 public:
  explicit Programs(OpenChips& chips) : chips_(chips) {}

  // Returns a number that no program has. A kernel without a program gets this number.
  std::uint64_t number() { return next_++; }

  // ---- Named programs ----

  // Returns the number of a program, and makes the program a named program.
  std::uint64_t name(const ::tt::tt_metal::Program& program);
  // Returns the number of circular buffers in the next list of a program. Returns 0 if the number
  // is unknown.
  [[nodiscard]] std::size_t length_of(std::uint64_t program) const;
  // Returns how often kernels_of() was called for a program. Returns 0 if the program is unknown.
  [[nodiscard]] int kernels_known(std::uint64_t program) const;
  // Sets the bytes of the program's kernels on a core. The kernels are on `cores`. If `cores` is
  // empty, the kernels are assumed to be on the cores of the program's circular buffers.
  void kernels_of(std::uint64_t program, const KernelBytes& bytes,
                  const ::tt::tt_metal::CoreRangeSet& cores);
  // Records that the program was sent to the mesh. Does nothing if no list of the program was
  // reported for this mesh.
  void dispatched(std::uint64_t program, const OpenMesh& mesh);
  // Records that the program is about to be sent to the mesh. Reports a dispatch now if the
  // program's circular buffers are known, and again if a new list of its circular buffers follows.
  // If `of_several`, the program may be sent to only some of the chips, so the figures are
  // estimates.
  void announced(std::uint64_t program, const OpenMesh& mesh, bool of_several);
  // Removes a program that is about to be destroyed.
  void forget(const ::tt::tt_metal::Program& program);
  void replayed(const std::vector<const ::tt::tt_metal::Program*>& programs,
                const ChipNumbers& chips);

  // ---- Lists and frees ----

  // Adds a complete list. `current` is the program that was named last on the thread of the list,
  // or 0.
  void listed(const CbList& list, std::uint64_t current);

  // Consecutive frees on one thread. TT-Metal reports the free of a program on one chip after the
  // other.
  class FreeRow {
   public:
    [[nodiscard]] bool empty() const { return parts_.empty(); }

   private:
    friend class Programs;
    struct Part {
      ChipNumbers still_to_come;
      // The program as it was before its first free. If some chips report no free, the program is
      // placed on them again. nullopt if the program has certainly ended.
      std::optional<PlacedProgram> whole;
    };
    std::vector<Part> parts_;
  };
  void freed(FreeRow& row, std::uint32_t chip);
  // Ends the row. An unnamed program that was freed on only some of its chips is placed again on
  // its other chips.
  void end(FreeRow& row);

  // Records that these chips have L1 buffers, so circular buffers may be views on them. If all
  // circular buffers of a program are views, TT-Metal reports the program's free but not its list.
  // Such a free may be counted for the wrong unnamed program, and the mistake is never noticed. So
  // after a free on these chips, the figures are estimates.
  void may_have_views(const ChipNumbers& chips) { views_.insert(chips.begin(), chips.end()); }

  // Removes named programs that have been destroyed, even if no hook reported their end. Checks at
  // most `at_most` programs. The next call continues after them.
  void remove_destroyed(std::size_t at_most);
  // Removes destroyed programs that have no circular buffers, because no hook reports their end.
  // Takes little time.
  void remove_destroyed_silent();
  // Removes all programs from a closed chip.
  void closed(std::uint32_t chip);
  // Forgets everything. Call this in a child process after a fork.
  void forget_all();

 private:
  struct Program : PlacedProgram {
    const void* identity = nullptr;  // address of a named program
    std::weak_ptr<const void> life;  // expires at the end of a named program
    bool knows_end = false;          // true after `life` was set
    bool is_listed = false;
    // The circular buffers that the program declares, without addresses. The first list should have
    // these. Empty after the first list.
    std::vector<ProgramCb> expected;
    // The chips on which the program will be freed, including closed chips.
    ChipNumbers frees;
    const OpenMesh* sent_to = nullptr;  // set by announced()
    bool of_several = false;
    KernelBytes kernel_bytes;
    ::tt::tt_metal::CoreRangeSet kernel_cores;
    int kernels_known = 0;
  };
  // Keyed by the number in the tracker, so the youngest program is last.
  using Table = std::map<std::uint64_t, Program>;
  struct Dead {
    ChipNumbers frees;
    std::uint64_t when_ns;
  };

  Program* find(const void* identity);
  Program& add(Program program);
  void place(Program& program, const ChipNumbers& chips, bool is_new_layout);
  void send(Program& program, const OpenMesh& mesh);
  void load_kernels(Program& program);
  void remove(Table::iterator program);
  void remove_named(Table::iterator program, std::uint64_t when_ns);
  [[nodiscard]] bool fits(const Program& program, const CbList& list) const;
  Program* find_expecting(const CbList& list);
  void listed_named(Program& program, const std::vector<ProgramCb>& cbs, const ChipNumbers& chips);
  void listed_unnamed(const CbList& list);
  Table::iterator youngest_unnamed(std::uint32_t chip);
  [[nodiscard]] bool is_only_choice(const Program& program, std::uint32_t chip) const;
  void estimate(const ChipNumbers& chips);
  void removed_from(std::uint32_t chip);

  OpenChips& chips_;
  Table programs_;
  std::unordered_map<const void*, std::uint64_t> named_;
  std::set<std::uint64_t> expected_;  // named programs that have no list yet
  std::set<std::uint64_t> silent_;    // named programs whose end no hook reports
  std::vector<Dead> dead_;            // destroyed programs whose frees are not reported yet
  // For each chip, the number of unnamed programs that the chip held when it was closed, and whose
  // frees are not reported yet.
  std::map<std::uint32_t, std::uint32_t> pending_frees_;
  std::map<std::uint32_t, std::uint32_t> live_;  // number of programs on each chip
  std::set<std::uint32_t> estimated_;
  std::set<std::uint32_t> views_;               // chips of may_have_views()
  std::set<std::uint32_t> estimated_for_good_;  // chips that stay estimated until they are closed
  std::uint64_t next_ = 1;
  std::uint64_t last_checked_ = 0;  // the program that was checked last
};

}  // namespace ttmem::tt_metal

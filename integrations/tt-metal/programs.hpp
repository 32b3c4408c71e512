// SPDX-License-Identifier: Apache-2.0
//
// The programs that TT-Metal's hooks tell of, and which of them a list or a free means.
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

// A program is *named* when host code or ttnn said which one runs: its lists replace each other,
// and its end is noticed by itself. The lists of other programs come without a name: each counts as
// a new program, and of those the youngest counts as freed. Where this could be wrong, the circular
// buffers of the chip are reported as estimates, until it has no program any more, or is closed.
//
// Chips are those of `chips`. Not thread-safe.
class Programs {
 public:
  explicit Programs(OpenChips& chips) : chips_(chips) {}

  // A number that no program has, for a kernel without one.
  std::uint64_t number() { return next_++; }

  // ---- Named programs ----

  // The number of a program, which is named from now on.
  std::uint64_t name(const ::tt::tt_metal::Program& program);
  // How many circular buffers the next list of a program has; 0: not known.
  [[nodiscard]] std::size_t length_of(std::uint64_t program) const;
  // How often kernels_of() was told of a program; 0 for one that is not known.
  [[nodiscard]] int kernels_known(std::uint64_t program) const;
  // What its kernels take on a core. They are on `cores`; if these are empty, on the cores of its
  // circular buffers, by assumption.
  void kernels_of(std::uint64_t program, const KernelBytes& bytes,
                  const ::tt::tt_metal::CoreRangeSet& cores);
  // It was sent to the mesh. Nothing happens if it was not listed there.
  void dispatched(std::uint64_t program, const OpenMesh& mesh);
  // It is about to be sent to the mesh, and counts as sent: at once, and again when a list of it
  // follows. With `of_several` it may be for some of the chips only.
  void announced(std::uint64_t program, const OpenMesh& mesh, bool of_several);
  // It is about to be destroyed.
  void forget(const ::tt::tt_metal::Program& program);
  void replayed(const std::vector<const ::tt::tt_metal::Program*>& programs,
                const ChipNumbers& chips);

  // ---- Lists and frees ----

  // A list is complete. `current` is the program that its thread has named last, or 0.
  void listed(const CbList& list, std::uint64_t current);

  // The frees that a thread reports in a row. A program is freed on one chip after the other.
  class FreeRow {
   public:
    [[nodiscard]] bool empty() const { return parts_.empty(); }

   private:
    friend class Programs;
    struct Part {
      ChipNumbers still_to_come;
      std::optional<PlacedProgram> whole;  // to go back to, unless its end is certain
    };
    std::vector<Part> parts_;
  };
  void freed(FreeRow& row, std::uint32_t chip);
  // The row is over. A program that was freed on some chips only stays on the others.
  void end(FreeRow& row);

  // These chips have L1 buffers, so that circular buffers may be views on them. Of a program whose
  // circular buffers are all views, TT-Metal reports the free alone: the free of a program without
  // a name may be that of another one which is not known, and no later free shows which it was.
  void may_have_views(const ChipNumbers& chips) { views_.insert(chips.begin(), chips.end()); }

  // Removes named programs that have been destroyed, whether a hook told of it or not. Looks at
  // some of them, the next time at others.
  void bury(std::size_t at_most);
  // The same for those without circular buffers, of whose end no hook tells: cheap.
  void bury_silent();
  // The chip is closed: nothing is left there.
  void closed(std::uint32_t chip);
  // In a child of the process.
  void forget_all();

 private:
  struct Program : PlacedProgram {
    const void* identity = nullptr;  // of a named one
    std::weak_ptr<const void> life;  // of a named one
    bool knows_end = false;          // `life` was there
    bool is_listed = false;
    std::vector<ProgramCb> expected;  // before its first list: what that will be, without addresses
    ChipNumbers frees;                // where it will be freed, closed chips too
    const OpenMesh* sent_to = nullptr;  // by announced()
    bool of_several = false;
    KernelBytes kernel_bytes;
    ::tt::tt_metal::CoreRangeSet kernel_cores;
    int kernels_known = 0;
  };
  using Table = std::map<std::uint64_t, Program>;  // by the tracker's number: the youngest last
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
  Program* expecting(const CbList& list);
  void listed_named(Program& program, const std::vector<ProgramCb>& cbs, const ChipNumbers& chips);
  void listed_nameless(const CbList& list);
  Table::iterator youngest_nameless(std::uint32_t chip);
  [[nodiscard]] bool is_only_choice(const Program& program, std::uint32_t chip) const;
  void estimate(const ChipNumbers& chips);
  void left(std::uint32_t chip);

  OpenChips& chips_;
  Table programs_;
  std::unordered_map<const void*, std::uint64_t> named_;
  std::set<std::uint64_t> expected_;  // named programs without a list
  std::set<std::uint64_t> silent_;    // named programs that will not be freed by a hook
  std::vector<Dead> dead_;            // whose frees are still to come
  // By chip: nameless programs that were there when it was closed. Their frees are still to come.
  std::map<std::uint32_t, std::uint32_t> outlived_;
  std::map<std::uint32_t, std::uint32_t> live_;  // by chip: how many programs
  std::set<std::uint32_t> estimated_;
  std::set<std::uint32_t> views_;               // see may_have_views()
  std::set<std::uint32_t> estimated_for_good_;  // until the chip is closed
  std::uint64_t next_ = 1;
  std::uint64_t looked_at_ = 0;  // the last program that bury() looked at
};

}  // namespace ttmem::tt_metal

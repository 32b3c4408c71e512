// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "analyse/report/steady_growth.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

// What grows from mark to mark of a process. Marks belong together when their names differ only in
// numbers, and so do allocations: by kind, scope and label. Of programs the number counts, by scope
// and name, and of all programs of a process also what their circular buffers take.
//
// A mark costs what changed since the one before of that name. Of the names of a process the 4 that
// it used most often count. Not thread-safe; `tables` must outlive it.
class MarkGrowth {
 public:
  // `devices`: of which, [device - 1]; empty: of all.
  explicit MarkGrowth(const recording::Tables& tables, std::vector<bool> devices = {});

  // True if no name was marked often enough, so that nothing can be found.
  [[nodiscard]] bool is_idle() const { return series_.empty(); }

  void allocate(const recording::RecordedAllocation& allocation) { change(allocation, 1); }
  void free(const recording::RecordedAllocation& allocation) { change(allocation, -1); }
  void place(const recording::RecordedProgram& program) { change(program, 1); }
  void remove(const recording::RecordedProgram& program) { change(program, -1); }
  // cb_bytes(device): what the programs on a device take now.
  template <typename CbBytes>
  void mark(const recording::Mark& mark, CbBytes&& cb_bytes) {
    for_each_process(mark, [&](recording::RowId process) {
      Series* const series = series_of(process, mark);
      if (series == nullptr) return;
      std::uint64_t bytes = 0;
      for (const recording::RowId device : devices_of_[process_index(process)]) {
        bytes += cb_bytes(device);
      }
      look(*series, bytes);
    });
  }

  // What grew most first.
  [[nodiscard]] std::vector<Growth> growth() const;

 private:
  static constexpr std::size_t kMaxSeries = 4;  // of a process

  // The marks of a process that have one name.
  struct Series {
    recording::RowId process = 0;
    std::size_t place = 0;  // among those of its process
    std::string name;
    std::uint32_t looks = 0;  // all there will be
    std::uint32_t next = 0;
    std::vector<std::uint32_t> changed;  // entries, since its last mark
  };
  // What is added up: allocations, programs of a name, or all programs.
  struct Group {
    Kind kind = Kind::dram;
    std::string scope;  // its pattern, when several differ in numbers
    std::string label;  // the same
    bool all_programs = false;
  };
  struct Look {
    SteadyGrowth bytes;
    SteadyGrowth count;
    bool changed = false;
  };
  // A group of one process.
  struct Entry {
    recording::RowId process = 0;
    std::uint32_t group = 0;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    std::vector<Look> looks;  // one for each series of the process
  };

  static std::size_t process_index(recording::RowId process) {
    return static_cast<std::size_t>(process - 1);
  }
  // Calls visit(process) for that of the mark; of an import it has none, and is one of all.
  template <typename Visitor>
  void for_each_process(const recording::Mark& mark, Visitor&& visit) const {
    if (mark.process != 0) return visit(mark.process);
    for (const recording::RecordedProcess& process : tables_.processes) visit(process.id);
  }
  void find_series();
  [[nodiscard]] Series* series_of(recording::RowId process, const recording::Mark& mark);
  [[nodiscard]] std::uint32_t group_of(Kind kind, std::uint32_t scope, std::uint32_t label);
  void change(const recording::RecordedAllocation& allocation, int direction);
  void change(const recording::RecordedProgram& program, int direction);
  Entry& entry(recording::RowId process, std::uint32_t group);
  void note(Entry& entry, std::uint64_t bytes, std::uint64_t count);
  void look(Series& series, std::uint64_t cb_bytes);
  [[nodiscard]] Growth growth_of(const Entry& entry, const Series& series) const;

  const recording::Tables& tables_;
  std::vector<std::uint32_t> on_devices_;                      // of each set: how many count
  std::vector<std::vector<recording::RowId>> devices_of_;      // [process - 1], those that count
  std::vector<bool> counts_;                                   // [device - 1]
  std::vector<Series> series_;                                 // those of a process in a row
  std::vector<std::vector<std::uint32_t>> series_of_process_;  // [process - 1]
  boost::unordered_flat_map<std::string, std::uint32_t> series_by_name_;  // process and pattern
  std::vector<Group> groups_;                                             // the first: all programs
  boost::unordered_flat_map<std::string, std::uint32_t> group_by_pattern_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> group_by_names_;  // kind, scope, label
  std::vector<std::uint32_t> group_of_request_;                             // [request - 1]
  std::vector<Entry> entries_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> entry_of_;  // process and group
};

}  // namespace ttmem::report

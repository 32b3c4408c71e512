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

// Finds allocations and programs that grow from mark to mark of a process. Marks whose names differ
// only in numbers belong to one series. Allocations with the same kind, scope and label form a
// group, and so do programs with the same scope and name. Numbers in these names are ignored too.
// For a group of programs, compares only the number of programs. For all programs of a process
// together, also reports the bytes of their circular buffers.
//
// A mark takes time in proportion to the changes since the previous mark of its series. Only the 4
// longest series of a process are used. Not thread-safe; `tables` must outlive this object.
class MarkGrowth {
 public:
  // `devices` is indexed by [device - 1] and selects devices. If `devices` is empty, all devices
  // are selected.
  explicit MarkGrowth(const recording::Tables& tables, std::vector<bool> devices = {});

  // Returns true if no series has enough marks, so that no growth can be found.
  [[nodiscard]] bool is_idle() const { return series_.empty(); }

  void allocate(const recording::RecordedAllocation& allocation) { change(allocation, 1); }
  void free(const recording::RecordedAllocation& allocation) { change(allocation, -1); }
  void place(const recording::RecordedProgram& program) { change(program, 1); }
  void remove(const recording::RecordedProgram& program) { change(program, -1); }
  // Adds a mark. cb_bytes(device) returns the present bytes of the programs on a device.
  template <typename CbBytes>
  void mark(const recording::Mark& mark, CbBytes&& cb_bytes) {
    for_each_process(mark, [&](recording::RowId process) {
      Series* const series = series_of(process, mark);
      if (series == nullptr) return;
      std::uint64_t bytes = 0;
      for (const recording::RowId device : devices_of_[process_index(process)]) {
        bytes += cb_bytes(device);
      }
      add_mark(*series, bytes);
    });
  }

  // Returns the groups that grew, the largest growth first.
  [[nodiscard]] std::vector<Growth> growth() const;

 private:
  static constexpr std::size_t kMaxSeries = 4;  // the maximum per process

  // The marks of a process whose names differ only in numbers.
  struct Series {
    recording::RowId process = 0;
    std::size_t place = 0;  // index among the series of its process
    std::string name;
    std::uint32_t marks = 0;  // number of marks in the whole recording
    std::uint32_t next = 0;
    std::vector<std::uint32_t> changed;  // indexes of entries that changed since the last mark
  };
  // A group of allocations, or of programs of one name, or all programs.
  struct Group {
    Kind kind = Kind::dram;
    std::string scope;  // a pattern if the scopes differ in numbers
    std::string label;  // a pattern if the labels differ in numbers
    bool all_programs = false;
  };
  struct Look {
    SteadyGrowth bytes;
    SteadyGrowth count;
    bool changed = false;
  };
  // A group in one process.
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
  // Calls visit(process) for the process of the mark. A mark without a process counts for all
  // processes.
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
  void add_mark(Series& series, std::uint64_t cb_bytes);
  [[nodiscard]] Growth growth_of(const Entry& entry, const Series& series) const;

  const recording::Tables& tables_;
  std::vector<std::uint32_t> on_devices_;  // [set - 1]: how many of its devices are selected
  std::vector<std::vector<recording::RowId>> devices_of_;  // [process - 1]: its selected devices
  std::vector<bool> counts_;                               // [device - 1]: true if selected
  std::vector<Series> series_;                             // the series of a process are adjacent
  std::vector<std::vector<std::uint32_t>> series_of_process_;  // [process - 1]: its series
  boost::unordered_flat_map<std::string, std::uint32_t> series_by_name_;  // by process and pattern
  std::vector<Group> groups_;  // the first group is all programs
  boost::unordered_flat_map<std::string, std::uint32_t> group_by_pattern_;
  // By kind, scope and label.
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> group_by_names_;
  std::vector<std::uint32_t> group_of_request_;  // [request - 1]: its group
  std::vector<Entry> entries_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> entry_of_;  // by process and group
};

}  // namespace ttmem::report

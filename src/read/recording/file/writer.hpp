// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/core_mask.hpp"
#include "base/result.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::recording {

// Writes a recording. The memory use depends on the number of distinct values (texts, requests,
// layouts) and on the number of rows between two commits.
// Calls of begin() must come in order of time: the rows of a table are then in this order, and a
// reader can follow the story without sorting. A time before the previous begin is replaced by the
// time of the previous begin.
// A row is written at the next commit, with its end if the end is known by then. Most rows have a
// short life and are written only once. After a failure (a full disk) all calls do nothing, and
// commit() returns the error. Not thread-safe.
class Writer {
 public:
  // Fails if the file exists, unless `overwrite` is true. Only a regular file is ever overwritten:
  // not /dev/null, and not a link such as /dev/stdout, because overwriting would remove such a file
  // for all processes.
  [[nodiscard]] static Result<void> may_create(const std::string& path, bool overwrite);
  // Creates the recording. Fails like may_create(), and if the file cannot be written; no file is
  // left on failure. An aggregate leaves out freed allocations and dispatches. Catches SIGXFSZ from
  // now on, so that a write beyond the file size limit of the shell fails like a write to a full
  // disk.
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(const std::string& path,
                                                              const Run& run, bool overwrite);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Return the row of a value, and add the row if it is new. Equal values share one row. An empty
  // text has row 0.
  [[nodiscard]] std::uint32_t text(std::string_view text);
  [[nodiscard]] std::uint32_t scope(std::string_view path);
  [[nodiscard]] std::uint32_t core_set(const CoreMask& cores);
  [[nodiscard]] RowId request(const RecordedRequest& request);
  [[nodiscard]] RowId layout(const Layout& layout);
  [[nodiscard]] RowId launch(const Launch& launch);
  [[nodiscard]] RowId device_set(std::span<const RowId> devices);  // `devices` must be ascending

  // Add a row, and return its id. The `id` of the argument is ignored.
  RowId begin(const RecordedProcess& process);
  RowId begin(const RecordedDevice& device);
  RowId begin(const RecordedAllocation& allocation);
  RowId begin(const RecordedProgram& program);
  // Replace the row `id` by the argument, which may include the end of the row.
  void change(const RecordedProcess& process);
  void change(const RecordedDevice& device);
  // Replaces the row of this process and scope.
  void change(const ScopeOfProcess& scope);
  void end_allocation(RowId row, Time time, Ending ending);
  // Ends an allocation on some of its devices. The ends of an allocation must come in the order of
  // time, and end_allocation() comes last.
  void end_part(RowId allocation, const PartialEnd& part);
  void end_program(RowId row, Time time, Ending ending);

  void add(const Dispatch& dispatch);
  void add(const Mark& mark);
  void add(const RecordedFailure& failure);
  void add(const Gap& gap);
  void add(const RecordedSample& sample);

  // Sets the number of events so far, for a run that may end without finish().
  void count(std::uint64_t events, std::uint64_t lost_events);

  // Writes all rows so far to the file, where they survive a kill of this process.
  [[nodiscard]] Result<void> commit();
  // Writes the final data of the run, and commits for the last time.
  [[nodiscard]] Result<void> finish(const Run& run);

 private:
  class File;
  explicit Writer(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace ttmem::recording

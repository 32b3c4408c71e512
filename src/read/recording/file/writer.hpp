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

// Writes a recording. Memory is bounded by what differs (texts, requests, layouts), and by what
// happens between two commits.
//
// What begins must come in the order of its time: the rows of a table are then in that order, and a
// reader can follow the story without sorting it. A time that is before the last one is taken for
// that.
//
// A row is written with the next commit, with its end if that is known by then. So short lives,
// which are most, are written once. After a failure (a full disk) calls do nothing, and commit()
// says why. Not thread-safe.
class Writer {
 public:
  // Fails when the file is there, unless it may be overwritten. Only a plain file ever is: not
  // /dev/null, and not a link such as /dev/stdout, which would be gone for everybody.
  [[nodiscard]] static Result<void> may_create(const std::string& path, bool overwrite);
  // Creates the recording. Fails like may_create(), and if the file cannot be written; no file is
  // left on failure. An aggregate drops freed allocations, and dispatches. Ignores SIGXFSZ from now
  // on, so that a file beyond a limit of the shell is a failure.
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(const std::string& path,
                                                              const Run& run, bool overwrite);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The row of that value; 0 for an empty text. Equal values have one row.
  [[nodiscard]] std::uint32_t text(std::string_view text);
  [[nodiscard]] std::uint32_t scope(std::string_view path);
  [[nodiscard]] std::uint32_t core_set(const CoreMask& cores);
  [[nodiscard]] RowId request(const Request& request);
  [[nodiscard]] RowId layout(const Layout& layout);
  [[nodiscard]] RowId launch(const Launch& launch);
  [[nodiscard]] RowId device_set(std::span<const RowId> devices);  // ascending

  // Each returns the new row; `id` of the argument means nothing.
  RowId begin(const Process& process);
  RowId begin(const Device& device);
  RowId begin(const Allocation& allocation);
  RowId begin(const Program& program);
  // What is known of the row `id` by now, also its end.
  void change(const Process& process);
  void change(const Device& device);
  // Of the scope that it names, in that process.
  void change(const ScopeOfProcess& scope);
  void end_allocation(RowId row, Time time, Ending ending);
  void end_program(RowId row, Time time, Ending ending);

  void add(const Dispatch& dispatch);
  void add(const Mark& mark);
  void add(const Failure& failure);
  void add(const Gap& gap);
  void add(const Sample& sample);

  // Sets the number of events so far, for a run that may end without finish().
  void count(std::uint64_t events, std::uint64_t lost_events);

  // From now on the file has all of this, whoever is killed.
  [[nodiscard]] Result<void> commit();
  // The last commit, with what is known of the run by then.
  [[nodiscard]] Result<void> finish(const Run& run);

 private:
  class File;
  explicit Writer(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace ttmem::recording

// SPDX-License-Identifier: Apache-2.0
#include "show/exports/format.hpp"

#include <utility>

namespace ttmem::exports {
namespace {

Result<Notes> with_note_of_aggregate(const ExportJob& job, Result<Notes> notes) {
  if (notes && job.reader.tables().run.aggregate) {
    notes->emplace_back(
        "the recording is an aggregate: only what was never freed is in it, not what made the "
        "peak");
  }
  return notes;
}

}  // namespace

Result<Notes> write(const ExportJob& job, const ExportFormat& format, Output output) {
  auto notes = format.write(job, output);
  if (!notes) return notes;
  const auto finished = output.finish();
  if (!finished) return finished.error();
  return with_note_of_aggregate(job, std::move(notes));
}

Result<Notes> write(const ExportJob& job, const ExportFormat& format) {
  if (format.write_folder != nullptr) {
    auto folder = OutputFolder::create(job.path, job.overwrite);
    if (!folder) return folder.error();
    return with_note_of_aggregate(job, format.write_folder(job, *folder));
  }
  auto output = Output::create(job.path, job.overwrite);
  return output ? write(job, format, std::move(*output)) : output.error();
}

}  // namespace ttmem::exports

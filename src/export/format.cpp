// SPDX-License-Identifier: Apache-2.0
#include "export/format.hpp"

namespace ttmem::exporter {

namespace {

Result<Notes> write_out(const Job& job, const Format& format) {
  if (format.write_folder != nullptr) {
    auto folder = OutputFolder::create(job.path, job.overwrite);
    return folder ? format.write_folder(job, *folder) : folder.error();
  }
  auto output = Output::create(job.path, job.overwrite);
  if (!output) return output.error();
  auto notes = format.write(job, *output);
  if (!notes) return notes;
  const auto finished = output->finish();
  if (!finished) return finished.error();
  return notes;
}

}  // namespace

Result<Notes> write(const Job& job, const Format& format) {
  auto notes = write_out(job, format);
  if (notes && job.reader.tables().run.aggregate) {
    notes->emplace_back(
        "the recording is an aggregate: only what was never freed is in it, not what made the "
        "peak");
  }
  return notes;
}

}  // namespace ttmem::exporter

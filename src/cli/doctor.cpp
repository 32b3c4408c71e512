// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor.hpp"

#include "cli/commands.hpp"
#include "show/views/checks.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kDoctorExamples = R"(
Examples:
  ttmem doctor          why do I see nothing? What is missing, and what to type
  ttmem doctor --json   the same for machines

Looks at the kernel driver and its chips, shared memory, segments and regions, processes that
report nothing, TT-Metal and the adapter for it, and this shell. Changes nothing. The exit code is 1
when something prevents measuring.)";

int examine(const CommonOptions& common) {
  const std::vector<model::Check> checks = doctor::examine();
  const std::string text =
      common.json ? views::checks_json(checks) : views::checks_text(checks, text_options(common));
  if (const int printed = print(text); printed != kSuccess) return printed;
  return views::all_well(checks) ? kSuccess : kFailure;
}

}  // namespace

void add_doctor(Command& app, CommonOptions& common) {
  Command command = app.add_subcommand(
      "doctor", "Why do I see nothing: what is missing, what to type", kDoctorExamples);
  command.add_flag("--json", common.json, "JSON: schema ttmem.doctor.v1");
  add_color(command, common);
  command.does([&common] { return examine(common); });
}

}  // namespace ttmem::cli

// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/promql.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

namespace ttmem::fleet {
namespace {

// $H stands for the label of the host, $J for the label of the job.
struct Template {
  Figure figure;
  std::string_view rule;
  std::string_view plain;
};

#define TTMEM_DRAM_USED R"(ttmem_memory_used_bytes{kind="dram"})"
#define TTMEM_DRAM_CAPACITY R"(ttmem_memory_capacity_bytes{memory="dram"})"
#define TTMEM_L1_CAPACITY R"(ttmem_memory_capacity_bytes{memory="l1"})"

// One series per process, with the label of its job.
#define TTMEM_OF_JOBS R"(max by ($H, pid, pid_namespace, $J) (ttmem_process_info{$J!=""}))"
#define TTMEM_HELD_BY_JOBS          \
  "ttmem_process_memory_used_bytes" \
  " * on ($H, pid, pid_namespace) group_left ($J) " TTMEM_OF_JOBS

constexpr std::array<Template, kFigureCount> kTemplates = {{
    {Figure::up, "", "max by ($H) (ttmem_up)"},
    // Targets that do not answer, in the scrape jobs that had ttmem series in the last hour.
    {Figure::down, "",
     "max by ($H) (up == 0 and on (job) group by (job) (last_over_time(ttmem_up[1h])))"},
    {Figure::devices, "ttmem:host_devices:count", "count by ($H) (ttmem_device_info)"},
    {Figure::used, "ttmem:host_memory_used_bytes:sum",
     "sum by ($H, kind) (ttmem_memory_used_bytes)"},
    {Figure::dram_known, "", "count by ($H) (" TTMEM_DRAM_USED ")"},
    {Figure::capacity, "ttmem:host_memory_capacity_bytes:sum",
     "sum by ($H, memory) (ttmem_memory_capacity_bytes)"},
    {Figure::capacity_known, "", "count by ($H, memory) (ttmem_memory_capacity_bytes)"},
    {Figure::l1_used, "", "sum by ($H) (ttmem_l1_used_bytes)"},
    {Figure::l1_known, "", "count by ($H) (ttmem_l1_used_bytes)"},
    // Only devices whose use and capacity are known, as in the rule ttmem:host_dram_used:ratio.
    {Figure::dram_fill, "",
     "sum by ($H) (" TTMEM_DRAM_USED " and ignoring (kind, memory) " TTMEM_DRAM_CAPACITY ")"},
    {Figure::dram_fill_capacity, "",
     "sum by ($H) (" TTMEM_DRAM_CAPACITY " and ignoring (kind, memory) " TTMEM_DRAM_USED ")"},
    {Figure::l1_fill, "",
     "sum by ($H) (ttmem_l1_used_bytes and ignoring (memory) " TTMEM_L1_CAPACITY ")"},
    {Figure::l1_fill_capacity, "",
     "sum by ($H) (" TTMEM_L1_CAPACITY " and ignoring (memory) ttmem_l1_used_bytes)"},
    {Figure::estimates, "",
     "group by ($H) (ttmem_cb_estimate > 0 or ttmem_kernels_estimated_bytes > 0)"},
    {Figure::headroom, "", "bottomk by ($H) (1, ttmem_l1_headroom_bytes)"},
    {Figure::dram_left, "",
     "bottomk by ($H) (1, " TTMEM_DRAM_CAPACITY " - ignoring (kind, memory) " TTMEM_DRAM_USED ")"},
    {Figure::complete, "", "min by ($H) (ttmem_complete)"},
    {Figure::warnings, "", "max by ($H) (ttmem_warnings)"},
    {Figure::users, "", "sum by ($H) (ttmem_processes)"},
    {Figure::processes, "",
     "count by ($H) (count by ($H, pid, pid_namespace) (ttmem_process_info))"},
    {Figure::untracked, "", "sum by ($H) (ttmem_untracked_processes)"},
    {Figure::died, "", "sum by ($H) (ttmem_dead_processes_total)"},
    {Figure::held, "", "sum by ($H, kind) (ttmem_process_memory_used_bytes)"},
    {Figure::job_held, "ttmem:job_host_memory_used_bytes:sum",
     "sum by ($J, $H, kind) (" TTMEM_HELD_BY_JOBS ")"},
    {Figure::job_processes, "", "count by ($J, $H) (" TTMEM_OF_JOBS ")"},
    {Figure::job_headroom, "ttmem:job_l1_headroom_bytes:min",
     // Joins by device number and uid if the series of a process have a uid, otherwise by device
     // number alone. The series have a uid only if several chips of the host share a number.
     "min by ($J) (max by ($J, $H, device, uid) (" TTMEM_HELD_BY_JOBS " >= bool 0)"
     " * on ($H, device, uid) group_left () (min by ($H, device, uid) (ttmem_l1_headroom_bytes)"
     " or min by ($H, device) (ttmem_l1_headroom_bytes)))"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTemplates.size(); ++i) {
    if (static_cast<std::size_t>(kTemplates[i].figure) != i) return false;
  }
  return true;
}
static_assert(in_order());

std::string filled(std::string_view text, const LabelNames& labels) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
    } else {
      result += text[++i] == 'H' ? labels.host : labels.job;
    }
  }
  return result;
}

}  // namespace

Result<std::string> parse_label(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool right = !text.empty() && is_letter(text[0]) &&
                     std::all_of(text.begin(), text.end(),
                                 [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (right) return text;
  return Error{"not the name of a label: letters, digits and _"};
}

Query query_for(Figure figure, const LabelNames& labels) {
  const Template& one = kTemplates[static_cast<std::size_t>(figure)];
  const bool has_rules = labels == LabelNames();
  return {has_rules ? std::string(one.rule) : std::string(), filled(one.plain, labels)};
}

std::string target_of(std::string_view query) {
  return "/api/v1/query?query=" + boost::urls::encode(query, boost::urls::unreserved_chars);
}

}  // namespace ttmem::fleet

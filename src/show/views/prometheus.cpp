// SPDX-License-Identifier: Apache-2.0
#include "show/views/prometheus.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <deque>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using model::Device;
using model::Process;
using model::Snapshot;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Returns the text with invalid bytes replaced, because Prometheus refuses a page that is not valid
// UTF-8.
std::string utf8(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t bytes = decode_utf8(text).bytes;
    clean += bytes == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return clean;
}

// The labels of a sample, and a key. Two samples have equal keys only if their labels are equal.
struct MetricLabels {
  MetricLabels() = default;
  MetricLabels(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
    for (const auto& [name, value] : labels) add(name, value);
  }

  void add(std::string_view name, std::string_view value) {
    // Skips an empty value, because Prometheus treats it as a missing label.
    if (value.empty()) return;
    list.push_back({std::string(name), utf8(value)});
    key += name;
    key += '\xff';  // ends the name, because no name contains this byte
    key += list.back().value;
    key += '\xff';  // ends the value, because no value contains this byte
  }
  [[nodiscard]] MetricLabels with(std::string_view name, std::string_view value) const {
    MetricLabels more = *this;
    more.add(name, value);
    return more;
  }

  std::vector<ClientMetric::Label> list;
  std::string key;
};

class Family {
 public:
  Family(std::string name, std::string help, MetricType type)
      : family_{std::move(name), std::move(help), type, {}} {}

  template <typename Number>
  void add(MetricLabels labels, const std::optional<Number>& value) {
    if (!value) return;
    const auto [known, fresh] = place_.try_emplace(std::move(labels.key), family_.metric.size());
    if (fresh) family_.metric.emplace_back().label = std::move(labels.list);
    ClientMetric& metric = family_.metric[known->second];
    const auto number = static_cast<double>(*value);
    (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) += number;
  }
  [[nodiscard]] MetricFamily& get() { return family_; }

 private:
  MetricFamily family_;
  // Maps the key of the labels to the index of the sample.
  std::unordered_map<std::string, std::size_t> place_;
};

// The metric families of a page, in the order in which they were created.
class Page {
 public:
  Family& gauge(std::string name, std::string help) {
    return families_.emplace_back(std::move(name), std::move(help), MetricType::Gauge);
  }
  Family& counter(std::string name, std::string help) {
    return families_.emplace_back(std::move(name), std::move(help), MetricType::Counter);
  }

  // Returns the text of the page. Leaves out families without samples.
  [[nodiscard]] std::string text() && {
    std::vector<MetricFamily> page;
    for (Family& family : families_) {
      if (!family.get().metric.empty()) page.push_back(std::move(family.get()));
    }
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, page);
    return std::move(text).str();
  }

 private:
  std::deque<Family> families_;  // a deque: adding a family keeps references valid
};

std::string uid_of(const std::optional<std::uint64_t>& uid) {
  return uid ? text::format_hex(*uid) : "";
}

// Returns the labels of a device. `Holder` is Device or DeviceCounters.
template <typename Holder>
MetricLabels labels_of(const Holder& device) {
  return {
      {"device", std::to_string(device.id)}, {"uid", uid_of(device.uid)}, {"arch", device.arch}};
}

// Adds the bus id, which distinguishes chips whose uid is unknown.
void add_bus_id(MetricLabels& labels, const Device& device) {
  if (!device.uid) labels.add("bus_id", device.bus_id);
}

MetricLabels full_labels_of(const Device& device) {
  MetricLabels labels = labels_of(device);
  add_bus_id(labels, device);
  return labels;
}

// Returns the labels of a device without its architecture. Adds the architecture only if two chips
// have the same number and the uid of this chip is unknown.
MetricLabels short_labels_of(const Device& device) {
  MetricLabels labels = {{"device", std::to_string(device.id)}, {"uid", uid_of(device.uid)}};
  if (device.shares_number && !device.uid) labels.add("arch", device.arch);
  add_bus_id(labels, device);
  return labels;
}

// Adds a sample for each kind: the bytes of this kind that `Holder`, a device or a process, uses.
template <typename Holder>
void add_kinds(Family& family, const MetricLabels& labels, const Holder& holder) {
  for (const Kind kind : kDeviceKinds) {
    family.add(labels.with("kind", name_of(kind)), holder.used(kind));
  }
}

void add_info(const Snapshot& snapshot, Page& page) {
  Family& info = page.gauge("ttmem_device_info", "What a device is; always 1.");
  for (const Device& device : snapshot.devices) {
    MetricLabels labels = labels_of(device);
    labels.add("board", device.board);
    labels.add("bus_id", device.bus_id);
    if (device.grid_x != 0) {
      labels.add("grid_x", std::to_string(device.grid_x));
      labels.add("grid_y", std::to_string(device.grid_y));
    }
    info.add(std::move(labels), std::optional(1));
  }
}

void add_memory(const Snapshot& snapshot, Page& page) {
  Family& used =
      page.gauge("ttmem_memory_used_bytes",
                 "Memory of the device that living processes hold, by kind; cb is physical.");
  Family& l1 = page.gauge("ttmem_l1_used_bytes",
                          "Total L1: buffers, L1_SMALL, circular buffers (physical), kernels.");
  Family& data = page.gauge("ttmem_l1_data_bytes",
                            "L1 that buffers take on the cores that hold their bytes, by kind; "
                            "the rest of ttmem_memory_used_bytes is lost to lockstep.");
  Family& estimated = page.gauge("ttmem_kernels_estimated_bytes",
                                 "Of the kernels' bytes, sizes that are estimates.");
  Family& peak = page.gauge("ttmem_memory_peak_bytes",
                            "Peak that the living processes are certain to have reached together.");
  Family& capacity = page.gauge("ttmem_memory_capacity_bytes",
                                "Capacity of the device; l1 is that of all compute cores.");
  Family& headroom =
      page.gauge("ttmem_l1_headroom_bytes",
                 "Between circular buffers and L1 buffers on the fullest core; negative "
                 "when they clash.");
  Family& free = page.gauge("ttmem_memory_free_bytes_per_bank",
                            "What the runtime's allocator has left in every bank, by kind.");
  Family& largest = page.gauge(
      "ttmem_memory_largest_free_bytes_per_bank",
      "The largest free block of every bank, by kind: what one buffer can have at most.");
  for (const Device& device : snapshot.devices) {
    const MetricLabels labels = full_labels_of(device);
    add_kinds(used, labels, device);
    for (const Kind kind : kBankKinds) {
      const MetricLabels of_kind = labels.with("kind", name_of(kind));
      free.add(of_kind, device.free[kind].bytes_per_bank);
      largest.add(of_kind, device.free[kind].largest_per_bank);
    }
    l1.add(labels, device.l1_used_bytes);
    for (const Kind kind : {Kind::l1, Kind::l1_small}) {
      data.add(labels.with("kind", name_of(kind)), device.data(kind));
    }
    estimated.add(labels, device.kernels_estimated_bytes);
    peak.add(labels.with("memory", "dram"), device.peak(Kind::dram));
    peak.add(labels.with("memory", "l1"), device.l1_peak_bytes);
    capacity.add(labels.with("memory", "dram"), device.dram_capacity_bytes);
    capacity.add(labels.with("memory", "l1"), device.l1_capacity_bytes);
    capacity.add(labels.with("memory", "trace"), device.trace_capacity_bytes);
    headroom.add(labels, device.headroom_bytes_per_core);
  }
}

void add_sensors(const Snapshot& snapshot, Page& page) {
  Family& temperature = page.gauge("ttmem_device_temperature_celsius", "Of the chip.");
  Family& power = page.gauge("ttmem_device_power_watts", "What the chip takes.");
  Family& clock = page.gauge("ttmem_device_clock_hertz", "Clock of the compute cores.");
  for (const Device& device : snapshot.devices) {
    const MetricLabels labels = short_labels_of(device);
    temperature.add(labels, device.temperature_c);
    power.add(labels, device.power_w);
    if (device.aiclk_mhz) clock.add(labels, std::optional(*device.aiclk_mhz * 1e6));
  }
}

void add_programs(const Snapshot& snapshot, Page& page) {
  Family& cb =
      page.gauge("ttmem_cb_bytes",
                 "Circular buffers: physical is the union over live programs, resident what was "
                 "dispatched last, logical the plain sum.");
  Family& estimate = page.gauge(
      "ttmem_cb_estimate", "1: the figures of the circular buffers are an estimate; 0: measured.");
  Family& programs =
      page.gauge("ttmem_programs", "Live programs with circular buffers on the device.");
  for (const Device& device : snapshot.devices) {
    const MetricLabels labels = short_labels_of(device);
    cb.add(labels.with("view", "physical"), device.used(Kind::cb));
    cb.add(labels.with("view", "resident"), device.cb_resident_bytes);
    cb.add(labels.with("view", "logical"), device.logical(Kind::cb));
    if (device.cb_estimate) estimate.add(labels, std::optional(*device.cb_estimate ? 1 : 0));
    programs.add(labels, device.programs);
  }
}

// Returns the pid in the server's own pid namespace. If that pid is unknown, returns the pid in the
// process's own pid namespace. The latter is not unique on the machine, so add_pid_namespace() adds
// the pid namespace as a label.
std::string pid_of(const Process& process) {
  return std::to_string(process.host_pid.value_or(process.pid));
}
void add_pid_namespace(MetricLabels& labels, const Process& process) {
  if (process.foreign_pid && !process.host_pid && process.pid_namespace) {
    labels.add("pid_namespace", std::to_string(*process.pid_namespace));
  }
}

MetricLabels labels_of(const Device& device, const Process& process) {
  MetricLabels labels = {{"device", std::to_string(device.id)},
                         {"pid", pid_of(process)},
                         {"process", process.name},
                         {"user", process.user}};
  // Adds the uid, because one process may use two chips with the same number.
  if (device.shares_number) labels.add("uid", uid_of(device.uid));
  add_pid_namespace(labels, process);
  return labels;
}

// Adds one sample per living process with its job, its user and its command as labels. Other
// samples of a process do not repeat the job and the command: a query joins them with this sample
// by the pid.
void add_process_info(const Snapshot& snapshot, Page& page) {
  Family& info = page.gauge("ttmem_process_info", "What a living process is a part of; always 1.");
  std::set<std::string> seen;
  for (const Device& device : snapshot.devices) {
    for (const Process& process : device.processes) {
      if (process.state == model::State::dead) continue;
      MetricLabels labels = {{"pid", pid_of(process)}};
      add_pid_namespace(labels, process);
      for (const JobField& field : kJobFields) {
        // Leaves out fields that repeat other fields or are rarely needed.
        if (field.name == "step" || field.name == "partition" || field.name == "ranks") continue;
        labels.add(field.name, process.job.*field.value);
      }
      labels.add("user", process.user);
      labels.add("command", process.command.empty() ? process.name : process.command);
      if (seen.insert(labels.key).second) info.add(std::move(labels), std::optional(1));
    }
  }
}

void add_processes(const Snapshot& snapshot, bool process_labels, Page& page) {
  Family& used = page.gauge("ttmem_process_memory_used_bytes",
                            "Memory of the device that a living process holds, by kind.");
  Family& processes = page.gauge("ttmem_processes", "Living processes on the device.");
  Family& untracked = page.gauge("ttmem_untracked_processes",
                                 "Processes that have the device open and report nothing; only of "
                                 "devices that the kernel driver shows.");
  Family& dead =
      page.gauge("ttmem_dead_owner_bytes",
                 "Memory of dead processes that nobody has reaped; not counted as in use.");
  for (const Device& device : snapshot.devices) {
    const MetricLabels labels = short_labels_of(device);
    std::uint64_t dead_bytes = 0;
    std::uint64_t alive = 0;
    for (const Process& process : device.processes) {
      if (process.state == model::State::dead) {
        // Does not count rows of TT-Metal's region. TT-Metal keeps the row of a dead process as
        // long as the region is used, and no tool can reap the row.
        if (process.source == model::Source::tt_metal) continue;
        dead_bytes = saturating_add(dead_bytes, held_bytes(process));
        continue;
      }
      ++alive;
      if (!process_labels) continue;
      add_kinds(used, labels_of(device, process), process);
    }
    if (users_known(device)) processes.add(labels, std::optional(alive));
    if (device.driver_number && users_known(device)) {
      untracked.add(labels, std::optional(model::untracked_processes(device)));
    }
    dead.add(labels, std::optional(dead_bytes));
  }
}

void add_counters(const MetricsInput& input, Page& page) {
  Family& allocations = page.counter("ttmem_allocations_total",
                                     "Allocations by tracked processes since the server started.");
  Family& frees =
      page.counter("ttmem_frees_total", "Frees by tracked processes since the server started.");
  Family& dropped =
      page.counter("ttmem_events_dropped_total",
                   "Allocations, programs and calls that processes could not record.");
  for (const model::DeviceCounters& device : input.counters) {
    const MetricLabels labels = labels_of(device);
    allocations.add(labels, std::optional(device.allocations));
    frees.add(labels, std::optional(device.frees));
  }
  dropped.add({}, std::optional(input.events_dropped));
}

}  // namespace

std::string prometheus_text(const std::vector<ServerFigure>& figures) {
  Page page;
  Family* family = nullptr;
  for (const ServerFigure& figure : figures) {
    if (family == nullptr || figure.name != family->get().name) {
      family = figure.counter ? &page.counter(figure.name, figure.help)
                              : &page.gauge(figure.name, figure.help);
    }
    MetricLabels labels;
    for (const auto& [label, value] : figure.labels) labels.add(label, value);
    family->add(std::move(labels), std::optional(figure.value));
  }
  return std::move(page).text();
}

std::string prometheus_text(const Snapshot& snapshot, const MetricsInput& input) {
  Page page;
  page.gauge("ttmem_up", "1: the server can read the directory of the segments; 0: it cannot.")
      .add({}, std::optional(input.up ? 1 : 0));
  page.gauge("ttmem_complete",
             "1: everything there was read; 0: something was not, and sums are \"at least\".")
      .add({}, std::optional(snapshot.complete() ? 1 : 0));
  add_info(snapshot, page);
  add_memory(snapshot, page);
  add_sensors(snapshot, page);
  add_programs(snapshot, page);
  add_processes(snapshot, input.process_labels, page);
  if (input.process_labels) add_process_info(snapshot, page);
  add_counters(input, page);
  return std::move(page).text();
}

}  // namespace ttmem::views

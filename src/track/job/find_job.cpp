// SPDX-License-Identifier: Apache-2.0
#include "track/job/find_job.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/environment.hpp"
#include "base/read_text.hpp"

namespace ttmem::job {
namespace {

constexpr std::size_t kContainerIdDigits = 64;
constexpr std::size_t kShownIdDigits = 12;  // as docker and podman show an id
constexpr std::size_t kPodUidDigits = 32;   // without dashes

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_number(std::string_view text) {
  constexpr std::size_t most = 9;
  return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), is_digit);
}

// Returns the part of `rest` before the next `end`. Removes this part and the `end` from `rest`.
std::string_view take(std::string_view& rest, char end) {
  const std::string_view part = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

std::string first_of(const Variables& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return {};
}

// Finds the rank that the innermost launcher gave to the process. There may be several launchers:
// under Slurm, for example, `mpirun` and `torchrun` start several processes in one Slurm task.
void find_rank(const Variables& variable, Job& job) {
  constexpr struct {
    const char* rank;
    const char* ranks;
    bool only_together;  // used only with `ranks`: RANK alone may mean something else
  } launchers[] = {{"RANK", "WORLD_SIZE", true},
                   {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
                   {"PMIX_RANK", "PMIX_SIZE", false},
                   {"PMI_RANK", "PMI_SIZE", false},
                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false}};
  for (const auto& launcher : launchers) {
    const std::string rank = variable(launcher.rank);
    const std::string ranks = variable(launcher.ranks);
    if (!is_number(rank) || (launcher.only_together && !is_number(ranks))) continue;
    job.rank = rank;
    if (is_number(ranks)) job.ranks = ranks;
    return;
  }
}

// Finds the id of a container in "docker-<64 digits>.scope", "cri-containerd-<64 digits>.scope", or
// the digits alone. Returns its first 12 digits.
std::string container_in(std::string_view part) {
  for (std::size_t begin = 0; begin < part.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if_not(part.begin() + static_cast<std::ptrdiff_t>(begin), part.end(), is_hex) -
        part.begin());
    if (end - begin == kContainerIdDigits) return std::string(part.substr(begin, kShownIdDigits));
    begin = end + 1;
  }
  return {};
}

// Returns the pod uid at the start of `text`. systemd's names have '_' in place of each '-'.
std::string pod_uid_at(std::string_view text) {
  std::string uid;
  std::size_t digits = 0;
  for (const char c : text) {
    if (!is_hex(c) && c != '-' && c != '_') break;
    uid += c == '_' ? '-' : c;
    digits += is_hex(c) ? 1 : 0;
  }
  return digits == kPodUidDigits ? uid : std::string();
}

// Finds the uid in "kubepods-burstable-pod<uid>.slice" or "pod<uid>".
std::string pod_uid_in(std::string_view part) {
  constexpr std::string_view mark = "pod";
  for (std::size_t at = part.find(mark); at != std::string_view::npos;
       at = part.find(mark, at + 1)) {
    if (std::string uid = pod_uid_at(part.substr(at + mark.size())); !uid.empty()) return uid;
  }
  return {};
}

void keep_first(std::string& known, std::string found) {
  if (known.empty()) known = std::move(found);
}

// Finds the job, the pod and the container in /proc/PID/cgroup, whose lines contain paths such as
// "0::/kubepods.slice/.../cri-containerd-<id>.scope".
void read_cgroup(std::string_view cgroup, Job& job) {
  while (!cgroup.empty()) {
    std::string_view path = take(cgroup, '\n');
    take(path, ':');
    take(path, ':');
    const bool of_slurm = path.find("slurm") != std::string_view::npos;
    while (!path.empty()) {
      const std::string_view part = take(path, '/');
      const auto numbered = [&](std::string_view name) {
        const bool is_it = of_slurm && part.starts_with(name);
        return std::string(is_it ? part.substr(name.size()) : std::string_view());
      };
      keep_first(job.id, numbered("job_"));
      keep_first(job.step, numbered("step_"));
      keep_first(job.pod_uid, pod_uid_in(part));
      keep_first(job.container, container_in(part));
    }
  }
}

// Finds the container and the pod in /proc/PID/mountinfo. The cgroup often does not name the
// container, because in the container's own cgroup namespace the path is "/". But docker, podman
// and the kubelet mount files from a folder whose path contains the id.
void read_mounts(std::string_view mountinfo, Job& job) {
  while (!mountinfo.empty()) {
    std::string_view line = take(mountinfo, '\n');
    for (int i = 0; i < 3; ++i) take(line, ' ');
    const std::string_view root = take(line, ' ');
    const std::string_view point = take(line, ' ');
    constexpr std::string_view pods = "/pods/";
    if (point == "/etc/hosts" && root.ends_with("/etc-hosts") &&
        root.find(pods) != std::string_view::npos) {
      keep_first(job.pod_uid, pod_uid_at(root.substr(root.find(pods) + pods.size())));
    }
    // Ignores the file of a pod's sandbox, because the sandbox has another id than the container.
    if (point == "/etc/hostname" && root.find("/sandboxes/") == std::string_view::npos) {
      keep_first(job.container, container_in(root));
    }
  }
}

}  // namespace

Job find_job(const Variables& variable, std::string_view cgroup, std::string_view mountinfo) {
  Job job;
  job.id =
      first_of(variable, {"TTMEM_JOB", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"});
  job.step = variable("SLURM_STEP_ID");
  job.partition = variable("SLURM_JOB_PARTITION");
  find_rank(variable, job);
  job.pod = variable("POD_NAME");
  job.pod_uid = variable("POD_UID");
  job.pod_namespace = variable("POD_NAMESPACE");
  if (!job.pod.empty()) job.container = variable("CONTAINER_NAME");
  read_cgroup(cgroup, job);
  read_mounts(mountinfo, job);
  return job;
}

Job job_of(const std::string& proc_folder, const Variables& variable) {
  constexpr std::size_t most = 256 << 10;  // bytes; a host with many containers has many mounts
  return find_job(variable, read_text(proc_folder + "/cgroup", most),
                  read_text(proc_folder + "/mountinfo", most));
}

Job own_job() {
  Job job = job_of("/proc/self", [](const char* name) { return std::string(environment(name)); });
  // Every pod has this file, unless the pod declined a service account token.
  if (job.pod_namespace.empty() && *environment("KUBERNETES_SERVICE_HOST") != '\0') {
    job.pod_namespace = read_text("/var/run/secrets/kubernetes.io/serviceaccount/namespace");
  }
  return job;
}

}  // namespace ttmem::job

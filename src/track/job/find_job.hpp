// SPDX-License-Identifier: Apache-2.0
//
// Which job a process is a part of: what Slurm and other batch systems, MPI, torch and Kubernetes
// tell it in its environment, and its cgroup. docs/reference/jobs.md lists the variables.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/job.hpp"

namespace ttmem::job {

// The value of a variable of the environment; empty: unset.
using Variables = std::function<std::string(const char* name)>;

// From the environment, and the texts of /proc/PID/cgroup and /proc/PID/mountinfo. What the
// environment says counts first: a container has often a cgroup of its own, which tells nothing.
[[nodiscard]] Job find_job(const Variables& variable, std::string_view cgroup,
                           std::string_view mountinfo);

// Of this process.
[[nodiscard]] Job own_job();
// Of another process: also what this user may not see of it stays unknown.
[[nodiscard]] Job job_of(const std::string& proc_folder, const Variables& variable);

}  // namespace ttmem::job

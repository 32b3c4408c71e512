// SPDX-License-Identifier: Apache-2.0
//
// Finds the job of a process from the environment variables of Slurm and other batch systems, MPI,
// torch and Kubernetes, from the cgroup, and from the mounts. docs/reference/jobs.md lists the
// variables.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/job.hpp"

namespace ttmem::job {

// A function that returns the value of an environment variable, or an empty string if it is unset.
using Variables = std::function<std::string(const char* name)>;

// Finds the job from the environment and from the texts of /proc/PID/cgroup and
// /proc/PID/mountinfo. The environment has precedence.
[[nodiscard]] Job find_job(const Variables& variable, std::string_view cgroup,
                           std::string_view mountinfo);

// Returns the job of this process.
[[nodiscard]] Job own_job();
// Returns the job of another process, whose folder is `proc_folder`, such as "/proc/4711". Facts
// that this user may not read stay unknown.
[[nodiscard]] Job job_of(const std::string& proc_folder, const Variables& variable);

}  // namespace ttmem::job

// SPDX-License-Identifier: Apache-2.0
//
// Finds the job of a process from the environment variables of Slurm and other batch systems, MPI,
// torch and Kubernetes, and from the cgroup. docs/reference/jobs.md lists the variables.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/job.hpp"

namespace ttmem::job {

// A function that returns the value of an environment variable, or an empty string if it is unset.
using Variables = std::function<std::string(const char* name)>;

// Finds the job from the environment and from the texts of /proc/PID/cgroup and
// /proc/PID/mountinfo. The environment has precedence: a container often has its own cgroup, which
// contains no information about the job.
[[nodiscard]] Job find_job(const Variables& variable, std::string_view cgroup,
                           std::string_view mountinfo);

// Returns the job of this process.
[[nodiscard]] Job own_job();
// Returns the job of another process. Facts that this user may not read stay unknown.
[[nodiscard]] Job job_of(const std::string& proc_folder, const Variables& variable);

}  // namespace ttmem::job

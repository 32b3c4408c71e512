// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace ttmem {

// The job, pod and container of a process. A field is empty if its value is unknown or does not
// exist.
struct Job {
  std::string id;         // id of the job in its batch system: "4711"
  std::string step;       // step of the job
  std::string partition;  // partition of the cluster
  std::string rank;       // rank of the process in its job, a number
  std::string ranks;      // number of ranks of the job
  std::string pod;
  std::string pod_uid;
  std::string pod_namespace;
  std::string container;  // name in the pod, or the first 12 digits of the container's id

  friend bool operator==(const Job&, const Job&) = default;
};

// A field of a Job, with its name in JSON, columns and labels.
struct JobField {
  std::string_view name;
  std::string Job::*value;
  bool is_number = false;
};
inline constexpr std::array<JobField, 9> kJobFields = {{{"job", &Job::id},
                                                        {"step", &Job::step},
                                                        {"partition", &Job::partition},
                                                        {"rank", &Job::rank, true},
                                                        {"ranks", &Job::ranks, true},
                                                        {"pod", &Job::pod},
                                                        {"pod_uid", &Job::pod_uid},
                                                        {"namespace", &Job::pod_namespace},
                                                        {"container", &Job::container}}};

}  // namespace ttmem

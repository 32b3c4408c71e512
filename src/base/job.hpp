// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace ttmem {

// What a process is a part of. Empty: unknown, or of none.
struct Job {
  std::string id;         // of the job in its batch system: "4711"
  std::string step;       // of that job
  std::string partition;  // of the cluster
  std::string rank;       // of the process among those of its job, a number
  std::string ranks;      // how many there are
  std::string pod;
  std::string pod_uid;
  std::string pod_namespace;
  std::string container;  // its name in the pod, else the first 12 digits of its id

  friend bool operator==(const Job&, const Job&) = default;
};

// The fields by the names that they have everywhere: JSON, columns, labels.
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

// SPDX-License-Identifier: Apache-2.0
#include "track/job/find_job.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ttmem::job {
namespace {

constexpr const char* kId = "4f0c1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7";

Job job_in(const std::map<std::string, std::string>& environment, const std::string& cgroup = "",
           const std::string& mountinfo = "") {
  const auto variable = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  return find_job(variable, cgroup, mountinfo);
}

TEST(FindJob, AProcessOutsideOfJobsHasNoJob) {
  EXPECT_EQ(job_in({}, "0::/user.slice/user-1000.slice/session-2.scope\n"), Job());
}

TEST(FindJob, SlurmGivesJobStepPartitionAndRank) {
  const Job job = job_in({{"SLURM_JOB_ID", "4711"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_JOB_PARTITION", "galaxy"},
                          {"SLURM_PROCID", "3"},
                          {"SLURM_STEP_NUM_TASKS", "8"}});
  EXPECT_EQ(job.id, "4711");
  EXPECT_EQ(job.step, "0");
  EXPECT_EQ(job.partition, "galaxy");
  EXPECT_EQ(job.rank, "3");
  EXPECT_EQ(job.ranks, "8");
}

TEST(FindJob, TheUsersNameHasPriorityOverTheBatchSystem) {
  EXPECT_EQ(job_in({{"TTMEM_JOB", "nightly"}, {"SLURM_JOB_ID", "4711"}}).id, "nightly");
}

TEST(FindJob, TheInnermostLauncherGivesTheRank) {
  const std::map<std::string, std::string> all = {
      {"SLURM_PROCID", "1"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"RANK", "3"}, {"WORLD_SIZE", "4"}};
  EXPECT_EQ(job_in(all).rank, "3");
  EXPECT_EQ(job_in(all).ranks, "4");
  auto without_torch = all;
  // Without WORLD_SIZE, RANK may have another meaning and is ignored.
  without_torch.erase("WORLD_SIZE");
  EXPECT_EQ(job_in(without_torch).rank, "2");
  EXPECT_EQ(job_in(without_torch).ranks, "");
}

TEST(FindJob, ARankIsANumber) {
  EXPECT_EQ(job_in({{"PMIX_RANK", "none"}}).rank, "");
  EXPECT_EQ(job_in({{"PMIX_RANK", "-1"}}).rank, "");
  EXPECT_EQ(job_in({{"PMIX_RANK", "12345678901234567890"}}).rank, "");
}

TEST(FindJob, TheCgroupOfSlurmGivesTheJobToo) {
  const Job v2 = job_in({}, "0::/system.slice/node1_slurmstepd.scope/job_12/step_0/user/task_1\n");
  EXPECT_EQ(v2.id, "12");
  EXPECT_EQ(v2.step, "0");
  const Job v1 = job_in({}, "4:memory:/slurm/uid_1000/job_13/step_batch\n0::/init.scope\n");
  EXPECT_EQ(v1.id, "13");
  EXPECT_EQ(v1.step, "batch");
  EXPECT_EQ(job_in({}, "0::/other/job_14\n").id, "") << "job_ of somebody else";
}

TEST(FindJob, TheCgroupGivesPodAndContainer) {
  const std::string uid = "2f1c8a5e_96a1_4e6e_8a0b_6d6c1e0a9f11";
  const Job systemd =
      job_in({}, "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uid +
                     ".slice/cri-containerd-" + kId + ".scope\n");
  EXPECT_EQ(systemd.pod_uid, "2f1c8a5e-96a1-4e6e-8a0b-6d6c1e0a9f11");
  EXPECT_EQ(systemd.container, "4f0c1a2b3c4d");
  const Job cgroupfs =
      job_in({}, std::string("0::/kubepods/burstable/pod2f1c8a5e-96a1-4e6e-8a0b-6d6c1e0a9f11/") +
                     kId + "\n");
  EXPECT_EQ(cgroupfs.pod_uid, systemd.pod_uid);
  EXPECT_EQ(cgroupfs.container, systemd.container);
  EXPECT_EQ(job_in({}, std::string("0::/system.slice/docker-") + kId + ".scope\n").container,
            "4f0c1a2b3c4d");
  EXPECT_EQ(job_in({}, std::string("0::/x/") + kId + "0\n").container, "") << "65 digits";
}

TEST(FindJob, AContainerWithACgroupNamespaceIsFoundByItsMounts) {
  const std::string docker = std::string("511 480 8:1 /var/lib/docker/containers/") + kId +
                             "/hostname /etc/hostname rw,relatime - ext4 /dev/sda1 rw\n";
  EXPECT_EQ(job_in({}, "0::/\n", docker).container, "4f0c1a2b3c4d");
  const std::string kubelet =
      "700 650 8:1 /lib/kubelet/pods/2f1c8a5e-96a1-4e6e-8a0b-6d6c1e0a9f11/etc-hosts /etc/hosts rw "
      "- "
      "ext4 /dev/sda1 rw\n" +
      (std::string("701 650 0:25 /containerd/io.containerd.grpc.v1.cri/sandboxes/") + kId +
       "/hostname /etc/hostname ro - tmpfs tmpfs rw\n");
  const Job pod = job_in({}, "0::/\n", kubelet);
  EXPECT_EQ(pod.pod_uid, "2f1c8a5e-96a1-4e6e-8a0b-6d6c1e0a9f11");
  EXPECT_EQ(pod.container, "") << "the id is that of the sandbox";
  // A host also has the mounts of all its containers, at mount points that differ from those in the
  // containers.
  const std::string host = std::string("80 25 8:1 /var/lib/docker/containers/") + kId +
                           "/mounts/shm /var/lib/docker/containers/" + kId +
                           "/mounts/shm rw - tmpfs shm rw\n";
  EXPECT_EQ(job_in({}, "0::/init.scope\n", host), Job());
}

TEST(FindJob, TheDownwardApiHasPriorityOverTheCgroup) {
  const Job job =
      job_in({{"POD_NAME", "decode-0"}, {"POD_NAMESPACE", "serving"}, {"CONTAINER_NAME", "server"}},
             std::string("0::/kubepods/pod2f1c8a5e-96a1-4e6e-8a0b-6d6c1e0a9f11/") + kId);
  EXPECT_EQ(job.pod, "decode-0");
  EXPECT_EQ(job.pod_namespace, "serving");
  EXPECT_EQ(job.container, "server");
  EXPECT_EQ(job.pod_uid, "2f1c8a5e-96a1-4e6e-8a0b-6d6c1e0a9f11");
}

TEST(FindJob, IncompleteLinesAreIgnored) {
  EXPECT_EQ(job_in({}, "x\n\n::\n0:", "1 2 3\n\n \n/etc/hosts"), Job());
}

}  // namespace
}  // namespace ttmem::job

# SPDX-License-Identifier: Apache-2.0
"""The job of a process: in the table, the lists, JSON, metrics and post-mortems, also for dead
processes and for clients of a server's socket."""

import re
import tempfile
import unittest

from http_case import HttpCase
from support import Case, build_consumer

SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_STEP_ID": "2",
    "SLURM_JOB_PARTITION": "galaxy",
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "8",
}
POD = {"POD_NAME": "decode-0", "POD_NAMESPACE": "serving", "POD_UID": "0b1e", "CONTAINER_NAME": "llm"}
FIELDS = ["job", "step", "partition", "rank", "ranks", "pod", "pod_uid", "namespace", "container"]


class Consumers:
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-consumer-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.consumer = build_consumer(cls.folder.name)

    def start_in(self, job):
        held = self.start([self.consumer, "hold"], env=self.tracked(**job))
        held.line()
        return held

    def process_rows(self):
        return [row for device in self.devices() for row in device["processes"]]

    def row(self):
        (row,) = self.process_rows()
        return {name: row[name] for name in FIELDS}


class OfAProcess(Consumers, Case):
    def test_slurm_names_job_step_partition_and_rank(self):
        self.start_in(SLURM)
        known = {"job": "4711", "step": "2", "partition": "galaxy", "rank": 3, "ranks": 8}
        row = self.row()
        self.assertEqual({name: row[name] for name in known}, known)
        self.assertIsNone(row["pod"])

    def test_the_downward_api_names_pod_namespace_and_container(self):
        self.start_in(POD)
        row = self.row()
        self.assertEqual(
            [row["pod"], row["namespace"], row["container"], row["pod_uid"], row["job"]],
            ["decode-0", "serving", "llm", "0b1e", None],
        )

    def test_a_process_without_a_job_has_no_column(self):
        self.start_in({})
        row = self.row()
        self.assertEqual([row["job"], row["rank"], row["pod"]], [None, None, None])
        self.assertNotIn("JOB", self.on_terminal(200, 60, "allocs"))

    def test_the_table_has_the_job_and_other_columns_on_request(self):
        self.start_in(SLURM)
        table = self.on_terminal(200, 60)
        self.assertRegex(table, r"\bJOB\b")
        self.assertRegex(table, r"\b4711\b")
        asked = self.ttmem("--columns", "pid,job,rank,partition,command").stdout
        self.assertRegex(asked, r"\n *PID +JOB +RANK +PARTITION +COMMAND\n")
        self.assertRegex(asked, r"4711\s+3\s+galaxy")
        self.assertIn("namespace", self.ttmem("--columns", "pid,colour", code=2).stderr)

    def test_allocations_name_the_job_and_are_grouped_by_job(self):
        self.start_in(SLURM)
        self.start_in({})
        entries = self.json("allocs")["allocations"]
        self.assertEqual({entry["job"] for entry in entries}, {"4711", None})
        groups = self.json("allocs", "--group-by", "job")["groups"]
        of_job = [entry for entry in entries if entry["job"] == "4711"]
        (group,) = [group for group in groups if group["job"] == "4711"]
        self.assertEqual(group["allocations"], len(of_job))
        chosen = self.json("allocs", "--job", "4711")["allocations"]
        self.assertEqual([(entry["pid"], entry["id"]) for entry in chosen],
                         [(entry["pid"], entry["id"]) for entry in of_job])

    def test_the_option_job_selects_processes(self):
        held = self.start_in(SLURM)
        self.start_in({})
        (device,) = self.json("--job", "4711")["devices"]
        self.assertEqual([row["pid"] for row in device["processes"]], [held.pid])
        self.assertIn("no process of job 12", self.ttmem("--job", "12", code=1).stderr)

    def test_the_job_of_a_dead_process_is_known(self):
        held = self.start_in(SLURM)
        held.kill()
        self.assertEqual(self.row()["job"], "4711")
        self.assertIn("4711", self.ttmem("clean", "--dry-run").stdout)

    def test_hostile_names_are_text(self):
        self.start_in({"TTMEM_JOB": "a\x1b[31m\nb\u202e"})
        self.assertEqual(self.row()["job"], "a?[31m?b?")

    def test_a_long_name_is_cut(self):
        self.start_in({"TTMEM_JOB": "x" * 5000, "POD_NAME": "y" * 5000})
        row = self.row()
        self.assertEqual(row["job"], "x" * 64)
        self.assertEqual(row["pod"], "y" * 256)


class OfAServer(Consumers, HttpCase):
    def infos(self):
        found = re.findall(r"^ttmem_process_info\{(.*)\} 1$", self.get("/metrics"), re.MULTILINE)
        return [dict(re.findall(r'(\w+)="([^"]*)"', labels)) for labels in found]

    def test_one_metric_of_each_process_names_its_job(self):
        self.serve()
        held = self.start_in({**SLURM, **POD})
        (info,) = self.wait_for(self.infos, "the metric")
        self.assertEqual(info.pop("command"), f"{self.consumer} hold")
        self.assertTrue(info.pop("user"))
        self.assertEqual(
            info,
            {"pid": str(held.pid), "job": "4711", "rank": "3", "pod": "decode-0", "pod_uid": "0b1e",
             "namespace": "serving", "container": "llm"},
        )
        used = re.search(r"^ttmem_process_memory_used_bytes\{.*\}", self.get("/metrics"), re.MULTILINE)
        self.assertNotIn("4711", used.group())

    def test_a_post_mortem_names_the_job(self):
        self.serve()
        held = self.start_in(SLURM)
        self.wait_for(self.infos, "the process to be seen")
        held.kill()
        (dead,) = self.wait_for(lambda: self.get_json("/api/v1/postmortems")["postmortems"],
                                "the post-mortem")
        self.assertEqual([dead["job"], dead["rank"]], ["4711", 3])
        self.wait_said(self.server, "job: 4711 rank 3")

    def test_a_client_of_the_socket_has_a_job_too(self):
        self.serve()
        self.start_in({**SLURM, "TTMEM_TRANSPORT": "socket", "TTMEM_SOCKET": self.path})
        self.wait_for(self.process_rows, "the client")
        self.assertEqual(self.row()["job"], "4711")


if __name__ == "__main__":
    unittest.main()

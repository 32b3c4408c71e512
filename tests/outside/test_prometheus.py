# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus (the distribution's package) with a real server: the results of PromQL equal
`ttmem --json`. Prometheus and its tools also check the files of packaging/deploy."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from http_case import HttpCase
from support import HERE

DEPLOY = HERE.parent.parent / "packaging" / "deploy"

RULES = [DEPLOY / "prometheus" / f"{name}.rules.yml" for name in ("ttmem", "ttmem-fleet")]
BOARDS = sorted((DEPLOY / "grafana").glob("*.json"))

# The values that Grafana substitutes for its variables.
VARIABLES = {"$__rate_interval": "1m", "$__range": "1h", "$instance": ".*", "$device": ".*",
             "$job": ".*"}


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], text=True, capture_output=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Prometheus(HttpCase):
    """Starts a Prometheus that scrapes the test's server every second."""

    def start_prometheus(self):
        config = pathlib.Path(self.folder) / "prometheus.yml"
        for rules in RULES:
            shutil.copy(rules, self.folder)
        text = (DEPLOY / "prometheus" / "prometheus.yml").read_text()
        config.write_text(text.replace("15s", "1s").replace("127.0.0.1:9488",
                                                            f"127.0.0.1:{self.port}"))
        self.prometheus_port = free_port()
        self.start(["prometheus", f"--config.file={config}",
                    f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.prometheus_port}"])
        self.wait_for(lambda: self.query('up{job="ttmem"} == 1'), "the first scrape")

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.prometheus_port}{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read()
            return json.loads(text) if text.startswith(b"{") else {}
        except OSError:
            return {}  # not up yet

    def query(self, expression):
        """Returns [(labels, value)] of an instant query."""
        answer = self.ask("/api/v1/query", query=expression)
        return [(entry["metric"], float(entry["value"][1]))
                for entry in answer.get("data", {}).get("result", [])]


class EndToEnd(Prometheus):
    def test_promql_returns_the_figures_of_the_snapshot(self):
        demo = self.start_demo("mesh8")
        self.serve()
        self.start_prometheus()
        devices = self.devices()
        self.assertEqual(len(devices), 8)
        physical = {labels["device"]: value
                    for labels, value in self.query('ttmem_cb_bytes{view="physical"}')}
        self.assertEqual(physical, {str(device["id"]): device["l1"]["cb"]["physical_bytes"]
                                    for device in devices})
        self.assertEqual(set(physical.values()), {30408704})
        (_, total), = self.query('sum(ttmem_memory_used_bytes{kind="dram"})')
        self.assertEqual(total, sum(device["dram"]["used_bytes"] for device in devices))
        of_process = self.query("count by (pid, process, user) (ttmem_process_memory_used_bytes)")
        self.assertEqual([labels["pid"] for labels, _ in of_process], [str(demo.pid)])
        ratio = self.wait_for(lambda: self.query("ttmem:l1_used:ratio"), "the recording rule")
        for labels, value in ratio:
            l1 = devices[int(labels["device"])]["l1"]
            self.assertAlmostEqual(value, l1["used_bytes"] / l1["capacity_bytes"])

    def test_the_end_of_a_process_is_shown_and_counters_stay(self):
        self.serve()
        demo = self.start_demo("single")
        self.start_prometheus()
        self.assertEqual(len(self.query("ttmem_device_info")), 1)
        (_, before), = self.query("sum(ttmem_allocations_total)")
        self.assertGreater(before, 0)
        demo.kill()
        self.wait_for(lambda: self.query("ttmem_dead_processes_total == 1"), "the dead process")
        self.assertEqual(self.query("ttmem_device_info"), [])
        (_, after), = self.query("sum(ttmem_allocations_total)")
        self.assertEqual(after, before)

    def test_every_query_of_the_dashboards_returns_data(self):
        self.env["SLURM_JOB_ID"] = "4711"
        self.start_demo("mesh8")
        self.serve()
        self.start_prometheus()
        queries = [target["expr"] for board in BOARDS
                   for panel in json.loads(board.read_text())["panels"]
                   for target in panel.get("targets", [])]
        self.assertGreater(len(queries), 30)
        for query in queries:
            for name, value in VARIABLES.items():
                query = query.replace(name, value)
            answer = self.ask("/api/v1/query", query=query)
            self.assertEqual(answer.get("status"), "success", f"{query}: {answer}")
            self.wait_for(lambda query=query: self.query(query), query)

    def test_promtool_accepts_the_page(self):
        self.start_demo("mesh8")
        self.serve()
        result = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics"),
                                text=True, capture_output=True)
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", ""))


class Deploy(unittest.TestCase):
    def test_the_configuration_and_the_rules_are_valid(self):
        result = promtool("check", "config", DEPLOY / "prometheus" / "prometheus.yml")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_alerts_fire_when_they_should_and_not_otherwise(self):
        for rules in RULES:
            result = promtool("test", "rules", rules.with_suffix(".test.yml"))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def check_manifests(self, *manifests):
        checker = HERE.parent / "deploy"
        if not (checker / "node_modules").exists():
            self.skipTest("npm could not install the schemas: scripts/setup says why")
        return subprocess.run(["node", checker / "check.mjs", *manifests], text=True,
                              capture_output=True)

    def test_the_manifests_of_kubernetes_match_the_published_schemas(self):
        result = self.check_manifests(*sorted((DEPLOY / "kubernetes").glob("*.yaml")))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split("\n"),
                         ["ServiceMonitor ttmem", "Namespace ttmem", "DaemonSet ttmem",
                          "Service ttmem", "NetworkPolicy ttmem", "DaemonSet ttmem, patched", ""])

    def test_a_misspelt_key_of_a_manifest_is_found(self):
        manifest, patch = (DEPLOY / "kubernetes" / name for name in ("ttmem.yaml", "whole-node.yaml"))
        for path, others, right, wrong in (
                (manifest, (), "readOnlyRootFilesystem", "readOnlyRootFileSystem"),
                (manifest, (), "automountServiceAccountToken", "automountServiceToken"),
                (patch, (manifest,), "hostPID", "hostPid")):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(path.read_text().replace(right, wrong))
                file.flush()
                result = self.check_manifests(*others, file.name)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertRegex(result.stderr, f"DaemonSet has no /spec/template/spec/.*{wrong}\n")

    def test_every_alert_is_tested(self):
        count = 0
        for rules in RULES:
            tests = rules.with_suffix(".test.yml").read_text()
            for alert in re.findall(r"- alert: (\w+)", rules.read_text()):
                count += 1
                self.assertIn(f"alertname: {alert}", tests)
        self.assertEqual(count, 8)

    def test_panels_of_the_dashboards_do_not_overlap(self):
        for board in BOARDS:
            with self.subTest(board=board.name):
                self.check_panels(json.loads(board.read_text()))

    def check_panels(self, dashboard):
        taken = {}
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken[x, y] = panel["title"]
        ids = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))


if __name__ == "__main__":
    unittest.main()

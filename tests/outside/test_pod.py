# SPDX-License-Identifier: Apache-2.0
"""`ttmem serve` as the DaemonSet of packaging/deploy/kubernetes runs it, without and with the patch
for the whole node: with the manifest's arguments, user, pids and capabilities. Only /tmp is
writable. The host's shared memory is read-only, and contains segments of other users' workloads."""

import http.client
import json
import os
import pathlib
import pwd
import re
import shutil
import tempfile
import unittest

from support import DEADLINE_SECONDS, HERE, MIB, PREFIX, Case, build_consumer
from test_prometheus import free_port
from test_slurm import mounts_refused

DEPLOY = HERE.parent.parent / "packaging" / "deploy" / "kubernetes"
MANIFEST = (DEPLOY / "ttmem.yaml").read_text()
PATCH = (DEPLOY / "whole-node.yaml").read_text()
TOKEN = "0123456789abcdef0123"

# Prepares the file systems of the container, as the kubelet does. $1: the host's shared memory, $2:
# the folder of the token, $3: the installed tree, which may be below /tmp.
CONTAINER = """mount --make-rprivate / && mount -t proc proc /proc && mount --bind "$1" /dev/shm &&
mount -o remount,ro,bind /dev/shm && mount -t tmpfs tmpfs /mnt && mkdir /mnt/token /mnt/ttmem &&
mount --bind "$2" /mnt/token && mount --bind "$3" /mnt/ttmem &&
mount -t tmpfs tmpfs /tmp && mount -o remount,ro,bind / && shift 3 && exec "$@"
"""


def listed(key, text=MANIFEST):
    """Returns the items of a list in the manifest, in one line or one item per line."""
    found = re.search(rf'^ *{key}:(?: \[(.*)\]\n|\n((?: +(?:-|#).*\n)+))', text, re.M)
    if found is None:
        return []
    if found.group(1) is not None:
        return re.findall(r'"(\w+)"', found.group(1))
    return re.findall(r"^ +- (.+)$", found.group(2), re.M)


@unittest.skipIf(mounts_refused(), f"no mount namespaces here: {mounts_refused()}")
class Pod(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-pod-")
        self.addCleanup(folder.cleanup)
        self.token_folder = pathlib.Path(folder.name) / "token"
        self.token_folder.mkdir()
        token = self.token_folder / "token"
        token.write_text(TOKEN)
        os.chown(token, 0, int(self.value("fsGroup")))
        token.chmod(int(self.value("defaultMode"), 8))
        self.other = pwd.getpwnam("daemon")  # neither the pod's user nor root
        os.chmod(self.dir, 0o1777)
        self.port = free_port()

    @staticmethod
    def value(key, *texts):
        """Returns the value of the key in the first text that contains the key. Searches these
        texts, and then the manifest."""
        found = (re.search(rf"^ *{key}: (\S+)$", text, re.M) for text in (*texts, MANIFEST))
        return next((one.group(1) for one in found if one), None)

    def start_pod(self, *patches):
        arguments = listed("args")
        self.assertEqual(arguments, ["serve", "--http=0.0.0.0:9488",
                                     "--token-file=/etc/ttmem/token", "--no-reap"])
        arguments[1:3] = [f"--http=127.0.0.1:{self.port}", "--token-file=/mnt/token/token"]
        capabilities = ["-all"]
        for text in (MANIFEST, *patches):
            self.assertEqual(listed("drop", text), ["ALL"])
            capabilities += [f"+{one.lower()}" for one in listed("add", text)]
        capabilities = ",".join(capabilities)
        user, group = (self.value(key, *patches) for key in ("runAsUser", "runAsGroup"))
        self.assertEqual(self.value("runAsNonRoot", *patches), "false" if user == "0" else "true")
        pids = [] if self.value("hostPID", *patches) == "true" else ["--pid", "--fork", "--kill-child"]
        env = {**self.env, "TTMEM_HOST": "worker-7"}
        del env["TTMEM_DIR"]
        return self.start(["unshare", "--mount", *pids, "sh", "-c", CONTAINER, "sh", self.dir,
                           self.token_folder, PREFIX, "setpriv", f"--reuid={user}",
                           f"--regid={group}", f"--groups={self.value('fsGroup')}",
                           f"--bounding-set={capabilities}", "--no-new-privs",
                           # The kernel forgets the signal of --kill-child when the user changes, so
                           # this option sets the signal again.
                           "--pdeathsig=KILL", "/mnt/ttmem/bin/ttmem", *arguments], env)

    def start_workload(self, mode=0o600):
        """Starts a workload of another user, whose segment only that user may read by default."""
        # Copies the files for the user, because the build folder may be closed to other users.
        worker = build_consumer(self.dir, "worker")
        library = shutil.copy(os.path.realpath(os.environ["TTMEM_LIB"]),
                              os.path.join(self.dir, "libttmem.so.0"))
        for path in (worker, library):
            os.chmod(path, 0o755)
        env = self.tracked(LD_LIBRARY_PATH=self.dir, SLURM_JOB_ID="4711", TTMEM_MODE=f"{mode:o}")
        workload = self.start([worker, "0xc0de", MIB, 1024], env, user=self.other.pw_uid,
                              group=self.other.pw_gid, extra_groups=[])
        workload.line()
        (segment,) = pathlib.Path(self.dir).glob(f"ttmem.*.{workload.pid}.*")
        self.assertEqual(segment.stat().st_mode & 0o777, mode)
        return workload

    def ask(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return None, None  # not up yet
        finally:
            connection.close()

    def figures(self, path):
        status, body = self.ask(path, Authorization=f"Bearer {TOKEN}")
        self.assertEqual(status, 200, body)
        return body

    def start_answering_pod(self, *patches):
        pod = self.start_pod(*patches)
        # The probes send no token, and use the pod's address as host.
        self.wait_for(lambda: pod.process.poll() is not None or
                      self.ask("/healthz", Host="10.244.1.7:9488") == (200, "ok\n"), "the probe")
        if pod.process.poll() is not None:
            self.fail(f"the pod ended: {pod.process.stderr.read().decode()}")
        self.assertEqual(self.ask("/metrics")[0], 401)

    def test_without_the_patch_it_sees_only_readable_segments(self):
        self.assertNotIn("priorityClassName", MANIFEST)
        self.start_workload()
        shown = self.start_workload(0o644)
        self.start_answering_pod()
        snapshot = json.loads(self.figures("/api/v1/snapshot"))
        (row,) = snapshot["devices"][0]["processes"]
        self.assertEqual((row["pid"], row["state"], row["user"], row["job"], row["dram_bytes"]),
                         (shown.pid, "alive", "daemon", "4711", 12 * MIB))
        self.assertIsNotNone(row["pid_namespace"])
        self.assertIs(snapshot["complete"], False)
        (warning,) = snapshot["warnings"]
        self.assertIn("cannot read 1 segment in /dev/shm: permission denied", warning)

    def test_with_the_patch_it_sees_all_processes_and_deaths_and_changes_nothing(self):
        workload = self.start_workload()
        self.start_answering_pod(PATCH)
        snapshot = json.loads(self.figures("/api/v1/snapshot"))
        self.assertEqual((snapshot["host"], snapshot["warnings"]), ("worker-7", []))
        (row,) = snapshot["devices"][0]["processes"]
        self.assertEqual((row["pid"], row["state"], row["user"], row["job"], row["dram_bytes"]),
                         (workload.pid, "alive", "daemon", "4711", 12 * MIB))
        before = sorted(os.listdir(self.dir))
        workload.kill()
        (dead,) = self.wait_for(lambda: json.loads(self.figures("/api/v1/postmortems"))["postmortems"],
                                "the post-mortem")
        self.assertEqual((dead["pid"], dead["job"], dead["dram_bytes"], dead["removed"]),
                         (workload.pid, "4711", 12 * MIB, False))
        metrics = self.figures("/metrics")
        self.assertRegex(metrics, r'ttmem_dead_owner_bytes\{.*\} [1-9]')
        self.assertNotIn('ttmem_memory_used_bytes{device="0"', metrics)
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        self.assertIn("1 dead process held", self.ttmem("clean").stdout)


if __name__ == "__main__":
    unittest.main()

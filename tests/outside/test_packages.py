# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: built from the source archive, checked by lintian, installed with apt into a
fresh root, used there, and purged without a trace. Also the tarball."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import HERE, skip_if_sanitized
from test_binaries import binaries, missing_hardening, unsafe_run_paths

SOURCE = HERE.parents[1]
BUILD = pathlib.Path(os.environ["TTMEM_BUILD"])
PACKAGES = ["libttmem-dev", "libttmem0", "python3-ttmem", "ttmem"]
# Builds without optimisation, to save time. Everything else is as in `make deb`.
CHEAP = {"DEB_CFLAGS_APPEND": "-O0 -g1",
         "DEB_CXXFLAGS_APPEND": "-O0 -g1 --param=ggc-min-heapsize=524288"}
# Files that apt, dpkg and ldconfig themselves leave behind.
NOT_OURS = re.compile(r"/(var/(cache|log|lib/(apt|dpkg))|etc/ld\.so\.cache$|etc/\.pwd\.lock$)")

# Mounts file systems in the root $0 and runs the shell script $1 in it.
ENTER = """
mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && mount -t tmpfs tmpfs "$0/tmp" &&
exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive sh -euc "$1"
"""


def said_by(process):
    output = process.communicate()[0]
    if process.returncode != 0:
        raise AssertionError(f"{process.args} failed: {output[-4000:]}")
    return output


class Root:
    """A minimal Debian of the same release and mirror as this machine."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder)

    def start(self):
        """Starts and returns the process that makes the root."""
        sources = subprocess.run(
            ["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
             "Created-By: Packages", "Origin: Debian"], text=True, capture_output=True, check=True)
        codename = subprocess.run(["sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME"],
                                  text=True, capture_output=True, check=True).stdout.strip()
        making = subprocess.Popen(
            ["mmdebstrap", "--variant=apt", "--skip=cleanup/apt/lists",
             "--dpkgopt=force-unsafe-io", codename, str(self.path), "-"],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        making.stdin.write(sources.stdout)
        making.stdin.close()
        making.stdin = None
        return making

    def run(self, script):
        """Runs a shell script in the root. Returns its output."""
        result = subprocess.run(["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child",
                                 "sh", "-c", ENTER, str(self.path), script], text=True,
                                capture_output=True, timeout=300, check=False)
        if result.returncode != 0:
            raise AssertionError(f"{script}: {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout

    def files(self):
        """Returns the paths of all files and folders, except those of NOT_OURS."""
        found = {os.path.join(folder, name)[len(str(self.path)):]
                 for folder, folders, files in os.walk(self.path) for name in (*folders, *files)}
        return {path for path in found if not NOT_OURS.match(path)}


class ThePackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        skip_if_sanitized()
        if os.geteuid() != 0:
            raise unittest.SkipTest("a root with packages in it can be made by root alone")
        folder = tempfile.mkdtemp(prefix="ttmem-root-", dir=BUILD)
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.root = Root(os.path.join(folder, "root"))
        cls.out = BUILD / "packages"
        # The build runs at a low priority, because other tests run at the same time.
        building = subprocess.Popen(["nice", str(SOURCE / "scripts" / "deb"), str(cls.out)],
                                    env={**os.environ, **CHEAP}, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        making = cls.root.start()
        said_by(building)
        said_by(making)
        cls.debs = {path.name.split("_")[0]: path for path in cls.out.glob("*.deb")}

    def test_all_packages_are_built_with_debug_symbols(self):
        self.assertEqual(set(PACKAGES) - set(self.debs), set())
        for name in ("ttmem", "libttmem0"):
            self.assertIn(f"{name}-dbgsym", self.debs)

    def test_lintian_finds_nothing(self):
        (changes,) = self.out.glob("*.changes")
        said = subprocess.run(["lintian", "--allow-root", str(changes)], text=True,
                              capture_output=True, check=False)
        self.assertEqual((said.returncode, said.stdout, said.stderr), (0, "", ""))

    def test_no_binary_has_a_run_path(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in PACKAGES:
                subprocess.run(["dpkg-deb", "-x", str(self.debs[name]), folder], check=True)
            binaries = [path for pattern in ("usr/bin/ttmem", "usr/lib/**/*.so*")
                        for path in pathlib.Path(folder).glob(pattern) if path.is_file()]
            self.assertGreater(len(binaries), 3)
            dynamic = subprocess.run(["readelf", "-d", *map(str, binaries)], text=True,
                                     capture_output=True, check=True).stdout
            self.assertNotRegex(dynamic, "R(UN)?PATH")

    def test_install_use_and_purge(self):
        before = self.root.files()
        self.install()
        for check in (self.check_demo, self.check_files, self.check_consumers, self.check_python,
                      self.check_run):
            with self.subTest(check.__name__):
                check()
        self.root.run("apt-get -qq purge --autoremove g++ " + " ".join(PACKAGES))
        self.assertEqual(sorted(self.root.files() - before), [])

    def install(self):
        """Installs as the README says: with apt, from the files in a folder."""
        inside = self.root.path / "root" / "packages"
        inside.mkdir()
        for name in PACKAGES:
            shutil.copy(self.debs[name], inside)
        shutil.copy("/etc/resolv.conf", self.root.path / "etc" / "resolv.conf")
        self.root.run("cd /root/packages && apt-get -qq install --no-install-recommends ./*.deb")
        shutil.rmtree(inside)

    def check_demo(self):
        shown = json.loads(self.root.run("""
            mkfifo /tmp/said
            ttmem demo device-init --hold 2>/tmp/said &
            read -r line </tmp/said
            ttmem --json"""))
        self.assertEqual([process["name"] for process in shown["devices"][0]["processes"]], ["ttmem"])

    def check_files(self):
        usr = self.root.path / "usr"
        for name in ("share/man/man1/ttmem.1.gz", "share/man/man1/allocation_server.1.gz",
                     "share/man/man3/ttmem.3.gz", "share/man/man5/ttmem-recording.5.gz",
                     "share/bash-completion/completions/ttmem", "share/doc/ttmem/copyright",
                     "share/zsh/vendor-completions/_ttmem", "share/ttmem/deploy/slurm/epilog.sh",
                     "share/fish/vendor_completions.d/ttmem.fish", "share/ttmem/adapter/adapter.cpp",
                     "lib/systemd/system/ttmem.service"):
            self.assertTrue((usr / name).is_file(), name)
        self.assertIn("Leon Sorokin", (usr / "share/doc/ttmem/copyright").read_text())
        self.assertIn("ExecStart=/usr/bin/ttmem serve",
                      (usr / "lib/systemd/system/ttmem.service").read_text())
        enabled = list((self.root.path / "etc/systemd").rglob("*ttmem*"))
        self.assertEqual(enabled, [])

    def check_consumers(self):
        """Compiles a program with this machine's compiler and with the root's files of ttmem."""
        (pkg_config,) = (self.root.path / "usr/lib").glob("*/pkgconfig")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ttmem"], text=True, check=True,
                               capture_output=True,
                               env={**os.environ, "PKG_CONFIG_LIBDIR": str(pkg_config)})
        inside = self.root.path / "root"
        subprocess.run(["cc", str(HERE / "consumer" / "consumer.c"), "-o", str(inside / "plain"),
                        *flags.stdout.split(), "-pthread"], check=True)
        with tempfile.TemporaryDirectory() as build:
            for step in (["-S", str(HERE / "consumer"), "-B", build,
                          f"-DCMAKE_PREFIX_PATH={self.root.path}/usr"], ["--build", build]):
                subprocess.run(["cmake", *step], check=True, capture_output=True)
            shutil.copy(os.path.join(build, "consumer"), inside / "by_cmake")
        for name in ("plain", "by_cmake"):
            shown = json.loads(self.root.run(f"""
                mkfifo /tmp/in /tmp/said
                TT_ALLOC_TRACKING_ENABLED=1 /root/{name} hold </tmp/in >/tmp/said &
                exec 3>/tmp/in
                read -r line </tmp/said
                ttmem --json"""))
            self.assertEqual(shown["devices"][0]["dram"]["used_bytes"], 12 << 20)
            (inside / name).unlink()

    def check_python(self):
        (device,) = json.loads(self.root.run("""TT_ALLOC_TRACKING_ENABLED=1 python3 -B -c '
import json, ttmem
ttmem.device_open(0, arch="wormhole_b0", grid_x=8, grid_y=8)
ttmem.buffer_alloc(0, ttmem.BufferType.DRAM, 4096, 1024, bytes_per_bank=4096)
print(json.dumps(ttmem.snapshot()["devices"]))'"""))
        self.assertEqual([process["name"] for process in device["processes"]], ["python3"])

    def check_run(self):
        """Checks that `ttmem run` builds the adapter from the packages' files."""
        self.root.run("apt-get -qq install --no-install-recommends g++")
        shutil.copy(SOURCE / "simulator" / "examples" / "matmul.cpp", self.root.path / "root")
        said = self.root.run("""
            cd /root
            folder=$(echo /usr/lib/*/ttmem)
            g++ -std=c++20 -I /usr/include/ttmem-dryrun matmul.cpp -o matmul -pthread \
              $folder/libttmem_dryrun.so -Wl,-rpath,$folder
            ttmem run --summary -- ./matmul 2>&1
            rm -r matmul matmul.cpp .cache""")
        self.assertNotIn("no adapter", said)
        self.assertRegex(said, r"(?m)^ *\d+ +0 .* \./matmul$")  # its peak was counted


class TheTarball(unittest.TestCase):
    def test_the_tarball_needs_only_the_c_and_cxx_runtimes(self):
        skip_if_sanitized()
        with tempfile.TemporaryDirectory(prefix="ttmem-tarball-") as folder:
            made = subprocess.run([str(SOURCE / "scripts" / "tarball"), folder], text=True,
                                  capture_output=True, check=False,
                                  env={**os.environ, "TTMEM_BUILD": str(BUILD)})
            self.assertEqual(made.returncode, 0, made.stderr)
            subprocess.run(["tar", "-xf", made.stdout.strip(), "-C", folder], check=True)
            (tree,) = pathlib.Path(folder).glob("ttmem-*/")
            self.assertRegex((tree / "INSTALL").read_text(), r"^Needs glibc 2\.\d+ and a libstdc\+\+")
            loaded = subprocess.run(["ldd", str(tree / "bin" / "ttmem")], text=True,
                                    capture_output=True, check=True).stdout
            elsewhere = re.findall(r"^\s+(\S+) => (?!" + re.escape(str(tree)) + ")", loaded, re.M)
            self.assertEqual(sorted(elsewhere),
                             ["libc.so.6", "libgcc_s.so.1", "libm.so.6", "libstdc++.so.6"])
            version = subprocess.run([str(tree / "bin" / "ttmem"), "--version"], text=True,
                                     capture_output=True, check=True).stdout
            self.assertRegex(version, r"^ttmem \d")
            for path in binaries(tree):
                self.assertEqual(unsafe_run_paths(path), [], path)
                if path.parent.name == "bin" or path.name.startswith("libttmem"):  # others: the system's
                    self.assertEqual(missing_hardening(path), [], path)


if __name__ == "__main__":
    unittest.main()

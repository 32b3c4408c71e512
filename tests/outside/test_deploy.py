# SPDX-License-Identifier: Apache-2.0
"""The systemd unit of packaging/deploy, checked by systemd itself."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import HERE, TTMEM

UNIT = (HERE.parent.parent / "packaging" / "deploy" / "systemd" / "ttmem.service").read_text()


class Unit(unittest.TestCase):
    def settings(self):
        return re.findall(r"^([A-Za-z]+)=(.*)$", UNIT, re.M)

    def test_the_unit_is_bounded_and_local(self):
        settings = self.settings()
        for one in (("MemoryMax", "1G"), ("TasksMax", "64"), ("RuntimeDirectory", "ttmem"),
                    ("IPAddressDeny", "any"), ("IPAddressAllow", "localhost")):
            self.assertIn(one, settings)

    def test_systemd_knows_every_setting(self):
        verify = shutil.which("systemd-analyze")
        if verify is None:
            self.skipTest("there is no systemd-analyze here")
        # Removes Documentation=, because systemd reports a manual page that is not installed.
        unit = UNIT.replace("/usr/local/bin/ttmem", TTMEM).replace("Documentation=", "#")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "ttmem.service")
            for text, right in ((unit, True), (unit.replace("MemoryMax", "MemoryMost"), False)):
                path.write_text(text)
                said = subprocess.run([verify, "verify", "--man=no", str(path)], text=True,
                                      capture_output=True, check=False).stderr
                self.assertEqual("ttmem.service" in said, not right, said)


if __name__ == "__main__":
    unittest.main()

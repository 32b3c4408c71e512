# SPDX-License-Identifier: Apache-2.0
"""Host code for TT-Metal, compiled as a reader of docs/ would, against the installed dry run."""

import subprocess

from support import PREFIX, library_path, skip_if_sanitized

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
PROCESSOR = PREFIX / "share" / "ttmem" / "tt-metal"


def build(compiler, binary, *sources):
    skip_if_sanitized()  # a static library with sanitizers wants programs with them
    include = PREFIX / "include"
    subprocess.run([compiler, "-std=c++20", *WARNINGS, "-I", str(include), "-I",
                    str(include / "ttmem-dryrun"), "-I", str(PROCESSOR), *map(str, sources), "-o",
                    str(binary), "-L", library_path(), "-lttmem_dryrun", "-lttmem", "-pthread",
                    f"-Wl,-rpath,{library_path()}"], check=True)


def processor_sources():
    return sorted(PROCESSOR.glob("*.cpp"))

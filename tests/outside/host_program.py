# SPDX-License-Identifier: Apache-2.0
"""Host code for TT-Metal, compiled as a reader of docs/ would, against the installed dry run."""

import pathlib
import shutil
import subprocess

from support import PREFIX, library_path, skip_if_sanitized

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
PROCESSOR = PREFIX / "share" / "ttmem" / "tt-metal"
DRYRUN_HEADERS = PREFIX / "include" / "ttmem-dryrun"


def build(compiler, binary, *sources):
    skip_if_sanitized()  # a static library with sanitizers wants programs with them
    include = PREFIX / "include"
    subprocess.run([compiler, "-std=c++20", *WARNINGS, "-I", str(include), "-I",
                    str(DRYRUN_HEADERS), "-I", str(PROCESSOR), *map(str, sources), "-o",
                    str(binary), "-L", library_path(), "-lttmem_dryrun", "-lttmem", "-pthread",
                    f"-Wl,-rpath,{library_path()}"], check=True)


def build_plain(compiler, binary, source, *options, runtime=None):
    """Host code that knows nothing of ttmem, on the dry run as a shared library, or on another
    library with the same functions."""
    runtime = pathlib.Path(runtime or f"{library_path()}/libttmem_dryrun.so")
    skip_if_sanitized()
    subprocess.run([compiler, "-std=c++20", *WARNINGS, "-I", str(DRYRUN_HEADERS),
                    str(source), "-o", str(binary), *options, str(runtime), "-pthread",
                    f"-Wl,-rpath,{runtime.parent}"], check=True)


def build_adapter(compiler, binary, headers=DRYRUN_HEADERS):
    """As `ttmem adapter build` does it."""
    skip_if_sanitized()
    sources = PREFIX / "share/ttmem/adapter"
    subprocess.run([compiler, "-std=c++20", "-O1", *WARNINGS, "-fPIC", "-shared",
                    "-fvisibility=hidden", "-I", str(sources), "-I",
                    str(headers), *map(str, sorted(sources.glob("*.cpp"))),
                    "-o", str(binary), f"{library_path()}/libttmem_dryrun.so", "-L", library_path(),
                    "-lttmem", f"-Wl,-rpath,{library_path()}", "-Wl,--no-undefined"], check=True)


def copy_public_headers(folder):
    """Those of the dry run that a package of TT-Metal has too."""
    for name in ("tt-metalium", "tt_stl"):
        shutil.copytree(DRYRUN_HEADERS / name, folder / name)
    return folder


def relink_dryrun(folder, *options, name="libttmem_dryrun.so"):
    """The dry run's shared library again, linked otherwise; for LD_LIBRARY_PATH."""
    folder.mkdir()
    subprocess.run(["g++", "-shared", f"-Wl,-soname,{name}", *options, "-Wl,--whole-archive",
                    f"{library_path()}/libttmem_dryrun.a", "-Wl,--no-whole-archive", "-pthread", "-o",
                    str(folder / name)], check=True)
    return str(folder)


def processor_sources():
    return sorted(PROCESSOR.glob("*.cpp"))

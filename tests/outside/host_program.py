# SPDX-License-Identifier: Apache-2.0
"""Host code for TT-Metal, compiled as a reader of docs/ would, against the installed dry run."""

import fcntl
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from support import PREFIX, library_path, skip_if_sanitized

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
PROCESSOR = PREFIX / "share" / "ttmem" / "tt-metal"
ADAPTER = PREFIX / "share" / "ttmem" / "adapter"
DRYRUN_HEADERS = PREFIX / "include" / "ttmem-dryrun"
# What takes long to compile and is wanted by many tests, which run at the same time.
KEPT = pathlib.Path(os.environ["TTMEM_BUILD"]) / "host_programs"


def made_once(name, folders, make):
    """The file that make(path) writes, of what is in these folders: one for all tests."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    KEPT.mkdir(exist_ok=True)
    kept = KEPT / f"{digest.hexdigest()[:16]}-{name}"
    with open(KEPT / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            begun = KEPT / f"begun-{name}"
            make(begun)
            begun.rename(kept)
    return kept


def in_one_piece(sources, file, *options):
    """Compiled as one file, as `ttmem adapter build` does it: a third of the time."""
    everything = file.with_suffix(".cpp")
    everything.write_text("".join(f'#include "{source}"\n' for source in sorted(sources)))
    # In one piece every file is a header for GCC, where a type without linkage would be a fault.
    subprocess.run(["g++", "-std=c++20", *WARNINGS, "-Wno-subobject-linkage", str(everything), "-o",
                    str(file), *options], check=True)
    everything.unlink()


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


def copy_public_headers(folder):
    """Those of the dry run that a package of TT-Metal has too."""
    for name in ("tt-metalium", "tt_stl"):
        shutil.copytree(DRYRUN_HEADERS / name, folder / name)
    return folder


@functools.cache
def adapter(public=False):
    """As `ttmem adapter build` makes it; with the public headers of the runtime alone, or with all."""
    skip_if_sanitized()
    with tempfile.TemporaryDirectory(prefix="ttmem-adapter-") as folder:
        headers = copy_public_headers(pathlib.Path(folder)) if public else DRYRUN_HEADERS

        def make(file):
            in_one_piece(ADAPTER.glob("*.cpp"), file, "-O1", "-fPIC", "-shared",
                         "-fvisibility=hidden", "-I", str(ADAPTER), "-I", str(headers),
                         f"{library_path()}/libttmem_dryrun.so", "-L", library_path(), "-lttmem",
                         f"-Wl,-rpath,{library_path()}", "-Wl,--no-undefined")

        return made_once("adapter.so", (ADAPTER, headers, PREFIX / "include" / "ttmem"), make)


def relink_dryrun(folder, *options, name="libttmem_dryrun.so"):
    """The dry run's shared library again, linked otherwise; for LD_LIBRARY_PATH."""
    folder.mkdir()
    subprocess.run(["g++", "-shared", f"-Wl,-soname,{name}", *options, "-Wl,--whole-archive",
                    f"{library_path()}/libttmem_dryrun.a", "-Wl,--no-whole-archive", "-pthread", "-o",
                    str(folder / name)], check=True)
    return str(folder)


def processor_sources():
    return sorted(PROCESSOR.glob("*.cpp"))


@functools.cache
def processor():
    """Its sources, as one object file."""
    skip_if_sanitized()

    def make(file):
        in_one_piece(processor_sources(), file, "-c", "-I", str(PREFIX / "include"), "-I",
                     str(DRYRUN_HEADERS), "-I", str(PROCESSOR))

    return made_once("processor.o", (PROCESSOR, PREFIX / "include"), make)

# SPDX-License-Identifier: Apache-2.0
"""Compiles host code for TT-Metal against the installed dry run, as docs/ tells users to."""

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
# A folder of compiled files that take long to build. Tests that run at the same time share the
# files.
KEPT = pathlib.Path(os.environ["TTMEM_BUILD"]) / "host_programs"


def made_once(name, folders, make):
    """Returns the file that make(path) writes. All tests share the file. It is made again only if
    the contents of these folders have changed."""
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
    """Compiles the sources as one file, as `ttmem adapter build` does. Compiling each source on its
    own would take three times as long."""
    everything = file.with_suffix(".cpp")
    everything.write_text("".join(f'#include "{source}"\n' for source in sorted(sources)))
    # GCC takes every included source for a header and would warn about its types without linkage.
    subprocess.run(["g++", "-std=c++20", *WARNINGS, "-Wno-subobject-linkage", str(everything), "-o",
                    str(file), *options], check=True)
    everything.unlink()


def build(compiler, binary, *sources):
    skip_if_sanitized()  # a static library with sanitizers needs programs with sanitizers
    include = PREFIX / "include"
    subprocess.run([compiler, "-std=c++20", *WARNINGS, "-I", str(include), "-I",
                    str(DRYRUN_HEADERS), "-I", str(PROCESSOR), *map(str, sources), "-o",
                    str(binary), "-L", library_path(), "-lttmem_dryrun", "-lttmem", "-pthread",
                    f"-Wl,-rpath,{library_path()}"], check=True)


def build_plain(compiler, binary, source, *options, runtime=None):
    """Compiles host code without any use of ttmem. Links it with the shared library `runtime`, by
    default the dry run."""
    runtime = pathlib.Path(runtime or f"{library_path()}/libttmem_dryrun.so")
    skip_if_sanitized()
    subprocess.run([compiler, "-std=c++20", *WARNINGS, "-I", str(DRYRUN_HEADERS),
                    str(source), "-o", str(binary), *options, str(runtime), "-pthread",
                    f"-Wl,-rpath,{runtime.parent}"], check=True)


def copy_public_headers(folder):
    """Copies the headers of the dry run that a package of TT-Metal contains too. Returns the folder
    of the copies."""
    for name in ("tt-metalium", "tt_stl"):
        shutil.copytree(DRYRUN_HEADERS / name, folder / name)
    return folder


@functools.cache
def adapter(public=False):
    """Returns the adapter as `ttmem adapter build` makes it. With `public`, only the runtime's
    public headers are used."""
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
    """Links the dry run's shared library again with other options. Returns the folder for
    LD_LIBRARY_PATH."""
    folder.mkdir()
    subprocess.run(["g++", "-shared", f"-Wl,-soname,{name}", *options, "-Wl,--whole-archive",
                    f"{library_path()}/libttmem_dryrun.a", "-Wl,--no-whole-archive", "-pthread", "-o",
                    str(folder / name)], check=True)
    return str(folder)


def processor_sources():
    return sorted(PROCESSOR.glob("*.cpp"))


@functools.cache
def processor():
    """Returns the processor, compiled to one object file."""
    skip_if_sanitized()

    def make(file):
        in_one_piece(processor_sources(), file, "-c", "-I", str(PREFIX / "include"), "-I",
                     str(DRYRUN_HEADERS), "-I", str(PROCESSOR))

    return made_once("processor.o", (PROCESSOR, PREFIX / "include"), make)

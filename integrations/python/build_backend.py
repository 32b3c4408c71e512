# SPDX-License-Identifier: Apache-2.0
"""The build hooks (PEP 517 and 660) by which pip builds the package. The package is pure Python
without dependencies, so its wheel is only a zip archive of the files with a list of them."""

import base64
import configparser
import hashlib
import io
import os
import re
import tarfile
import zipfile

_HERE = os.path.dirname(os.path.abspath(__file__))
_SOURCES = ("pyproject.toml", "setup.cfg", "build_backend.py", "README.md")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel for `pip install ./integrations/python`."""
    return _write_wheel(wheel_directory, {name: _read(name) for name in _package_files()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel for `pip install -e ./integrations/python`. This wheel has only a path file
    that names this folder."""
    return _write_wheel(wheel_directory, {"ttmem-editable.pth": os.fsencode(_HERE) + b"\n"})


def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources into an archive."""
    base = f"ttmem-{_metadata()['version']}"
    info = tarfile.TarInfo(f"{base}/PKG-INFO")
    text = _metadata_text()
    info.size = len(text)
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        archive.addfile(info, io.BytesIO(text))
        for name in (*_SOURCES, *_package_files()):
            archive.add(os.path.join(_HERE, name), f"{base}/{name}")
    return base + ".tar.gz"


def _write_wheel(directory, files):
    base = f"ttmem-{_metadata()['version']}"
    name, info = f"{base}-py3-none-any.whl", f"{base}.dist-info"
    files[f"{info}/METADATA"] = _metadata_text()
    files[f"{info}/entry_points.txt"] = _entry_points_text()
    files[f"{info}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: ttmem\nRoot-Is-Purelib: true\n"
                              b"Tag: py3-none-any\n")
    record = "".join(f"{path},{_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # has a fixed time, so equal sources give equal wheels
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def _config():
    config = configparser.ConfigParser()
    config.read(os.path.join(_HERE, "setup.cfg"), encoding="utf-8")
    return config


def _metadata():
    config = _config()
    version = re.search(rb'^__version__ = "(.*)"$', _read("ttmem/__init__.py"), re.M)
    return {**config["metadata"], **config["options"], "version": version[1].decode()}


def _metadata_text():
    known = _metadata()
    lines = ["Metadata-Version: 2.1", f"Name: {known['name']}", f"Version: {known['version']}",
             f"Summary: {known['description']}", f"License: {known['license']}",
             f"Requires-Python: {known['python_requires']}"]
    lines += [f"Classifier: {one}" for one in known["classifiers"].strip().splitlines()]
    lines += [f"Description-Content-Type: {known['long_description_content_type']}", "", ""]
    return "\n".join(lines).encode() + _read("README.md")


def _entry_points_text():
    groups = _config()["options.entry_points"]
    return "".join(f"[{group}]\n{groups[group].strip()}\n" for group in groups).encode()


def _package_files():
    return sorted(f"ttmem/{name}" for name in os.listdir(os.path.join(_HERE, "ttmem"))
                  if name.endswith((".py", ".typed")))


def _read(name):
    with open(os.path.join(_HERE, name), "rb") as file:
        return file.read()


def _digest(data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return "sha256=" + digest.decode()

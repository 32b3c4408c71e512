# SPDX-License-Identifier: Apache-2.0
"""Reads protocol buffers with Debian's protoc, independently of ttmem."""

import ast
import collections
import pathlib
import subprocess
import tempfile


class Message(collections.defaultdict):
    """A decoded message: {name of a field: its values in order}."""

    def __init__(self):
        super().__init__(list)

    def one(self, name, default=None):
        values = self.get(name, [])
        assert len(values) <= 1, (name, values)
        return values[0] if values else default


def decode(data, schema, message):
    """Decodes `data`. `schema` is the text of a .proto file without packages. Fails if the schema
    lacks a field of `data`, or gives the field another type."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "schema.proto").write_text(schema)
        result = subprocess.run(["protoc", f"--proto_path={folder}", f"--decode={message}",
                                 "schema.proto"], input=data, capture_output=True, check=True)
    return parse(result.stdout.decode())


def parse(text):
    root = Message()
    open_messages = [root]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
        elif line.endswith(" {") and '"' not in line:
            open_messages.append(_add(open_messages[-1], line[:-2], Message()))
        else:
            name, value = line.split(": ", 1)
            _add(open_messages[-1], name, value_of(value))
    assert open_messages == [root]
    return root


def _add(message, name, value):
    assert not name.isdigit(), f"a field that the schema does not have: {name}: {value}"
    message[name].append(value)
    return value


def value_of(text):
    if text.startswith('"'):
        return ast.literal_eval("b" + text).decode("utf-8")
    try:
        return int(text)
    except ValueError:
        return float(text) if text[0] in "-.0123456789" else text  # otherwise the name of an enum

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares debian/*.symbols with the symbol maps; with --update, writes them.

A version node "DRAY_X.Y" came with version X.Y.0 of the package.
"""

import re
import sys
from pathlib import Path

TREE = Path(__file__).parents[2]
LIBRARIES = [("libdray", TREE / "userspace/core/libdray.map"),
             ("libdray-array", TREE / "userspace/array/libdray-array.map"),
             ("libdray-opencl", TREE / "userspace/opencl/libdray-opencl.map")]
# The package with the headers, if its name differs.
DEVELOPMENT = {"libdray-opencl": "libdray-array"}


def version(*parts):
    """Returns a part of the version in meson.build."""
    text = re.search(r"version: '(.*?)'", (TREE / "meson.build").read_text(encoding="utf-8"))[1]
    return ".".join(text.split(".")[slice(*parts)])


def nodes(path):
    """Returns the version nodes of a map with their symbols."""
    text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
    found = {}
    for node, body in re.findall(r"(\w[\w.]*) \{(.*?)\}", text, re.DOTALL):
        body = re.sub(r"local:.*", "", body, flags=re.DOTALL).replace("global:", "")
        found[node] = [name.strip() for name in body.split(";") if name.strip()]
    return found


def symbols(library, path):
    """Returns a file of symbols for a package of Debian."""
    major = version(1)
    lines = ["# SPDX-License-Identifier: Apache-2.0 OR MIT",
             "# tests/abi/symbols.py --update writes it.",
             f"{library}.so.{major} {library}{major} #MINVER#",
             f"* Build-Depends-Package: {DEVELOPMENT.get(library, library)}-dev"]
    for node, names in nodes(path).items():
        came = re.search(r"(\d+\.\d+)", node)[1] + ".0"
        # Both libraries are of one build: the packages depend on the very version.
        if "_PRIVATE_" in node:
            came = version(3)
        lines += [f" {name}@{node} {came}" for name in [node, *sorted(names)]]
    return "\n".join(lines) + "\n"


def place(library):
    return TREE / f"debian/{library}{version(1)}.symbols"


def main(update):
    stale = []
    for library, path in LIBRARIES:
        text, file = symbols(library, path), place(library)
        if update:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(f"{file.relative_to(TREE)} is not as the map: "
                         "tests/abi/symbols.py --update writes it")
    return "\n".join(stale) or None


if __name__ == "__main__":
    sys.exit(main("--update" in sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Keeps the debug information of the libraries' interfaces, for abidiff.

    DRAY_BUILD=FOLDER baseline.py --update    writes tests/abi/*.abi.xz from a build
    DRAY_BUILD=FOLDER baseline.py             compares the build with them

Needs: abigail-tools. After a release, only the next release updates them.
"""

import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from headers import INCLUDE

HERE = Path(__file__).parent
LIBRARIES = {"libdray": "userspace/core/libdray.so",
             "libdray-array": "userspace/array/libdray-array.so",
             "libdray-opencl": "userspace/opencl/libdray-opencl.so"}
ALLOWED = HERE / "abidiff.suppr"


def update(build):
    for name, place in LIBRARIES.items():
        text = subprocess.check_output([
            "abidw", "--headers-dir", INCLUDE / "dray", "--drop-private-types", "--no-corpus-path",
            "--no-comp-dir-path", "--no-show-locs", build / place])
        (HERE / f"{name}.abi.xz").write_bytes(lzma.compress(text, preset=9))


def differences(old, new):
    """Returns abidiff's remarks on changes that programs notice."""
    done = subprocess.run(["abidiff", "--no-added-syms", "--suppressions", ALLOWED, old, new],
                          text=True, capture_output=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def compare(build):
    found = ""
    for name, place in LIBRARIES.items():
        with tempfile.NamedTemporaryFile(suffix=".abi") as file:
            file.write(lzma.decompress((HERE / f"{name}.abi.xz").read_bytes()))
            file.flush()
            found += differences(file.name, build / place)
    return found


def main(arguments):
    build = Path(os.environ["DRAY_BUILD"])
    if arguments == ["--update"]:
        return update(build)
    return compare(build) or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

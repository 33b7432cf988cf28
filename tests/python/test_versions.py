# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which package and which library are here, and whether they match."""
import os
import re
import subprocess
import sys

import pytest

import dray
from deadline import DEADLINE

pytestmark = pytest.mark.host  # versions are the same on each back end


def library():
    """The file of the libdray that is loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        [path] = {line.split(maxsplit=5)[5].strip() for line in maps
                  if "/libdray.so" in line}
    return path


def test_package_and_library_are_of_one_version():
    versions = dray.versions()
    assert versions == (dray.__version__, dray.__version__)
    assert versions.match
    assert re.fullmatch(r"\d+\.\d+\.\d+", dray.__version__)


def test_another_library_is_seen(tmp_path):
    """The same one, which says that it is another."""
    version = dray.__version__.encode()
    other = b"9" + version[1:]
    with open(library(), "rb") as file:
        code = file.read()
    assert b"\0" + version + b"\0" in code
    copy = tmp_path / os.path.basename(library())
    copy.write_bytes(code.replace(b"\0" + version + b"\0",
                                  b"\0" + other + b"\0"))
    name = re.search(rb"libdray\.so\.\d+(?=\0)", code)[0].decode()
    if name != copy.name:
        (tmp_path / name).symlink_to(copy.name)
    said = subprocess.run(
        [sys.executable, "-c",
         "import dray; print(*dray.versions(), dray.versions().match)"],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}, text=True,
        capture_output=True, timeout=DEADLINE)
    assert said.stdout == (f"{dray.__version__} {other.decode()} False\n"), (
        said.stderr)


def test_the_same_library_elsewhere_matches(tmp_path):
    name = re.match(r"libdray\.so(\.\d+)?", os.path.basename(library()))[0]
    (tmp_path / name).symlink_to(library())
    said = subprocess.run(
        [sys.executable, "-c", "import dray; print(dray.versions().match)"],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}, text=True,
        capture_output=True, timeout=DEADLINE)
    assert said.stdout == "True\n", said.stderr

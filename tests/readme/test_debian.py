# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The lists in debian/ name all that meson installs, each file once, and nothing else."""

import json
import os
from pathlib import Path

import pytest

LISTS = sorted((Path(__file__).parents[2] / "debian").glob("*.install"))


def options():
    text = (Path(os.environ["DRAY_BUILD"]) /
            "meson-info/intro-buildoptions.json").read_text(encoding="utf-8")
    return {option["name"]: option["value"] for option in json.loads(text)}


def owners(prefix):
    """{installed file: its packages}, and the patterns that match none."""
    files = {path: [] for path in prefix.rglob("*") if not path.is_dir()}
    unmatched = []
    for file in LISTS:
        for line in file.read_text(encoding="utf-8").splitlines():
            if not line.startswith("usr/"):
                continue
            # Outside /usr, the folder's name has the version.
            pattern = line.split()[0].removeprefix("usr/").replace(
                "lib/python3", "lib/python3*")
            found = [path for match in prefix.glob(pattern)
                     for path in (match, *match.rglob("*")) if path in files]
            for path in found:
                files[path].append(file.stem)
            if not found:
                unmatched.append((file.name, pattern))
    return files, unmatched


def test_each_installed_file_is_in_one_package(root):
    built = options()
    if built["python"] != "enabled" or built["dmactl"] != "enabled":
        pytest.skip("the build lacks what the packages have")
    if not (Path(os.environ["DRAY_BUILD"]) / "userspace/opencl/libdray-opencl.so").exists():
        pytest.skip("the build lacks libdray-opencl")
    files, unmatched = owners(root / built["prefix"].lstrip("/"))
    if built["default_library"] == "shared":
        for package, name in (("libdray", "libdray"), ("libdray-array", "libdray-array"),
                              ("libdray-array", "libdray-opencl")):
            unmatched.remove((f"{package}-dev.install", f"lib/*/{name}.a"))
    assert unmatched == []
    assert {path.name: packages for path, packages in files.items()
            if len(packages) != 1} == {}

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of docs/ufuncs.md work as they stand there."""

import os
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "ufuncs.md").read_text(encoding="utf-8")


def block(language):
    return re.search(f"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(autouse=True)
def opencl(tmp_path, monkeypatch):
    """A place for kernels that PoCL has compiled."""
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    if not os.environ.get("DRAY_TEST_OPENCL") and not os.path.exists("/etc/OpenCL/vendors"):
        pytest.skip("no platform of OpenCL")


def test_the_first_program_adds(output, build_c, tmp_path):
    build_c(block("c"), tmp_path / "program")
    assert output(tmp_path / "program") == "3.5\n"


def test_the_c_program_computes_by_opencl(output, build_c, tmp_path):
    build_c(block("c opencl"), tmp_path / "program", "dray-opencl")
    assert output(tmp_path / "program", variables={"POCL_CACHE_DIR": str(tmp_path)}) == \
        "36 16 4, 1 call\n"


def test_the_python_program_computes_by_opencl(output, root, tmp_path):
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    said = output("env", f"PYTHONPATH={found[0].parents[1]}", "/usr/bin/python3", "-",
                  input=block("python opencl"), variables={"POCL_CACHE_DIR": str(tmp_path)})
    assert said == "opencl\n[[0.0, 2.0, 4.0], [3.0, 5.0, 7.0]]\n1 True\n"

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds the built programs of tools/fpga.d."""

import os
import pathlib

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def source():
    return TREE / "tools/fpga.d"


@pytest.fixture(scope="session")
def built():
    folder = pathlib.Path(os.environ.get("DRAY_BUILD", TREE / "build"))
    return folder / "tools/fpga.d"

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Figures of tools/bench alloc that are the same on all machines: dray's goals of
room and of lines dirtied.  The programs are in DRAY_BUILD."""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = Path(os.environ["DRAY_BUILD"]) / "tests/bench/alloc"
pytestmark = pytest.mark.skipif(not (PROGRAMS / "alloc-dray").exists(),
                                reason="built with -Dtests=enabled alone")
EACH = pytest.mark.parametrize("contender", ["dray", "dray-shareable"])


def figures(contender, *workload):
    lines = subprocess.check_output([PROGRAMS / f"alloc-{contender}", *workload],
                                    text=True)
    return {name: float(value) for name, value in
            map(str.split, lines.splitlines())}


@EACH
def test_no_line_of_the_region_is_dirtied(contender):
    assert figures(contender, "lines") == {"lines": 0}


@EACH
@pytest.mark.parametrize("idle", ["0", "4"])
def test_the_region_fills_and_is_one_block_again(contender, idle):
    room = figures(contender, "fill", idle)
    assert room["filled"] >= 99
    assert room["largest"] == 1024


@pytest.mark.parametrize("contender", ["dray", "dray-shareable", "glibc", "none"])
def test_a_pair_of_calls_is_timed(contender):
    assert figures(contender, "pair", "64")["ns"] > 0

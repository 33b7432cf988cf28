# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench interop: each runs, and nothing is copied.  The module with the
loops in C is in DRAY_BUILD, a build for Debian's NumPy, which the module does not use."""
import os
import sys
from pathlib import Path

import pytest

BENCH = Path(os.environ["DRAY_BUILD"]) / "tests/bench/interop"
TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def interop_rows(monkeypatch):
    for folder in (BENCH, TOOLS / "benches", TOOLS / "lib"):
        monkeypatch.syspath_prepend(str(folder))
    import interop_rows
    return interop_rows


def test_rows_are_measured_and_printed(interop_rows, capsys, monkeypatch):
    import report
    import turns
    monkeypatch.setattr(sys, "argv", ["interop_rows.py"])
    monkeypatch.setenv("DRAY_BENCH_ROUNDS", "1")
    monkeypatch.setattr(turns, "ENOUGH", 1e4)
    interop_rows.main()
    printed, _ = report.rows_of(capsys.readouterr().out.splitlines())
    names = [row["name"] for row in printed]
    assert len(names) == len(set(names)) == len(list(interop_rows.rows())) + 1
    assert printed[-1]["dray"]["median"] == 0  # bytes copied


def test_a_copy_is_counted(interop_rows, monkeypatch):
    monkeypatch.setattr(interop_rows, "SHARED", ("address(d)", "address(d.copy())"))
    assert interop_rows.copied() == 40

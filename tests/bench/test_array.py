# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench array: each names contenders that exist, and both do the same.
The module with the timed loop is in DRAY_BUILD."""

import os
import re
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

import array_calls
from array_layouts import MIB

SOURCES = Path(__file__).parent / "array"
BUILD = Path(os.environ["DRAY_BUILD"])
MODULES = BUILD / "tests/bench/array"
ROWS = list(array_calls.rows())
SMALL = [row for row in ROWS if row.is_ten]
RESULTS = ("convert", "put", "set", "sort")


@pytest.fixture(scope="module")
def array_times():
    if not list(MODULES.glob("array_times*.so")):
        pytest.skip("built with -Dtests=enabled alone")
    sys.path[:0] = [str(MODULES), str(BUILD / "userspace/python")]
    import array_times
    return array_times


def names(rows):
    return [row.name for row in rows]


def test_each_row_has_a_name_of_its_own():
    assert len(set(names(ROWS))) == len(ROWS)


def test_rows_name_contenders_that_exist():
    exist = {name for file in SOURCES.glob("*.c") for name in
             re.findall(r'^\t\{ "([^"]*)", \w+ \},$', file.read_text(), re.M)}
    assert {call for row in ROWS for call in row.contenders.values()} <= exist


def test_sizes_are_those_of_the_destinations():
    for row in ROWS:
        if row.bytes == MIB:
            assert row.make()[0].nbytes == MIB, row.name


@pytest.mark.parametrize("row", SMALL, ids=names(SMALL))
def test_calls_of_a_row_run_and_leave_the_same(array_times, row):
    dst, *operands = row.make()
    left = []
    for call in row.contenders.values():
        dst[...] = 0
        assert array_times.time(call, 1, dst, *operands) >= 0
        left.append(dst.copy())
        if call.split()[0] in RESULTS and operands[0] is not dst:
            assert dst.any()
    assert all(np.array_equal(each, left[0]) for each in left)


def test_rows_are_measured_and_printed(array_times, capsys, monkeypatch):
    import array_rows
    import report
    import turns
    monkeypatch.setattr(sys, "argv", ["array_rows.py", "10 elements"])
    monkeypatch.setenv("DRAY_BENCH_ROUNDS", "1")
    monkeypatch.setattr(turns, "ENOUGH", 1e4)
    array_rows.main()
    printed = report.rows_of(capsys.readouterr().out.splitlines())[0]
    found = [row["name"] for row in printed]
    assert set(names(SMALL)) < set(found)
    assert any(name.startswith("Python: ") for name in found)
    assert found[-1] == "geometric mean of all rows from Python"


def test_means_and_slowest_calls(array_times, capsys):
    import array_rows
    array_rows.show_mean("mean", [(None, {"dray": 1, "NumPy": 2}),
                                  (None, {"dray": 1, "NumPy": 8})], "-", 2)
    array_rows.show_ten({"fast": 50, "slow": 51})
    assert capsys.readouterr().out.splitlines() == [
        "row\tmean\t× NumPy\thigher\t-\t2", "sample\tmean\tdray\t4.0",
        *(f"{word}\tslowest call on ten elements: slow\t{rest}" for word, rest in
          (("row", "ns\tlower\t-\t50"), ("sample", "dray\t51"))),
        *(f"{word}\tcalls on ten elements above 50 ns, of 2\t{rest}"
          for word, rest in (("row", "calls\tlower\t-\t0"),
                             ("sample", "dray\t1")))]

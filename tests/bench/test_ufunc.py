# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench ufunc: both contenders compute the same, and all rows are printed.
The module with the timed loop is in DRAY_BUILD."""

import os
import re
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

import ufunc_calls

SOURCE = Path(__file__).parent / "array/ufunc_times.c"
BUILD = Path(os.environ["DRAY_BUILD"])
MODULES = BUILD / "tests/bench/array"
ROWS = list(ufunc_calls.rows(True, ufunc_calls.NUMPY))
SMALL = [row for row in ROWS if row.name.endswith(", 10 elements")]


@pytest.fixture(scope="module")
def ufunc_rows():
    if not list(MODULES.glob("ufunc_times*.so")):
        pytest.skip("built with -Dtests=enabled alone")
    sys.path[:0] = [str(MODULES), str(BUILD / "userspace/python")]
    import ufunc_rows
    return ufunc_rows


def names(rows):
    return [row.name for row in rows]


def test_each_row_has_a_name_of_its_own():
    assert len(set(names(ROWS))) == len(ROWS)


def test_rows_name_contenders_and_ufuncs_that_exist():
    exist = re.findall(r'\{ "([^"]*)", \w+ \},', SOURCE.read_text())
    for row in ROWS:
        for contender, name in row.contenders.values():
            assert contender in exist
            assert isinstance(getattr(np, name), np.ufunc)


def test_only_calls_of_arithmetic_without_gaps_count_as_of_ten():
    assert {row.name.split()[0] for row in ROWS if row.is_ten} == {
        name for name, _ in ufunc_calls.SIMPLE}
    assert all(row.name.count(",") == 1 for row in ROWS if row.is_ten)


def left(ufunc_rows, row, contender):
    """Returns the elements that a call leaves in fresh arrays."""
    arrays = row.make()
    assert ufunc_rows.time(row.contenders[contender], arrays, 1) >= 0
    return arrays[0]


@pytest.mark.parametrize("row", SMALL, ids=names(SMALL))
def test_contenders_leave_the_same(ufunc_rows, row):
    numpy_left = left(ufunc_rows, row, "NumPy")
    for contender in row.contenders.keys() - {"NumPy"}:
        made = left(ufunc_rows, row, contender)
        assert made.dtype == numpy_left.dtype
        np.testing.assert_allclose(made.astype("c16"), numpy_left.astype("c16"),
                                   rtol=1e-6 if made.dtype.itemsize != 2 else 1e-3)


def test_formulas_leave_the_same_recorded_or_not(ufunc_rows):
    import ufunc_recorded
    assert len(set(names(ufunc_recorded.rows()))) == 8
    for row in ufunc_recorded.rows():
        if "elements" not in row.name:
            continue
        results = []
        for call in row.contenders.values():
            arrays = row.make()
            assert ufunc_recorded.time(call, arrays, 1) >= 0
            results.append(arrays[-1].tobytes())
            assert arrays[-1].min() < arrays[-1].max()
        assert len(results) == 3 and len(set(results)) == 1


def test_wrong_formulas_are_refused(ufunc_rows):
    import ufunc_chains
    three = (np.ones(3),) * 3
    for contender, steps, inputs, arrays in (
            ("nobody", (("add", 0, 1, 2),), 2, three),
            ("calls", (("nothing", 0, 1, 2),), 2, three),
            ("calls", (("add", 0, 1, 3),), 2, three),
            ("calls", (("add", 0, 1, 2),), 3, three),
            ("recorded", (("add", 0, 1, 2),) * 9, 2, three)):
        with pytest.raises((ValueError, AttributeError)):
            ufunc_chains.time(contender, steps, 1, inputs, arrays)


@pytest.mark.parametrize("arguments", [
    ("call nobody", "add", 1, 1), ("call dray", "nothing", 1, 1),
    ("call dray", "add", 1, 3), ("reduce dray", "add", 1, 2, 0)])
def test_wrong_calls_are_refused(ufunc_rows, arguments):
    import ufunc_times
    contender, name, loops, count, *axis = arguments
    with pytest.raises(ValueError):
        ufunc_times.time(contender, name, loops, np.ones(3), (np.ones(3),) * count, *axis)


@pytest.mark.parametrize("options, last", [
    ([], "geometric mean of all rows from Python"),
    (["--avx2"], "geometric mean of elementary functions, AVX2")])
def test_rows_are_measured_and_printed(ufunc_rows, capsys, monkeypatch, options, last):
    import report
    import turns
    monkeypatch.setattr(sys, "argv", ["ufunc_rows.py", *options, "10 elements"])
    monkeypatch.setenv("DRAY_BENCH_ROUNDS", "1")
    monkeypatch.setattr(turns, "ENOUGH", 1e4)
    ufunc_rows.main()
    printed = report.rows_of(capsys.readouterr().out.splitlines())[0]
    found = {row["name"]: row for row in printed}
    assert printed[-1]["name"] == last
    if options:
        assert found["exp f4, 10 elements, AVX2"]["met"] in (True, False)
        return
    assert any(name.startswith("Python: ") for name in found)
    # Without a bound, the ratio is shown, and nothing judged.
    assert found["exp f4, 10 elements"]["ratio"] > 0
    assert found["exp f4, 10 elements"]["met"] is None
    assert found["add f8, 10 elements"]["met"] in (True, False)
    assert list(found["exp f4, 10 elements"]["peers"]) == ["NumPy", "dray, fast"]


def test_the_board_counts_each_function_of_both_types(ufunc_rows, capsys, monkeypatch):
    import report
    import ufunc_board
    monkeypatch.setattr(sys, "argv", ["ufunc_board.py", "exp", "hypot"])
    ufunc_board.main()
    printed = report.rows_of(capsys.readouterr().out.splitlines())[0]
    assert [(row["name"], row["goal"]["ratio"]) for row in printed] == [
        (f"{name} {dtype}, on the board", ratio) for name in ("exp", "hypot")
        for dtype, ratio in (("f4", 0.5), ("f8", None))]

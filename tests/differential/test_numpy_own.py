# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The judge of ../numpy-own: tests that say nothing about dray fail."""
import pathlib
import re
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).resolve().parents[1] / "numpy-own" / "run"
FILE = """
import numpy as np
from numpy.testing import assert_equal, assert_raises

def test_indexes(): assert_equal(np.arange(4)[[1, -1]], [1, 3])
def test_iterates(): assert_equal(list(np.nditer(np.arange(3)[::-1])), [0, 1, 2])
def test_raises(): assert_raises(IndexError, np.arange(4).__getitem__, 4)
def test_differs(): assert_equal(np.arange(4)[2], 3)
def test_adds(): assert np.arange(4).sum() == 6
def test_has_objects(): assert np.array([None])[0] is None
def test_has_an_iterator_of_objects(): next(np.nditer(np.array([None]), ["refs_ok"]))
def test_stops_at_an_error():
    try:
        np.arange(4).astype("O")
    except TypeError:
        return
"""
PASS = {"indexes", "iterates", "raises"}


def run(folder, listed):
    (folder / "test_file.py").write_text(FILE, encoding="utf-8")
    names = "".join(f"test_file.py::test_{name}\n" for name in listed)
    (folder / "listed.txt").write_text("== a reason\n" + names, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, RUN, "--differences", folder / "listed.txt", "-rA",
         folder / "test_file.py"], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    return dict(reversed(pair) for pair in re.findall(
        r"^(PASSED|FAILED|XFAIL) .*::test_(\w+)", done.stdout, re.M)), done.stdout


def test_only_answers_of_dray_pass(tmp_path):
    outcomes, text = run(tmp_path, [])
    assert len(outcomes) == 8, text
    assert {name for name, outcome in outcomes.items() if outcome == "PASSED"} == PASS, text


def test_a_listed_test_has_to_differ(tmp_path):
    outcomes, text = run(tmp_path, ["indexes", "differs", "adds"])
    assert outcomes["differs"] == outcomes["adds"] == "XFAIL", text
    assert outcomes["indexes"] == "FAILED", text


@pytest.mark.parametrize("name", ["gone", "index"])
def test_a_line_that_names_no_test_is_an_error(tmp_path, name):
    outcomes, text = run(tmp_path, [name])
    assert not outcomes and f"no test is named test_file.py::test_{name}" in text, text

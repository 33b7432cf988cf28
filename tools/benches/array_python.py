# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench array that are timed from Python: methods of dray.Array and of
numpy.ndarray, over the same memory."""

import time as clock
import timeit

import dray
import numpy as np

from array_layouts import LARGE, Row, memory

# Statements on an array a of so many rows of 2 float64, and indices i; the contender that
# the goal refers to, and its multiple.
EMPTY = "empty __array_ufunc__"
STATEMENTS = tuple((statement, count, "NumPy", 1) for statement, count in (
    ("a[1:-1, ::2]", 5), ("a[1]", 5), ("a[1, 1]", 5), ("a.T", 5),
    ("a.transpose(1, 0)", 5), ("a.reshape(-1)", 5), ("a.copy()", 5),
    ("a[i]", 5), ("a.take(i, 0)", 5), ("a.copy()", LARGE // 16), ("a[i]", 50_000),
    ("a.take(i, 0)", 50_000), ("memoryview(a)", 5),
)) + tuple((statement, 5, "NumPy", 1.5) for statement in (
    "np.asarray(a)", "a.flags", "a.item(1, 1)", "a.shape", "a.dtype",
)) + (("np.add(a, a)", 5, EMPTY, 1.3),)
WORDS = {5: "10 elements", 50_000: "100,000 elements", LARGE // 16: "1 MiB"}


class Empty:
    """The floor of NumPy's ufuncs: an operand that does nothing."""

    def __array_ufunc__(self, *args, **keywords):
        return self


def operands(count):
    array = memory((count, 2), "f8")
    indices = np.random.default_rng(1).integers(count, size=count)
    return {name: {"a": a, "i": indices, "np": np} for name, a in (
        ("dray", dray.Array(array)), ("NumPy", array), (EMPTY, Empty()))}


def time(call, arrays, loops):
    """Returns ns of one statement; a call is a contender and the statement."""
    contender, statement = call
    timer = timeit.Timer(statement, timer=clock.thread_time,
                         globals=arrays[contender])
    return timer.timeit(loops) * 1e9 / loops


def rows():
    for statement, count, name, ratio in STATEMENTS:
        yield Row(f"Python: {statement}, {WORDS[count]}", 0,
                  lambda count=count: operands(count),
                  {each: (each, statement)
                   for each in dict.fromkeys(("dray", "NumPy", name))},
                  (name, ratio))

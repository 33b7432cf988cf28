# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench array that are timed from Python: methods of dray.Array and of
numpy.ndarray, over the same memory."""

import time as clock
import timeit

import dray
import numpy as np

from array_layouts import LARGE, Row, memory

# Statements on an array a of so many rows of 2 float64, and indices i.
STATEMENTS = (
    ("a[1:-1, ::2]", 5), ("a[1]", 5), ("a[1, 1]", 5), ("a.T", 5),
    ("a.transpose(1, 0)", 5), ("a.reshape(-1)", 5), ("a.copy()", 5),
    ("a[i]", 5), ("a.take(i, 0)", 5), ("a.copy()", LARGE // 16), ("a[i]", 50_000),
    ("a.take(i, 0)", 50_000),
)
WORDS = {5: "10 elements", 50_000: "100,000 elements", LARGE // 16: "1 MiB"}


def operands(count):
    array = memory((count, 2), "f8")
    indices = np.random.default_rng(1).integers(count, size=count)
    return {"dray": {"a": dray.Array(array), "i": indices},
            "NumPy": {"a": array, "i": indices}}


def time(call, arrays, loops):
    """Returns ns of one statement; a call is a contender and the statement."""
    contender, statement = call
    timer = timeit.Timer(statement, timer=clock.thread_time,
                         globals=arrays[contender])
    return timer.timeit(loops) * 1e9 / loops


def rows():
    for statement, count in STATEMENTS:
        yield Row(f"Python: {statement}, {WORDS[count]}", 0,
                  lambda count=count: operands(count),
                  {name: (name, statement) for name in ("dray", "NumPy")},
                  ("NumPy", 1))

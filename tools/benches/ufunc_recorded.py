# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench ufunc of formulas: recorded as a sequence, as its calls one by one
into arrays that are there, and as NumPy's."""

import numpy as np
import ufunc_chains

from array_layouts import MIB, Row
from ufunc_calls import numbers

CALLS = "dray, calls"
# Name -> shapes of inputs (1: as the result, 0: a number), arrays in between, and calls:
# ufunc, two inputs and the output, as numbers of inputs, arrays in between, the result.
FORMULAS = {
    "a*b + b*c - a*c": ((1, 1, 1), 2, (
        ("multiply", 0, 1, 3), ("multiply", 1, 2, 4), ("add", 3, 4, 3),
        ("multiply", 0, 2, 4), ("subtract", 3, 4, 5))),
    "a*x + b": ((1, 0, 1), 1, (("multiply", 0, 1, 3), ("add", 3, 2, 4))),
}
SIZES = {10: "10 elements", 1000: "1,000 elements", MIB: "8 MiB each",
         8 * MIB: "64 MiB each"}


def arrays(name, count):
    """Makes inputs of float64, arrays in between, and the one of results."""
    shapes, between, _ = FORMULAS[name]
    return (*(numbers("add", count if shape else (), "f8", seed)
              for seed, shape in enumerate(shapes)),
            *(np.ones(count) for _ in range(between + 1)))


def time(call, operands, loops):
    contender, name = call
    shapes, _, steps = FORMULAS[name]
    return ufunc_chains.time(contender, steps, loops, len(shapes), operands)


def row(name, count):
    """Large ones stay in the cache in between; small ones cost as much as their calls."""
    return Row(f"{name}, {SIZES[count]}", 8 * count, lambda: arrays(name, count),
               {"dray": ("recorded", name), CALLS: ("calls", name), "NumPy": ("NumPy", name)},
               ("NumPy", 0.5) if count >= MIB else (CALLS, 1))


def rows():
    return (row(name, count) for name in FORMULAS for count in SIZES)

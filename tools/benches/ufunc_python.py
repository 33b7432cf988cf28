# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench ufunc that are timed from Python: ufuncs of dray on dray.Array and
on NumPy's arrays, and those of NumPy."""

import itertools
import time as clock
import timeit

import dray
import numpy as np

from array_layouts import Row
from ufunc_calls import NUMPY, SIZES, TEN, halves, numbers

OTHER = "dray, NumPy's arrays"
MIDDLE = 100_000
# Statements on arrays x and y of float64, o for results, a mask m, indices i, and a table t
# of two axes.
STATEMENTS = (
    ("add(x, y, out=o)", SIZES), ("add(x, y)", SIZES), ("x + y", SIZES),
    ("add(x, 1.5)", (TEN, MIDDLE)), ("add(x, y, out=o, where=m)", (TEN, MIDDLE)),
    ("less(x, y)", (TEN, MIDDLE)), ("sqrt(x, out=o)", (TEN, MIDDLE)),
    ("divmod(x, y)", (TEN, MIDDLE)), ("add.reduce(t, axis=0)", (TEN, MIDDLE)),
    ("add.reduce(t, axis=1)", (TEN, MIDDLE)), ("x.sum()", SIZES),
    ("add.accumulate(x, out=o)", (TEN, MIDDLE)),
    ("add.reduceat(x, [0, 3, 5])", (TEN, MIDDLE)),
    ("multiply.outer(x[:300], y[:300])", (TEN, MIDDLE)),
    ("add.at(o, i, y)", (TEN, MIDDLE)), ("add.at(o, i, 1.0)", (TEN, MIDDLE)),
)
NAMES = "add less sqrt divmod multiply".split()


def operands(count):
    x, y = (numbers("add", count, "f8", seed) for seed in (1, 2))
    arrays = {"x": x, "y": y, "o": np.ones(count), "t": x.reshape(halves(count)),
              "m": y < 10, "i": np.random.default_rng(3).integers(count, size=count)}
    wrapped = {name: dray.Array(array) for name, array in arrays.items()}
    return {contender: dict({name: getattr(module, name) for name in NAMES}, **given)
            for contender, module, given in (
                ("dray", dray, wrapped), (OTHER, dray, arrays), ("NumPy", np, arrays))}


def time(call, arrays, loops):
    """Returns ns of one statement; a call is a contender and the statement."""
    contender, statement = call
    timer = timeit.Timer(statement, timer=clock.thread_time,
                         globals=arrays[contender])
    return timer.timeit(loops) * 1e9 / loops


def row(statement, count):
    # Operators and methods of NumPy's arrays are NumPy's.
    is_function = statement.split("(")[0].split(".")[0] in NAMES
    return Row(f"Python: {statement}, {SIZES[count]}", 8 * count,
               lambda: operands(count),
               {name: (name, statement) for name in ("dray", OTHER, "NumPy")
                if name != OTHER or is_function}, NUMPY)


# Methods on an array of random numbers, with the goal as a ratio to NumPy.
METHODS = ("x.clip(3., 7.)", "x.round(2)", "x**2.5", "x.argmax()", "x.copy().sort()")
METHOD_SIZES = (1000, MIDDLE, 1_000_000)
# Sides of square matrices, and products of them and of a vector.
SIDES = (31, 64, 100, 300, 1000)
PRODUCTS = ("a @ a", "a @ v", "a.dot(v)", "v.dot(v)")


def random_operands(count):
    x = np.random.default_rng(4).uniform(0, 10, count)
    return {"dray": {"x": dray.Array(x)}, "NumPy": {"x": x}}


def matrices(side, dtype):
    a, v = (np.random.default_rng(5).uniform(0, 1, shape).astype(dtype)
            for shape in ((side, side), side))
    return {"dray": {"a": dray.Array(a), "v": dray.Array(v)}, "NumPy": {"a": a, "v": v}}


def both(statement):
    return {name: (name, statement) for name in ("dray", "NumPy")}


def methods():
    for statement, count in itertools.product(METHODS, METHOD_SIZES):
        yield Row(f"Python: {statement}, {count:,} elements", 0,
                  lambda count=count: random_operands(count), both(statement), NUMPY)


def products():
    """Products of floats; NumPy's are those of its own BLAS."""
    for dtype, side, statement in itertools.product(("f4", "f8"), SIDES, PRODUCTS):
        yield Row(f"Python: {statement}, {dtype}, side {side}", 0,
                  lambda side=side, dtype=dtype: matrices(side, dtype), both(statement),
                  ("NumPy", 1.1))


def rows():
    plain = itertools.starmap(row, ((statement, count) for statement, sizes in STATEMENTS
                                    for count in sizes))
    return itertools.chain(plain, methods(), products())

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench ufunc from C: calls and reductions by dray and by NumPy on the same
arrays."""

import itertools

import numpy as np

from array_layouts import Row, sides

TEN = 10
SIZES = {1: "1 element", TEN: "10 elements", 1000: "1,000 elements",
         100_000: "100,000 elements", 10_000_000: "10^7 elements"}
NUMPY = ("NumPy", 1)

# Name, types.
SIMPLE = (
    ("add", "f4 f8 i1 i4 i8 c16"), ("multiply", "f4 f8 i4"), ("divide", "f8"),
    ("floor_divide", "i4"), ("maximum", "f8"), ("less", "f8"), ("equal", "i4"),
    ("bitwise_and", "u1"), ("left_shift", "i4"), ("negative", "f8"),
    ("absolute", "f4"), ("sqrt", "f4 f8"), ("rint", "f8"), ("isnan", "f8"))
ELEMENTARY = "exp log sin tanh power"
# With --long.
MORE = ("cbrt exp2 expm1 log2 log10 log1p cos tan arcsin arccos arctan sinh cosh arcsinh "
        "arccosh arctanh degrees radians arctan2 hypot logaddexp")
# Functions of arrays that are not a single piece, and of all layouts.
LAID_OUT = (("add", "f8"), ("sqrt", "f4"))
REDUCED = (("add", "f4"), ("add", "f8"), ("add", "i4"), ("maximum", "f8"))


def ranged(name):
    """Returns the bounds of arguments for which the function is defined."""
    if name == "arccosh":
        return 1, 100
    if name in ("exp", "exp2", "sinh", "cosh", "sin", "cos", "tan"):
        return -10, 10
    if name in ("arcsin", "arccos", "arctanh"):
        return -0.95, 0.95
    return 0.05, 20


def numbers(name, shape, dtype, seed):
    """Makes random numbers, the same in each run; integers are 1 to 6."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return random.integers(1, 7, shape).astype(dtype)
    low, high = ranged(name)
    if name == "power" and seed == 2:
        high = 2
    return random.uniform(low, high, shape).astype(dtype)


def inputs(name, shape, dtype):
    return tuple(numbers(name, shape, dtype, seed + 1)
                 for seed in range(getattr(np, name).nin))


def result(name, operands):
    """Makes an array for the results, with all its pages."""
    least = tuple(np.zeros(0, each.dtype) for each in operands)
    dtype = getattr(np, name)(*least).dtype
    return np.full(np.broadcast_shapes(*(each.shape for each in operands)), 1, dtype)


def contiguous(name, dtype, count):
    operands = inputs(name, count, dtype)
    return result(name, operands), operands


def strided(name, dtype, count):
    operands = tuple(each[::2] for each in inputs(name, 2 * count, dtype))
    return result(name, operands), operands


def spread(name, dtype, count):
    operands = inputs(name, count, dtype)
    return result(name, tuple(each.repeat(2) for each in operands))[::2], operands


def backwards(name, dtype, count):
    operands = tuple(each[::-1] for each in inputs(name, count, dtype))
    return result(name, operands), operands


def halves(count):
    """Splits so many elements into two axes."""
    if count & (count - 1) == 0:
        return sides(count, 2)
    rows = {10: 5, 1000: 40, 100_000: 400, 10_000_000: 4000}[count]
    return rows, count // rows


def transposed(name, dtype, count):
    """Turns the first input; the rest lies in C order."""
    first, *rest = inputs(name, halves(count), dtype)
    operands = (first.T, *(each.reshape(first.T.shape) for each in rest))
    return result(name, operands), operands


def gaps(name, dtype, count):
    """Leaves two elements out behind each row."""
    rows, columns = halves(count)
    operands = tuple(each[:, :columns]
                     for each in inputs(name, (rows, columns + 2), dtype))
    return result(name, operands), operands


def row(name, dtype, count):
    first, *rest = inputs(name, halves(count), dtype)
    operands = (first, *(each[0] for each in rest))
    return result(name, operands), operands


def column(name, dtype, count):
    first, *rest = inputs(name, halves(count), dtype)
    operands = (first, *(each[:, :1] for each in rest))
    return result(name, operands), operands


def number(name, dtype, count):
    first, *rest = inputs(name, count, dtype)
    operands = (first, *(each[:1].reshape(()) for each in rest))
    return result(name, operands), operands


def in_place(name, dtype, count):
    operands = inputs(name, count, dtype)
    return operands[0], operands


def of_type(source):
    """Casts the first input; the results are of the function's type."""
    def make(name, dtype, count):
        out, (first, *rest) = contiguous(name, dtype, count)
        return out, (first.astype(source), *rest)
    return make


def to_halves(name, dtype, count):
    out, operands = contiguous(name, dtype, count)
    return out.astype("f2"), operands


def swapped(name, dtype, count):
    out, (first, *rest) = contiguous(name, dtype, count)
    return out, (first.astype(first.dtype.newbyteorder()), *rest)


def misaligned(name, dtype, count):
    out, (first, *rest) = contiguous(name, dtype, count)
    moved = np.zeros(first.nbytes + 1, "u1")[1:].view(first.dtype)
    moved[...] = first
    return out, (moved, *rest)


LAYOUTS = {
    "every second": strided, "every second of the output": spread,
    "backwards": backwards, "transposed": transposed, "rows with gaps": gaps,
    "a row": row, "a column": column, "a number": number, "in place": in_place,
    "of float16": of_type("f2"), "of int16": of_type("i2"), "to float16": to_halves,
    "byte-swapped": swapped, "misaligned": misaligned,
}
# Layouts that need a second input.
BROADCASTS = ("a row", "a column", "a number")


def call_row(name, dtype, layout, make, count, goal=NUMPY):
    """Makes the row of a call; only simple calls without gaps or conversions count as
    of ten elements."""
    words = f"{name} {dtype}{layout and ', ' + layout}, {SIZES[count]}"
    return Row(words, count * np.dtype(dtype).itemsize,
               lambda: make(name, dtype, count),
               {"dray": ("call dray", name), "NumPy": ("call NumPy", name)}, goal,
               count == TEN and not layout
               and name not in f"{ELEMENTARY} {MORE}".split())


def simple():
    for (name, dtypes), count in itertools.product(SIMPLE, SIZES):
        for dtype in dtypes.split():
            yield call_row(name, dtype, "", contiguous, count)


def elementary(is_long, goal):
    """Yields rows of elementary functions; "dray, fast" fuses products and sums."""
    names = f"{ELEMENTARY} {MORE}" if is_long else ELEMENTARY
    for name, dtype, count in itertools.product(names.split(), ("f4", "f8"), SIZES):
        each = call_row(name, dtype, "", contiguous, count, goal)
        each.contenders["dray, fast"] = ("call dray, fast", name)
        yield each


def layouts():
    for (name, dtype), layout, count in itertools.product(LAID_OUT, LAYOUTS, SIZES):
        if getattr(np, name).nin == 2 or layout not in BROADCASTS:
            yield call_row(name, dtype, layout, LAYOUTS[layout], count)


CUBES = {1: (1, 1, 1), TEN: (1, 5, 2), 1000: (10, 10, 10), 100_000: (50, 40, 50),
         10_000_000: (200, 250, 200)}

# Name -> shape of so many elements, axis.
REDUCTIONS = {
    "of one axis": (lambda count: (count,), 0),
    "of the first of two axes": (halves, 0),
    "of the last of two axes": (halves, 1),
    "of both axes": (halves, None),
    "of the middle of three axes": (CUBES.get, 1),
}


def reduce_row(name, dtype, words, count):
    shape, axis = REDUCTIONS[words]

    def make():
        array = numbers(name, shape(count), dtype, 1)
        made = np.asarray(getattr(np, name).reduce(array, axis=axis))
        return np.full(made.shape, 1, made.dtype), (array,), axis
    return Row(f"{name}.reduce {dtype} {words}, {SIZES[count]}",
               count * np.dtype(dtype).itemsize, make,
               {"dray": ("reduce dray", name), "NumPy": ("reduce NumPy", name)}, NUMPY)


def reductions():
    for (name, dtype), words, count in itertools.product(REDUCED, REDUCTIONS, SIZES):
        yield reduce_row(name, dtype, words, count)


def rows(is_long, elementary_goal):
    return itertools.chain(simple(), elementary(is_long, elementary_goal), layouts(),
                           reductions())

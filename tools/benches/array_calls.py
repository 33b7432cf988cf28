# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows of tools/bench array other than copies.  Random numbers are the same in each
run."""

import itertools

import numpy as np

from array_layouts import KINDS, MIB, Row, memory

TEN, HUGE = 10, 64 * MIB // 8
NUMPY = ("NumPy", 1)
VIEW = ("NumPy", 1 / 5)
COUNTS = {TEN: "10 elements", 100_000: "100,000 elements", HUGE: "64 MiB"}
# From, to.
CASTS = (("f4", "f8"), ("f8", "f4"), ("i4", "f4"), ("f8", "i4"), ("u1", "f4"),
         (">f4", "<f4"), (">f8", "<f8"))
VIEWS = ("slice", "transpose", "reshape", "broadcast", "diagonal")


def pair(call):
    return {"dray": f"{call} dray", "NumPy": f"{call} NumPy"}


def cast_row(kind, source, target, size):
    """Of so many bytes of the destination; all values fit both types."""
    count = int(size or TEN * np.dtype(target).itemsize) \
        // np.dtype(target).itemsize

    def make():
        dst, src = KINDS[kind](count, target)
        # Transposed arrays stay so.
        return dst, src.astype(source, order="K")
    words = f"{size // MIB} MiB" if size else "10 elements"
    way = "byte-swapped " + target[1:] if source[0] == ">" \
        else f"{source} to {target}"
    return Row(f"{way}, {kind.removesuffix(' rank 2')}, {words}",
               size or count, make, pair("convert"), NUMPY, not size)


def casts():
    for (source, target), kind, size in itertools.product(
            CASTS, ("contiguous", "transposed rank 2"), (0, MIB, 64 * MIB)):
        yield cast_row(kind, source, target, size)


def views():
    def make():
        array = memory((5, 2), "f8")
        return array, array
    for call in VIEWS:
        yield Row(f"view: {call}, 10 elements", 0, make, pair(call), VIEW, True)


def news():
    def make():
        array = memory(TEN, "f8")
        return array, array
    for call in ("empty", "zeros", "new copy"):
        yield Row(f"{call}, 10 elements", 0, make, pair(call), NUMPY, True)


def walked(shape, is_cut):
    def make():
        array = memory((shape[0], shape[1] + is_cut), "f8")[:, :shape[1]]
        return array, array
    return make


def walks():
    """All elements, one after the other; rows with a gap do not become one axis."""
    for call, (shape, words), is_cut in itertools.product(
            ("iterator", "nditer", "nditer, inner loops"),
            (((5, 2), "10 elements"), ((1000, 1000), "1,000,000 elements")),
            (False, True)):
        layout = "rows with gaps" if is_cut else "contiguous"
        yield Row(f"{call}: {layout}, {words}", 0, walked(shape, is_cut),
                  pair(call), NUMPY, shape == (5, 2))


def numbers(count):
    return np.random.default_rng(1).standard_normal(count)


def integers(count):
    """Makes indices in any order, each in range."""
    return np.random.default_rng(2).integers(count, size=count)


def booleans(count):
    return np.random.default_rng(3).random(count) < 0.5


def source(count):
    src = numbers(count)
    return src, src


def picked(count):
    return memory(count, "f8"), numbers(count), integers(count)


def masked(count):
    return memory(count, "f8"), numbers(count), booleans(count)


def masked_set(count):
    """Makes a value for each true element."""
    mask = booleans(count)
    return memory(count, "f8"), numbers(int(mask.sum())), mask


def halves(count):
    """Makes as many zeros as other numbers, about."""
    src = numbers(count) * booleans(count)
    return src, src


def shuffled(count):
    return memory(count, "f8"), numbers(count)


# Name, call, arrays.
SEARCHES = (
    ("take", "take", picked),
    ("put", "put", picked),
    ("get by integers", "get", picked),
    ("set by integers", "set", picked),
    ("get by booleans", "get", masked),
    ("set by booleans", "set", masked_set),
    ("nonzero", "nonzero", halves),
    ("argmax", "argmax", source),
    ("sort", "sort", shuffled),
)


def searches():
    for (name, call, make), count in itertools.product(SEARCHES, COUNTS):
        contenders = pair(call)
        if call == "sort":
            # dray's order is stable too.
            contenders["NumPy, stable"] = "stable sort NumPy"
        yield Row(f"{name}, {COUNTS[count]}", 8 * count,
                  lambda make=make, count=count: make(count), contenders,
                  NUMPY, count == TEN)


def rows():
    return itertools.chain(casts(), views(), news(), walks(), searches())

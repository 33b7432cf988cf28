# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The arrays that are exchanged: each type, each layout, each number of axes.

A layout is a function of a base array in C order, of NumPy or of dray, so that one
expression makes the array of dray and the array of NumPy that it must equal.
"""
import itertools
import math
from typing import Any, Callable, NamedTuple

import numpy as np

import dray

# The C library's alignment of blocks, and the one that JAX asks for.
ALIGNMENT = 64
# dray's is 64; that of NumPy 1.24 is 32.
MAX_NDIM = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32

NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
COMPLEX = ("c8", "c16")
PLAIN = ("?", *NUMBERS, *COMPLEX)
# Types without a code in DLPack.
OTHERS = ("S3", "U2", "V2", "M8[s]", "m8[s]", ">i4", ">f8", "g", "G",
          "i4,f8")


def full(ndim: int) -> tuple[int, ...]:
    """The shape of the base: axes of 6, 5, 4, 3 and then 1."""
    return tuple(max(6 - axis, 1) if axis < 4 else 1 for axis in range(ndim))


class Layout(NamedTuple):
    ranks: range
    view: Callable[[Any], Any]


def broadcast(array: Any) -> Any:
    shape = (7, *array.shape)
    if isinstance(array, dray.Array):
        return array.broadcast_to(shape)
    return np.broadcast_to(array, shape)


def read_only(array: Any) -> Any:
    if isinstance(array, dray.Array):
        return dray.Array(read_only(np.asarray(array)))
    array = array.view()
    array.flags.writeable = False
    return array


def permuted(array: Any) -> Any:
    """Axes in another order than that of C or Fortran, if there are enough."""
    return array.transpose(1, 0, *range(2, array.ndim))


RANKS = range(1, 6)
LAYOUTS = {
    "C": Layout(range(0, 6), lambda a: a),
    "Fortran": Layout(range(2, 6), lambda a: a.copy("F")),
    "transposed": Layout(range(2, 6), lambda a: a.T),
    "permuted": Layout(range(3, 6), permuted),
    "gaps": Layout(RANKS, lambda a: a[::2]),
    "rows with gaps": Layout(range(2, 6), lambda a: a[:, 1:-1]),
    "from element 1": Layout(RANKS, lambda a: a[1:]),
    "reversed": Layout(RANKS, lambda a: a[::-1]),
    "last axis reversed": Layout(range(2, 6), lambda a: a[..., ::-1]),
    "read-only": Layout(RANKS, read_only),
    "repeated": Layout(range(0, 5), broadcast),
    "no elements": Layout(RANKS, lambda a: a[:0]),
    "no elements, behind the end": Layout(RANKS, lambda a: a[6:]),
    "one element": Layout(RANKS, lambda a: a[(slice(1, 2),) * min(a.ndim, 4)]),
    "most axes": Layout(range(MAX_NDIM, MAX_NDIM + 1), lambda a: a),
}


class Case(NamedTuple):
    dtype: str
    layout: str
    ndim: int

    @property
    def kind(self) -> np.dtype:
        return np.dtype(self.dtype)

    def expected(self) -> np.ndarray:
        return LAYOUTS[self.layout].view(values(full(self.ndim), self.dtype))

    def array(self) -> dray.Array:
        """The same in memory of dray.  A view that repeats elements is read-only."""
        shape = full(self.ndim)
        with dray.memory():
            base = dray.Array.empty(shape, self.dtype)
            base[...] = values(shape, self.dtype)
            return LAYOUTS[self.layout].view(base)

    def __str__(self) -> str:
        return f"{self.dtype} {self.layout}, {self.ndim} axes"


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Different values, as far as the type has them."""
    numbers = np.asarray(np.arange(math.prod(shape)).reshape(shape) % 100)
    kind = np.dtype(dtype)
    if kind.names:
        array = np.zeros(shape, kind)
        for name in kind.names:
            array[name] = numbers
        return array
    if kind.kind == "c":
        return np.asarray(numbers + 1j * (numbers + 1)).astype(kind)
    if kind.kind == "V":
        return numbers.astype("u2").view(kind)
    if kind.kind == "b":
        return np.asarray(numbers % 3 == 0)
    return numbers.astype(kind)


def cases(layout: str, dtypes=(*PLAIN, *OTHERS)) -> list[Case]:
    return [Case(dtype, layout, ndim) for dtype, ndim in
            itertools.product(dtypes, LAYOUTS[layout].ranks)]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that the library makes have the strides and the elements of the real NumPy's."""

import ctypes
import random

import pytest

np = pytest.importorskip("numpy")

from as_numpy import (ORDERS, View, dtype_of, library, must,  # noqa: E402
                      view_of)
from random_arrays import ROUNDS, SIZED, memory, random_array  # noqa: E402

EINVAL, ERANGE, EOVERFLOW = -22, -34, -75


class Array:
    """An array that the library makes, until the end of a with."""

    def __init__(self, function, *arguments):
        self.pointer, self.view = ctypes.c_void_p(), View()
        self.error = getattr(library, "dray_array_" + function)(
            *arguments, ctypes.byref(self.pointer))

    def __enter__(self):
        if not self.error:
            library.dray_array_view(self.pointer, ctypes.byref(self.view))
        return self

    def __exit__(self, *_):
        if not self.error:
            # the header's inline function, of the only reference
            ctypes.c_uint32.from_address(self.pointer.value).value = 0
            library.dray_block_free(self.pointer)

    def layout(self):
        view = self.view
        return tuple(view.shape[:view.ndim]), tuple(view.strides[:view.ndim])

    def bytes(self, size):
        return ctypes.string_at(self.view.data, size)


def test_arrays_like_another_have_numpys_strides():
    draw = random.Random("like")
    for _ in range(ROUNDS):
        array = random_array(draw)
        dtype = np.dtype(draw.choice(SIZED)) if draw.random() < 0.3 else array.dtype
        if not dtype.itemsize:
            continue
        order = draw.choice("CFAK")
        wanted = np.empty_like(array, dtype, order)
        with Array("like", ctypes.byref(view_of(array)), dtype_of(dtype),
                   ORDERS[order]) as made:
            must(made.error)
            assert made.layout() == (wanted.shape, wanted.strides), (
                array.shape, array.strides, order)


def test_copies_have_numpys_strides_and_elements():
    draw = random.Random("copies")
    memory[:1 << 16] = np.frombuffer(draw.randbytes(1 << 16), "u1")
    for _ in range(ROUNDS):
        array = random_array(draw, SIZED)
        order = draw.choice("CFAK")
        wanted = array.copy(order)
        with Array("copy", ctypes.byref(view_of(array)), ORDERS[order]) as made:
            must(made.error)
            assert made.layout() == (wanted.shape, wanted.strides)
            assert made.bytes(wanted.nbytes) == ctypes.string_at(
                wanted.ctypes.data, wanted.nbytes), (array.shape, array.strides)


INTEGERS = ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", ">u8"]
REALS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16",
         np.longdouble, np.clongdouble, "?"]


def integer(draw):
    return draw.choice([
        draw.randrange(-9, 10), draw.randrange(-300, 300),
        draw.randrange(-2**15, 2**15), draw.randrange(-2**63, 2**63),
        draw.choice([1, -1]) * (2**draw.randrange(63) + draw.randrange(-1, 2))])


def real(draw):
    return draw.choice([
        draw.uniform(-9, 9), draw.uniform(-300, 300), float(draw.randrange(-20, 20)),
        draw.randrange(-50, 50) / 10, draw.uniform(-1, 1) * 1e18, 0.0, -0.0,
        float("inf"), float("nan"), 5e-324])


def ranges(draw, one):
    start = one(draw)
    step = one(draw)
    stop = draw.choice([one(draw), start + draw.randrange(20) * step])
    return start, stop, step


def as_times(numbers, dtype):
    """NumPy takes an integer that ends a range of dates for a distance."""
    if dtype.kind != "M":
        return numbers
    start, stop, step = numbers
    return np.datetime64(start, "s"), np.datetime64(stop, "s"), step


def compare_range(function, convert, dtype, numbers):
    try:
        wanted = np.arange(*as_times(numbers, dtype), dtype=dtype)
    except (OverflowError, ZeroDivisionError, ValueError, TypeError):
        wanted = None
    with Array(function, dtype_of(dtype), *map(convert, numbers)) as made:
        if wanted is None:
            assert made.error in (EINVAL, ERANGE, EOVERFLOW), (numbers, dtype)
            return made.error
        must(made.error)
        assert made.layout() == (wanted.shape, wanted.strides), (numbers, dtype)
        got = np.frombuffer(made.bytes(wanted.nbytes), dtype)
        assert got.tobytes() == wanted.tobytes() or (
            dtype.char in "gG" and np.array_equal(got, wanted, equal_nan=True)
        ), (numbers, dtype)  # a long double has bytes without a meaning
        return wanted.size


def tried(numbers):
    """Few elements, or none: no gigabytes."""
    start, stop, step = numbers
    try:
        steps = (stop - start) / step
        return steps < 100000 or steps != steps or steps == float("inf")
    except (OverflowError, ZeroDivisionError):
        return True


@pytest.mark.filterwarnings("ignore")
def test_ranges_of_integers_are_numpys():
    draw = random.Random("integers")
    results = set()
    for _ in range(4 * ROUNDS):
        numbers = ranges(draw, integer)
        if not tried(numbers) or not -2**63 <= numbers[1] < 2**63:
            continue
        dtype = np.dtype(draw.choice(INTEGERS + REALS + ["<m8", "<M8[s]"]))
        if int(np.__version__.split(".")[0]) < 2 and (
                dtype.kind == "u" or dtype.itemsize < 8 and dtype.kind == "i"):
            continue  # NumPy 1 lets numbers wrap that are out of bounds
        if dtype.kind in "mM" and (
                abs(numbers[1] - numbers[0]) + abs(numbers[2]) >= 2**63):
            continue  # NumPy's count of steps wraps
        results.add(compare_range("arange", ctypes.c_int64, dtype, numbers))
    assert {EINVAL, 0, 1, 2, 3, 10} <= results


@pytest.mark.filterwarnings("ignore")
def test_ranges_of_floats_are_numpys():
    draw = random.Random("floats")
    results = set()
    for _ in range(4 * ROUNDS):
        numbers = ranges(draw, real)
        if not tried(numbers):
            continue
        dtype = np.dtype(draw.choice(REALS + ["<i8", "<m8"]))
        results.add(compare_range("arange_real", ctypes.c_double, dtype, numbers))
    assert {EINVAL, EOVERFLOW, 0, 1, 2, 3, 10} <= results

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sorts, and the largest and smallest elements, are those of the real NumPy."""

import ctypes
import errno
import os
import random

import pytest

np = pytest.importorskip("numpy", "2.0")
from as_numpy import library, must, view_of  # noqa: E402
from test_numpy import random_array  # noqa: E402
from test_numpy_index import base_of, take_over, twin_of  # noqa: E402

ROUNDS = int(os.environ.get("DRAY_INDEX_ROUNDS", "5000")) // 25
FLAT = -2**31
TYPES = ["?", "i1", "u1", "<i2", ">u2", "<i4", ">u4", "<i8", ">i8", "<u8", "<f2",
         ">f2", "<f4", ">f4", "<f8", ">f8", "g", "<c8", ">c8", "<c16", ">c16",
         "G", "S1", "S3", "<U2", ">U2", "<M8", ">M8", "<m8"]
# Of float16 in a structure, NumPy has NaN first; a sub-array is raw bytes to it.
STRUCTURES = [
    [("x", "<i2"), ("y", ">f4")], [("x", "S2"), (("title", "y"), "<m8[s]"), ("z", ">U1")],
    [("x", [("a", "?"), ("b", ">c8")]), ("y", "u1", (2, 2))], [("x", "V2"), ("y", ">f8")],
    {"names": ["x", "y"], "formats": [">i2", "u1"], "offsets": [4, 1], "itemsize": 9},
    {"names": ["x", "y"], "formats": ["<i2", "i1"], "offsets": [0, 1]},
    np.dtype([("x", "i1"), ("y", "<f8")], align=True)]


def values_of(draw, count, kind):
    """Values of which some are equal, and some have no place in an order."""
    numbers = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 1e-7, 300.0]
    if kind == "c":
        return np.array([complex(draw.choice(numbers), draw.choice(numbers))
                         for _ in range(count)])
    if kind == "f":
        return np.array([draw.choice(numbers) if draw.random() < 0.5 else
                         draw.uniform(-9, 9) for _ in range(count)])
    if kind in "SU":
        texts = np.array(["".join(draw.choice("\0ab\xff") for _ in range(2))
                          for _ in range(count)], "U2")
        return texts if kind == "U" else np.array(
            [text.encode("latin1") for text in texts.tolist()], "S2")
    if kind in "mM":
        return np.array([draw.choice([-2**63, -5, 0, 1, 2**40])
                         for _ in range(count)], "i8")
    if kind == "?":
        return np.array([draw.random() < 0.5 for _ in range(count)])
    return np.array([draw.randrange(0 if kind == "u" else -100, 100)
                     for _ in range(count)], "i8")


def sample(draw, type_):
    array = random_array(draw, (type_,))
    if draw.random() < 0.15:  # more than is sorted by insertion
        array = np.zeros((draw.choice([60, 700]), 2), type_)[:, ::-1]
        array = array if draw.random() < 0.5 else array.T
    values = values_of(draw, array.size, array.dtype.kind
                       if array.dtype.kind != "b" else "?")
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        ends = [info.min, info.max, info.max // 2, 1, 0]
        array.reshape(-1)
        flat = [draw.choice(ends) if draw.random() < 0.2 else int(value)
                for value in values]
        values = np.array(flat, array.dtype)
    array[...] = values.astype(array.dtype).reshape(array.shape)
    return array


def fill(draw, fields):
    """Sets all fields to few values, of which many are equal."""
    for name in fields.dtype.names:
        field = fields[name]
        if field.dtype.names:
            fill(draw, field)
        elif field.dtype.kind == "V":
            field[...] = np.array([b"a", b"\0b"], field.dtype)[
                np.array([draw.randrange(2) for _ in range(field.size)], int)
            ].reshape(field.shape)
        else:
            values = values_of(draw, field.size, field.dtype.kind.replace("b", "?"))
            if field.dtype.kind in "iu":
                values = values % 3
            field[...] = values.astype(field.dtype).reshape(field.shape)


@pytest.mark.parametrize("type_", STRUCTURES, ids=str)
def test_structures_are_numpys(type_):
    draw = random.Random(14)
    for _ in range(ROUNDS):
        array = random_array(draw, (type_,))
        fill(draw, array)
        ours = view_of(array)
        out = ctypes.c_void_p()
        assert library.dray_count_nonzero(ctypes.byref(ours)) == \
            np.count_nonzero(array), array
        if array.ndim:
            axis = draw.randrange(array.ndim)
            must(library.dray_argsort(ctypes.byref(ours), axis, ctypes.byref(out)))
            wanted = np.argsort(array, axis, kind="stable")
            assert take_over(out).tolist() == wanted.tolist(), array
            twin = twin_of(array)
            twin[...] = np.take_along_axis(array, wanted, axis)
            must(library.dray_sort(ctypes.byref(ours), axis))
            assert repr(array.tolist()) == repr(twin.tolist())  # not the gaps
        with pytest.raises(TypeError):
            array.argmax()
        assert library.dray_argmax(ctypes.byref(ours), FLAT, ctypes.byref(out)) == \
            -errno.EOPNOTSUPP


@pytest.mark.parametrize("type_", TYPES)
def test_sorts_are_numpys(type_):
    draw = random.Random(12)
    for _ in range(ROUNDS):
        array = sample(draw, type_)
        if not array.ndim:
            continue
        axis = draw.randrange(-array.ndim, array.ndim)
        out = ctypes.c_void_p()
        must(library.dray_argsort(ctypes.byref(view_of(array)), axis,
                                  ctypes.byref(out)))
        wanted = np.argsort(array, axis, kind="stable")
        got = take_over(out)
        assert got.shape == wanted.shape
        assert got.tolist() == wanted.tolist(), (array, axis)
        twin = twin_of(array)
        twin[...] = np.sort(array, axis, kind="stable")
        must(library.dray_sort(ctypes.byref(view_of(array)), axis))
        same = base_of(array).tobytes() == base_of(twin).tobytes()
        if array.dtype.kind in "fc":  # the bits of a NaN are anyone's
            same = np.array_equal(array, twin, equal_nan=True)
        assert same or not array.size, (array, twin, axis)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_largest_and_smallest_are_numpys(type_, name):
    draw = random.Random(13)
    for _ in range(ROUNDS):
        array = sample(draw, type_)
        axis = draw.choice([None] + list(range(-array.ndim, array.ndim)))
        out = ctypes.c_void_p()
        result = getattr(library, "dray_" + name)(
            ctypes.byref(view_of(array)), FLAT if axis is None else axis,
            ctypes.byref(out))
        try:
            wanted = np.asarray(getattr(np, name)(array, axis))
        except ValueError:
            assert result == -22
            continue
        must(result)
        got = take_over(out)
        assert got.shape == wanted.shape
        assert got.tolist() == wanted.tolist(), (array, axis)

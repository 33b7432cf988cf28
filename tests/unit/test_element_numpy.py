# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The functions for elements in DRAY_BUILD's library answer as NumPy does."""

import ctypes
import functools
import os
import random

import pytest

np = pytest.importorskip("numpy")

library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
library.dray_last_error.restype = ctypes.c_char_p
pointer, word = ctypes.c_void_p, ctypes.c_uint64


class Complex(ctypes.Structure):
    _fields_ = [("real", ctypes.c_double), ("imaginary", ctypes.c_double)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", pointer), ("size", ctypes.c_size_t)]


class Value(ctypes.Union):
    _fields_ = [("boolean", ctypes.c_bool), ("integer", ctypes.c_int64),
                ("natural", ctypes.c_uint64), ("real", ctypes.c_double),
                ("complex", Complex), ("bytes", Bytes)]


class Scalar(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("value", Value)]


BOOLEAN, SIGNED, UNSIGNED, REAL, COMPLEX, BYTES = range(1, 7)
function = ctypes.CFUNCTYPE


class Functions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("get", function(ctypes.c_int, word, pointer, ctypes.POINTER(Scalar))),
        ("set", function(ctypes.c_int, word, pointer, ctypes.POINTER(Scalar))),
        ("copyswap", function(None, word, pointer, ctypes.c_int64, pointer, ctypes.c_int64,
                              ctypes.c_int64, ctypes.c_bool)),
        ("nonzero", function(ctypes.c_bool, word, pointer)),
        ("compare", function(ctypes.c_int, word, pointer, pointer)),
        ("fill", function(None, word, pointer, ctypes.c_int64, ctypes.c_int64, pointer)),
        ("argmax", function(ctypes.c_int64, word, pointer, ctypes.c_int64, ctypes.c_int64))]


library.dray_dtype_functions.restype = ctypes.POINTER(Functions)


def table(text):
    dtype = word()
    assert library.dray_dtype_parse(text.encode(), ctypes.byref(dtype)) == 0
    return dtype, library.dray_dtype_functions(dtype).contents


NUMBERS = ["?", "i1", "u1", "<i2", ">i2", "<u2", ">u4", "<i4", "<i8", ">i8", "<u8", ">u8",
           "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "g", "<c8", ">c8", "<c16", ">c16", "G"]
OTHERS = ["<M8[s]", ">m8[us]", "S3", "<U2", ">U2", "(2,)>i2", "f4,>u2", "S2,(2,)<f8"]


# The argmax of unaligned times is wrong in NumPy 1.24.
ORDERED = "biufcmM" if np.__version__ >= "2" else "biufc"


def random_array(draw, text, count=30):
    """Elements at an odd address, some of them alike, zero, or NaN."""
    dtype = np.dtype(text) if text[:1] != "(" else np.dtype((">i2", (2,)))
    memory = np.zeros(1 + count * dtype.itemsize, "u1")
    raw = memory[1:]
    raw[:] = np.frombuffer(draw.randbytes(raw.size), "u1")
    if dtype.base.kind == "b":
        raw &= 1
    if dtype.kind in "SU" or dtype.names:
        raw[:] = 0
        step = 4 if dtype.kind == "U" else 1
        low = 3 if dtype.kind == "U" and text[0] == ">" else 0
        raw[low::step] = np.frombuffer(draw.randbytes(raw[low::step].size), "u1") % 3 * 32
    array = raw.view(dtype) if not dtype.shape else raw.view(dtype.base).reshape(-1, 2)
    if dtype.kind in "fc":
        with np.errstate(all="ignore"):
            array[::4] = array[0]
            array[1::7] = 0
            if draw.random() < 0.5:
                array[draw.randrange(count)] = np.nan
            if dtype.kind == "c" and draw.random() < 0.5:
                array[draw.randrange(count)] = complex(draw.randrange(3), np.nan)
    if dtype.kind in "mM" and draw.random() < 0.5:
        array[draw.randrange(count)] = "NaT"
    if dtype.kind in "iub":
        array[::3] = draw.randrange(2)
    return dtype, array


def address(array, number=0):
    return array.__array_interface__["data"][0] + number * array.strides[0]


@pytest.mark.parametrize("text", NUMBERS + OTHERS)
def test_order_is_numpys(text):
    draw = random.Random(text)
    dtype, functions = table(text)
    for _ in range(20):
        numpy_type, array = random_array(draw, text)
        count = len(array)

        def compare(a, b):
            return functions.compare(dtype, address(array, a), address(array, b))

        ours = sorted(range(count), key=functools.cmp_to_key(compare))
        if numpy_type.shape:
            theirs = sorted(range(count), key=lambda n: tuple(array[n]))
        elif "(" in text:  # NumPy compares a sub-array's raw bytes
            theirs = sorted(range(count), key=lambda n: (array[n][0], tuple(array[n][1])))
        else:
            theirs = list(np.argsort(array, kind="stable"))
        assert ours == theirs
        if numpy_type.kind in ORDERED:
            assert functions.argmax(dtype, address(array), array.strides[0],
                                    count) == array.argmax()
        if not numpy_type.shape:
            nonzero = [functions.nonzero(dtype, address(array, n)) for n in range(count)]
            wanted = [bool(array[n]) for n in range(count)] if not numpy_type.names else \
                [bool(row.tobytes().strip(b"\0")) for row in array]
            assert nonzero == wanted


@pytest.mark.parametrize("text", NUMBERS + OTHERS)
def test_copies_are_numpys(text):
    draw = random.Random(text)
    dtype, functions = table(text)
    for swap in False, True:
        _, array = random_array(draw, text)
        copy = np.zeros_like(array)
        functions.copyswap(dtype, address(copy), copy.strides[0],
                           address(array, len(array) - 1), -array.strides[0], len(array), swap)
        wanted = array[::-1].copy()
        if swap:
            wanted = wanted.byteswap()
        assert copy.tobytes() == wanted.tobytes()
        functions.copyswap(dtype, address(copy), copy.strides[0], address(copy),
                           copy.strides[0], len(array), swap)
        assert copy.tobytes() == array[::-1].tobytes()
        functions.fill(dtype, address(copy), copy.strides[0], len(copy), address(copy, 3))
        assert all(row.tobytes() == array[-4].tobytes() for row in copy)


@pytest.mark.parametrize("text", NUMBERS)
def test_values_are_numpys(text):
    draw = random.Random(text)
    dtype, functions = table(text)
    numpy_type, array = random_array(draw, text, 200)
    copy = np.zeros_like(array)
    scalar = Scalar()
    for number in range(len(array)):
        assert functions.get(dtype, address(array, number), ctypes.byref(scalar)) == 0
        value, wanted = scalar.value, array[number].item()
        got = {BOOLEAN: value.boolean, SIGNED: value.integer, UNSIGNED: value.natural,
               REAL: value.real,
               COMPLEX: complex(value.complex.real, value.complex.imaginary)}[scalar.kind]
        if numpy_type.char in "gG":
            wanted = complex(wanted) if numpy_type.char == "G" else float(wanted)
        assert repr(got) == repr(wanted)
        assert functions.set(dtype, address(copy, number), ctypes.byref(scalar)) == 0
    if numpy_type.char not in "gG":
        assert np.array_equal(copy, array, equal_nan=numpy_type.kind in "fc")


def test_halves_are_numpys():
    dtype, functions = table("<f2")
    halves = np.arange(65536, dtype="<u2").view("<f2")
    scalar = Scalar()
    values = np.zeros(65536)
    for number in range(65536):
        functions.get(dtype, address(halves, number), ctypes.byref(scalar))
        values[number] = scalar.value.real
    assert np.array_equal(values, halves.astype("f8"), equal_nan=True)
    # between two neighbours, in the middle, and next to it
    finite = np.unique(halves[np.isfinite(halves)]).astype("f8")
    middle = (finite[1:] + finite[:-1]) / 2
    cases = np.concatenate([finite, middle, np.nextafter(middle, np.inf),
                            np.nextafter(middle, -np.inf),
                            [65519.99, 65520, 1e300, -1e300, np.inf, np.nan, 1e-320, -1e-9]])
    scalar.kind = REAL
    out = np.zeros(len(cases), "<f2")
    for number, value in enumerate(cases):
        scalar.value.real = value
        assert functions.set(dtype, address(out, number), ctypes.byref(scalar)) == 0
    with np.errstate(over="ignore", under="ignore"):
        assert np.array_equal(out.view("u2")[:-4], cases.astype("<f2").view("u2")[:-4])
        assert np.array_equal(out, cases.astype("<f2"), equal_nan=True)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Products of the library in DRAY_BUILD are those of the real NumPy 2: random types,
shapes, layouts and byte orders, by BLAS and by the library's loops."""

import ctypes
import os
import subprocess
import sys
import warnings

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not hasattr(np, "vecdot"), reason="NumPy 1 has no vecdot()")

TYPES = "?bBhHiIqQefdFD"
# Relative to the sum of absolute products, for each element of a sum.
PRECISION = {"e": 1e-3, "f": 2e-7, "d": 5e-16, "F": 4e-7, "D": 1e-15}


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint64),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64),
                ("strides", ctypes.c_int64 * 64)]


def view(library, array):
    out = View(data=array.ctypes.data, ndim=array.ndim, flags=3)
    word = ctypes.c_uint64()
    assert library.dray_dtype_parse(array.dtype.str.encode(), ctypes.byref(word)) == 0
    out.dtype = word.value
    out.shape[:array.ndim] = array.shape
    out.strides[:array.ndim] = array.strides
    return out


def random_array(dice, shape, letter):
    """Returns an array of some layout and byte order."""
    if letter in "efd":
        array = dice.normal(size=shape).astype(letter)
    elif letter in "FD":
        array = (dice.normal(size=shape) + 1j * dice.normal(size=shape)).astype(letter)
    else:
        array = dice.integers(0, 2 if letter == "?" else 100, shape).astype(letter)
    layout = dice.integers(5)
    if layout == 1:
        array = np.asfortranarray(array)
    elif layout == 2:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    elif layout == 3:
        array = array[..., ::-1].copy()[..., ::-1]
    elif layout == 4:
        array = array.astype(array.dtype.newbyteorder())
    return array


def random_shapes(dice, name):
    """Returns the shapes of two operands that fit."""
    ranks = dice.integers(1, 5, 2)
    m, k, n = (int(extent) for extent in dice.integers(0, 6, 3))
    batch = [int(extent) for extent in dice.integers(1, 4, 4)]
    ends = ([k], [k]) if name == "vecdot" else (
        ([m, k] if ranks[0] > 1 else [k]), ([k, n] if ranks[1] > 1 else [k]))
    shapes = []
    for rank, end in zip(ranks, ends):
        more = rank - len(end)
        before = batch[-more:] if more else []
        shapes.append([extent if dice.integers(2) else 1 for extent in before] + end)
    return shapes


def check_one(library, dice):
    name = str(dice.choice(["matmul", "dot", "vecdot"]))
    a, b = (random_array(dice, shape, letter) for shape, letter
            in zip(random_shapes(dice, name), dice.choice(list(TYPES), 2)))
    wanted = np.asarray(getattr(np, name)(a, b))
    got = np.empty(wanted.shape, wanted.dtype)
    status = getattr(library, "dray_" + name)(
        *(ctypes.byref(view(library, array)) for array in (a, b, got)), None)
    assert status == 0, library.dray_last_error()
    told = (name, a.dtype, b.dtype, a.shape, b.shape, a.strides, b.strides)
    if wanted.dtype.kind in "biu":
        assert (got == wanted).all(), told
        return
    terms = a.shape[-1] if a.ndim else 1
    bound = np.asarray(getattr(np, name)(abs(a.astype("D")), abs(b.astype("D")))).real
    bound = bound * PRECISION[wanted.dtype.char] * (terms + 4) + 1e-6 * (
        wanted.dtype.char == "e")
    assert (abs(got.astype("D") - wanted.astype("D")) <= bound).all(), told


def check_all(count):
    library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
    library.dray_last_error.restype = ctypes.c_char_p
    library.dray_blas_name.restype = ctypes.c_char_p
    dice = np.random.default_rng(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(count):
            check_one(library, dice)
    print(count, library.dray_blas_name())


@pytest.mark.parametrize("blas", ["", "none"])
def test_products_are_numpys(blas):
    run = subprocess.run([sys.executable, "-W", "ignore", __file__], capture_output=True,
                         text=True, env={**os.environ, "DRAY_BLAS": blas}, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("2000 ")
    if blas:
        assert run.stdout == "2000 None\n"


if __name__ == "__main__":
    check_all(2000)

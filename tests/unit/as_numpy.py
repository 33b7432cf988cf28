# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The library in DRAY_BUILD through ctypes, with views of NumPy's arrays."""

import ctypes
import os

READ, WRITE, IMMUTABLE, ALIGNED, C_CONTIGUOUS, F_CONTIGUOUS = (
    1 << bit for bit in range(6))
ORDERS = {"A": -1, "C": 0, "F": 1, "K": 2}


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint64),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64),
                ("strides", ctypes.c_int64 * 64)]


library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
library.dray_last_error.restype = ctypes.c_char_p
library.dray_view_size.restype = ctypes.c_int64
library.dray_view_alignment.restype = ctypes.c_uint64
for name in ("is_contiguous", "is_contiguous_in", "spans_overlap"):
    getattr(library, "dray_view_" + name).restype = ctypes.c_bool


def must(result):
    assert result == 0, library.dray_last_error()


def numbers(values):
    """An array of int64_t; one more entry, so that none is empty."""
    return (ctypes.c_int64 * (len(values) + 1))(*values)


def axes(values):
    return None if values is None else (ctypes.c_int * (len(values) + 1))(*values)


def dtype_of(dtype):
    """The word of a type of NumPy's."""
    word = ctypes.c_uint64()
    text = str(dtype) if dtype.names else dtype.str.split("[")[0]
    must(library.dray_dtype_parse(text.encode(), ctypes.byref(word)))
    return word


def view_of(array):
    view = View()
    must(library.dray_view_init(
        ctypes.byref(view), ctypes.c_void_p(array.ctypes.data),
        dtype_of(array.dtype), array.ndim, numbers(array.shape),
        numbers(array.strides)))
    if not array.flags.writeable:
        view.flags &= ~WRITE
    return view

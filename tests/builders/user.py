# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls the library by ctypes alone.

usage: user.py LIBRARY "FUNCTION..."

Fails if a function is missing, or if an array outlives its last reference.
"""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
missing = [name for name in sys.argv[2].split() if not hasattr(library, name)]
if missing or not sys.argv[2]:
    sys.exit(f"missing: {missing}")

# DRAY_FLOAT32, a constant of C
FLOAT32 = 4 << 32 | ord("<") << 8 | ord("f")
library.dray_array_ref.restype = ctypes.c_void_p
library.dray_array_ref.argtypes = [ctypes.c_void_p]
library.dray_array_unref.argtypes = [ctypes.c_void_p]
library.dray_block_count.argtypes = [ctypes.c_void_p]
library.dray_dtype_itemsize.argtypes = [ctypes.c_uint64]
library.dray_array_zeros.argtypes = [
    ctypes.c_uint64, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p]

array = ctypes.c_void_p()
shape = (ctypes.c_int64 * 2)(3, 4)
failed = library.dray_array_zeros(FLOAT32, 2, shape, ctypes.byref(array))
assert not failed, failed
# An array begins with its block.
counts = [library.dray_block_count(array)]
assert library.dray_array_ref(array) == array.value
counts.append(library.dray_block_count(array))
library.dray_array_unref(array)
counts.append(library.dray_block_count(array))
library.dray_array_unref(array)
assert counts == [1, 2, 1], counts
assert library.dray_dtype_itemsize(FLOAT32) == 4

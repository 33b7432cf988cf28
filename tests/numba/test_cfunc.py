# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A function that Numba compiles is a loop of a dray.ufunc."""
import numpy as np
from numba import carray, cfunc, types

import dray

SIGNATURE = types.int32(types.CPointer(types.voidptr), types.CPointer(types.int64),
                        types.int64, types.voidptr)


@cfunc(SIGNATURE)
def hypotenuse(data, strides, count, context):
    x = carray(data[0], count * (strides[0] // 8 or 1), np.float64)
    y = carray(data[1], count * (strides[1] // 8 or 1), np.float64)
    out = carray(data[2], count * (strides[2] // 8), np.float64)
    for i in range(count):
        a, b = x[i * (strides[0] // 8)], y[i * (strides[1] // 8)]
        out[i * (strides[2] // 8)] = (a * a + b * b) ** .5
    return 0


def test_a_cfunc_computes_arrays():
    made = dray.ufunc("hypotenuse", 2, 1)
    made.register("dd->d", hypotenuse)
    x, y = np.arange(12.).reshape(3, 4), np.arange(3., 15.).reshape(3, 4)
    for a, b in ((x, y), (x[:, ::2], y[:, 1::2]), (x.T, y.T), (x, 4.), (x.astype("i4"), y)):
        assert np.allclose(made(a, b), np.hypot(a, b))
    with dray.CallQueue() as queue:
        assert np.allclose(queue.submit(made, x, y).wait(), np.hypot(x, y))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random arrays of NumPy's: empty ones, without axes, of as many as there can be, with
strides of 0, negative and overlapping ones."""

import os

import numpy as np

TYPES = ["?", "u1", "<i2", ">i4", "<f4", ">f8", "<c8", ">c16", "S5", "<U2", "V3",
         "V0", "V16", "M8[ns]"]
SIZED = [text for text in TYPES if text != "V0"]
MAX_NDIM = 64 if int(np.__version__.split(".")[0]) >= 2 else 32
ROUNDS = int(os.environ.get("DRAY_ROUNDS", 5000))
memory = np.zeros(1 << 23, "u1")


def random_shape(draw):
    kind = draw.random()
    if kind < 0.03:  # as many axes as there can be
        shape = [1] * draw.randrange(MAX_NDIM - 4, MAX_NDIM + 1)
        for axis in draw.sample(range(len(shape)), 5):
            shape[axis] = draw.choice([1, 2, 3])
    else:
        shape = [draw.choice([1, 1, 2, 3, 4, 6])
                 for _ in range(draw.choice([0, 1, 2, 2, 3, 3, 4, 5]))]
    if shape and draw.random() < 0.12:
        shape[draw.randrange(len(shape))] = 0
    return shape


def sliced(draw, shape, dtype):
    """A transposed slice of an array in C order."""
    parent = memory[draw.randrange(8):]
    parent = np.ndarray([extent * (1 + (len(shape) < 9 and draw.random() < 0.15))
                         for extent in shape], dtype, parent)
    array = parent[tuple(
        slice(None, None, draw.choice([1, 1, 1, -1, -2] if whole == extent
                                      else [2, -2]))
        for whole, extent in zip(parent.shape, shape)) + (Ellipsis,)]
    kind = draw.random()
    if kind < 0.3:
        return array.transpose(draw.sample(range(array.ndim), array.ndim))
    return array.T if kind < 0.5 else array


def strided(draw, shape, dtype):
    """Any strides, of 0 and overlapping ones too."""
    item = dtype.itemsize
    strides = [draw.choice([0, item, 2 * item, -item, 3, draw.randrange(-60, 60)])
               for _ in shape]
    low = sum(min(0, stride * (extent - 1))
              for extent, stride in zip(shape, strides))
    if 0 in shape:
        low = -draw.randrange(64)
    return np.ndarray(shape, dtype, memory, -low, strides)


def random_array(draw, types=TYPES):
    dtype = np.dtype(draw.choice(types))
    array = draw.choice([sliced, sliced, strided])(draw, random_shape(draw), dtype)
    if draw.random() < 0.2:
        array = array.view()
        array.flags.writeable = False
    return array

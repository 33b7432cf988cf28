# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numba's tests of its dummyarray, with dray.Array as the array.

Numba's class has no memory: shape, strides and offset only.  Here a block of zeros
stands for it.
"""
import numpy as np
from numba.tests import test_dummyarray

import dray

WORDS = {"negative": "can only specify one unknown dimension",
         "elements": "cannot infer valid shape for unknown dimension"}


class Array:
    """Numba's interface."""

    def __init__(self, array, start):
        self.array = array
        self.start = start
        self.flags = {"C_CONTIGUOUS": array.flags.c_contiguous,
                      "F_CONTIGUOUS": array.flags.f_contiguous}

    @classmethod
    def from_desc(cls, offset, shape, strides, itemsize):
        bytes_ = offset + itemsize + sum(
            (extent - 1) * stride for extent, stride in zip(shape, strides))
        whole = dray.Array.zeros(bytes_, "u1")
        first = whole[offset:offset + itemsize].view(f"V{itemsize}").reshape()
        return cls(first.as_strided(shape, strides), address(whole))

    def __getattr__(self, name):
        return getattr(self.array, name)

    def __getitem__(self, index):
        return Array(self.array[index], self.start)

    @property
    def extent(self):
        low, high = np.lib.array_utils.byte_bounds(self.array.__array__()) \
            if hasattr(np.lib, "array_utils") else np.byte_bounds(self.array.__array__())
        return low - self.start, high - self.start

    def iter_contiguous_extent(self):
        if self.flags["C_CONTIGUOUS"] or self.flags["F_CONTIGUOUS"]:
            yield self.extent
        else:
            for row in self:
                yield from row.iter_contiguous_extent()

    def reshape(self, *shape):
        try:
            return Array(self.array.reshape(*shape), self.start), None
        except ValueError as error:
            known = shape.count(-1) > 1
            raise ValueError(WORDS["negative" if known else "elements"]) from error

    def squeeze(self, axis=None):
        return Array(self.array.squeeze(axis), self.start), None


def address(array):
    return array.__array_interface__["data"][0]


test_dummyarray.Array = Array
TestSlicing = test_dummyarray.TestSlicing
TestReshape = test_dummyarray.TestReshape
TestSqueeze = test_dummyarray.TestSqueeze
TestExtent = test_dummyarray.TestExtent
TestIterate = test_dummyarray.TestIterate

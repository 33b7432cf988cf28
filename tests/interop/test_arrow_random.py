# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random arrays of numbers, dates, bytes, fields and sub-arrays, with and without a
mask, in pyarrow: valid, the same element by element, and back."""
import random

import numpy as np
import pytest

import dray
from conftest import WHERE

pytestmark = pytest.mark.skipif(WHERE != "pypi", reason="Debian has no pyarrow")

TYPES = ["?", "i1", "<i2", ">i2", "i4", ">i8", "u1", "u2", "u4", "u8", "f2", "f4", ">f8",
         "c8", ">c16", "S3", "V2", "M8[s]", ">M8[ns]", "m8[us]", "M8[D]"]
ROUNDS = 100


class Dice(random.Random):
    def type(self, depth=0):
        """The type of elements, maybe with fields, which may have axes."""
        if depth == 2 or self.random() < 0.65:
            return self.choice(TYPES)
        return [(f"f{i}", self.type(depth + 1),
                 tuple(self.randrange(4) for _ in range(self.choice([0, 0, 1, 2]))))
                for i in range(self.randint(1, 3))]

    def fill(self, array):
        """Sets all elements; a fifth of the dates are none."""
        if array.dtype.names:
            for name in array.dtype.names:
                self.fill(array[name])
            return
        numbers = np.array([self.randrange(1, 100) for _ in range(array.size)],
                           "i8").reshape(array.shape)
        if array.dtype.kind in "mM":
            numbers[numbers > 80] = np.iinfo("i8").min
            array[...] = numbers.view(array.dtype.newbyteorder("="))
        elif array.dtype.kind in "SV":
            for index in np.ndindex(array.shape):
                array[index] = bytes([numbers[index]]) * array.dtype.itemsize
        else:
            array[...] = numbers % 2 if array.dtype.kind == "b" else numbers
        if array.dtype.kind == "c":
            array.imag[...] = -numbers

    def array(self, dtype, shape):
        array = np.zeros(shape, dtype)
        self.fill(array)
        return array

    def case(self):
        """An array in any layout, and a mask of its shape, or None."""
        array = self.array(self.type(), [self.randrange(5) for _ in range(self.randint(1, 3))])
        array = self.choice([array, array.T, array[::2], array[::-1]])
        kinds = [None, np.dtype(bool), np.ma.make_mask_descr(array.dtype)]
        kind = self.choice(kinds)
        return array, None if kind is None else self.array(kind, array.shape)


def told(element, mask):
    """An element of NumPy as pyarrow's values() tell it; None is a null."""
    element = np.asarray(element)
    if mask is not None and not mask.dtype.names and not mask.shape and mask:
        return None
    if element.ndim:
        return [told(element[i], mask if mask is None or not mask.shape else
                     np.asarray(mask[i])) for i in range(len(element))]
    if element.dtype.names:
        return {name: told(element[name], None if mask is None or not mask.dtype.names
                           else np.asarray(mask[name])) for name in element.dtype.names}
    if element.dtype.kind in "mM":
        return None if np.isnat(element) else int(element.astype("i8"))
    if element.dtype.kind == "c":
        return [float(element.real), float(element.imag)]
    return element.tobytes() if element.dtype.kind in "SV" else element.item()


def values(array):
    """All of a pyarrow array: dates as numbers, structures as dictionaries."""
    import pyarrow as pa

    valid = array.is_valid().to_pylist()
    if pa.types.is_struct(array.type):
        fields = {array.type.field(i).name: values(array.field(i))
                  for i in range(array.type.num_fields)}
        items = [{name: field[i] for name, field in fields.items()}
                 for i in range(len(array))]
    elif pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        flat = values(array.values.slice(array.offset * size, len(array) * size))
        items = [flat[i * size:(i + 1) * size] for i in range(len(array))]
    else:
        if pa.types.is_temporal(array.type):
            array = array.cast("int32" if pa.types.is_date32(array.type) else "int64")
        items = array.to_pylist()
    return [item if there else None for item, there in zip(items, valid)]


@pytest.mark.parametrize("seed", range(10))
def test_random_arrays_are_the_same_in_pyarrow_and_back(seed):
    import pyarrow as pa

    dice = Dice(seed)
    for _ in range(ROUNDS):
        array, mask = dice.case()
        there = pa.array(dray.to_arrow(array, mask))
        there.validate(full=True)
        expected = told(array, mask)
        assert values(there) == expected, (array.dtype, array.shape)
        start = dice.randrange(len(there) + 1)
        here, nulls = dray.from_arrow(there[start:], mask=True)
        again = pa.array(dray.to_arrow(here, nulls))
        again.validate(full=True)
        # Of a complex number, and of a list, the parts come back as nulls.
        if mask is None and "c" not in str(array.dtype):
            assert values(again) == expected[start:], (array.dtype, array.shape)

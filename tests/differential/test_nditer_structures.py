# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Iterators of libdray convert structures in their buffers and write them back as
numpy.nditer does.  The rows are those of NumPy's test_nditer that its own tests over
dray.Array do not reach, since they have objects of Python; numbers stand for these."""

import nditers
import numpy as np
import pytest

ROWS = [
    # one element to many, and back
    ([("a", "f4")], [("a", "f8", (3, 2, 2))]),
    ([("a", "i8", (1, 1))], [("a", "i4", (3, 2, 2))]),
    ([("a", "i8", (3, 2, 2))], [("a", "i4", (1,))]),
    ([("a", "f8", (3, 2, 2))], [("a", "f4", (3, 2, 2))]),
    # cut off, filled with zeros, broadcast
    ([("a", "f8", (6,))], [("a", "f4", (2,))]),
    ([("a", "f8", (2,))], [("a", "f4", (6,))]),
    ([("a", "f8", (2,))], [("a", "f4", (2, 2))]),
    ([("a", "f8", (2, 1))], [("a", "f4", (3, 2))]),
    ([("a", "f8", (2, 3))], [("a", "f4", (3, 2))]),
    # a number and a structure
    ("f4", [("a", "f4"), ("b", "i8"), ("c", "c8", (2, 3)), ("d", "f8")]),
    ([("a", "f4")], "i4"),
    # fields by their place
    ([("a", "f4"), ("b", "i8"), ("d", "u1")], [("d", "u2"), ("a", "f8"), ("b", "f8")]),
    ([("a", "<i4"), ("b", ">i4,<i4,>f8,S17,>f8,3f4,i2,i1")],
     [("a", ">f8"), ("b", ">i4,>i4,S17,>f8,>U3,3f8,i1,i2")]),
    ("<i4,>f8", ">i4,<f8"),
]
# Fields that differ in number, and several to one element.
REFUSED = [("f4,i8,f8", "f8,f4"), ("f4,i8", "i4"), ("i4,i4", "i8,i8,i8")]


def operand(dtype):
    """Numbers in the first item of each field, as far as they fit it."""
    array = np.zeros((2, 5), dtype)[:, ::-2]
    array.T.flat[:] = np.ones(array.size, dtype)
    numbers = np.arange(array.size).reshape(array.shape)
    if array.dtype.names:
        for name in array.dtype.names:
            if array[name].dtype.kind in "iuf":
                array[name][...] = numbers.reshape(array.shape + (1,) * (array[name].ndim - 2))
    else:
        array[...] = numbers
    return array


@pytest.mark.parametrize("buffersize", [1, 4, 100])
@pytest.mark.parametrize("stored, seen, intent", [
    (stored, seen, intent) for stored, seen in ROWS for intent in ("readonly", "readwrite")
    if intent == "readonly" or np.can_cast(seen, stored, "unsafe")], ids=str)
def test_elements_are_converted_and_written_back(stored, seen, intent, buffersize):
    theirs, mine = operand(stored), operand(stored)
    options = {"op_dtypes": [np.dtype(seen)], "casting": "unsafe", "buffersize": buffersize}
    view = nditers.view_of(mine)
    numpy = np.nditer(theirs, ["buffered"], [[intent]], **options)
    dray = nditers.Nditer([view], ["buffered"], [[intent]], **options)
    with numpy:
        for number, wanted in enumerate(numpy):
            found = dray.loops()[0]
            assert found.dtype == wanted.dtype
            assert found.tobytes() == wanted.tobytes(), (number, found, wanted)
            if intent == "readwrite":
                wanted[...] = 7
                found[...] = 7
            dray.next  # pylint: disable=pointless-statement
    dray.close()
    assert mine.tobytes() == theirs.tobytes(), (mine, theirs)


@pytest.mark.parametrize("stored, seen", REFUSED, ids=str)
@pytest.mark.parametrize("intent", ["readonly", "readwrite"])
def test_structures_of_other_fields_are_refused(stored, seen, intent):
    view = nditers.view_of(np.zeros(3, stored))
    with pytest.raises(nditers.Refused, match="could not be cast"):
        nditers.Nditer([view], ["buffered"], [[intent]], op_dtypes=[np.dtype(seen)],
                       casting="unsafe")


@pytest.mark.parametrize("dtype", ["f4", ">i2", "f8", "i1"])
@pytest.mark.parametrize("intent", ["readwrite", "writeonly"])
def test_a_copy_is_written_back_at_the_end_and_not_before(dtype, intent):
    array = np.arange(12, dtype=">f4").reshape(3, 4)[:, ::-1]
    before = array.tolist()
    iterator = nditers.Nditer([nditers.view_of(array)], [], [[intent, "updateifcopy"]],
                              op_dtypes=[np.dtype(dtype)], casting="unsafe")
    view = iterator.operand(0)
    assert view.data != nditers.address(array)
    while True:
        iterator.loops()[0][...] = 100
        if not iterator.next:
            break
    assert array.tolist() == before
    iterator.close()
    assert array.tolist() == [[100.0] * 4] * 3

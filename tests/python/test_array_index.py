# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rare indices of dray.Array: those that NumPy's own tests found."""
import ctypes

import numpy as np
import pytest

import dray


class Zero:
    """An object that NumPy makes an array of."""

    def __array__(self, dtype=None, copy=None):
        return np.array(0)


@pytest.mark.parametrize("key, error", [
    ((slice(0.0, None), 0.0), IndexError),  # the slice is wrong too
    ((slice(0.0, None), [slice(None)], 0), IndexError),
    ((0.0, slice(0.0, None)), IndexError),
    ((slice(0.0, None), 0), TypeError),
    ((slice(0.0, None), slice(None, 0.0)), TypeError),
    ([slice(None)], IndexError),
    (((..., ...),), IndexError),
    ([None], IndexError),
], ids=repr)
def test_an_index_that_is_none_raises_as_numpy_does(key, error):
    plain = np.zeros((2, 3, 4))
    for array in (plain, dray.Array(plain)):
        with pytest.raises(error):
            array[key]
        with pytest.raises(error):
            array[key] = 1


def test_an_object_that_is_an_array_of_one_integer_is_an_integer():
    array = dray.Array(np.arange(6).reshape(2, 3))
    assert isinstance(array[1, Zero()], np.integer) and array[1, Zero()] == 3
    assert array[Zero()].tolist() == [0, 1, 2]
    assert not array[Zero()].shares_memory(array)
    array[Zero(), 0] = 9
    assert array[0, 0] == 9


def test_axes_may_be_an_array():
    array = dray.Array(np.zeros((2, 3, 4)))
    for axes in (np.array([2, 0, 1]), dray.Array(np.array([2, 0, 1]))):
        assert array.transpose(axes).shape == (4, 2, 3)
    assert array.reshape(dray.Array(np.array([4, -1]))).shape == (4, 6)
    assert array.reshape(np.int8(-1)).shape == (24,)


def test_it_is_a_sequence_in_c():
    array = dray.Array(np.arange(6).reshape(3, 2))
    set_at = ctypes.pythonapi.PySequence_SetItem
    set_at.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.py_object]
    set_at(array, -1, [8, 9])
    assert array.tolist() == [[0, 1], [2, 3], [8, 9]]
    for at in (3, -4):
        with pytest.raises(IndexError):
            set_at(array, at, 0)


def test_a_structure_of_an_array_is_its_memory():
    array = np.zeros(2, [("x", "M8[s]")])
    one = dray.Array(array[1])
    assert one.shape == () and one.shares_memory(dray.Array(array))


@pytest.mark.parametrize("kind", ["V0", "S0", "U0"])
def test_elements_without_bytes_are_copied(kind):
    plain = np.zeros((3, 2), [("x", kind)])["x"]
    copy = dray.Array(plain).copy()
    copy[1:] = copy[:-1]
    assert copy.shape == (3, 2) and copy.dtype == plain.dtype
    assert copy.tolist() == plain.tolist()


class Tensor:
    """As arrays of JAX and torch: an integer if it has one element."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __index__(self):
        if self.values.size != 1:
            raise TypeError("only one element is an index")
        return self.values.item()

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


@pytest.mark.parametrize("values", [[0, 2], [[1], [0]], [True, False, True, False], [], 2, [2],
                                    [7], 7], ids=str)
def test_an_array_with_an_index_of_python_is_one(values):
    there = np.arange(4)
    for key in (Tensor(values), (Tensor(values), ...), (..., Tensor(values))):
        try:
            wanted = there[key]
        except IndexError:
            with pytest.raises(IndexError):
                dray.Array(there)[key]
            continue
        found = np.asarray(dray.Array(there)[key])
        assert found.tolist() == wanted.tolist() and found.shape == wanted.shape
    a = dray.Array(np.zeros(4))
    if np.shape(values) == (2,):
        a[Tensor(values)] = 7
        assert a.tolist() == [7, 0, 7, 0]


@pytest.mark.parametrize("shape", [(0,), (0, 0), (0, 3)], ids=str)
def test_an_index_that_is_empty_and_no_array_is_one_of_integers(shape):
    key = Tensor(np.zeros(shape, "?"))
    there = np.zeros((1, 0))
    assert dray.Array(there)[key].shape == there[key].shape


def test_an_index_that_is_neither_is_refused():
    class Wrong:
        def __index__(self):
            raise TypeError("no")

    with pytest.raises(IndexError, match="an index is an integer"):
        dray.Array(np.arange(4))[Wrong()]

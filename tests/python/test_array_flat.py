# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Array.flat finds and sets the elements that NumPy's flat does."""
import operator

import numpy as np
import pytest

import dray


def numbers(*shape):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


ARRAYS = [numbers(3, 4), numbers(3, 4).T, numbers(6, 8)[::-2, 1::2], numbers(12, 1, 1),
          np.arange(12.0).reshape(2, 6)]
INDICES = [0, 2, -1, np.int16(1), slice(None), slice(1, 9, 2), slice(None, None, -1),
           slice(5, 1), ..., (1,), (slice(0, 2),), [0, 2], [[0], [-1]], [], np.array([1, 1]),
           np.array([[0, 2]], "u1")]
MASK = np.arange(12) % 3 == 0
WRONG = [12, -13, [0, 12], [-13], MASK[1:], MASK.reshape(3, 4), [True, False], None, (1, 2), "x",
         1.5, [1.5], np.array([1.5]), True, 1 << 70, np.uint64(2**64 - 2)]


@pytest.mark.parametrize("plain", ARRAYS, ids=str)
@pytest.mark.parametrize("key", INDICES + [MASK, dray.Array(MASK)], ids=repr)
def test_an_index_is_one_of_the_elements_in_c_order(plain, key):
    found = dray.Array(plain).flat[key]
    wanted = plain.ravel()[MASK if isinstance(key, dray.Array) else key]
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert found.tolist() == wanted.tolist()
    assert isinstance(found, dray.Array if wanted.ndim else np.generic)


@pytest.mark.parametrize("value", [9, [7, 8], [[5, 6], [7, 8]], 2.5, "3"], ids=repr)
@pytest.mark.parametrize("plain", ARRAYS, ids=str)
@pytest.mark.parametrize("key", INDICES + [MASK], ids=repr)
def test_values_are_set_in_c_order_and_repeated(plain, key, value):
    mine, theirs = plain.copy("K"), plain.ravel().copy()
    if np.ndim(value) and isinstance(np.arange(12)[key], np.integer):
        with pytest.raises(ValueError):
            dray.Array(mine).flat[key] = value
        return
    dray.Array(mine).flat[key] = value
    chosen = np.arange(12)[key].ravel()
    theirs[chosen] = np.resize(np.array(value).astype(plain.dtype), chosen.shape)
    assert mine.ravel().tolist() == theirs.tolist()


@pytest.mark.parametrize("key", WRONG, ids=repr)
def test_another_index_is_an_error(key):
    array = dray.Array(numbers(3, 4))
    with pytest.raises(IndexError):
        array.flat[key]
    with pytest.raises(IndexError):
        array.flat[key] = 5
    assert array.tolist() == numbers(3, 4).tolist()


def test_an_empty_tuple_takes_all_and_sets_nothing():
    array = dray.Array(numbers(2, 3))
    assert array.flat[()].tolist() == list(range(6))
    with pytest.raises(IndexError):
        array.flat[()] = 5


def test_no_values_set_nothing():
    array = dray.Array(numbers(2, 3))
    array.flat[1:] = []
    assert array.tolist() == numbers(2, 3).tolist()


def test_the_method_raises_the_error_of_the_index():
    with pytest.raises(IndexError, match="index 99 is out of bounds"):
        dray.Array(numbers(2, 3)).flat.__setitem__([0, 99], 1)


def test_a_value_of_another_kind_is_an_error():
    array = dray.Array(numbers(2, 3))
    with pytest.raises(ValueError):
        array.flat[1] = "x"
    assert array.tolist() == numbers(2, 3).tolist()


@pytest.mark.parametrize("plain", ARRAYS, ids=str)
def test_it_is_its_own_iterator_and_tells_its_place(plain):
    mine, theirs = dray.Array(plain).flat, plain.flat
    assert iter(mine) is mine and len(mine) == len(theirs)
    for number in range(len(theirs)):
        assert (mine.index, mine.coords) == (number, theirs.coords)
        assert next(mine) == next(theirs)
    assert next(mine, None) is None and mine.index == len(theirs)


@pytest.mark.parametrize("plain", [np.array(7), numbers(0, 3)], ids=str)
def test_there_may_be_one_element_or_none(plain):
    array = dray.Array(plain)
    assert list(array.flat) == plain.ravel().tolist() == array.flat[:].tolist()
    array.flat = 5
    assert plain.ravel().tolist() == [5] * plain.size


def test_its_copies_are_new():
    array = dray.Array(numbers(2, 3).T)
    for copy in (array.flat.copy(), np.asarray(array.flat)):
        assert copy.tolist() == [0, 3, 1, 4, 2, 5]
        copy[0] = 9
    assert array[0, 0] == 0 and array.flat.base is array


def test_an_iterator_indexes_another():
    array = dray.Array(numbers(3, 4))
    assert array.flat[dray.Array(np.array([[5], [0]])).flat].tolist() == [5, 0]
    assert array.flat[dray.Array(np.array([5, 0]))].tolist() == [5, 0]


def test_all_elements_are_set_at_once():
    array = dray.Array(np.zeros((2, 3), "i2"))
    array.flat = [1, 2]
    assert array.tolist() == [[1, 2, 1], [2, 1, 2]]
    with pytest.raises(AttributeError):
        del array.flat
    with pytest.raises(TypeError):
        del array.flat[0]


def test_an_array_that_may_not_be_written_is_not():
    array = dray.Array(numbers(3)).broadcast_to((2, 3))
    with pytest.raises(ValueError, match="read-only"):
        array.flat[0] = 1


def test_there_is_no_other_way_to_one():
    with pytest.raises(TypeError):
        dray.FlatIterator()


def test_comparisons_are_of_elements():
    mine, theirs = dray.Array(numbers(2, 3)).flat, numbers(2, 3).flat
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        found = compare(mine, 3)
        assert isinstance(found, dray.Array)
        assert found.tolist() == compare(theirs, 3).tolist()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""take(), put(), sort() and the like of dray.Array: results, memory and errors.
tests/differential compares them with NumPy in random cases."""
import numpy as np
import pytest

import dray

NUMBERS = [[3, 0, 2], [1, 5, 0]]

RESULTS = [
    (lambda a: a.take([0, -1]), [3, 0]),
    (lambda a: a.take(dray.Array(np.array([1, 0])), axis=0), [[1, 5, 0], [3, 0, 2]]),
    (lambda a: a.take([7], mode="wrap"), [0]),
    (lambda a: a.take([]), []),
    (lambda a: a.put([0, 5], [8, 9]) or a, [[8, 0, 2], [1, 5, 9]]),
    (lambda a: a.sort() or a, [[0, 2, 3], [0, 1, 5]]),
    (lambda a: a.sort(axis=0) or a, [[1, 0, 0], [3, 5, 2]]),
    (lambda a: a.argsort(), [[1, 2, 0], [2, 0, 1]]),
    (lambda a: a.argsort(None), [1, 5, 3, 2, 0, 4]),
    (lambda a: dray.Array.zeros((0, 2**50), "i1").argsort(), []),
    (lambda a: a.argmax(axis=1), [0, 1]),
    (lambda a: a.argmin(axis=0), [1, 0, 1]),
    (lambda a: a.nonzero()[0], [0, 0, 1, 1]),
    (lambda a: a.nonzero()[1], [0, 2, 0, 1]),
]

ERRORS = [
    (lambda a: a.take([6]), IndexError, "index 6 is out of bounds"),
    (lambda a: a.take(np.array([0.5])), TypeError, "indices are integers"),
    (lambda a: a.take([0], axis=2), ValueError, "axis 2"),
    (lambda a: a.take([0], mode="x"), ValueError, "mode"),
    (lambda a: a.put([6], 1), IndexError, "index 6 is out of bounds"),
    (lambda a: a.put([0], "x"), ValueError, "invalid literal"),
    (lambda a: a.broadcast_to((2, 2, 3)).sort(), ValueError, "read-only"),
    (lambda a: a[:0].argmax(axis=0), ValueError, "without elements|empty"),
    (lambda a: a[0, :1].reshape(()).nonzero(), ValueError, "0d arrays"),
]


@pytest.fixture(name="array")
def an_array():
    return dray.Array(np.array(NUMBERS))


@pytest.mark.parametrize("call, wanted", RESULTS)
def test_results(array, call, wanted):
    result = call(array)
    assert isinstance(result, dray.Array) and result.tolist() == wanted


def test_an_element_is_a_scalar_of_numpy(array):
    results = array.take(4), array.argmax(), array.argmin()
    assert results == (5, 4, 1)
    assert all(isinstance(each, np.int64) for each in results)


@pytest.mark.parametrize("call, error, sentence", ERRORS)
def test_errors(array, call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(array)
    assert array.tolist() == NUMBERS


def test_results_are_in_memory_of_the_scope(array):
    with dray.memory():
        wanted = dray.Array.empty(1).handler_name
        made = array.take([0]), array.argsort(), *array.nonzero()
    assert wanted and {each.handler_name for each in made} == {wanted}

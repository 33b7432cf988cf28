# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Array.where() chooses the elements that numpy.where() does."""
import numpy as np
import pytest

import dray

MASK = np.array([[True, False, True], [False, False, True]])
ROW = np.array([1, 2, 3], "i2")
COLUMN = np.array([[0.5], [1.5]], ">f4")


@pytest.mark.parametrize("condition", [MASK, np.array(True), np.arange(3),
                                       np.array([0., np.nan])[:, None]], ids=str)
@pytest.mark.parametrize("yes, no", [(ROW, COLUMN), (ROW, ROW[::-1]), (COLUMN, np.array("xy")),
                                     (np.arange(6).reshape(2, 3), [[7], [8]])], ids=str)
def test_elements_are_those_of_numpy(condition, yes, no):
    wanted = np.where(condition, yes, no)
    for pair in ((yes, no), [dray.Array(np.asarray(each)) for each in (yes, no)]):
        found = dray.Array(condition).where(*pair)
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="rules of NumPy 2")
@pytest.mark.parametrize("number", [5, 2.5, 1j, True, np.float64(2), [1]], ids=repr)
def test_a_number_takes_on_the_type_of_the_array(number):
    array = dray.Array(ROW)
    for pair, plain in (((array, number), (ROW, number)), ((number, array), (number, ROW)),
                        ((number, 7), (number, 7))):
        found, wanted = dray.Array(MASK).where(*pair), np.where(MASK, *plain)
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("pair, error", [
    ((ROW, np.arange(4)), ValueError), ((ROW, object()), TypeError), ((ROW,), TypeError)])
def test_what_does_not_fit_is_an_error(pair, error):
    with pytest.raises(error):
        dray.Array(MASK).where(*pair)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="rules of NumPy 2")
def test_a_number_that_does_not_fit_the_type_is_an_error():
    with pytest.raises(OverflowError):
        dray.Array(MASK).where(ROW, 1 << 20)

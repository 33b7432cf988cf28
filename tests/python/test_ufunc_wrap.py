# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results of dray's ufuncs as objects of an operand's class, by __array_wrap__() and
__array_priority__, compared with NumPy's."""
import operator

import numpy as np
import pytest

import dray

NUMPY2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


class Wrapped:
    """An array with a label, which results keep."""
    def __init__(self, label, values):
        self.label, self.values = label, np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        assert type(array) is np.ndarray
        return (self.label, array.tolist(), array.dtype, return_scalar,
                context and (context[0].__name__, len(context[1]), context[2]))


class Ranked(Wrapped):
    def __init__(self, priority, values, label=None):
        super().__init__(label or priority, values)
        self.__array_priority__ = priority


class Old(Wrapped):
    """NumPy 1's style of calls."""
    def __array_wrap__(self, array, context=None):
        return super().__array_wrap__(array, context)


PLAIN = np.ones(2)
CALLS = {
    "without a priority": lambda m: m.add(Wrapped("w", [1, 2]), 1),
    "after an array": lambda m: m.add(PLAIN, Wrapped("w", [1, 2])),
    "before an array": lambda m: m.add(Wrapped("w", [1, 2]), PLAIN),
    "below an array": lambda m: m.add(Ranked(-1, [1, 2]), PLAIN),
    "below an array, after it": lambda m: m.add(PLAIN, Ranked(-1, [1, 2])),
    "above a number": lambda m: m.add(1., Ranked(-5, [1, 2])),
    "above a list": lambda m: m.add([1., 3.], Ranked(-5, [1, 2])),
    "equal": lambda m: m.add(Ranked(1, [1, 2], "first"), Ranked(1, [3, 4], "second")),
    "higher": lambda m: m.add(Ranked(1, [1, 2]), Ranked(2, [3, 4])),
    "lower": lambda m: m.add(Ranked(2, [1, 2]), Ranked(1, [3, 4])),
    "two outputs": lambda m: m.divmod(Ranked(1, [1, 2]), 1),
    "one output given": lambda m: m.divmod(Ranked(1, [1, 2]), 1, out=(None, np.zeros(2, int)))[0],
    "subok=False": lambda m: m.add(Ranked(1, [1, 2]), 1, subok=False),
    "subok=True": lambda m: m.add(Ranked(1, [1, 2]), 1, subok=True),
    "a single input": lambda m: m.negative(Ranked(1, [1, 2])),
    "no axes": lambda m: m.add(Ranked(1, 1.), 2),
    "outer": lambda m: m.add.outer(Ranked(1, [1, 2]), [1, 2]),
    "a mask": lambda m: m.add(Wrapped("w", [1, 2]), 1, where=np.array([True, True]), out=None),
}


def comparable(result):
    if isinstance(result, tuple):
        return tuple(map(comparable, result))
    return np.asarray(result).tolist() if isinstance(result, (np.ndarray, dray.Array)) else result


@pytest.mark.skipif(not NUMPY2, reason="NumPy 1 calls __array_wrap__() differently")
@pytest.mark.parametrize("name", CALLS)
def test_results_are_wrapped_as_numpys(name):
    assert comparable(CALLS[name](dray)) == comparable(CALLS[name](np))


@pytest.mark.parametrize("name", CALLS)
def test_a_result_that_is_not_wrapped_is_an_array_of_dray(name):
    result = CALLS[name](dray)
    assert type(result) in (tuple, dray.Array)


@pytest.mark.skipif(not hasattr(np, "vecdot"), reason="out=... of ufuncs is NumPy 2's")
def test_ellipsis_asks_for_an_array():
    assert dray.add(Ranked(1, 1.), 2, out=...)[3] is False


def test_the_style_of_numpy_1_works():
    assert dray.add(Old("old", [1, 2]), 1)[:2] == ("old", [2, 3])
    assert dray.add(Old("old", 1.), 1)[3] is False


def test_the_context_is_the_call():
    seen = []

    class Sees(Wrapped):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            seen.append(context)
            return array
    a, out = Sees("s", [1, 2]), np.zeros(2, int)
    result = dray.divmod(a, 2, out=(None, out))
    assert type(result[0]) is dray.Array and result[1] is out
    (ufunc, args, number), = seen
    assert ufunc is dray.divmod and number == 0
    assert args[0] is a and args[1] == 2 and args[2] is None and args[3] is out


def test_a_given_output_is_returned_as_it_is():
    out = np.zeros(2)
    assert dray.add(Ranked(1, [1, 2]), 1, out=out) is out
    assert dray.add(Ranked(1, [1, 2]), 1, out) is out
    np.testing.assert_array_equal(out, [2, 3])


class Labelled(np.ndarray):
    """A subclass as NumPy's guide shows it."""
    label = None

    def __array_finalize__(self, other):
        self.label = getattr(other, "label", "none")


def a_labelled():
    a = np.arange(3.).view(Labelled)
    a.label = "metres"
    return a


@pytest.mark.parametrize("make", [lambda: np.asmatrix([[1., 2.]]), a_labelled])
def test_subclasses_of_numpys_array_keep_their_class(make):
    a = make()
    result, expected = dray.add(a, 1), np.add(a, 1)
    assert type(result) is type(expected)
    assert getattr(result, "label", None) == getattr(expected, "label", None)
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))
    assert type(dray.add(a, 1, subok=False)) is dray.Array


def test_wrapped_results_lie_in_the_scope():
    with dray.memory(shareable=True):
        name = dray.handler_name(np.zeros(1))
        assert dray.handler_name(dray.add(np.asmatrix([[1., 2.]]), 1)) == name


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt]


@pytest.mark.parametrize("function", OPERATORS)
@pytest.mark.parametrize("priority", [
    None, 0, pytest.param(-1, marks=pytest.mark.skipif(
        np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 wraps it, too"))])
def test_operators_wrap_as_numpys(function, priority):
    other = Wrapped("w", [1., 2.]) if priority is None else Ranked(priority, [1., 2.])
    array = np.array([3., 4.])
    ours, theirs = function(dray.Array(array), other), function(array, other)
    assert type(ours) is (dray.Array if type(theirs) is np.ndarray else type(theirs))
    assert comparable(ours) == comparable(theirs)


@pytest.mark.parametrize("function", OPERATORS)
def test_a_higher_priority_without_an_operator_is_a_type_error_as_numpys(function):
    for array in (np.ones(2), dray.Array(np.ones(2))):
        with pytest.raises(TypeError):
            function(array, Ranked(2, [1., 2.]))


def test_a_temporary_is_not_an_output():
    array = dray.Array(np.ones(200_000))
    result = (array + 1) + Wrapped("w", np.ones(200_000))
    assert result[0] == "w" and result[1][:2] == [3., 3.]


class Wrong(Exception):
    """Of the program."""


def raises(error):
    class Raises(Wrapped):
        def __array_wrap__(self, *args):
            raise error("no")
    return Raises("r", [1, 2])


@pytest.mark.parametrize("error", [Wrong, TypeError, AttributeError])
def test_an_exception_of_the_method_is_raised(error):
    with pytest.raises(error, match="no"):
        dray.add(raises(error), 1)
    with pytest.raises(error, match="no"):
        dray.divmod(1, raises(error))


def test_an_attribute_that_raises_is_raised():
    class Raises:
        values = np.ones(2)

        def __array__(self, dtype=None, copy=None):
            return self.values

        @property
        def __array_wrap__(self):
            raise Wrong("looked up")
    with pytest.raises(Wrong):
        dray.add(Raises(), 1)


@pytest.mark.parametrize("priority", ["high", None])
def test_a_priority_that_is_no_number_is_an_error(priority):
    with pytest.raises(TypeError):
        dray.add(Ranked(priority, [1, 2], "p"), 1)


@pytest.mark.parametrize("subok", [1, None, "yes"])
def test_subok_is_a_bool(subok):
    with pytest.raises(TypeError, match="subok= is a bool"):
        dray.add(1, 2, subok=subok)

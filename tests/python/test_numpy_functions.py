# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each function of NumPy with arrays of dray: the same elements as with arrays of NumPy, and
each array of the result is a dray.Array, a new array in the memory of the scope."""
import itertools
import operator

import numpy as np
import numpy.lib.recfunctions
import pytest

import dray

FLOATS = np.array([[4., 1., 3.], [2., 8., 7.], [0.5, 6., 5.]])
INTEGERS = FLOATS.astype("i8")
LINE, STEPS = FLOATS[0].copy(), np.array([0, 2, 1])
BOOLS = FLOATS > 3
DAYS = np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[D]")
TEXT, BYTES = np.array(["aB", "c1 ", "ab"]), np.array([b"aB", b"c1", b"ab"])
RECORDS = np.array([(1, 2.5), (3, 4.5)], [("x", "i4"), ("y", "f8")])
# Arguments by place, which each function is tried with.
GIVEN = [
    (FLOATS,), (INTEGERS,), (BOOLS,), (LINE,), (STEPS,), (DAYS,), (FLOATS.astype("u1"),), ([FLOATS, FLOATS],),
    ([LINE, STEPS],), (FLOATS, FLOATS), (LINE, LINE), (LINE, STEPS), (FLOATS, STEPS), (FLOATS, 1), (LINE, 2),
    (LINE, 1, 9.), (FLOATS, 0, 1), (FLOATS, (3, 3)), (FLOATS, LINE), (FLOATS, BOOLS, LINE), (BOOLS, FLOATS, INTEGERS),
    (STEPS, [LINE, LINE, LINE]), (LINE, [1, 2], [7., 9.]), (STEPS, LINE, LINE), ([BOOLS[0], ~BOOLS[0]], [LINE, STEPS]),
    (LINE, [BOOLS[0]], [lambda x: -x, lambda x: x]), (LINE[:2], LINE[:2], 1), (np.linalg.inv, FLOATS),
    (lambda x: x * 2, 0, FLOATS), (np.sum, FLOATS, [0]), (FLOATS, INTEGERS % 3, 0), (FLOATS, INTEGERS % 3, FLOATS, 0),
    ((STEPS, STEPS), (3, 3)), (STEPS, (3, 3)), ("i,j->ij", LINE, STEPS), (np.float64, FLOATS), (DAYS, DAYS),
    (DAYS, 1, "forward"), (FLOATS, "i4"), (FLOATS, BOOLS), (FLOATS + 1j,), (np.ones((2, 2, 2, 2)) + np.eye(4).reshape(2, 2, 2, 2),),
    (np.eye(4).reshape(2, 2, 2, 2), np.ones((2, 2))), (BOOLS, LINE), (LINE, 1, LINE), (np.zeros(3, "u1"),), ([LINE, LINE], STEPS),
    (TEXT,), (BYTES,), (TEXT, 5), (TEXT, TEXT), (TEXT, "b"), (TEXT, "b", "x"), (BYTES, b"a"), (TEXT, STEPS), (TEXT, {97: "z"}), ("-", TEXT),
    (RECORDS,), (RECORDS, ["x"]), (RECORDS, {"x": "z"}), (RECORDS, "z", np.array([7, 8])), (RECORDS, RECORDS),
    (np.sum, RECORDS), ("x", RECORDS, RECORDS), ((RECORDS, RECORDS),), (RECORDS, RECORDS.copy()), (LINE.reshape(1, 3), RECORDS.dtype),
    (np.ones((2, 2)), RECORDS.dtype), (RECORDS, RECORDS.dtype), (np.array("%d", "U9"), STEPS), (TEXT.astype("U9"), 3),
]
MODULES = {"": np, "linalg.": np.linalg, "fft.": np.fft, "char.": np.char,
           "lib.recfunctions.": np.lib.recfunctions, "lib.stride_tricks.": np.lib.stride_tricks}
# Functions that need other arguments, or none of these.
LEFT_OUT = {"save", "savetxt", "savez", "savez_compressed",  # files
            "lib.recfunctions.find_duplicates",  # takes masked arrays only
            "lib.recfunctions.repack_fields"}  # its result differs by the flag align of the type
NAMED = {"linalg.multi_dot": [([FLOATS, FLOATS, LINE],)], "linalg.cross": [(LINE, LINE)],
         "polyfit": [(LINE, LINE, 1)], "linalg.lstsq": [(FLOATS, LINE, None)], "dsplit": [(np.ones((2, 2, 2)), 2)],
         "hsplit": [(FLOATS, 3)]}
# Which older NumPys ask elements about, not the array; and those whose result is random, text with the class, or without a meaning.
UNASKED = {"poly", "roots"}
UNEQUAL = {"empty_like", "array_repr", "array2string", "array_str"}


def functions():
    """The names of all functions of NumPy that ask arrays of other packages."""
    for before, module in MODULES.items():
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if not name.startswith("_") and callable(function) and hasattr(function, "_implementation"):
                if before + name not in LEFT_OUT:
                    yield before + name


def each_array(value, function):
    if type(value) in (list, tuple):
        return type(value)([each_array(each, function) for each in value])
    return function(value) if type(value) is np.ndarray else value


def leaves(value):
    if isinstance(value, (list, tuple)):
        return list(itertools.chain(*map(leaves, value)))
    return [value]


def same(one, other):
    """Equal elements, types and shapes; kinds of objects that are no arrays."""
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind in "fc":
        return np.allclose(one, other, rtol=1e-5, atol=1e-9, equal_nan=True)
    return one.dtype.hasobject or one.tobytes() == other.tobytes()


def outcome(function, args):
    try:
        return function(*args), None
    except Exception as error:  # pylint: disable=broad-except
        return None, error


def calls(name):
    """The arguments with which NumPy computes, and its results."""
    found = []
    for args in NAMED.get(name, []) + GIVEN:
        theirs = each_array(args, np.copy)
        result, error = outcome(operator.attrgetter(name)(np), theirs)
        if not error:
            found.append((args, theirs, result))
    return found


class Probe:
    """Another package's array."""

    def __array_function__(self, function, types, args, kwargs):
        return Probe

    def __iter__(self):
        return iter(())


def asks(function, args):
    """Whether NumPy asks the arrays among arguments: it does not look into each list."""
    return outcome(function, each_array(args, lambda array: Probe()))[0] is Probe


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(functions()))
def test_a_function_of_numpy_returns_arrays_of_dray(name):
    function = operator.attrgetter(name)(np)
    tried = [call for call in calls(name) if asks(function, call[0])]
    assert tried or name in UNASKED
    for args, after, theirs in tried:
        with dray.memory():
            ours = each_array(each_array(args, np.copy), dray.Array)
            result, error = outcome(function, ours)
        assert not error, (args, error)
        there, here = leaves(theirs), leaves(result)
        assert len(there) == len(here), args
        for one, other in zip(there, here):
            if type(one) is np.ndarray and not one.dtype.hasobject:
                assert type(other) is dray.Array, args
                assert dray.handler_name(other) in (dray.pool().handler_name, None), args
            assert name in UNEQUAL or same(one, other), (args, one, other)
        # Functions that change an argument change the caller's.
        for one, other in zip(leaves(after), leaves(ours)):
            assert not isinstance(one, np.ndarray) or same(one, other), args


def test_subclasses_of_numpys_array_stay_as_they_are():
    masked = np.ma.array([1, 2], mask=[0, 1])
    assert type(np.concatenate([masked, dray.Array(STEPS)])) is not dray.Array


def test_types_that_dray_lacks_stay_arrays_of_numpy():
    assert type(np.append(dray.Array(STEPS), np.array([None]))) is np.ndarray


def test_the_arrays_of_a_caller_are_returned_themselves():
    array, plain = dray.Array(FLOATS.copy()), np.zeros((3, 3))
    assert np.asarray_chkfinite(array) is not None
    assert np.cumsum(array, 0, out=plain) is plain
    assert np.atleast_2d(array) is array or np.shares_memory(np.atleast_2d(array), array)
    assert np.atleast_1d(array, plain)[1] is plain

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Warnings of conversions: dray notes the errors of numbers that NumPy notes, as the state
of the thread says, and imaginary parts that are lost."""
import itertools
import platform
import warnings

import numpy as np
import pytest

import dray

TYPES = "? i1 u1 >i2 u2 i4 u4 >i8 u8 f2 f4 >f8 F >D".split()
NUMBERS = [0, 1, -1, 300, -129, 70000, 65519.0, 65520.0, 2.0**31, 2.0**32, 2.0**63, -2.0**63,
           1e20, 4e38, 1e300, 1e-6, 1e-10, 1e-45, 1e-310, np.nan, np.inf, -np.inf, 0.5]
FULL = np.full(3, 1e300)
PAIRS = np.array([1 + 2j, 3, 4])
ROWS = np.array([(1e300,)], [("a", "f8")])


def warned(call):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        call()
    return sorted({(each.category, str(each.message)) for each in met},
                  key=lambda each: each[1])


def is_open(number, to):
    """Whether C leaves the conversion open, and NumPy's differs by its vectors, or by the
    processor."""
    if platform.machine() != "x86_64" and to[-2] in "iu":
        return not np.iinfo(to).min - 1 < number < np.iinfo(to).max + 1
    return to == "u4" and not -2**31 <= number < 2**32


@pytest.mark.parametrize("from_, to", itertools.product(TYPES, TYPES))
def test_a_conversion_warns_of_what_numpy_warns_of(from_, to):
    for number, count in itertools.product(NUMBERS, (1, 7, 40)):
        there = np.zeros(count, from_)
        with np.errstate(all="ignore"):
            there[count // 2] = np.float64(number).astype(from_)
        if is_open(number, to):
            continue
        with np.errstate(all="warn"), dray.errstate(all="warn"):
            assert (warned(lambda: dray.Array(there).astype(to))
                    == warned(lambda: there.astype(to))), (number, count)


def assigned(dtype, index, values):
    def call(array):
        target = array(np.zeros(3, dtype))
        target[index] = values if array is np.asarray else dray.Array(values)
    return call


# Calls with numpy.asarray() or dray.Array().
CALLS = {
    "astype of nothing": lambda array: array(np.zeros(0, "D")).astype("f8"),
    "astype of bools": lambda array: array(PAIRS).astype("?"),
    "astype to text": lambda array: array(FULL).astype("S30"),
    "astype to times": lambda array: array(np.array([np.inf])).astype("m8[s]"),
    "astype of NaN to times": lambda array: array(np.array([np.nan])).astype("m8[s]"),
    "astype of times": lambda array: array(np.array([10**6], "m8[s]")).astype("f2"),
    "astype of fields": lambda array: array(ROWS).astype([("a", "f4")]),
    "astype to fields": lambda array: array(PAIRS).astype([("a", "?"), ("b", [("c", "f4")])]),
    "astype of pairs in fields": lambda array: array(
        np.zeros(2, [("a", "D"), ("b", "D")])).astype([("x", "F"), ("y", "i2")]),
    "astype of fields to pairs": lambda array: array(
        np.zeros(2, [("a", "f8"), ("b", "D")])).astype([("x", "F"), ("y", "F")]),
    "set": assigned("f4", slice(None), FULL), "set one": assigned("f4", slice(None), FULL[:1]),
    "set by integers": assigned("f4", [0, 1, 2], FULL),
    "set by booleans": assigned("i2", np.array([True, False, True]), np.full(2, np.nan)),
    "set an element": assigned("f4", 0, FULL[0]), "set to pairs": assigned("f8", ..., PAIRS),
    "set by integers to pairs": assigned("f8", [0, 1, 2], PAIRS),
    "set a field": lambda array: array(np.zeros(1, [("a", "f4")])).__setitem__(
        "a", FULL[:1] if array is np.asarray else dray.Array(FULL[:1])),
    "put": lambda array: array(np.zeros(3, "f4")).put([0], array(FULL)),
    "flat": lambda array: array(np.zeros(3, "f4")).flat.__setitem__([0], FULL),
    "fill": lambda array: array(np.zeros(3, "f4")).fill(1e300),
    "sum": lambda array: array(FULL).sum(out=array(np.zeros((), "f4"))),
    "sum of pairs": lambda array: array(PAIRS).sum(dtype="f8"),
    "mean of pairs": lambda array: array(PAIRS).mean(dtype="f8"),
    "reduce": lambda array: np.add.reduce(array(PAIRS), dtype="f8"),
    "matmul": lambda array: np.matmul(array(FULL), array(FULL[:, None]),
                                      out=array(np.zeros(1, "f4")), casting="unsafe"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_warns_of_what_numpy_warns_of(name):
    assert (warned(lambda: CALLS[name](dray.Array))
            == warned(lambda: CALLS[name](np.asarray)))


@pytest.mark.parametrize("index", [slice(None), [0, 1, 2], np.array([True] * 3)], ids=str)
def test_an_error_may_be_raised(index):
    a = dray.Array(np.zeros(3, "f4"))
    with dray.errstate(over="raise"):
        with pytest.raises(FloatingPointError, match="overflow encountered in cast"):
            dray.Array(FULL).astype("f4")
        with pytest.raises(FloatingPointError, match="overflow encountered in cast"):
            a[index] = dray.Array(FULL)
    with dray.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        a[index] = dray.Array(FULL)
    assert a.tolist() == [np.inf] * 3


def test_a_warning_may_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            dray.Array(FULL).astype("f4")
        with pytest.raises(Warning, match="imaginary part"):
            dray.Array(PAIRS).astype("f4")


def test_a_function_may_be_called():
    met = []
    with dray.errstate(call=lambda *given: met.append(given), over="call"):
        dray.Array(FULL).astype("f4")
    assert met == [("overflow", 2)]


@pytest.mark.parametrize("count", [3, 5000])
def test_a_recorded_conversion_warns_at_each_run(count):
    there = np.full(count, 1e300)
    with dray.Sequence() as sequence:
        sequence.output(sequence.input(there).astype("f4"))
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
            sequence.run(there)
    with dray.errstate(over="raise"), pytest.raises(FloatingPointError):
        sequence.run(there)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.ufunc from Python: calls, methods, operators, NumPy's ufuncs of a dray.Array, and
reactions to errors of numbers.  Values are those of NumPy, which tests/differential compares
at random."""
import asyncio
import contextlib
import contextvars
import ctypes
import functools
import gc
import operator
import pickle
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest

import dray

LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                        ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_void_p)


def an_array(values=((1., 2., 3.), (4., 5., 6.))):
    return dray.Array(np.array(values))


def same(result, expected):
    assert type(result) is dray.Array
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert np.asarray(result).tobytes() == expected.tobytes()


def test_a_ufunc_tells_what_it_is():
    add = dray.add
    assert repr(add) == "<dray.ufunc 'add'>" and add.__name__ == "add"
    assert (add.nin, add.nout, add.nargs) == (2, 1, 3)
    assert "dd->d" in add.types and add.ntypes == len(add.types)
    assert (add.identity, dray.multiply.identity, dray.minimum.identity) == (0, 1, None)
    assert dray.bitwise_and.identity == -1
    assert dray.logaddexp.identity == dray.logaddexp.reduce([]) == -np.inf


def test_each_ufunc_of_numpy_is_there_under_its_names():
    missing = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)
               and not isinstance(getattr(dray, name, None), dray.ufunc)}
    assert missing <= {"matmul", "matvec", "vecdot", "vecmat"}
    assert dray.abs is dray.absolute and dray.true_divide is dray.divide


def test_names_of_other_things_stay():
    assert not isinstance(dray.copy, dray.ufunc) and not isinstance(dray.wait, dray.ufunc)


@pytest.mark.parametrize("other", [
    1, 2.5, 1j, True, [1, 2, 3], (1, 2, 3), np.float32(2), np.arange(3), np.arange(3, dtype=">i2"),
    np.arange(12.)[::2].reshape(2, 3), np.array([3])], ids=repr)
def test_operands_are_arrays_numbers_and_lists(other):
    a = np.array([[1, 2, 3], [4, 5, 6]], "f4")
    same(dray.add(dray.Array(a), other), np.add(a, other))
    same(dray.add(other, dray.Array(a)), np.add(other, a))
    same(dray.add(a, other), np.add(a, other))


def test_arrays_in_dray_memory_are_used_where_they_lie():
    with dray.memory():
        x, y, z = np.arange(3.), np.ones(3), np.zeros(3)
    assert dray.add(x, y, out=z) is z and z.tolist() == [1, 2, 3]
    with dray.memory():
        assert dray.add(x, y).handler_name == dray.handler_name(x)


def test_numbers_of_python_are_weak():
    a = dray.Array(np.array([1, 2], "i1"))
    assert dray.add(a, 1).dtype == "i1" and dray.add(a, 1.0).dtype == "f8"
    assert dray.add(a, np.int64(1)).dtype == "i8"
    with pytest.raises(OverflowError):
        dray.add(a, 300)
    with pytest.raises(OverflowError):
        dray.add(a, 10**30)
    assert not dray.equal(a, 10**30).any() and dray.less(a, 10**30).all()
    assert dray.add(1.5, 10**30) == 1e30


def test_results_without_axes_are_elements():
    assert type(dray.add(1, 2)) is np.int64 and type(dray.add(1., 2)) is np.float64
    assert dray.add(an_array()[0][:1].reshape(()), 1) == 2
    assert type(dray.add(1, 2, out=...)) is dray.Array


def test_outputs_are_returned_as_they_were_given():
    a, out = an_array(), dray.Array.zeros((2, 3))
    assert dray.add(a, 1, out) is out and dray.add(a, 1, out=out) is out
    assert dray.add(a, 1, out=(out,)) is out and out[1, 2] == 7
    quotient = np.zeros((2, 3))
    both = dray.divmod(a, 2, out=(quotient, None))
    assert both[0] is quotient and both[1].tolist() == [[1, 0, 1], [0, 1, 0]]


def test_where_leaves_other_elements():
    a, out = an_array(), dray.Array.zeros((2, 3))
    dray.add(a, 1, out=out, where=[True, False, True])
    assert out.tolist() == [[2, 0, 4], [5, 0, 7]]


def test_where_without_out_warns():
    with pytest.warns(UserWarning, match="undefined"):
        dray.add(an_array(), 1, where=[True, False, True])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dray.add(an_array(), 1, where=[True, False, True], out=None)


WRONG = {
    "too few": (lambda a: dray.add(a), TypeError),
    "too many": (lambda a: dray.add(a, a, a, a), TypeError),
    "shapes": (lambda a: dray.add(a, [1, 2]), ValueError),
    "shape of an output": (lambda a: dray.add(a, a, out=np.zeros(3)), ValueError),
    "type of an output": (lambda a: dray.add(a, a, out=np.zeros((2, 3), int)), TypeError),
    "a list as an output": (lambda a: dray.add(a, a, out=[1]), TypeError),
    "outputs twice": (lambda a: dray.add(a, a, a, out=a), TypeError),
    "read-only": (lambda a: dray.add(a, a, out=a.broadcast_to((2, 2, 3))), ValueError),
    "objects": (lambda a: dray.add(a, np.array(None)), TypeError),
    "text": (lambda a: dray.add(a, "x"), TypeError),
    "mask": (lambda a: dray.add(a, a, where=np.array([1, 0, 1])), TypeError),
    "keyword": (lambda a: dray.add(a, a, colour=1), TypeError),
    "casting": (lambda a: dray.add(a, a, casting="odd"), ValueError),
    "a cast": (lambda a: dray.add(a, a, dtype="i4", casting="safe"), TypeError),
    "no loop": (lambda a: dray.bitwise_or(a, a), TypeError),
    "signature": (lambda a: dray.add(a, a, signature="d->d"), ValueError),
    "signature of one": (lambda a: dray.add(a, a, signature=("d",)), TypeError),
    "signature and dtype": (lambda a: dray.add(a, a, sig="dd->d", dtype="f8"), TypeError),
    "axis": (lambda a: dray.add.reduce(a, axis=2), np.exceptions.AxisError
             if hasattr(np, "exceptions") else ValueError),
    "an axis twice": (lambda a: dray.add.reduce(a, axis=(0, 0)), ValueError),
    "bools subtracted": (lambda a: dray.subtract(a > 2, a > 3), TypeError),
    "the sign of a bool": (lambda a: dray.negative(True), TypeError),
    "bools subtracted in turn": (lambda a: dray.subtract.reduce(a > 2), TypeError),
    "divisors of bools": (lambda a: dray.gcd.reduce(a > 2), TypeError),
    "a number that is no time": (lambda a: dray.isnat(3), TypeError),
    "nothing along an axis": (lambda a: dray.fmax.reduce(np.ones((0, 0))), ValueError),
    "order counts": (lambda a: dray.subtract.reduce(a, axis=(0, 1)), ValueError),
    "nothing to reduce": (lambda a: dray.minimum.reduce([]), ValueError),
    "not for reductions": (lambda a: dray.negative.reduce(a), ValueError),
    "an index": (lambda a: dray.add.reduceat(a, [2]), IndexError),
    "an index of at()": (lambda a: dray.add.at(a, 7, 1), IndexError),
    "axes of values of at()": (lambda a: dray.add.at(a, slice(None), [[[1.]]]), ValueError),
    "at() of a list": (lambda a: dray.add.at([1], 0, 1), TypeError),
    "outer of one": (lambda a: dray.negative.outer(a, a), ValueError),
    "outer of too many bytes": (lambda a: dray.add.outer(*2 * [np.broadcast_to(1.0, 2**40)]),
                                ValueError),
    "accumulate over all": (lambda a: dray.add.accumulate(a, axis=None), ValueError),
    "accumulate over two": (lambda a: dray.add.accumulate(a, axis=(0, 1)), ValueError),
    "a large axis": (lambda a: dray.add.accumulate(a, axis=2**40), ValueError),
    "a larger axis": (lambda a: dray.add.reduce(a, axis=2**63), OverflowError),
    "a list of axes": (lambda a: dray.add.reduceat(a, [0], axis=[0]), TypeError),
    "an initial integer": (lambda a: dray.maximum.reduce(np.ones(3, "u1"), initial=-1),
                           OverflowError),
    "a complex initial": (lambda a: dray.add.reduce(a, initial=1j), TypeError),
    "an infinite initial": (lambda a: dray.minimum.reduce(np.ones(3, "i4"), initial=np.inf),
                            OverflowError),
    "a large initial": (lambda a: dray.minimum.reduce(np.ones(3, "u8"), initial=2.**64),
                        OverflowError),
    "no initial integer": (lambda a: dray.maximum.reduce(np.ones(3, "i4"), initial=np.nan),
                           ValueError),
    "an initial time": (lambda a: dray.add.reduce(np.ones(3, int), initial=np.timedelta64(1, "D")),
                        TypeError),
    "an initial duration": (lambda a: dray.add.reduce(np.ones(3, "m8[s]"), initial=1.5),
                            ValueError),
    "a bool as axis": (lambda a: dray.add.reduce(a, axis=True), TypeError),
    "a text as keepdims": (lambda a: dray.add.reduce(a, keepdims="x"), TypeError),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_an_error_of_numpys_class(name):
    call, error = WRONG[name]
    with pytest.raises(error):
        call(an_array())


def test_types_are_chosen_by_dtype_and_signature():
    a = dray.Array(np.arange(3, dtype="i4"))
    assert dray.add(a, a, dtype="f8").dtype == dray.add(a, a, sig="dd->d").dtype == "f8"
    assert dray.add(a, a, signature=(None, None, "f8")).dtype == "f8"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_steps_have_the_powers_of_arrays(dtype):
    """One exponent for all elements is a square root, of which -inf and -0 have others."""
    for a in ([-np.inf, 0.5], [-0.0, 0.5], [[-np.inf, -0.0], [0.5, 0.5]]):
        for order in "CF":
            a = np.array(a, dtype, order=order)
            wanted = np.array([np.inf, 0] if a.ndim == 2 else abs(a[0]), dtype)
            for made in (dray.power.reduce(a), dray.power.accumulate(a)[1]):
                assert np.asarray(made).tobytes() == wanted.tobytes()


def test_methods_reduce_and_accumulate():
    a = np.arange(24.).reshape(2, 3, 4)
    b = dray.Array(a)
    assert dray.add.reduce(b, axis=None) == a.sum()
    same(dray.add.reduce(b, (0, 2)), np.add.reduce(a, (0, 2)))
    same(dray.add.reduce(b, keepdims=True, where=a % 2 == 0, initial=5),
         np.add.reduce(a, keepdims=True, where=a % 2 == 0, initial=5))
    assert dray.minimum.reduce(np.full(2, 9, "u8"), initial=2.**63) == 9
    assert dray.maximum.reduce(np.zeros(2, "i4"), initial=2.9) == 2
    out = np.zeros((3, 4))
    assert dray.maximum.reduce(b, out=out) is out and (out == a[1]).all()
    same(dray.multiply.accumulate(b, 1), np.multiply.accumulate(a, 1))
    same(dray.multiply.accumulate(b[0, 0], None), np.multiply.accumulate(a[0, 0], None))
    same(dray.add.reduceat(b, [0, 2, 1], 2), np.add.reduceat(a, [0, 2, 1], 2))
    same(dray.subtract.outer(b, [1, 2]), np.subtract.outer(a, [1, 2]))


def test_at_counts_an_index_that_is_named_twice():
    a = np.zeros(4)
    dray.add.at(a, [1, 1, 3], [1, 2, 3])
    dray.negative.at(a, slice(2, None))
    assert a.tolist() == [0, 3, 0, -3]
    b = dray.Array.zeros((2, 2))
    dray.add.at(b, (1, ...), 4)
    assert b.tolist() == [[0, 0], [4, 4]]


def test_at_reports_errors_of_numbers():
    with dray.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value"):
        dray.log.at(np.array([1., -1.]), [0, 1])


def test_arrays_have_numpys_reductions():
    a = np.arange(6.).reshape(2, 3)
    b = dray.Array(a)
    for name in ("sum", "prod", "min", "max", "ptp", "all", "any", "mean", "var", "std", "cumsum"):
        numpy = np.ptp if name == "ptp" else getattr(np.ndarray, name)
        assert np.array_equal(getattr(b, name)(axis=1), numpy(a, axis=1)), name
        assert np.array_equal(getattr(b, name)(), numpy(a)), name
    assert np.sum(b) == a.sum() and (b == a).all()


OPERATORS = ["a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "divmod(a, b)", "a ** b",
             "a & b", "a | b", "a ^ b", "a << b", "a >> b", "a < b", "a <= b", "a == b", "a != b",
             "a > b", "a >= b", "-a", "+a", "abs(a)", "~a", "a @ b", "a ** 2", "a ** -1", "a ** .5"]


def results(line, a, b):
    try:
        found = eval(line, {"a": a, "b": b})
    except (TypeError, ValueError) as error:
        return [type(error).__mro__[-4:]]
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c8", "m8[s]"])
@pytest.mark.parametrize("line", OPERATORS)
@pytest.mark.filterwarnings("ignore")
def test_operators_are_numpys(line, dtype):
    if line == "+a" and dtype == "?" and np.__version__ < "2":
        pytest.skip("NumPy 1 had a loop")
    a = np.array([1, 2, 3]).astype(dtype)
    b = np.array([2, 1, 3]).astype(dtype)
    for left, right in ((dray.Array(a), b), (dray.Array(a), dray.Array(b)), (a, dray.Array(b))):
        for found, expected in zip(results(line, left, right), results(line, a, b)):
            assert np.array_equal(found, expected)
            if isinstance(expected, np.ndarray) and isinstance(left, dray.Array):
                assert type(found) is dray.Array and found.dtype == expected.dtype


def test_operators_in_place_change_the_array():
    a = an_array([1., 2., 3.])
    same_array = a
    a += 1
    a *= [1, 2, 3]
    a -= a[::-1]
    a **= 2
    assert a is same_array and a.tolist() == [100, 0, 100]
    b = dray.Array(np.array([1, 2]))
    with pytest.raises(TypeError):
        b += 0.5


class Other:
    """A type that computes with arrays by itself."""
    __array_ufunc__ = None

    def __radd__(self, other):
        return "sum"


class Rules:
    """A type with rules for ufuncs."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.__name__, method, len(inputs)


class Quantity(np.ndarray):
    """A subclass with rules of its own."""
    __array_ufunc__ = Rules.__array_ufunc__


@pytest.mark.parametrize("change, name", (
    (operator.iadd, "add"), (operator.ipow, "power"), (operator.imatmul, "matmul"),
    (operator.ifloordiv, "floor_divide")))
@pytest.mark.parametrize("other", (Rules(), np.ones((2, 3)).view(Quantity)), ids=("rules", "class"))
def test_rules_of_others_hold_in_place(change, name, other):
    a = an_array()
    before = a.tolist()
    assert change(a, other) == (name, "__call__", 2) and a.tolist() == before


def test_other_types_may_compute():
    a = an_array()
    assert a + Other() == "sum"
    assert a + Rules() == ("add", "__call__", 2) and np.add(a, Rules()) == ("add", "__call__", 2)
    assert (a == Rules()) == ("equal", "__call__", 2)


def test_ufuncs_of_numpy_are_computed_by_dray(monkeypatch):
    a = an_array()
    assert type(np.add(a, 1)) is type(np.add.reduce(a)) is type(np.exp(a)) is dray.Array
    assert type(np.ones(3) + a) is type(np.multiply.outer(a, a)) is dray.Array
    out = np.zeros((2, 3))
    assert np.add(a, 1, out=out) is out and out[0, 0] == 2
    out = dray.Array(out)
    assert np.add(1, a, out=out) is out and np.add(1, 1, out=out) is out
    np.add.at(a, (0, 0), 10)
    assert a[0, 0] == 11


def test_numpy_computes_where_dray_has_no_loop():
    objects = np.array([None, 1], object)
    assert (dray.Array(np.array([1, 2])) == objects).tolist() == [False, False]
    texts = dray.Array(np.array(["a", "b"]))
    assert (texts == "a").tolist() == [True, False]
    wide = dray.Array(np.array([1, 2], "g"))
    assert (wide + 1).dtype == "g" and type(wide + 1) is dray.Array
    wide += 1
    assert np.add(wide, 1, out=wide) is wide and wide.tolist() == [3, 4]


LOSSES = {
    "out": lambda xp, c, out: xp.add(c, 1, out=out, casting="unsafe"),
    "ints": lambda xp, c, out: xp.add(c, 1, out=out.view("i8"), casting="unsafe"),
    "dtype": lambda xp, c, out: xp.add(c, 1, dtype="f8", casting="unsafe"),
    "two inputs": lambda xp, c, out: xp.add(c, c, dtype="f8", casting="unsafe"),
    "a signature": lambda xp, c, out: xp.add(c, c, sig="DD->D", out=out, casting="unsafe"),
    "real inputs": lambda xp, c, out: xp.add(out, out, sig="DD->D", out=out, casting="unsafe"),
    "a bool": lambda xp, c, out: xp.add(c, c, out=out.view("?")[:2], casting="unsafe"),
    "a number": lambda xp, c, out: xp.add(1 + 2j, 1, dtype="f8", casting="unsafe"),
    "outer": lambda xp, c, out: xp.add.outer(c, c[:1], out=out[:, None], casting="unsafe"),
    "no elements": lambda xp, c, out: xp.add(c[:0], 1, out=out[:0], casting="unsafe"),
    "absolute": lambda xp, c, out: xp.absolute(c, out=out, casting="unsafe"),
    "complex": lambda xp, c, out: xp.add(c, 1, casting="unsafe"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_lost_imaginary_parts_warn_as_in_numpy(name):
    counts = []
    for xp in (np, dray):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            LOSSES[name](xp, np.array([1 + 2j, 3j]), np.zeros(2))
        counts.append([each.category.__name__ for each in caught])
    assert counts[0] == counts[1]


def test_a_lost_imaginary_part_can_be_an_error():
    out = np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Warning, match="discards the imaginary part"):
            dray.add(np.array([1j, 2]), 1, out=out, casting="unsafe")
        with dray.CallQueue() as queue, pytest.raises(Warning, match="imaginary part"):
            queue.submit(dray.add, np.array([1j, 2]), 1, out=out, casting="unsafe")
    assert not out.any()


def test_errors_of_numbers_warn():
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        assert dray.divide(an_array(), 0)[0, 0] == np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            dray.divide(an_array(), 0)


def test_errstate_raises_calls_and_ignores():
    a, calls = an_array(), []
    with dray.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            a / 0
    with dray.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        dray.divide(a, 0)
    with dray.errstate(divide="call", call=lambda *args: calls.append(args)):
        dray.divide(a, 0)
    assert calls == [("divide by zero", 1)]
    assert dray.geterr() == {"divide": "warn", "over": "warn", "under": "ignore",
                             "invalid": "warn"}


def test_log_writes_a_line():
    lines = []
    log = type("Log", (), {"write": lambda self, line: lines.append(line)})()
    with dray.errstate(invalid="log", call=log):
        assert dray.geterr()["invalid"] == "log" and dray.geterrcall() is log
        dray.sqrt(-1.0)
    assert lines == ["Warning: invalid value encountered in sqrt\n"]


def test_a_function_that_raises_ends_the_call():
    def fail(*args):
        raise KeyError("no")
    with dray.errstate(divide="call", call=fail), pytest.raises(KeyError):
        dray.divide(1.0, 0.0)


def test_seterr_returns_what_was():
    before = dray.seterr(all="raise")
    try:
        assert before["divide"] == "warn" and dray.geterr()["under"] == "raise"
    finally:
        dray.seterr(**before)
    size = dray.setbufsize(4096)
    assert dray.getbufsize() == 4096 and dray.setbufsize(size) == 4096
    for wrong, error in (
            (lambda: dray.seterr(all="odd"), ValueError), (lambda: dray.setbufsize(1), ValueError),
            (lambda: dray.seterr(divide=""), ValueError),
            (lambda: dray.errstate(over="odd"), ValueError),
            (lambda: dray.setbufsize(100.5), TypeError), (lambda: dray.seterrcall(3), TypeError),
            (lambda: dray.errstate(call=5), TypeError)):
        with pytest.raises(error):
            wrong()


def test_each_task_and_thread_has_its_own_errstate():
    async def raises():
        dray.seterr(divide="raise")
        await asyncio.sleep(0)
        return dray.geterr()["divide"]

    async def warns():
        await asyncio.sleep(0)
        return dray.geterr()["divide"]

    async def both():
        return await asyncio.gather(raises(), warns())
    assert asyncio.run(both()) == ["raise", "warn"]
    found = []
    with dray.errstate(divide="raise"):
        thread = threading.Thread(target=lambda: found.append(dray.geterr()["divide"]))
        thread.start()
        thread.join()
    assert found == ["warn"]


def test_numpys_errstate_holds_again_after_seterr_is_undone():
    before = dray.seterr(all="raise")
    dray.seterr(**before)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        dray.Array(np.zeros(3)) / 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("action", ["call", "log"])
@pytest.mark.parametrize("errstate", [dray.errstate, np.errstate])
def test_errors_without_their_function_are_as_numpys(errstate, action):
    zeros = np.zeros(3)
    for a in (dray.Array(zeros), *([zeros] if errstate is np.errstate else [])):
        with errstate(invalid=action, call=None), pytest.raises(NameError):
            a / a


def test_numpys_errstate_holds_for_numpys_ufuncs():
    with np.errstate(divide="ignore"):
        np.divide(an_array(), 0)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        np.divide(an_array(), 0)


@pytest.mark.filterwarnings("error")
def test_numpys_errstate_holds_after_calls_with_the_usual():
    array = an_array()
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np.divide(array, 0)
        for action, error in (("ignore", None), ("raise", FloatingPointError)):
            with np.errstate(all=action), pytest.raises(error) if error else contextlib.nullcontext():
                np.divide(array, 0)
            with pytest.warns(RuntimeWarning):
                np.divide(array, 0)
        with dray.errstate(all="ignore"), pytest.warns(RuntimeWarning):
            np.divide(array, 0)
    before = np.seterr(all="ignore")
    try:
        np.divide(array, 0)
    finally:
        np.seterr(**before)
    with pytest.warns(RuntimeWarning):
        np.divide(array, 0)


def in_new_context(test):
    """Runs a test in a context in which no test before set reactions to errors."""
    @functools.wraps(test)
    def run(*args, **keywords):
        contextvars.Context().run(test, *args, **keywords)
    return run


# Calls of dray that are no ufuncs of NumPy, and the error of numbers of each.
CALLS = {
    "a / 0": ("divide", lambda a: a / 0), "a /= 0": ("divide", lambda a: a.__itruediv__(0)),
    "1 / a": ("divide", lambda a: 1 / (a - a)), "a ** -1": ("divide", lambda a: (a - a) ** -1),
    "a % 0": ("invalid", lambda a: a % 0), "a * huge": ("over", lambda a: (a + 1) * 1e308 * 1e10),
    "a * tiny": ("under", lambda a: (a + 1) * 1e-308 * 1e-10), "-a ** 0.5": ("invalid", lambda a: (-a - 1) ** 0.5),
    "a - inf": ("invalid", lambda a: (a + np.inf) - np.inf), "a @ inf": ("invalid", lambda a: (a * 0) @ (a + np.inf).T),
    "dray.log(0)": ("divide", lambda a: dray.log(a - a)), "a.sum()": ("invalid", lambda a: (
        dray.Array(np.array([np.inf, -np.inf])).sum())),
    "astype": ("invalid", lambda a: (a * np.nan).astype("i4")),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CALLS)
@in_new_context
def test_numpys_errstate_holds_for_calls_of_dray(name):
    kind, call = CALLS[name]
    with np.errstate(all="ignore"):
        call(an_array())
    with np.errstate(**{"all": "ignore", kind: "raise"}), pytest.raises(FloatingPointError):
        call(an_array())
    said = []
    with np.errstate(**{"all": "ignore", kind: "call"}, call=lambda *given: said.append(given)):
        call(an_array())
    assert said
    with np.errstate(**{"all": "ignore", kind: "warn"}), pytest.warns(RuntimeWarning):
        call(an_array())


@pytest.mark.filterwarnings("error")
@in_new_context
def test_drays_errstate_comes_before_numpys():
    with np.errstate(all="raise"):
        assert dray.geterr()["divide"] == "raise"
        with dray.errstate(divide="ignore"):
            an_array() / 0
            assert dray.geterr()["over"] == "raise"
        with pytest.raises(FloatingPointError):
            an_array() / 0
    with dray.errstate(divide="raise"), np.errstate(divide="ignore"), pytest.raises(FloatingPointError):
        an_array() / 0


@dray.errstate(divide="raise")
def decorated():
    return dray.geterr()["divide"]


def test_errstate_is_entered_once():
    scope = dray.errstate(all="raise")
    with scope, pytest.raises(TypeError, match="once"):
        with scope:
            pass
    assert dray.geterr()["divide"] == "warn"


def test_functions_for_errors_may_nest_until_python_says_no():
    def again(kind, flags):
        dray.divide(1.0, 0.0)
    with dray.errstate(divide="call", call=again), pytest.raises(RecursionError):
        dray.divide(1.0, 0.0)


def test_errstate_is_a_decorator():
    assert decorated() == decorated() == "raise" and dray.geterr()["divide"] == "warn"


def doubled(data, strides, count, context):
    for i in range(count):
        value = ctypes.c_double.from_address(data[0] + i * strides[0]).value
        ctypes.c_double.from_address(data[1] + i * strides[1]).value = 2 * value + (context or 0)
    return 0


def test_a_function_of_ctypes_is_a_loop():
    double = dray.ufunc("double", 1, 1)
    with pytest.raises(TypeError):
        double(1.0)
    double.register("d->d", LOOP(doubled))
    gc.collect()
    assert double.types == ["d->d"] and repr(double) == "<dray.ufunc 'double'>"
    a = np.arange(5000.)
    assert (double(a[::2]) == 2 * a[::2]).all() and double(np.float32(4)) == 8
    double.register(["d", "d"], LOOP(doubled), 7)
    assert double(1.0) == 9 and double.ntypes == 1


def test_a_loop_lives_as_long_as_its_ufunc():
    loop = LOOP(doubled)
    watched = weakref.ref(loop)
    double = dray.ufunc("double", 1, 1)
    double.register("d->d", loop)
    del loop
    gc.collect()
    assert watched() and double(1.5) == 3
    del double
    gc.collect()
    assert not watched()


def test_a_loop_that_names_its_ufunc_is_collected():
    u = dray.ufunc("u", 1, 1)
    loop = LOOP(lambda *args, u=u: 0)
    watched = weakref.ref(loop)
    u.register("d->d", loop)
    del u, loop
    gc.collect()
    assert not watched()


@pytest.mark.parametrize("result, error, sentence", [
    (-5, OSError, "a loop of the user failed: Input/output error"),
    (-22, ValueError, "failed: Invalid argument"), (7, OSError, "returned 7")])
def test_a_loop_may_fail(result, error, sentence):
    fails = dray.ufunc("fails", 1, 1)
    fails.register("d->d", LOOP(lambda *args: result))
    with pytest.raises(error, match=sentence):
        fails(1.0)


CHANGED = {
    "input": lambda a, other: dray.add(a, other),
    "output": lambda a, other: dray.add(other, other, out=a),
    "initial": lambda a, other: dray.add.reduce(a, initial=other),
    "indices": lambda a, other: dray.add.reduceat(a, other),
    "values": lambda a, other: dray.add.at(a, 0, other),
    "product": lambda a, other: dray.matmul(a, other),
}


@pytest.mark.parametrize("name", CHANGED)
def test_an_array_that_other_arguments_change_is_refused(name):
    a = np.ones(400000)

    class Other:
        def __array__(self, dtype=None, copy=None):
            a.resize((1,), refcheck=False)
            return np.zeros(400000, dtype=dtype)
    with pytest.raises(ValueError, match="changed"):
        CHANGED[name](a, Other())


@pytest.mark.parametrize("call", [
    lambda loop: loop(np.ones((1900, 1)), np.ones((1, 1900)), threads=4),
    lambda loop: loop(1., 2., out=np.zeros(2_000_000), threads=4),
    lambda loop: loop(np.ones(2_000_000), 1., threads=4)])
@pytest.mark.parametrize("scope", [contextlib.nullcontext, lambda: dray.memory(min_bytes=1000)])
def test_loops_of_python_in_several_threads_get_the_gil(call, scope):
    second = dray.ufunc("second", 2, 1)
    second.register("dd->d", LOOP(lambda *args: 0))
    with scope():
        assert call(second) is not None


@pytest.mark.parametrize("error", [TypeError, OverflowError])
@pytest.mark.parametrize("call", [lambda d: np.multiply(d, 10, out=d), lambda d: d.__imul__(10)])
def test_an_error_of_a_function_is_not_one_of_types(call, error):
    def fail(kind, flags):
        raise error(kind)
    d = dray.array([2., 1e308])
    state = {"over": "call", "call": fail}
    with dray.errstate(**state), np.errstate(**state), pytest.raises(error):
        call(d)
    assert d.tolist() == [20, np.inf]


@pytest.mark.parametrize("method", [None, 5, "odd"])
def test_numpys_protocol_takes_methods_of_ufuncs_only(method):
    with pytest.raises((TypeError, AttributeError)):
        an_array().__array_ufunc__(np.add, method, 1, 2)


def test_subclasses_of_numpys_array_keep_their_rules():
    a = dray.Array(np.ones(3))
    masked = np.ma.array([1., 2., 3.], mask=[0, 1, 0])
    for result in (a + masked, masked + a, np.add(a, masked), np.add(masked, a)):
        assert isinstance(result, np.ma.MaskedArray) and result.tolist() == [2, None, 4]
    a += masked
    assert type(a) is dray.Array


def test_numbers_of_outer_are_arrays():
    for number in (1e10, 300):
        for dtype in ("f2", "u1"):
            a = np.ones(2, dtype)
            same(dray.add.outer(a, number), a + np.array([number]))


def test_outer_makes_several_outputs():
    a, b = np.arange(4.), np.arange(1., 3.)
    for ours, theirs in zip(dray.divmod.outer(a, b), np.divmod.outer(a, b)):
        same(ours, theirs)


def test_products_report_errors_of_numbers():
    a = np.full((2, 2), 1e308)
    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        dray.matmul(a, a)
    with dray.errstate(over="raise"), pytest.raises(FloatingPointError):
        dray.vecdot(a, a)


def test_wrong_loops_are_refused():
    f = dray.ufunc("f", 2, 1, identity=-np.inf)
    assert f.identity == -np.inf
    f = dray.ufunc("f", 2, 1, identity=0)
    assert f.identity == 0
    for types, loop, error in (("dd->d", "x", TypeError), ("d->d", LOOP(doubled), ValueError),
                               ("dO->d", LOOP(doubled), TypeError), ("dd->d", 0, TypeError),
                               ("dd->d", None, TypeError), ("dd->d", True, TypeError),
                               ("dd->d", -8, OverflowError)):
        with pytest.raises(error):
            f.register(types, loop)
    for wrong in (("f", 0, 1), ("f", 1, 0), ("f", 9, 9), ("f", 1, 1, 0), ("f", 2, 1, 5)):
        with pytest.raises(ValueError):
            dray.ufunc(*wrong)


def test_builtin_ufuncs_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(dray.add)) is dray.add
    with pytest.raises((TypeError, pickle.PicklingError)):
        pickle.dumps(dray.ufunc("add", 2, 1))


def test_other_threads_run_during_a_large_call():
    """A loop of ctypes in one thread waits for another thread, which needs the GIL."""
    started, go = threading.Event(), threading.Event()

    def wait(data, strides, count, context):
        started.set()
        return 0 if go.wait(60) else -110
    slow = dray.ufunc("slow", 1, 1)
    slow.register("d->d", LOOP(wait))
    thread = threading.Thread(target=lambda: (started.wait(60), go.set()))
    thread.start()
    slow(np.zeros(10000))
    thread.join()
    assert go.is_set()


def test_nothing_is_left_of_a_call():
    a, b = an_array(), np.arange(3.)
    for call in (lambda: dray.add(a, b), lambda: dray.add.reduce(a, 0), lambda: a + [1, 2, 3],
                 lambda: np.add(a, b), lambda: dray.add(a, b, out=a)):
        counts = []
        for _ in range(3):
            for _ in range(20):
                call()
            counts.append((sys.getrefcount(a), sys.getrefcount(b), sys.getrefcount(a.dtype)))
        assert counts[0] == counts[2]


def test_matrices_are_multiplied():
    a, b = np.arange(6.).reshape(2, 3), np.arange(12.).reshape(3, 4)
    same(dray.Array(a) @ b, a @ b)
    same(a @ dray.Array(b), a @ b)
    same(dray.matmul(a, b), a @ b)
    out = np.zeros((2, 4))
    assert dray.dot(a, b, out=out) is out and np.array_equal(out, a @ b)
    assert dray.vecdot([1j, 2], [3, 4]) == 8 - 3j and dray.dot([1, 2], [3, 4]) == 11
    square = dray.Array(np.array([[1., 1.], [1., 0.]]))
    square @= square
    assert square.tolist() == [[2, 1], [1, 1]]
    with pytest.raises(ValueError):
        dray.Array(a) @ a


def test_a_cfunc_of_numba_and_an_address_are_loops():
    """Numba's objects have an address; tests/numba has the real thing."""
    loop = LOOP(doubled)
    address = ctypes.cast(loop, ctypes.c_void_p).value
    compiled = type("CFunc", (), {"address": address})()
    for each in (compiled, address):
        double = dray.ufunc("double", 1, 1)
        double.register("d->d", each)
        assert double(2.0) == 4


METHODS = [
    ("clip", 0, 3), ("clip", None, 3), ("clip", 1), ("round",), ("round", 2), ("round", -1),
    ("conj",), ("conjugate",)]


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name, arguments", [(each[0], each[1:]) for each in METHODS])
def test_methods_are_those_of_numpy(dtype, name, arguments):
    a = (np.arange(-6, 6) * 3.785).astype(dtype).reshape(3, 4)
    if name == "clip" and a.dtype.kind == "c":
        pytest.skip("NumPy's order of complex numbers is another test's")
    same(getattr(dray.Array(a), name)(*arguments), getattr(a, name)(*arguments))
    out = np.zeros_like(a)
    if name not in ("conj", "conjugate") and arguments != (-1,):
        assert getattr(dray.Array(a), name)(*arguments, out=out) is out
        assert (out == getattr(a, name)(*arguments)).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_limits_beyond_a_type_do_not_clip(dtype):
    a = np.array([0, 1, 100, np.iinfo(dtype).max], dtype)
    for least, most in ((-2**70, 2**70), (None, 2**64), (-2**63, None), (-300, 300)):
        expected = [min(max(int(x), -2**80 if least is None else least),
                        2**80 if most is None else most) for x in a]
        same(dray.Array(a).clip(least, most), np.array(expected, dtype))


def test_products_of_numpy_are_computed_by_dray():
    a = np.arange(6.0).reshape(2, 3)
    same(np.matmul(dray.Array(a), a.T), a @ a.T)
    if hasattr(np, "vecdot"):  # NumPy 2
        same(np.vecdot(a, dray.Array(a)), np.vecdot(a, a))
    same(dray.Array(a).dot(a.T), a.dot(a.T))
    out = np.zeros((2, 2))
    assert np.matmul(dray.Array(a), a.T, out=out) is out and (out == a @ a.T).all()
    same(np.matmul(dray.Array(a), a.T, dtype="f4"), np.matmul(a, a.T, dtype="f4"))


def test_real_numbers_have_imaginary_parts_of_zero():
    parts = dray.Array(np.arange(6, dtype=">i4").reshape(2, 3)).imag
    same(parts, np.zeros((2, 3), ">i4"))
    assert not parts.flags.writeable


def test_a_call_may_be_fast():
    x = np.linspace(0.1, 9, 1000)
    assert np.allclose(dray.exp(x, fast=True), np.exp(x), rtol=1e-15)
    assert (dray.exp(x, fast=False).__array__() == dray.exp(x).__array__()).all()


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "c8"])
def test_a_method_has_the_type_that_is_wanted_or_none(method, dtype):
    given = ([0, 1],) if method == "reduceat" else ()
    with pytest.raises(TypeError, match="no loop of the type that is wanted"):
        getattr(dray.float_power, method)(np.ones(3), *given, dtype=dtype)
    assert getattr(dray.power, method)(np.ones(3), *given, dtype=dtype).dtype == dtype


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["c16", "c8", "f4", "f2"])
@pytest.mark.parametrize("values", [[1., 5.], [1, 5], [1j, 5]], ids=str)
def test_statistics_have_the_type_that_is_wanted(name, dtype, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = getattr(np.array(values), name)(dtype=dtype)
        here = getattr(dray.Array(np.array(values)), name)(dtype=dtype)
    assert here.dtype == there.dtype and here == there


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "S3", "U2", "V3", [("a", "i4")]], ids=str)
def test_only_numbers_have_a_conjugate(dtype):
    with pytest.raises(TypeError):
        dray.Array.zeros(2, dtype).conj()


@pytest.mark.parametrize("call", [
    lambda masked: dray.add(masked, 1), lambda masked: dray.add(1, masked),
    lambda masked: dray.add.reduce(masked), lambda masked: dray.matmul(masked, masked)])
def test_a_mask_is_not_dropped(call):
    with pytest.raises(TypeError, match="mask"):
        call(np.ma.array([1., 2.], mask=[0, 1]))


class Partner:
    """A type that goes before NumPy's arrays, and knows them alone."""

    __array_priority__ = 100

    def knows(self, other):
        return ("partner", type(other)) if isinstance(other, np.ndarray) else NotImplemented

    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "and", "or",
                 "xor", "lshift", "rshift", "matmul"):
        locals()[f"__{name}__"] = locals()[f"__r{name}__"] = knows
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        locals()[f"__{name}__"] = knows
    __hash__ = None


@pytest.mark.parametrize("operation", [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    divmod, pow, operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    operator.matmul, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge])
def test_a_partner_that_knows_only_numpys_arrays_gets_one(operation):
    a = dray.Array(np.arange(3))
    assert operation(a, Partner()) == operation(Partner(), a) == ("partner", np.ndarray)


def test_a_partner_that_knows_dray_decides():
    class Knows(Partner):
        def __radd__(self, other):
            return type(other)

        __add__ = __eq__ = __radd__

    a = dray.Array(np.arange(3))
    assert (a + Knows(), Knows() + a, a == Knows()) == (dray.Array,) * 3


def test_a_partner_that_knows_nobody_is_a_type_error():
    class Nobody:
        __array_priority__ = 100

    a = dray.Array(np.arange(3))
    for operation in (operator.add, operator.matmul, pow, operator.lt, operator.iadd):
        with pytest.raises(TypeError):
            operation(a, Nobody())


LONG = np.array([[1, 2], [3, 5]], "g")


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "ptp", "all", "any", "mean", "var",
                                  "std", "cumsum", "cumprod"])
def test_statistics_of_long_doubles_are_numpys(name):
    there = getattr(np, name)
    here = getattr(dray.Array(LONG), name)
    assert here(axis=0).tolist() == there(LONG, axis=0).tolist()
    assert type(here(axis=0)) is dray.Array and here().tolist() == there(LONG).tolist()
    out = dray.Array.zeros(2, there(LONG, axis=0).dtype)
    if not name.startswith("cum"):
        assert here(axis=0, out=out) is out and out.tolist() == there(LONG, axis=0).tolist()


@pytest.mark.parametrize("name", ["sum", "prod", "min", "mean", "var", "std", "cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [0, -1, 1, -2])
def test_axes_of_an_element_are_those_of_numpy(name, axis):
    there = np.array(3.)
    try:
        wanted = getattr(there, name)(axis=axis)
    except ValueError as error:
        with pytest.raises(type(error)):
            getattr(dray.Array(there), name)(axis=axis)
        return
    found = getattr(dray.Array(there), name)(axis=axis)
    assert np.shape(found) == np.shape(wanted) and np.asarray(found) == wanted


RESOLVED = [
    ("add", ("f4", "f4", None), {}), ("add", ("f4", "i4", None), {}), ("add", ("f4", int, None), {}),
    ("add", ("i2", float, None), {}), ("add", ("f4", complex, None), {}),
    ("add", ("f4", "f4", "f8"), {}), ("add", ("f8", "f8", "f4"), {}),
    ("add", ("f8", "f8", "i4"), {}), ("add", ("f8", "f8", "i4"), dict(casting="unsafe")),
    ("add", ("f4", "f4", None), dict(signature="dd->d")),
    ("add", ("f4", "f4", None), dict(signature=(None, None, "D"))),
    ("add", (">f4", "f4", None), {}), ("add", ("M8[s]", "m8[s]", None), {}),
    ("add", ("M8[s]", "M8[s]", None), {}), ("divide", ("i4", "i4", None), {}),
    ("less", ("i4", "f8", None), {}), ("negative", ("?", None), {}), ("negative", ("i1", None), {}),
    ("frexp", ("f4", None, None), {}), ("sqrt", ("i2", None), {}), ("add", ("f4", "f4"), {}),
    ("add", ("f4", "f4", None), dict(casting="never")), ("bitwise_and", ("f4", "f4", None), {}),
]


@pytest.mark.skipif(not hasattr(np.ufunc, "resolve_dtypes"), reason="NumPy 1.24 lacks it")
@pytest.mark.parametrize("name, types, keywords", RESOLVED)
def test_types_are_resolved_as_numpys(name, types, keywords):
    given = tuple(each if each in (None, int, float, complex) else np.dtype(each) for each in types)
    results = []
    for module in (dray, np):
        try:
            results.append(getattr(module, name).resolve_dtypes(given, **keywords))
        except (TypeError, ValueError):
            results.append("refused")
    assert results[0] == results[1]


def test_types_of_a_reduction_are_resolved():
    assert dray.add.resolve_dtypes((None, np.dtype("f4"), None), reduction=True) == (
        np.dtype("f4"),) * 3
    for ufunc in (dray.negative, dray.divmod):
        with pytest.raises(ValueError):
            ufunc.resolve_dtypes((np.dtype("f4"),) * ufunc.nargs, reduction=True)
    with pytest.raises(ValueError, match="an input has a type"):
        dray.add.resolve_dtypes((None, np.dtype("f4"), None))

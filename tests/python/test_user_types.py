# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.UserType: types of a program's own, with functions of C and of Python."""
import copy
import ctypes
import gc
import operator
import pickle
import weakref

import numpy as np
import pytest

import dray

LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                        ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_void_p)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)
NONZERO = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64, ctypes.c_void_p)
ONE = 1 << 16
NUMBERS = [3, -2, 0.25, 0, 1.5]


class Broken(Exception):
    """An exception of the program's own."""


def item(raw):
    return int.from_bytes(raw, "little", signed=True) / ONE


def pack(value):
    return round(float(value) * ONE).to_bytes(4, "little", signed=True)


def number_at(address):
    return ctypes.c_int32.from_address(address).value


def order(a, b):
    return (a > b) - (a < b)


@COMPARE
def compare_c(_, a, b):
    return order(number_at(a), number_at(b))


@NONZERO
def nonzero_c(_, a):
    return number_at(a) != 0


@LOOP
def add_c(data, strides, count, _):
    for i in range(count):
        x, y, out = (ctypes.c_int32.from_address(data[o] + i * strides[o]) for o in range(3))
        out.value = x.value + y.value
    return 0


@LOOP
def to_double_c(data, strides, count, _):
    for i in range(count):
        to = ctypes.c_double.from_address(data[0] + i * strides[0])
        to.value = number_at(data[1] + i * strides[1]) / ONE
    return 0


@LOOP
def fails_c(data, strides, count, _):
    return -5


FUNCTIONS = {
    "C": {"compare": compare_c, "nonzero": nonzero_c},
    "addresses": {"compare": ctypes.cast(compare_c, ctypes.c_void_p).value,
                  "nonzero": ctypes.cast(nonzero_c, ctypes.c_void_p).value},
    "Python": {"compare": order, "nonzero": lambda x: x != 0},
}


def fixed_of(**functions):
    return dray.UserType("fixed", 4, 4, item=item, pack=pack, **functions)


@pytest.fixture(name="fixed", params=FUNCTIONS)
def _fixed(request):
    return fixed_of(**FUNCTIONS[request.param])


@pytest.fixture(name="a")
def _a(fixed):
    array = dray.Array.zeros(5, fixed)
    array[:] = NUMBERS
    return array


def test_elements_are_values(fixed, a):
    assert a[0] == 3 and a[-2] == 0 and a.item(1) == -2 and float(a[4:].reshape(())) == 1.5
    assert a.tolist() == list(a) == NUMBERS and 0.25 in a and 7 not in a
    a[1] = 8
    a[2:4] = [-1, pack(5)]
    a.put([4], [0.5])
    assert a.tolist() == [3, 8, -1, 5, 0.5]
    a.fill(2)
    a[::2] = a[1]
    assert a.reshape(5, 1).tolist() == [[2]] * 5
    assert np.asarray(a[:2]).tobytes() == pack(2) * 2 and fixed.dtype == np.dtype("V4")
    a[:] = np.array([1, 2, 3, 4, 5], object)
    assert a[1:4].tolist() == [2, 3, 4]


def test_it_prints_values(fixed, a):
    assert repr(a) == "Array([3.0, -2.0, 0.25, 0.0, 1.5], dtype=fixed)"
    assert (repr(a[0:1].reshape(())), str(a[0:1].reshape(()))) == ("Array(3.0, dtype=fixed)", "3.0")
    assert str(a) == "[3.0 -2.0 0.25 0.0 1.5]" and f"{a}" == str(a)
    assert repr(fixed) == "<dray.UserType 'fixed', 4 bytes>" and fixed.name == "fixed"


MAKERS = {
    "array": lambda t: dray.array([1.5, 1.5], t),
    "array of bytes": lambda t: dray.array([pack(1.5)] * 2, t.dtype),
    "asarray": lambda t: dray.asarray(dray.array([1.5, 1.5], t), t),
    "full": lambda t: dray.full(2, 1.5, t),
    "full_like": lambda t: dray.full_like(dray.zeros(2, t), 1.5),
    "ones": lambda t: dray.array(dray.ones(2, t).view("i4") + ONE // 2).view(t.dtype),
    "Array": lambda t: dray.Array(dray.full(2, 1.5, t)).copy(),
}


@pytest.mark.parametrize("name", MAKERS)
def test_functions_make_arrays_of_values(name):
    made = MAKERS[name](fixed_of())
    assert dray.owns(made) or name == "Array"
    assert dray.Array(made).tolist() == [1.5, 1.5]


def test_a_long_array_is_shortened():
    calls = []

    def counted(raw):
        calls.append(raw)
        return raw[0]

    a = dray.Array.zeros(5000, dray.UserType("counted", 2, item=counted))
    assert str(a) == "[0 0 0 ... 0 0 0]" and len(calls) < 20
    assert repr(a).startswith("Array([0, 0, 0, ..., 0, 0, 0],") and "dtype=counted)" in repr(a)


def test_flat_has_values_in_c_order(a):
    square = a[1:].reshape(2, 2).T
    assert list(square.flat) == [-2, 0, 0.25, 1.5] and square.flat[-1] == 1.5
    square.flat[1] = 7
    assert a.tolist() == [3, -2, 0.25, 7, 1.5]


def test_the_type_stays_through_views_copies_and_numpy(fixed, a):
    made = dray.empty(3, fixed)
    made_here = dray.Array(made)
    made_here[...] = 1.5
    for array in (made_here, dray.Array(np.asarray(a)), a.copy(), a.T[::2], a[[0, 3]], a.take([1]),
                  dray.Array(np.asarray(a)[1:])):
        assert array.tolist() == [item(each.tobytes()) for each in np.asarray(array)]
        assert dray.type_info(array.dtype) == fixed.info
    assert a.view("i4").tolist() == [ONE * 3, ONE * -2, ONE // 4, 0, ONE * 3 // 2]
    assert a.view("i4").view(fixed).tolist() == NUMBERS
    assert dray.type_info("V4").name == "|V4"


def test_elements_are_sorted_and_searched_by_its_functions(a):
    assert (a.argmax(), a.argmin()) == (0, 1)
    assert a.argsort().tolist() == [1, 3, 2, 4, 0]
    assert a.nonzero()[0].tolist() == [0, 1, 2, 4]
    assert bool(a[2:3]) is True and bool(a[3:4]) is False
    a.sort()
    assert a.tolist() == sorted(NUMBERS)


@pytest.mark.parametrize("to_double", [to_double_c, lambda value: value])
def test_it_converts_by_its_casts(fixed, a, to_double):
    with pytest.raises(TypeError):
        a.astype("f8")
    fixed.cast(fixed, "f8", to_double, casting="safe")
    fixed.cast("f8", fixed, lambda value: value)
    assert a.astype("f8", casting="safe").tolist() == NUMBERS
    assert a[::-2].astype(">f8").tolist() == NUMBERS[::-2]
    numbers = dray.Array(np.arange(3.))
    with pytest.raises(TypeError):
        numbers.astype(fixed, casting="same_kind")
    assert numbers.astype(fixed).tolist() == [0, 1, 2]
    a[1:4] = numbers
    assert a.tolist() == [3, 0, 1, 2, 1.5]
    # As it is safe, builtin loops compute with doubles.
    assert dray.multiply(a, a).tolist() == [9, 0, 1, 4, 2.25]
    fixed.cast(fixed, "f8", lambda value: -value, casting="safe")
    assert a.astype("f8").tolist() == [-3, 0, -1, -2, -1.5]


def test_types_convert_to_each_other():
    fixed, bits = fixed_of(), dray.UserType("bits", 8, kind="y")
    bits.cast(fixed, bits, lambda value: pack(value) * 2)
    fixed.cast(bits, fixed, lambda raw: item(raw[4:]))
    a = dray.Array.zeros(2, fixed)
    a[:] = [1.5, -1]
    there = a.astype(bits)
    assert there.tolist() == [pack(1.5) * 2, pack(-1) * 2]
    assert there.astype(fixed).tolist() == [1.5, -1]


def test_ufuncs_run_its_loops(fixed, a):
    plus = dray.ufunc("plus", 2, 1)
    plus.register((fixed, fixed, fixed), add_c)
    assert plus(a, a[::-1]).tolist() == [4.5, -2, 0.5, -2, 4.5]
    assert plus.reduce(a) == 2.75 and plus.accumulate(a)[-1] == 2.75
    assert plus(a[0:1].reshape(()), a[1:2].reshape(())) == 1
    out = dray.Array.zeros(5, fixed)
    assert plus(a, a, out=out) is out and out.tolist() == [6, -4, 0.5, 0, 3]
    assert plus.resolve_dtypes((fixed, fixed, None))[2].metadata == fixed.dtype.metadata
    # Numbers of Python are converted, if they can be.
    with pytest.raises(TypeError):
        plus(a, 1.5)
    fixed.cast("f8", fixed, lambda value: value, casting="safe")
    assert plus(a, 1.5).tolist() == [4.5, -0.5, 1.75, 1.5, 3]
    half = dray.frompyfunc(lambda x: (x / 2, x > 0), 1, 2, types=[(fixed, fixed, "?")])
    halves, above = half(a)
    assert halves.tolist() == [1.5, -1, 0.125, 0, 0.75]
    assert above.tolist() == [True, False, True, False, True]


def test_operators_run_loops_of_builtin_ufuncs(fixed, a):
    dray.add.register((fixed, fixed, fixed), add_c)
    assert (a + a).tolist() == np.add(a, a).tolist() == [6, -4, 0.5, 0, 3]
    a += a
    assert a.tolist() == [6, -4, 0.5, 0, 3]


def test_many_elements_run_without_the_gil(fixed):
    a = dray.Array.zeros(5000, fixed)
    a[::3] = 1
    plus = dray.ufunc("plus", 2, 1)
    plus.register((fixed, fixed, fixed), add_c)
    fixed.cast(fixed, "f8", lambda value: value)
    fixed.cast("f8", fixed, lambda value: value, casting="safe")
    assert plus(a, np.ones(5000), threads=2).view("i4").sum() == ONE * (5000 + 1667)
    assert a.astype("f8").sum() == 1667


def test_a_field_may_be_of_it(fixed):
    pair = np.dtype([("x", fixed), ("n", "i2")])
    a = dray.Array.zeros(3, pair)
    a["x"] = [1, 2, 3]
    assert a["x"].tolist() == [1, 2, 3] and a[1:]["x"][0] == 2


def test_values_may_be_tuples_and_bytes():
    quaternion = dray.UserType("quaternion", 16, 4, kind="q",
                               item=lambda raw: tuple(np.frombuffer(raw, "f4").tolist()),
                               pack=lambda parts: np.array(parts, "f4").tobytes())
    a = dray.Array.zeros((2, 2), quaternion)
    a[0] = [(1, 2, 3, 4), (5, 6, 7, 8)]
    a[1, 0] = (0, 0, 0, 1)
    assert a.tolist() == [[(1, 2, 3, 4), (5, 6, 7, 8)], [(0, 0, 0, 1), (0, 0, 0, 0)]]
    assert a[0, 1] == (5, 6, 7, 8)
    raw = dray.UserType("raw", 3)
    b = dray.Array.zeros(2, raw)
    b[:] = [b"abc", np.void(b"xyz")]
    assert b.tolist() == [b"abc", b"xyz"] and raw.info.alignment == 1


def test_a_description_has_sizes_and_addresses(fixed):
    info = fixed.info
    assert info[:5] == ("fixed", "x", 4, 4, 0)
    assert all(info.functions[name] for name in ("get", "set", "copyswap", "nonzero", "compare",
                                                 "fill", "argmax", "cast"))
    numbers = np.array([2, 3], "f8")
    function = COMPARE(dray.type_info("f8").functions["compare"])
    assert function(int.from_bytes(b"f<\0\0\x08\0\0\0", "little"), numbers.ctypes.data,
                    numbers.ctypes.data + 8) < 0
    assert dray.type_info("f8").functions["cast"] == 0
    assert dray.type_info([("x", "i2"), ("y", "f4")]).itemsize == 6


def test_types_of_one_name_are_two():
    one, other = fixed_of(), fixed_of()
    a = dray.Array.zeros(2, one)
    with pytest.raises(TypeError):
        a.astype(other)
    with pytest.raises(TypeError):
        a[:] = dray.Array.zeros(2, other)
    same = dray.UserType("fixed", 4)
    assert same.info.name == one.info.name and same != one


WRONG = {
    "no name": (("", 4), {}, ValueError, "needs a name"),
    "empty": (("x", 0), {}, ValueError, "of 0 bytes: 1 to 2147483647"),
    "huge": (("x", 2**31), {}, ValueError, "of 2147483648 bytes"),
    "beyond all": (("x", 2**70), {}, ValueError, "itemsize is"),
    "below 0": (("x", -1), {}, ValueError, "itemsize is"),
    "not a size": (("x", 1.5), {}, TypeError, "itemsize"),
    "alignment 0": (("x", 4, 0), {}, ValueError, "0 bytes .* not a power of two"),
    "alignment 3": (("x", 12, 3), {}, ValueError, "3 bytes .* not a power of two"),
    "part of an alignment": (("x", 12, 8), {}, ValueError, "not a multiple of its alignment, 8"),
    "kind of another": (("x", 4), {"kind": "f"}, ValueError, "not a free letter"),
    "kind of two": (("x", 4), {"kind": "xy"}, TypeError, "kind|character"),
    "address 0": (("x", 4), {"compare": 0}, TypeError, "address"),
    "address -1": (("x", 4), {"nonzero": -1}, OverflowError, "-1 is not an address"),
    "huge address": (("x", 4), {"compare": 2**70}, OverflowError, "not an address"),
    "no function": (("x", 4), {"compare": "f"}, TypeError, "not 'f'"),
    "no item": (("x", 4), {"item": 3}, TypeError, "a function is needed, not 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_refused(name):
    positional, keywords, error, match = WRONG[name]
    with pytest.raises(error, match=match):
        dray.UserType(*positional, **keywords)


WRONG_CASTS = {
    "itself": (lambda t: (t, t, add_c), {}, ValueError, "one other type"),
    "others": (lambda t: ("f8", "f4", add_c), {}, ValueError, "one other type"),
    "fields": (lambda t: (t, [("x", "i2")], add_c), {}, ValueError, "without fields"),
    "no loop": (lambda t: (t, "f8", None), {}, TypeError, "needs a loop"),
    "address": (lambda t: (t, "f8", 0), {}, TypeError, "address"),
    "rule": (lambda t: (t, "f8", add_c), {"casting": "no"}, ValueError, "casting= is one of"),
    "objects": (lambda t: (t, object, add_c), {}, TypeError, "not a type of dray.Array"),
}


@pytest.mark.parametrize("name", WRONG_CASTS)
def test_a_wrong_conversion_is_refused(name):
    fixed = fixed_of()
    arguments, keywords, error, match = WRONG_CASTS[name]
    with pytest.raises(error, match=match):
        fixed.cast(*arguments(fixed), **keywords)


VALUES = {
    "short": (b"123", ValueError, "4 bytes, not 3"),
    "text": ("x", ValueError, "convert string"),
    "ragged": ([[1], [1, 2]], ValueError, "lists of different shapes"),
    "long": ([1, 2, 3, 4], ValueError, None),
    "too large": (1e9, OverflowError, None),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_wrong_value_is_refused_and_nothing_is_written(name):
    a = dray.Array.zeros(2, fixed_of())
    value, error, match = VALUES[name]
    with pytest.raises(error, match=match):
        a[:] = value
    assert a.tolist() == [0, 0]


def test_a_pack_that_makes_no_bytes_is_refused():
    wrong = dray.UserType("wrong", 4, pack=lambda value: value)
    with pytest.raises(TypeError, match="made of bytes, not of 1: pack="):
        dray.Array.zeros(2, wrong)[0] = 1
    with pytest.raises(TypeError):
        dray.Array.zeros(2, dray.UserType("plain", 4))[0] = 1


def test_a_type_with_another_size_in_the_metadata_is_plain_bytes(fixed):
    forged = np.dtype("V8", metadata=dict(fixed.dtype.metadata))
    assert dray.type_info(forged).name == "|V8"
    assert dray.type_info(np.dtype("V4", metadata={"dray.type": 3})).name == "|V4"


def failing(calls):
    """A function that raises at its third call, and whatever follows."""
    def function(*_):
        calls.append(1)
        if len(calls) == 3:
            raise Broken
        return 1
    return function


ASKING = {
    "sort": lambda a: a.sort(),
    "sort of rows": lambda a: a.reshape(10, 10).sort(axis=0),
    "argsort": lambda a: a.argsort(),
    "argmax": lambda a: a.argmax(),
    "argmin": lambda a: a.argmin(axis=0),
    "nonzero": lambda a: a.nonzero(),
}


@pytest.mark.parametrize("name", ASKING)
def test_an_exception_of_a_function_is_raised_and_nothing_is_lost(name):
    calls = []
    wrong = dray.UserType("wrong", 4, compare=failing(calls), nonzero=failing(calls))
    numbers = np.random.default_rng(1).permutation(100).astype("i4")
    a = dray.Array(numbers.copy()).view(wrong)
    with pytest.raises(Broken):
        ASKING[name](a)
    # Nothing is asked after it, and the elements are as many as before.
    assert len(calls) == 3
    assert sorted(a.view("i4").tolist()) == sorted(numbers.tolist())


CONVERTING = {
    "astype": lambda a, b: b.astype(a.dtype),
    "assignment": lambda a, b: operator.setitem(a, slice(None), b),
    "an index": lambda a, b: operator.setitem(a, [0, 1, 2, 3, 4], b[:5]),
    "back": lambda a, b: a.astype("f8"),
    "a call": lambda a, b: dray.negative(a),
    "a large call": lambda a, b: dray.negative(dray.Array.zeros(5000, a.dtype)),
    "threads": lambda a, b: dray.negative(dray.Array.zeros(300000, a.dtype), threads=2),
}


@pytest.mark.parametrize("name", CONVERTING)
def test_an_exception_of_a_conversion_is_raised(name):
    fixed = fixed_of()
    calls = []
    fixed.cast("f8", fixed, failing(calls))
    fixed.cast(fixed, "f8", failing(calls), casting="safe")
    # In a thread of the library it is an OSError with the words of the exception.
    with pytest.raises((Broken, OSError) if name == "threads" else Broken) as error:
        CONVERTING[name](dray.Array.zeros(5, fixed), dray.Array(np.ones(5)))
    assert error.type is Broken or "Broken" in str(error.value)


@pytest.mark.parametrize("name", CONVERTING)
def test_an_error_of_a_conversion_in_c_is_raised(name):
    fixed = fixed_of()
    fixed.cast("f8", fixed, fails_c)
    fixed.cast(fixed, "f8", fails_c, casting="safe")
    with pytest.raises(OSError):
        CONVERTING[name](dray.Array.zeros(5, fixed), dray.Array(np.ones(5)))


def test_an_error_of_a_loop_is_raised(fixed, a):
    wrong = dray.ufunc("wrong", 1, 1)
    wrong.register((fixed, fixed), fails_c)
    with pytest.raises(OSError) as error:
        wrong(a)
    assert error.value.errno == 5
    raising = dray.frompyfunc(failing([]), 1, 1, types=[(fixed, fixed)])
    with pytest.raises(Broken):
        raising(a)


def test_item_may_raise():
    def raises(raw):
        raise Broken

    wrong = dray.UserType("wrong", 4, item=raises, compare=order)
    a = dray.Array.zeros(3, wrong)
    for use in (lambda: a[0], a.tolist, lambda: repr(a), a.sort, a.argmax, lambda: list(a)):
        with pytest.raises(Broken):
            use()


@pytest.mark.parametrize("answer", ["x", None, 0.5])
def test_a_comparison_returns_an_int(answer):
    wrong = dray.UserType("wrong", 4, compare=lambda a, b: answer)
    with pytest.raises(TypeError):
        dray.Array.zeros(3, wrong).sort()


@pytest.mark.parametrize("factor", [1, 2**40, 2**80, True])
def test_a_comparison_may_return_any_int(factor):
    fixed = fixed_of(compare=lambda a, b: order(a, b) * factor)
    a = dray.array(NUMBERS, fixed)
    assert dray.Array(a).argsort().tolist() == [1, 3, 2, 4, 0]


def test_a_type_belongs_to_its_process(a, fixed):
    for what in (a, fixed, fixed.dtype):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(what)
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.copy(fixed)
    with pytest.raises(BufferError):
        memoryview(a)
    with pytest.raises(BufferError):
        a.__dlpack__()


def test_a_type_stays_as_long_as_an_array():
    fixed = fixed_of(compare=order)
    gone, a = weakref.ref(fixed), dray.Array.zeros(3, fixed)
    array = np.asarray(a)
    del fixed
    gc.collect()
    a[0] = 1
    assert a.argmax() == 0 and gone() is not None
    del a
    gc.collect()
    assert dray.Array(array)[0] == 1 and gone() is not None
    del array
    gc.collect()
    assert gone() is None


def test_a_ufunc_keeps_a_type_until_its_end():
    fixed = fixed_of()
    plus = dray.ufunc("plus", 2, 1)
    plus.register((fixed,) * 3, add_c)
    gone = weakref.ref(fixed)
    del fixed
    gc.collect()
    assert gone() is not None
    del plus
    gc.collect()
    assert gone() is None


def test_asarray_does_not_mistake_bytes_for_values():
    fixed = fixed_of()
    raw = dray.empty(2, "V4")
    with pytest.raises(TypeError):
        dray.asarray(raw, fixed)
    assert dray.asarray(raw.view(fixed.dtype), fixed).base is raw

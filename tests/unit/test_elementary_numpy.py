# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Elementary functions of the library in DRAY_BUILD have the loops of NumPy 2, and for
special and random arguments its values, within four units in the last place (NumPy's
own vectors are off by so many), and its floating-point errors.  Underflow is not
compared: NumPy's differs between processors."""

import ctypes
import itertools
import os

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2,
                                reason="NumPy 1 has other loops")

library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
library.dray_last_error.restype = ctypes.c_char_p
library.dray_ufunc_find.restype = ctypes.c_void_p
library.dray_ufunc_get_loop.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                                        ctypes.c_void_p]
library.dray_ufunc_call.argtypes = [ctypes.c_void_p] * 5

ONE = ("cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh "
       "cosh tanh arcsinh arccosh arctanh sqrt degrees radians deg2rad rad2deg").split()
TWO = "arctan2 hypot power float_power logaddexp logaddexp2".split()
OF_COMPLEX = [name for name in ONE + TWO if "D" in str(getattr(np, name).types)]
# NumPy rounds these once, as dray does.
EQUAL = "sqrt degrees radians deg2rad rad2deg".split()

DIVIDE, OVER, UNDER, INVALID = 1, 2, 4, 8
IGNORE, CALL = 0, 3


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint64),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64),
                ("strides", ctypes.c_int64 * 64)]


SPEAK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint,
                         ctypes.c_uint)


class State(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("actions", ctypes.c_uint8 * 4),
                ("buffer_size", ctypes.c_int64), ("call", SPEAK), ("context", ctypes.c_void_p)]


class Loop(ctypes.Structure):
    _fields_ = [("loop", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("flags", ctypes.c_uint32)]


def word(dtype):
    return dtype.itemsize << 32 | ord("<" if dtype.itemsize > 1 else "|") << 8 | ord(dtype.kind)


def view_of(array):
    return View(array.ctypes.data, word(array.dtype), array.ndim, 3,
                (ctypes.c_int64 * 64)(*array.shape),
                (ctypes.c_int64 * 64)(*array.strides))


def pointers(views):
    return (ctypes.c_void_p * len(views))(*[ctypes.addressof(view) for view in views])


raised = []


@SPEAK
def speak(_context, _sentence, _error, errors):
    raised.append(errors)


def compute(name, inputs, out):
    """Calls the ufunc; returns its errors but underflow."""
    state = State(0, (CALL, CALL, IGNORE, CALL), 8192, speak, None)
    assert library.dray_set_fp_state(ctypes.byref(state)) == 0
    raised.clear()
    ins, outs = [view_of(x) for x in inputs], [view_of(out)]
    result = library.dray_ufunc_call(library.dray_ufunc_find(name.encode()), pointers(ins),
                                     pointers(outs), None, None)
    library.dray_set_fp_state(None)
    assert result == 0, library.dray_last_error()
    return (raised[0] if raised else 0) & ~UNDER


def of_numpy(name, inputs):
    """NumPy's result and its errors but underflow."""
    errors = []
    old = np.seterrcall(lambda _kind, flags: errors.append(flags))
    with np.errstate(all="call", under="ignore"):
        result = getattr(np, name)(*inputs)
    np.seterrcall(old)
    return result, (errors[0] if errors else 0) & ~UNDER


def are_close(name, inputs, want, got):
    """Element by element; zeros have their signs."""
    if want.dtype.kind == "c":
        return (are_close(name, inputs, want.real, got.real) &
                are_close(name, inputs, want.imag, got.imag))
    with np.errstate(all="ignore"):
        size = np.abs(want)
        if name.startswith("logadd"):  # the sum loses places if it cancels
            size = np.maximum(size, np.maximum(*np.abs(inputs)))
        limit = np.spacing(size) * want.dtype.type(0 if name in EQUAL else 4)
        near = (np.abs(want - got) <= limit) & np.isfinite(want)
        equal = (want == got) & (np.signbit(want) == np.signbit(got))
        return near & ((want != 0) | name.startswith("logadd")) | equal | np.isnan(want) & np.isnan(got)


def specials(letter):
    info = np.finfo(letter)
    numbers = [0, 1, 2, 0.5, 3, 1.5, np.inf, np.nan, info.max, info.tiny,
               info.smallest_subnormal, 1 + info.eps, 1 - info.epsneg, 10, 100, 1000, 88,
               89, 104, 709, 710, 745, 746, 11, 12, 1e4, 1024, 1074, 1075, 126.5]
    with np.errstate(all="ignore"):
        numbers = np.array(numbers, letter)
    return np.concatenate([numbers, -numbers])


def of_parts(numbers, letter):
    return np.array([complex(a, b) for a in numbers for b in numbers], letter)


def assert_equal(name, inputs):
    """One element at a time, since errors are of a call."""
    for values in zip(*inputs):
        ones = [np.array([value]) for value in values]
        want, want_errors = of_numpy(name, ones)
        got = np.empty_like(want)
        errors = compute(name, ones, got)
        assert are_close(name, ones, want, got).all(), (name, values, want, got)
        if not is_peculiar(name, values):
            assert errors == want_errors, (name, values, want, want_errors, errors)


def is_peculiar(name, values):
    """NumPy notes errors that there are not: of comparisons with no number, of large
    differences, of exponents that fit no integer, and, on some processors, of infinite
    exponents."""
    if name.startswith("logadd"):
        return not np.isfinite(float(values[0]) - float(values[1])) or max(values) > 1e38
    return "power" in name and not abs(complex(values[1])) < 1e18


@pytest.mark.parametrize("name", ONE + TWO)
def test_the_loops_are_numpys(name):
    ufunc = library.dray_ufunc_find(name.encode())
    types, loop, found, index = (ctypes.c_uint64 * 32)(), Loop(), [], 0
    count = getattr(np, name).nargs
    while library.dray_ufunc_get_loop(ufunc, index, types, ctypes.byref(loop)) == 0:
        found.append(tuple(types[:count]))
        index += 1
    want = []
    for text in getattr(np, name).types:
        letters = text.replace("->", "")
        # no long double, no object; integers of "power" have loops of their own file
        if set(letters) & set("gGObBhHiIlLqQ"):
            continue
        signature = tuple(word(np.dtype(letter)) for letter in letters)
        if signature not in want:
            want.append(signature)
    assert [types for types in found if chr(types[0] & 255) not in "iu"] == want


@pytest.mark.parametrize("letter", "efd")
@pytest.mark.parametrize("name", ONE)
def test_special_values(name, letter):
    assert_equal(name, [specials(letter)])


@pytest.mark.parametrize("letter", "efd")
@pytest.mark.parametrize("name", TWO)
def test_pairs_of_special_values(name, letter):
    if name == "float_power" and letter != "d":
        pytest.skip("it has no loop of its own")
    pairs = list(itertools.product(specials(letter), repeat=2))
    assert_equal(name, [np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])])


@pytest.mark.parametrize("letter", "FD")
@pytest.mark.parametrize("name", OF_COMPLEX)
def test_complex_special_values(name, letter):
    parts = [0.0, -0.0, 1, -1, 2, -0.5, np.inf, -np.inf, np.nan, 1e-30, 100, 1e30]
    numbers = of_parts(parts, letter)
    if name in ONE:
        assert_equal(name, [numbers])
        return
    if name == "float_power" and letter == "F":
        pytest.skip("it has no loop of its own")
    exponents = np.concatenate([of_parts(parts[:6], letter),
                                np.array([3, 4, -2, -7, 99, 100, -99, 1.5], letter)])
    pairs = list(itertools.product(numbers, exponents))
    assert_equal(name, [np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])])


def random_numbers(random, letter, count):
    if letter in "FD":
        return (random.normal(size=count) * 3 + 3j * random.normal(size=count)).astype(letter)
    size = np.dtype(letter).itemsize
    numbers = np.frombuffer(random.bytes(size * count), letter).copy()
    numbers[np.isnan(numbers)] = np.nan  # a quiet one
    numbers[::2] = random.normal(size=len(numbers[::2])) * 5
    return numbers


@pytest.mark.parametrize("letter", "efdFD")
@pytest.mark.parametrize("name", ONE + TWO)
def test_random_arguments_of_any_strides(name, letter):
    ufunc = getattr(np, name)
    if not any(text.startswith(letter) for text in ufunc.types):
        pytest.skip("it has no loop for the type")
    random = np.random.default_rng(len(name))
    inputs = [random_numbers(random, letter, 3000) for _ in range(ufunc.nin)]
    for step in (1, 3, -2):
        parts = [x[::step] for x in inputs]
        want, want_errors = of_numpy(name, parts)
        # beside others that must stay
        wide = np.full((len(want), 2), 7, want.dtype)
        errors = compute(name, parts, wide[:, 1])
        same = are_close(name, parts, want, wide[:, 1])
        assert same.all(), (name, [x[~same][:3] for x in parts], want[~same][:3],
                            wide[:, 1][~same][:3])
        assert (wide[:, 0] == 7).all()
        if not name.startswith("logadd"):
            assert errors == want_errors, (name, errors, want_errors)


@pytest.mark.parametrize("exponent", [2, 1, 0.5, 0, -1])
@pytest.mark.parametrize("letter", "fd")
def test_powers_of_one_simple_exponent_are_numpys_to_the_bit(exponent, letter):
    random = np.random.default_rng(3)
    numbers = random_numbers(random, letter, 1000)
    exponents = np.full(1, exponent, letter)
    want, want_errors = of_numpy("power", [numbers, exponents])
    got = np.empty_like(want)
    spread = np.lib.stride_tricks.as_strided(exponents, numbers.shape, (0,))
    assert compute("power", [numbers, spread], got) == want_errors
    np.testing.assert_array_equal(got, want)

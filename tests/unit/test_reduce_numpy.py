# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Methods of ufuncs and statistics of the library in DRAY_BUILD beside NumPy's: random
layouts, types, axes, masks, outputs and indices.  Integers, comparisons and errors'
classes are equal; sums and products are judged by their number of elements."""

import ctypes
import random

import pytest

from as_numpy import View, dtype_of, library, view_of

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0",
                                reason="earlier versions have other rules")

library.dray_ufunc_find.restype = ctypes.c_void_p
library.dray_ufunc_find.argtypes = [ctypes.c_char_p]
library.dray_array_view.restype = ctypes.c_void_p


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("dtype", ctypes.c_uint64),
                ("axes", ctypes.POINTER(ctypes.c_int)),
                ("axes_count", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("initial", ctypes.POINTER(View)), ("where", ctypes.POINTER(View))]


KEEPDIMS, ALL_AXES = 1, 2
# NumPy's own loops of power and arctan2 do not reduce with AVX-512
NAMES = """add subtract multiply divide maximum minimum fmax fmin logical_and logical_or
    logical_xor bitwise_and bitwise_or bitwise_xor floor_divide left_shift copysign
    equal less""".split()
INEXACT = ["add", "subtract", "multiply", "divide"]
TYPES = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16 >i4 >f8 m8[s] M8[D]".split()
CLASSES = {22: ValueError, 95: TypeError, 34: IndexError, 1: ValueError}


def ufunc(name):
    return ctypes.c_void_p(library.dray_ufunc_find(name.encode()))


def pointer(array):
    if array is None:
        return None
    view = view_of(array)
    if array.dtype.kind in "mM":  # with its unit
        word = ctypes.c_uint64()
        assert not library.dray_dtype_parse(array.dtype.str.encode(), ctypes.byref(word))
        view.dtype = word.value
    return ctypes.pointer(view)


def options(axis=0, dtype=None, keepdims=False, initial=None, where=None):
    axes = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    made = Options(0, dtype_of(dtype).value if dtype else 0, None, len(axes),
                   KEEPDIMS * keepdims, pointer(initial), pointer(where))
    if axis is None:
        made.flags |= ALL_AXES
    else:
        made.axes = (ctypes.c_int * (len(axes) + 1))(*axes)
    return ctypes.byref(made)


def take(array):
    """A result as NumPy has it; drops it."""
    view, text = View(), ctypes.create_string_buffer(64)
    library.dray_array_view(array, ctypes.byref(view))
    library.dray_dtype_format(ctypes.c_uint64(view.dtype), text, ctypes.c_size_t(64))
    shape = tuple(view.shape[:view.ndim])
    made = np.zeros(shape, text.value.decode())
    assert library.dray_view_assign(pointer(made), ctypes.byref(view)) == 0
    library.dray_block_free(array)
    return made


def run(function, *arguments):
    """Calls a function with a result as its last argument; raises NumPy's class of error."""
    out = ctypes.c_void_p()
    error = function(*arguments, ctypes.byref(out))
    if error:
        raise CLASSES[-error](library.dray_last_error().decode())
    return take(out) if out else None


def reduce(name, array, to=None, **others):
    return run(library.dray_ufunc_reduce, ufunc(name), pointer(array), pointer(to),
               options(**others))


def numbers(dice, shape, char):
    kind = np.dtype(char).kind
    make = np.random.default_rng(dice.getrandbits(32))
    if kind == "b":
        return np.asarray(make.random(shape) < dice.choice([0.05, 0.5, 0.95]))
    if kind in "iu":
        return np.asarray(make.integers(0 if kind == "u" else -5, 6, shape)).astype(char)
    if kind in "mM":
        some = np.asarray(make.integers(-50, 50, shape), "i8")
        some = np.where(make.random(shape) < 0.05, np.iinfo("i8").min, some)
        return np.asarray(some).view(char)
    some = np.asarray(make.standard_normal(shape))
    if dice.random() < 0.2:
        some = np.where(make.random(shape) < 0.1, dice.choice([np.nan, np.inf, -0.0]), some)
    if kind == "c":
        some = some + 1j * np.asarray(make.standard_normal(shape))
    return np.asarray(some).astype(char)


def layout(dice, array):
    array = array.transpose(dice.sample(range(array.ndim), array.ndim))
    steps = [slice(None, None, dice.choice([1, 1, -1, 2, -2])) for _ in array.shape]
    return array[tuple(steps)] if steps else array


def roll(dice):
    """A name and an array that it reduces in some layout."""
    name, char = dice.choice(NAMES), dice.choice(TYPES)
    while name == "subtract" and char == "?":
        char = dice.choice(TYPES)
    shape = [dice.randint(1, 6) for _ in range(dice.randint(0, 4))]
    if shape and dice.random() < 0.1:
        shape = [dice.randint(100, 3000)] + shape[1:2]
    if shape and dice.random() < 0.1:
        shape[dice.randrange(len(shape))] = 0
    return name, layout(dice, numbers(dice, shape, char))


def outcome(function):
    try:
        return function()
    except (ValueError, TypeError, IndexError) as error:
        if isinstance(error, IndexError):
            return IndexError
        return (ValueError, TypeError)


def alike(name, size, wanted, got):
    if isinstance(wanted, (type, tuple)) or isinstance(got, (type, tuple)):
        return wanted is got or wanted == got
    wanted = np.asarray(wanted)
    if (wanted.shape, wanted.dtype) != (got.shape, got.dtype):
        return False
    if wanted.dtype.kind in "mM":
        return (wanted.view("i8") == got.view("i8")).all()
    if wanted.dtype.kind not in "fc" or name not in INEXACT:
        return ((wanted == got) | ((wanted != wanted) & (got != got))).all()
    epsilon = 4 * size * float(np.finfo(wanted.dtype).eps)
    wide = wanted.astype("c16")
    near = np.abs(got.astype("c16") - wide) <= epsilon * np.maximum(np.abs(wide), size)
    return (near | ~np.isfinite(wide)).all()


def compare(name, array, others, theirs, ours):
    with np.errstate(all="ignore"):
        wanted, got = outcome(theirs), outcome(ours)
        assert alike(name, max(array.size, 1), wanted, got), \
            (name, array.dtype, array.shape, array.strides, others, wanted, got)


@pytest.fixture(autouse=True)
def quiet():
    """No error of floating-point numbers is told."""
    state = (ctypes.c_uint8 * 32)()
    library.dray_get_fp_state(state)
    state[0] = state[1] = state[2] = state[3] = 0
    assert library.dray_set_fp_state(state) == 0
    yield
    library.dray_set_fp_state(None)


@pytest.mark.filterwarnings("ignore")
def test_reductions():
    dice = random.Random(1)
    for _ in range(3000):
        name, array = roll(dice)
        axes = tuple(dice.sample(range(array.ndim), dice.randint(0, array.ndim)))
        others = {"axis": dice.choice([axes, axes, None]), "keepdims": dice.random() < 0.5}
        if array.ndim and dice.random() < 0.02:
            others["axis"] = dice.choice([(array.ndim,), (0, 0)])
        if array.dtype.kind not in "mM":
            others.update(dice.choice([{}, {}, {"dtype": np.dtype("f8")},
                                       {"initial": np.array(2, "i8")}]))
        if dice.random() < 0.3:
            others["where"] = layout(dice, numbers(dice, array.shape, "?"))
            if others["where"].shape != array.shape:
                del others["where"]
        theirs = dict(others)
        if "initial" in theirs:
            theirs["initial"] = 2
        compare(name, array, others, lambda: getattr(np, name).reduce(array, **theirs),
                lambda: reduce(name, array, **others))


@pytest.mark.filterwarnings("ignore")
def test_running_results_and_segments():
    dice = random.Random(2)
    for _ in range(2000):
        name, array = roll(dice)
        axis = dice.randrange(max(array.ndim, 1))
        extent = array.shape[axis] if array.ndim else 1
        compare(name, array, axis, lambda: getattr(np, name).accumulate(array, axis),
                lambda: run(library.dray_ufunc_accumulate, ufunc(name), pointer(array), axis,
                            ctypes.c_uint64(0), None))
        starts = [dice.randrange(-1 if dice.random() < 0.02 else 0, extent + 1) or 0
                  for _ in range(dice.randint(0, 8))]
        starts = np.array([start if dice.random() < 0.02 else min(start, max(extent - 1, 0))
                           for start in starts], "i8")
        compare(name, array, starts, lambda: getattr(np, name).reduceat(array, starts, axis),
                lambda: run(library.dray_ufunc_reduceat, ufunc(name), pointer(array),
                            pointer(starts), axis, ctypes.c_uint64(0), None))


@pytest.mark.filterwarnings("ignore")
def test_results_in_place():
    dice = random.Random(3)
    for _ in range(1500):
        name, array = roll(dice)
        if not array.size or not array.ndim:
            continue
        indices = np.array([dice.randrange(-array.shape[0], array.shape[0])
                            for _ in range(dice.randint(0, 20))], "i8")
        shape = (indices.shape + array.shape[1:])[dice.randint(0, 2):]
        values = numbers(dice, shape, array.dtype)
        wanted, got = array.copy("K"), array.copy("K")

        def ours():
            error = library.dray_ufunc_at(ufunc(name), pointer(got), pointer(indices),
                                          pointer(values))
            if error:
                raise CLASSES[-error](library.dray_last_error().decode())
            return got

        compare(name, array, indices,
                lambda: getattr(np, name).at(wanted, indices, values) or wanted, ours)


@pytest.mark.filterwarnings("ignore")
def test_statistics():
    dice = random.Random(4)
    for _ in range(1000):
        char = dice.choice("? i1 u1 i4 u8 f4 f8 c8 c16 >f8".split())
        shape = [dice.randint(1, 6) for _ in range(dice.randint(0, 4))]
        array = layout(dice, numbers(dice, shape, char))
        axes = tuple(dice.sample(range(array.ndim), dice.randint(0, array.ndim)))
        others = {"axis": dice.choice([axes, None]), "keepdims": dice.random() < 0.5}
        for name in ["sum", "prod", "mean", "var", "std", "all", "any", "min", "max"]:
            if np.dtype(char).kind == "c" and name in ["min", "max"]:
                continue
            ddof = [ctypes.c_double(0)] if name in ["var", "std"] else []
            compare("add" if name not in ["all", "any", "min", "max"] else name, array,
                    (name, others), lambda: getattr(np, name)(array, **others),
                    lambda: run(getattr(library, "dray_" + name), pointer(array), None, *ddof,
                                options(**others)))

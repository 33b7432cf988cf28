# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The module that stands for numpy in NumPy's own test files.

`load` runs a file with an __import__ that gives it the stand-ins for numpy and its
modules; the real ones stay in place for all others.  MADE has the functions that dray answers; every
other name is NumPy's, with results put back as arrays of the stand-in.
"""
import builtins
import ctypes
import functools
import importlib
import operator
import sys
import types
from ctypes import POINTER, byref, c_bool, c_int, c_int64

import nditers
import numpy
import pytest
from answers import ANSWERS
from arrays import (asarray, back, by_dray, dray_of, flatiter, ndarray, new, of_dray, operand,
                    plain)
from iterators import nditer, nditer_too_large, nested_iters

import dray

Shape = POINTER(c_int64)
shares = nditers.function("view_shares_memory", c_int, POINTER(nditers.View),
                          POINTER(nditers.View), c_int64, POINTER(c_bool))
is_unique = nditers.function("view_is_unique", c_int, POINTER(nditers.View), c_int64,
                             POINTER(c_bool))
common_shape = nditers.function("broadcast_shapes", c_int, c_int, POINTER(c_int),
                                POINTER(Shape), POINTER(c_int), Shape)
WORK = numpy.iinfo(numpy.int64).max


# New arrays: NumPy finds the elements, dray allocates.

def made(function):
    @functools.wraps(function)
    def make(*args, **keywords):
        return new(plain(function(*args, **keywords)))

    return make


def array(value, dtype=None, *, copy=True, order="K", subok=False, **keywords):
    if subok or not copy:
        return back(numpy.array(value, dtype, copy=copy, order=order, subok=subok, **keywords))
    return new(numpy.array(value, dtype, copy=False if type(value) is ndarray and dtype is None
                           and order == "K" else None, order=order, **keywords))


def allocated(name):
    def make(shape, dtype=float, order="C", **keywords):
        if keywords or numpy.dtype(dtype).hasobject:
            return back(getattr(numpy, name)(shape, dtype, order, **keywords))
        return of_dray(getattr(dray.Array, name)(shape, dtype, order))

    return make


# Functions that dray.Array has as methods.

def as_method(name):
    def call(a, *args, **keywords):
        return getattr(asarray(a), name)(*args, **keywords)

    return call


def of_array(name):
    """The same for methods that numpy.ndarray does not have."""
    def call(a, *args, **keywords):
        a = asarray(a)
        return by_dray(name, a, lambda mine: getattr(mine, name)(*args, **keywords),
                       lambda theirs: back(getattr(numpy, name)(theirs, *args, **keywords)))

    return call


def reshape(a, /, shape, order="C"):
    return asarray(a).reshape(shape, order=order)


def sort(a, axis=-1):
    copy = asarray(a).ravel() if axis is None else asarray(a).copy()
    copy.sort(-1 if axis is None else axis)
    return copy


def where(condition, *choices):
    if not choices:
        return asarray(condition).nonzero()
    return by_dray("where", asarray(condition), lambda mine: mine.where(
        *(operand(asarray(each)) for each in choices)),
        lambda theirs: back(numpy.where(theirs, *choices)))


def kind_of(x, subok):
    return type(x) if subok and isinstance(x, ndarray) else ndarray


def broadcast_to(x, shape, subok=False):
    return by_dray("broadcast_to", asarray(x) if not subok else x,
                   lambda mine: mine.broadcast_to(shape),
                   lambda theirs: back(numpy.broadcast_to(theirs, shape)),
                   kind=kind_of(x, subok))


def broadcast_shapes(*shapes):
    ANSWERS.by_dray("broadcast_shapes")
    shapes = [tuple(map(operator.index, each)) if numpy.iterable(each)
              else (operator.index(each),) for each in shapes]
    arrays = [(c_int64 * 64)(*each) for each in shapes]
    ndim, shape = c_int(), (c_int64 * 64)()
    nditers.must(common_shape(
        len(shapes), (c_int * len(shapes))(*map(len, shapes)),
        (Shape * len(shapes))(*(ctypes.cast(each, Shape) for each in arrays)),
        byref(ndim), shape))
    return tuple(shape[:ndim.value])


def broadcast_shape_of(*arrays):
    return broadcast_shapes(*(asarray(each).shape for each in arrays))


def broadcast_arrays(*arrays, subok=False):
    arrays = [each if subok and isinstance(each, ndarray) else asarray(each)
              for each in arrays]
    shape = broadcast_shapes(*(each.shape for each in arrays))
    return tuple(each if each.shape == shape else broadcast_to(each, shape, subok)
                 for each in arrays)


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    x = x if subok else asarray(x)
    shape = x.shape if shape is None else tuple(shape)
    strides = x.strides if strides is None else tuple(strides)

    def strided(mine):
        try:
            return mine.as_strided(shape, strides)
        except ValueError:  # a view that leaves the memory, which dray refuses
            ANSWERS.by_numpy("as_strided outside of the memory")
            return back(numpy.lib.stride_tricks.as_strided(plain(x), shape, strides))

    view = by_dray("as_strided", x, strided,
                   lambda theirs: back(numpy.lib.stride_tricks.as_strided(
                       theirs, shape, strides)), kind=kind_of(x, subok))
    if not writeable:
        view.flags.writeable = False
    return view


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    def windows(mine):
        view = mine.sliding_window_view(window_shape, axis)
        return mine.as_strided(view.shape, view.strides) if writeable else view

    return by_dray("sliding_window_view", x if subok else asarray(x), windows,
                   lambda theirs: back(numpy.lib.stride_tricks.sliding_window_view(
                       theirs, window_shape, axis)), kind=kind_of(x, subok))


# Memory in common.

def work_of(max_work, default):
    work = default if max_work is None else operator.index(max_work)
    if not -1 <= work <= WORK:
        raise OverflowError(f"{max_work} steps")
    return work


def shared_memory(a, b, work):
    """None if it takes more work."""
    views = [nditers.view_of(plain(asarray(each))) for each in (a, b)]
    ANSWERS.by_dray("shares_memory")
    found = c_bool()
    failed = shares(*map(byref, views), work, byref(found))
    if failed and "steps" not in nditers.last_error().decode():
        nditers.must(failed)
    return None if failed else found.value


def may_share_memory(a, b, max_work=None):
    return shared_memory(a, b, work_of(max_work, 0)) is not False


def shares_memory(a, b, max_work=None):
    found = shared_memory(a, b, work_of(max_work, -1))
    if found is None:
        raise numpy.exceptions.TooHardError("more steps")
    return found


def internal_overlap(a, max_work=-1):
    view, unique = nditers.view_of(plain(a)), c_bool()
    ANSWERS.by_dray("internal_overlap")
    nditers.must(is_unique(byref(view), max_work, byref(unique)))
    return not unique.value


def array_indexing(what, a, at, *value):
    """Calls PySequence_GetItem() or _SetItem()."""
    ANSWERS.by_dray("array_indexing")
    mine, at = ctypes.py_object(dray_of(a)), ctypes.c_ssize_t(at)
    if not what:
        get = ctypes.pythonapi.PySequence_GetItem
        get.restype = ctypes.py_object
        found = get(mine, at)
        return of_dray(found) if isinstance(found, dray.Array) else found
    if not value:
        return ctypes.pythonapi.PySequence_DelItem(mine, at)
    return ctypes.pythonapi.PySequence_SetItem(mine, at, ctypes.py_object(operand(value[0])))


# Checks see arrays of NumPy, and no text of an error is compared: dray has its own.

def over_plain(function):
    def bare(value):
        if isinstance(value, ndarray):
            return plain(value)
        return type(value)(map(bare, value)) if type(value) in (list, tuple) else value

    @functools.wraps(function)
    def check(*args, **keywords):
        return function(*map(bare, args), **keywords)

    return check


def assert_raises_regex(errors, _text, *args, **keywords):
    return numpy.testing.assert_raises(errors, *args, **keywords)


def raises(errors, *args, match=None, **keywords):
    return pytest.raises(errors, *args, **keywords)


def warns(*args, match=None, **keywords):
    return pytest.warns(*args, **keywords)


class RandomState(numpy.random.RandomState):
    def randint(self, *args, **keywords):
        return back(super().randint(*args, **keywords))

    def rand(self, *shape):
        return back(super().rand(*shape))


STRIDE_TRICKS = {
    each.__name__: each for each in (as_strided, broadcast_arrays, broadcast_shapes,
                                     broadcast_to, sliding_window_view)}
MADE = {
    "numpy": {
        "array": array, "asarray": asarray, "ndarray": ndarray, "flatiter": flatiter,
        **{name: allocated(name) for name in ("empty", "zeros")},
        **{name: made(getattr(numpy, name)) for name in (
            "arange", "ones", "full", "zeros_like", "ones_like", "full_like", "empty_like",
            "concatenate")},
        **{name: as_method(name) for name in (
            "copy", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "take", "put",
            "argsort", "argmax", "argmin", "nonzero")},
        **{name: of_array(name) for name in ("moveaxis", "expand_dims", "flip")},
        **{name: each for name, each in STRIDE_TRICKS.items()
           if name not in ("as_strided", "sliding_window_view")},
        "reshape": reshape, "sort": sort, "where": where, "nditer": nditer,
        "nested_iters": nested_iters, "may_share_memory": may_share_memory,
        "shares_memory": shares_memory},
    "numpy.lib.stride_tricks": STRIDE_TRICKS,
    "numpy.lib._stride_tricks_impl": {**STRIDE_TRICKS, "_broadcast_shape": broadcast_shape_of},
    "numpy._core._multiarray_tests": {"test_nditer_too_large": nditer_too_large,
                                      "internal_overlap": internal_overlap,
                                      "array_indexing": array_indexing},
    "numpy.random": {"RandomState": RandomState},
    "numpy.testing": {
        **{name: over_plain(getattr(numpy.testing, name)) for name in (
            "assert_equal", "assert_array_equal")},
        "assert_raises_regex": assert_raises_regex},
    "pytest": {"raises": raises, "warns": warns},
}
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(numpy.sum))


class StandIn(types.ModuleType):
    """A module with the functions that dray answers, and all others of the real one."""

    def __init__(self, real):
        super().__init__(real.__name__)
        self._real = real
        for name, value in MADE.get(real.__name__, {}).items():
            setattr(self, name, value)

    def __getattr__(self, name):
        value = getattr(self._real, name)
        if isinstance(value, types.ModuleType):
            return stand_in(value.__name__)
        if isinstance(value, FUNCTIONS) and self.__name__ in ("numpy", "numpy.random"):
            return passed(name, value)
        return value


def passed(name, function):
    @functools.wraps(function)
    def call(*args, **keywords):
        ANSWERS.by_numpy(name)
        return back(function(*args, **keywords))

    return call


@functools.cache
def stand_in(name):
    real = importlib.import_module(name)
    if name == "numpy._core.umath":  # its dictionary is read
        return real
    return StandIn(real) if name.partition(".")[0] in ("numpy", "pytest") else real


def give(name, globals_=None, locals_=None, fromlist=(), level=0):
    """Replaces __import__."""
    top = name.partition(".")[0]
    if level or top not in ("numpy", "pytest"):
        return builtins.__import__(name, globals_, locals_, fromlist, level)
    module = stand_in(name)  # imports it
    for each in fromlist or ():
        if not hasattr(module, each):
            importlib.import_module(f"{name}.{each}")
    return module if fromlist else stand_in(top)


def load(path):
    module = types.ModuleType(f"own.{path.stem}")
    module.__file__ = str(path)
    module.__builtins__ = {**vars(builtins), "__import__": give}
    sys.modules[module.__name__] = module
    exec(compile(path.read_text("utf-8"), path, "exec"), vars(module))  # pylint: disable=W0122
    return module

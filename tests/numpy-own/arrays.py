# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The class that stands for numpy.ndarray.

An object is an array of NumPy for arithmetic and comparison, and has a dray.Array
over the same memory, which answers everything else: shape, strides, flags, indices,
views, copies, and elements by number, order and value.  New arrays are allocated by
dray.
"""
import numpy
import ufuncs
from answers import ANSWERS

import dray

plain_of = numpy.ndarray.view  # plain_of(array, numpy.ndarray)
flags_of = numpy.ndarray.flags.__get__


def plain(array):
    return plain_of(array, numpy.ndarray)


def dray_of(array):
    """The dray.Array of an array; TypeError if dray does not have the type."""
    if array._dray is not None and array._writeable == flags_of(array).writeable:
        return array._dray
    return dray.Array(plain(array))


def by_dray(name, array, do, else_do, **how):
    """Lets dray do something with an array; NumPy if dray does not have its type."""
    try:
        mine = dray_of(array)
    except TypeError as error:
        ANSWERS.miss(name, error)
        return else_do(plain(array))
    ANSWERS.by_dray(name)
    try:
        result = do(mine)
    except Exception as error:
        check_refusal(name, error, array, else_do)
        raise
    return put_back(result, array, **how)


def check_refusal(name, error, array, else_do):
    """NumPy has to refuse it as well: a test may go on after an error."""
    copy = plain(array).copy()
    copy.setflags(write=flags_of(array).writeable)
    try:
        else_do(copy)
    except Exception:  # pylint: disable=broad-except
        return
    ANSWERS.miss(name, f"{type(error).__name__}: {error}")


def put_back(result, parent, **how):
    if isinstance(result, dray.Array):
        return of_dray(result, parent, **how)
    if isinstance(result, tuple):
        return tuple(put_back(each, parent, **how) for each in result)
    return result


def of_dray(mine, parent=None, kind=None):
    """An object over a dray.Array, which may be a view of a parent."""
    over = mine.__array__()
    result = plain_of(over, kind or (ndarray if parent is None else type(parent)))
    result._dray, result._writeable = mine, over.flags.writeable
    if parent is not None and lies_in(over, parent):
        same = type(parent.base) is type(result)
        result._owner = parent.base if same else parent
    return result


def lies_in(view, parent):
    low, high = numpy.lib.array_utils.byte_bounds(root_of(parent))
    return low <= view.__array_interface__["data"][0] < high


def root_of(array):
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return plain(array)


def new(array):
    """A copy of an array of NumPy, in memory that dray allocates."""
    try:
        return of_dray(dray.Array(array).copy("K"))
    except TypeError:
        return plain_of(array, ndarray)


def asarray(value, dtype=None):
    if isinstance(value, ndarray) and type(value) is ndarray and (
            dtype is None or value.dtype == dtype):
        return value
    array = numpy.asarray(value, dtype)
    shared = isinstance(value, numpy.ndarray) or hasattr(value, "__array_interface__") \
        or hasattr(value, "__array__")
    return back(array) if shared else new(array)


def operand(value):
    """An argument of dray: a dray.Array for an array, if dray has its type."""
    if isinstance(value, ndarray):
        try:
            return dray_of(value)
        except TypeError:
            return plain(value)
    return value


def index(key):
    if type(key) is tuple:
        return tuple(operand(each) for each in key)
    return operand(key)


class Flags:
    """Flags as dray has them; NumPy's, of the same memory, can be set."""

    def __init__(self, array):
        object.__setattr__(self, "_theirs", flags_of(array))
        try:
            object.__setattr__(self, "_mine", dray_of(array).flags)
        except TypeError:
            object.__setattr__(self, "_mine", None)

    def __getattr__(self, name):
        name = {"contiguous": "c_contiguous"}.get(name, name)
        return getattr(self._mine if hasattr(self._mine, name) else self._theirs, name)

    def __setattr__(self, name, value):
        setattr(self._theirs, name, value)

    def __getitem__(self, name):
        return getattr(self, name.lower())


def answered(name, count=lambda _: None):
    """A property that dray answers; a value is set in NumPy's object."""
    theirs = getattr(numpy.ndarray, name)

    def get(self):
        try:
            mine = dray_of(self)
        except TypeError:
            return theirs.__get__(self)
        count(name)
        return put_back(getattr(mine, name), self)

    def set_(self, value):
        theirs.__set__(self, value)
        self._dray = None

    return property(get, set_)


def method(name):
    def call(self, /, *args, **keywords):
        return by_dray(
            name, self, lambda mine: getattr(mine, name)(*map(operand, args), **keywords),
            lambda theirs: getattr(theirs, name)(*args, **keywords))

    return call


class ndarray(numpy.ndarray):
    _dray = _owner = _writeable = None

    for _name in ("shape", "strides", "ndim", "size", "itemsize", "nbytes", "dtype"):
        locals()[_name] = answered(_name)
    for _name in ("T", "real", "imag"):
        locals()[_name] = answered(_name, ANSWERS.by_dray)
    for _name in ("copy", "astype", "transpose", "swapaxes", "squeeze", "diagonal", "reshape",
                  "ravel", "take", "put", "sort", "argsort", "argmax", "argmin", "nonzero",
                  "fill", "item", "tolist"):
        locals()[_name] = method(_name)
    del _name

    @property
    def flags(self):
        return Flags(self)

    @property
    def base(self):
        if self._owner is not None or self._dray is not None:
            return self._owner
        return numpy.ndarray.base.__get__(self)

    @property
    def flat(self):
        return flatiter(self)

    @flat.setter
    def flat(self, value):
        self.flat[...] = value

    def view(self, dtype=None, type=None):
        if type is not None or isinstance(dtype, builtin_type) and issubclass(
                dtype, numpy.ndarray):
            return numpy.ndarray.view(self, *(each for each in (dtype, type) if each))
        return by_dray("view", self, lambda mine: mine.view(dtype),
                       lambda theirs: theirs.view(*([] if dtype is None else [dtype])))

    def __getitem__(self, key):
        return by_dray("getitem", self, lambda mine: mine[index(key)],
                       lambda theirs: back(theirs[key]))

    def __setitem__(self, key, value):
        def set_(array):
            array[index(key)] = operand(value)

        def set_theirs(array):
            array[key] = value

        by_dray("setitem", self, set_, set_theirs)

    def __iter__(self):
        return by_dray("iter", self, lambda mine: map(lambda each: put_back(each, self),
                                                      iter(mine)), iter)

    def __len__(self):
        return by_dray("len", self, len, len)

    def __index__(self):
        return by_dray("index", self, lambda mine: mine.__index__(),
                       lambda theirs: theirs.__index__())

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """Results of NumPy without axes are scalars, as they are not of a subclass."""
        if return_scalar and array.ndim == 0 and type(self) is ndarray:
            return plain(array)[()]
        return super().__array_wrap__(array, context, return_scalar)


class flatiter:
    """numpy.flatiter, answered by dray.Array.flat."""

    def __init__(self, array):
        self.base = array
        self._mine = dray_of(array).flat
        ANSWERS.by_dray("flat")

    def __len__(self):
        return len(self._mine)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._mine)

    def __getitem__(self, key):
        return put_back(self._mine[index(key)], None)

    def __setitem__(self, key, value):
        self._mine[index(key)] = operand(value)

    def __array__(self, /, dtype=None, *, copy=None):
        return self.copy()

    def copy(self, /):
        return put_back(self._mine.copy(), None)

    @property
    def index(self):
        return self._mine.index

    @property
    def coords(self):
        return self._mine.coords


builtin_type = type


def back(result):
    """A result of NumPy as the stand-in's."""
    if type(result) is numpy.ndarray:
        try:
            return of_dray(dray.Array(result))
        except TypeError:
            return plain_of(result, ndarray)
    if type(result) in (tuple, list):
        return type(result)(back(each) for each in result)
    return result


def array_ufunc(_self, ufunc, method, *inputs, **keywords):
    return ufuncs.answer(ufunc, method, inputs, keywords, operand, plain, back_from_either)


def answer_ufuncs(answers):
    """Lets dray, or NumPy, answer ufuncs from now on."""
    if answers:
        ndarray.__array_ufunc__ = array_ufunc
    elif "__array_ufunc__" in vars(ndarray):
        del ndarray.__array_ufunc__


def back_from_either(result):
    """A result of dray or of NumPy as the stand-in's."""
    return of_dray(result) if isinstance(result, dray.Array) else back(result)

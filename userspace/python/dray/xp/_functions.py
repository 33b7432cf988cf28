# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The functions of the standard that make arrays, change their shape, search, sort and sum up:
dray's own methods, or NumPy's functions over the same memory."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Union

import numpy

from .. import _dray
from .._dray import Array
from ._base import (DEVICE, DTYPES, KINDS, alike, array, check_device, in_scope, is_array, makes, np, over,
                    promoted, result)

_Axes = Union[int, tuple[int, ...], None]


# Arrays that are made

def _empty(shape: Any, dtype: Any, device: Any) -> Array:
    check_device(device)
    return Array.empty(shape, np.dtype(dtype))


@makes
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None,
            copy: Optional[bool] = None) -> Array:
    """An array of numbers, nested sequences or an object with a buffer.

    copy: True: always; False: never, or ValueError; None: if necessary.  Without a copy an
        array of NumPy or a buffer stays in its memory."""
    check_device(device)
    if isinstance(obj, Array):
        made: Any = obj
    elif is_array(obj) or hasattr(obj, "__array__") or hasattr(obj, "__array_interface__") or _is_buffer(obj):
        made = Array(np.asarray(obj))
    elif copy is False:
        raise ValueError(f"copy=False: a {type(obj).__name__} is not an array, so its elements are copied")
    else:
        values = np.array(obj, dtype)
        if values.dtype.kind not in "biufc":
            raise (OverflowError if _is_whole(obj) else TypeError)(
                f"Unsupported elements in {obj!r:.60}: arrays of dray.xp hold bools and numbers of "
                "at most 64 bits a part")
        return result(values)  # type: ignore[no-any-return]
    if dtype is not None and made.dtype != dtype:
        if copy is False:
            raise ValueError(f"copy=False: an array of {made.dtype} becomes {np.dtype(dtype)} by a copy only")
        return made.astype(dtype)  # type: ignore[no-any-return]
    return made.copy() if copy else made  # type: ignore[no-any-return]


def _is_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _is_whole(obj: Any) -> bool:
    if isinstance(obj, (list, tuple)):
        return all_of(map(_is_whole, obj))
    return isinstance(obj, int)


@makes
def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None,
           device: Any = None) -> Array:
    """Numbers in even steps before `stop`, from 0 if `start` is alone."""
    check_device(device)
    if stop is None:
        start, stop = 0, start
    return Array.arange(start, stop, step, dtype)


@makes
def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array with undefined elements, by default of float64."""
    return _empty(shape, float if dtype is None else dtype, device)


@makes
def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of the shape of another."""
    return _empty(array(x).shape, array(x).dtype if dtype is None else dtype, device)


def _filled(made: Array, value: Any) -> Array:
    made.fill(value)
    return made


@makes
def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of equal elements, by default of the default type of the value's kind."""
    return _filled(_empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype, device),
                   fill_value)


@makes
def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of equal elements, of the shape of another."""
    return _filled(_empty(array(x).shape, array(x).dtype if dtype is None else dtype, device),
                   fill_value)


@makes
def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of 1."""
    return _filled(_empty(shape, float if dtype is None else dtype, device), 1)


@makes
def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of 1, of the shape of another."""
    return full_like(x, 1, dtype=dtype, device=device)


@makes
def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros."""
    check_device(device)
    return Array.zeros(shape, np.dtype(dtype))


@makes
def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros, of the shape of another."""
    return zeros(array(x).shape, dtype=array(x).dtype if dtype is None else dtype, device=device)


@makes
def eye(n_rows: int, n_cols: Optional[int] = None, /, *, k: int = 0, dtype: Any = None,
        device: Any = None) -> Any:
    """An array of 0, with 1 on a diagonal."""
    check_device(device)
    return np.eye(n_rows, n_cols, k, np.dtype(dtype))


@makes
def linspace(start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
             endpoint: bool = True) -> Any:
    """So many numbers in even steps, with `stop` or before it."""
    check_device(device)
    return np.linspace(start, stop, num, endpoint, dtype=dtype)


@makes
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """Coordinates of a grid by those of its axes."""
    return tuple(np.meshgrid(*map(over, arrays), indexing=indexing))


@makes
def tril(x: Any, /, *, k: int = 0) -> Any:
    """A copy with zeros above a diagonal."""
    return np.tril(over(x), k)


@makes
def triu(x: Any, /, *, k: int = 0) -> Any:
    """A copy with zeros below a diagonal."""
    return np.triu(over(x), k)


@makes
def from_dlpack(x: Any, /, *, device: Any = None, copy: Optional[bool] = None) -> Array:
    """An array over the memory of another library's array, as dray.from_dlpack()."""
    check_device(device)
    return _dray.from_dlpack(x, device=device, copy=copy)


# Data types

class FloatInfo(NamedTuple):
    """Limits of a type of floating-point numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: numpy.dtype[Any]


class IntegerInfo(NamedTuple):
    """Limits of a type of integers."""

    bits: int
    max: int
    min: int
    dtype: numpy.dtype[Any]


def _dtype(given: Any) -> numpy.dtype[Any]:
    return given.dtype if is_array(given) else np.dtype(given)  # type: ignore[no-any-return]


@makes
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The elements as another type; without `copy` the array itself, if its type is equal.

    TypeError for complex numbers that would lose their imaginary part."""
    check_device(device)
    given = array(x)
    if given.dtype.kind == "c" and np.dtype(dtype).kind not in "c":
        raise TypeError(f"{given.dtype} becomes {np.dtype(dtype)} by real() or imag()")
    return given.astype(dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion makes the second type of the first."""
    given, wanted = _dtype(from_), np.dtype(to)
    kinds = next((kinds for kinds in ("b", "iu", "fc") if given.kind in kinds), "")
    return wanted.kind in kinds and bool(np.result_type(given, wanted) == wanted)


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a type, or of an array's type, of floating-point or complex numbers."""
    found = np.finfo(_dtype(type))
    return FloatInfo(found.bits, float(found.eps), float(found.max), float(found.min),
                     float(found.tiny), found.dtype)


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of a type, or of an array's type, of integers."""
    found = np.iinfo(_dtype(type))
    return IntegerInfo(found.bits, int(found.max), int(found.min), np.dtype(found.dtype))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a type is of a kind: a name such as "real floating", a type, or any of a tuple."""
    if isinstance(kind, tuple):
        if [each for each in kind if isinstance(each, tuple)]:
            raise TypeError("kinds are names and data types, not tuples in a tuple")
        return bool([each for each in kind if isdtype(dtype, each)])
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is none of the kinds {', '.join(KINDS)}")
        return np.dtype(dtype).kind in KINDS[kind] and np.dtype(dtype) in DTYPES.values()
    return bool(np.dtype(dtype) == np.dtype(kind))


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """The type of results of arrays, data types and numbers of Python."""
    return promoted(*arrays_and_dtypes)


# Shapes

@makes
def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    """Read-only views of a common shape."""
    shape = broadcast_shapes(*[array(each).shape for each in arrays])
    return tuple(array(each).broadcast_to(shape) for each in arrays)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
    return np.broadcast_shapes(*shapes)  # type: ignore[no-any-return]


@makes
def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Array:
    """A read-only view of a shape."""
    return array(x).broadcast_to(shape)


def _joined(join: Callable[..., Any], arrays: Any, axis: Optional[int]) -> Any:
    given = [over(each) for each in arrays]
    if not given:
        raise ValueError(f"{join.__name__}() needs an array at least")
    return join(given, axis=axis, out=None, dtype=promoted(*given))


@makes
def concat(arrays: Any, /, *, axis: Optional[int] = 0) -> Any:
    """Arrays behind each other along an axis; None: all their elements."""
    return _joined(np.concatenate, arrays, axis)


@makes
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Arrays of a shape along a new axis."""
    given = [over(each) for each in arrays]
    if not given:
        raise ValueError("stack() needs an array at least")
    return np.stack([each.astype(promoted(*given), copy=False) for each in given], axis)


@makes
def expand_dims(x: Any, /, axis: Union[int, tuple[int, ...]]) -> Array:
    """A view with more axes of length 1."""
    return array(x).expand_dims(axis)


@makes
def flip(x: Any, /, *, axis: _Axes = None) -> Array:
    """A view with axes reversed."""
    return array(x).flip(axis)


@makes
def moveaxis(x: Any, source: Any, destination: Any, /) -> Array:
    """A view with axes at other places."""
    return array(x).moveaxis(source, destination)


@makes
def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Array:
    """A view with its axes in another order."""
    return array(x).transpose(tuple(axes))


@makes
def matrix_transpose(x: Any, /) -> Array:
    """A view with the last two axes exchanged."""
    if array(x).ndim < 2:
        raise ValueError(f"a matrix has two axes or more, not {array(x).ndim}")
    return array(x).swapaxes(-1, -2)


@makes
def repeat(x: Any, repeats: Any, /, *, axis: Optional[int] = None) -> Any:
    """Each element several times."""
    counts = over(repeats) if is_array(repeats) else repeats
    if is_array(repeats) and counts.dtype == "u8":
        counts = counts.astype("i8")
    return np.repeat(over(x), counts, axis)


@makes
def reshape(x: Any, /, shape: tuple[int, ...], *, copy: Optional[bool] = None) -> Array:
    """The elements in C order in another shape.

    copy: True: always; False: never, or ValueError; None: if necessary."""
    given = array(x)
    made = (given.copy() if copy else given).reshape(shape)
    if copy is False and made.size and not made.shares_memory(given):
        raise ValueError(f"copy=False: strides {given.strides} of shape {given.shape} need a copy for "
                         f"shape {made.shape}")
    return made


@makes
def roll(x: Any, /, shift: Any, *, axis: _Axes = None) -> Any:
    """The elements moved along axes, those behind the end to the start."""
    return np.roll(over(x), shift, axis)


@makes
def squeeze(x: Any, /, axis: Union[int, tuple[int, ...]]) -> Array:
    """A view without axes of length 1."""
    return array(x).squeeze(axis)


@makes
def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """The array so many times along each axis."""
    return np.tile(over(x), repetitions)


@makes
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Views of the parts along an axis."""
    moved = array(x)
    if not moved.ndim:
        raise ValueError("an array without axes has no parts")
    moved = moved.moveaxis(axis, 0)
    return tuple(moved[i, ...] for i in range(moved.shape[0]))


# Numbers of elements, and elements by number

def _with_axes(x: Array, found: Any, axis: Optional[int], keepdims: bool) -> Array:
    """Puts an axis that was searched, or all, back with length 1."""
    made = array(found)
    if not keepdims:
        return made
    return made.reshape((1,) * x.ndim) if axis is None else made.expand_dims(axis)


@makes
def argmax(x: Any, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Array:
    """The index of the first largest element along an axis, or of all."""
    return _with_axes(array(x), array(x).argmax(axis), axis, keepdims)


@makes
def argmin(x: Any, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Array:
    """The index of the first smallest element along an axis, or of all."""
    return _with_axes(array(x), array(x).argmin(axis), axis, keepdims)


@makes
def count_nonzero(x: Any, /, *, axis: _Axes = None, keepdims: bool = False) -> Any:
    """The number of elements that are not zero."""
    return np.asarray(np.count_nonzero(over(x), axis=axis, keepdims=keepdims))


@makes
def nonzero(x: Any, /) -> tuple[Array, ...]:
    """The indices of elements that are not zero, an array for each axis."""
    if not array(x).ndim:
        raise ValueError("nonzero() needs an axis at least")
    return array(x).nonzero()


@makes
def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The places in an array that is sorted, or that `sorter` sorts, before which values keep it so."""
    return np.searchsorted(*alike(array(x1), x2), side=side,
                              sorter=None if sorter is None else over(sorter))


@makes
def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Elements of x1 where the condition is true, else of x2."""
    if not (is_array(x1) or is_array(x2)):
        raise TypeError("where() needs an array, not two numbers of Python")
    return np.where(over(condition), *alike(x1, x2))


@makes
def take(x: Any, indices: Any, /, *, axis: Optional[int] = None) -> Array:
    """The elements of some numbers along an axis."""
    if axis is None and array(x).ndim != 1:
        raise ValueError(f"take() of {array(x).ndim} axes needs axis=")
    return array(x).take(array(indices), 0 if axis is None else axis)  # type: ignore[no-any-return]


@makes
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements that an array of numbers along an axis chooses."""
    return np.take_along_axis(over(x), over(indices), axis)


@makes
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether each element of x1 is among those of x2."""
    return np.isin(*alike(x1, x2), invert=invert)


# Order, and equal elements

@makes
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """A sorted copy; equal elements keep their order."""
    return _sorted(array(x), axis, descending, _sort_copy)


def _sort_copy(x: Array, axis: int) -> Array:
    made = x.copy()
    made.sort(axis)
    return made


def _sorted(x: Array, axis: int, descending: bool, order: Callable[[Array, int], Array]) -> Array:
    if not descending:
        return order(x, axis)
    # Equal elements are reversed twice.
    return order(x.flip(axis), axis).flip(axis)


@makes
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort an array; those of equal elements keep their order."""
    given = array(x)
    found = _sorted(given, axis, descending, lambda x, axis: array(x.argsort(axis)))
    return given.shape[axis] - 1 - found if descending else found


class UniqueAll(NamedTuple):
    """Different elements, where each first occurs, by which of them the array is made, counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Different elements, and how often each occurs."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Different elements, and by which of them the array is made."""

    values: Array
    inverse_indices: Array


def _unique(x: Any, *wanted: str) -> Any:
    """NumPy's result as a tuple; each NaN is another element."""
    given = over(x)
    found = np.unique(given, equal_nan=False, **{f"return_{name}": True for name in wanted})
    if not wanted:
        return found
    return tuple(each.reshape(given.shape) if name == "inverse" else each
                 for name, each in zip(("values", *wanted), found))


@makes
def unique_all(x: Any, /) -> UniqueAll:
    """The different elements in order, as UniqueAll."""
    return UniqueAll(*_unique(x, "index", "inverse", "counts"))


@makes
def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements in order, as UniqueCounts."""
    return UniqueCounts(*_unique(x, "counts"))


@makes
def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements in order, as UniqueInverse."""
    return UniqueInverse(*_unique(x, "inverse"))


@makes
def unique_values(x: Any, /) -> Any:
    """The different elements in order."""
    return _unique(x)


# Sums

all_of = all


@makes
def all(x: Any, /, *, axis: _Axes = None, keepdims: bool = False) -> Any:
    """Whether all elements are true."""
    return array(x).all(axis, keepdims=keepdims)


@makes
def any(x: Any, /, *, axis: _Axes = None, keepdims: bool = False) -> Any:
    """Whether an element is true."""
    return array(x).any(axis, keepdims=keepdims)


@makes
def max(x: Any, /, *, axis: _Axes = None, keepdims: bool = False) -> Any:
    """The largest element."""
    return array(x).max(axis, keepdims=keepdims)


@makes
def min(x: Any, /, *, axis: _Axes = None, keepdims: bool = False) -> Any:
    """The smallest element."""
    return array(x).min(axis, keepdims=keepdims)


@makes
def mean(x: Any, /, *, axis: _Axes = None, keepdims: bool = False) -> Any:
    """The mean."""
    return array(x).mean(axis, keepdims=keepdims)


@makes
def prod(x: Any, /, *, axis: _Axes = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product of the elements."""
    return array(x).prod(axis, dtype, keepdims=keepdims)


@makes
def sum(x: Any, /, *, axis: _Axes = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum of the elements."""
    return array(x).sum(axis, dtype, keepdims=keepdims)


@makes
def std(x: Any, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation, with the divisor size - correction."""
    return array(x).std(axis, ddof=correction, keepdims=keepdims)


@makes
def var(x: Any, /, *, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance, with the divisor size - correction."""
    return array(x).var(axis, ddof=correction, keepdims=keepdims)


def _running(x: Any, axis: Optional[int], dtype: Any, include_initial: bool, first: int) -> Array:
    given = array(x)
    if not given.ndim or axis is None and given.ndim > 1:
        raise ValueError(f"running sums of {given.ndim} axes " + (
            "need axis=" if given.ndim else "do not exist"))
    axis = 0 if axis is None else axis
    made = given.cumprod(axis, dtype) if first else given.cumsum(axis, dtype)
    if not include_initial:
        return made  # type: ignore[no-any-return]
    extents = list(given.shape)
    extents[axis] += 1
    longer = Array.empty(tuple(extents), made.dtype)
    longer.moveaxis(axis, 0)[0] = first
    longer.moveaxis(axis, 0)[1:] = made.moveaxis(axis, 0)
    return longer


@makes
def cumulative_prod(x: Any, /, *, axis: Optional[int] = None, dtype: Any = None,
                    include_initial: bool = False) -> Array:
    """Running products; with include_initial from 1 on."""
    return _running(x, axis, dtype, include_initial, 1)


@makes
def cumulative_sum(x: Any, /, *, axis: Optional[int] = None, dtype: Any = None,
                   include_initial: bool = False) -> Array:
    """Running sums; with include_initial from 0 on."""
    return _running(x, axis, dtype, include_initial, 0)


@makes
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis, n times."""
    around = {name: over(each) for name, each in (("prepend", prepend), ("append", append))
              if each is not None}
    return np.diff(over(x), n, axis, **around)


# Products

@makes
def matmul(x1: Any, x2: Any, /) -> Any:
    """Multiplies matrices, the last two axes."""
    return _dray.matmul(array(x1), array(x2))


@makes
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Sums products over axes of both."""
    return np.tensordot(*alike(array(x1), array(x2)), axes=axes)


@makes
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sums products along an axis, of conjugates of x1."""
    first, second = array(x1), array(x2)
    if not first.ndim or not second.ndim:
        raise ValueError("vecdot() needs an axis at least")
    return _dray.vecdot(first.moveaxis(axis, -1), second.moveaxis(axis, -1))


# Devices and data types

class Information:
    """Devices, data types and limits of dray.xp, by the standard's methods."""

    def capabilities(self) -> dict[str, Any]:
        """Whether indices may be bools, and shapes depend on data; the most axes."""
        return {"boolean indexing": True, "data-dependent shapes": True,
                "max dimensions": 64 if int(np.__version__.split(".")[0]) > 1 else 32}

    def default_device(self) -> str:
        """The device of new arrays."""
        return DEVICE

    def default_dtypes(self, *, device: Any = None) -> dict[str, numpy.dtype[Any]]:
        """The types of new arrays for each kind of number."""
        check_device(device)
        return {"real floating": DTYPES["float64"], "complex floating": DTYPES["complex128"],
                "integral": DTYPES["int64"], "indexing": DTYPES["int64"]}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, numpy.dtype[Any]]:
        """The data types of a kind, of several, or all."""
        check_device(device)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {name: dtype for name, dtype in DTYPES.items()
                if kind is None or isdtype(dtype, kinds)}

    def devices(self) -> tuple[str, ...]:
        """All devices."""
        return (DEVICE,)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The parts of dray.Array that NumPy computes over the same memory: ranges, and elements
in C order."""

from __future__ import annotations

import operator
from typing import Any, Optional, final

import numpy

from ._dray import Array, Handle, bare

_LEAST, _MOST = -2**63, 2**63 - 1


def _check_integers(start: int, stop: int, step: int) -> None:
    """Refuses integers beyond 64 bits if doubles would make another range of them."""
    numbers = (start, stop, step, stop - start, start + step)
    if list(map(float, numbers)) != list(numbers):
        raise OverflowError("a range of integers takes numbers from -2^63 to 2^63 - 1, and "
                            "others that doubles have exactly")


def _integers(start: int, stop: int, step: int, kind: numpy.dtype[Any]) -> numpy.ndarray:
    """Integers of 64 bits as elements of another type, in which later elements wrap."""
    count = len(range(start, stop, step))
    limits = numpy.iinfo(kind)
    for number in (start, start + step)[:count]:
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"{number} is beyond the range of {kind}")
    return (start + step * numpy.arange(count)).astype(kind)


def arange(type: type[Array], start: Any, stop: Any = None, step: Any = None,
           dtype: Any = None) -> Array:
    """Runs for Array.arange()."""
    kind: Any
    numbers: tuple[Any, Any, Any]
    numbers = (0 if stop is None else start, start if stop is None else stop,
               1 if step is None else step)
    # Without generators, which can fail while they end.
    whole = all([isinstance(number, int) for number in numbers])
    if dtype is None and whole and -2**31 <= min(numbers) and max(numbers) < 2**31:
        kind = numpy.dtype(int)
    elif dtype is None:
        kind = numpy.result_type(int, *[numpy.asarray(number).dtype for number in numbers])
    else:
        kind = numpy.dtype(dtype)
    if kind.kind not in "biufc":
        raise TypeError(f"a range is of numbers, not of {kind!r}")
    start, stop, step = numbers
    whole = whole or all([hasattr(number, "__index__") for number in numbers])
    if whole:
        start, stop, step = operator.index(start), operator.index(stop), operator.index(step)
    if whole and not (_LEAST <= min(start, stop, step) and max(start, stop, step) <= _MOST):
        _check_integers(start, stop, step)
        whole = False
    if not step:
        raise ZeroDivisionError("the step of the range is 0")
    values = (_integers(start, stop, step, kind) if whole and kind.kind in "iu" and dtype is not None
              else numpy.arange(start, stop, step, dtype=kind))
    made = type.empty(values.shape, kind)
    made[...] = values
    return made


def _is_users(array: Array) -> bool:
    """Whether elements are of a UserType, which makes values of them."""
    return "dray.type" in (array.dtype.metadata or ())


@final
class FlatIterator(Handle):
    """The elements of an Array in C order: an iterator, and an index of numbers
    instead of coordinates."""

    __slots__ = ("_array", "_number", "_values")
    __module__ = "dray"
    _array: Array
    _number: int
    _values: Any  # the array or NumPy's iterator, once an element was asked for

    @property
    def base(self) -> Array:
        """The Array."""
        return self._array

    @property
    def index(self) -> int:
        """The number of the next element."""
        return self._number

    @property
    def coords(self) -> tuple[int, ...]:
        """Its place along each axis."""
        places, rest = [], self._number
        for extent in reversed(self._array.shape):
            rest, place = divmod(rest, max(extent, 1))
            places.append(place)
        return tuple(reversed(places))

    def copy(self) -> Array:
        """A new Array of the elements, along a single axis."""
        return self[:]  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> numpy.ndarray:
        """The same as an array of NumPy."""
        return self.copy().__array__(dtype, copy)

    def __iter__(self) -> FlatIterator:
        return self

    def __next__(self) -> Any:
        number = self._number
        if number >= self._array.size:
            raise StopIteration
        self._number = number + 1
        return self._element(number)

    def __len__(self) -> int:
        return self._array.size

    def _element(self, number: int) -> Any:
        if self._values is None:
            array = self._array
            if array.ndim != 1 and _is_users(array):
                array = array.reshape(-1)
            self._values = array if array.ndim == 1 else numpy.asarray(array).flat
        element = self._values[number]
        return element.copy() if isinstance(element, numpy.void) else element

    def _at(self, key: Any) -> int:
        """The number of an element; negative numbers count from the end."""
        number, size = operator.index(key), self._array.size
        if not -size <= number < size:
            raise IndexError(f"index {number} is out of bounds of {size} elements")
        return number % size

    def _numbers(self, key: Any) -> Any:
        """The numbers of any index but an integer, as an array."""
        if key is Ellipsis or isinstance(key, tuple) and not key:
            key = slice(None)
        if isinstance(key, slice):
            return numpy.arange(*key.indices(len(self)))
        given = isinstance(key, (numpy.ndarray, Array))
        if not (key is None or isinstance(key, (tuple, bool))):
            array = numpy.asarray(key)
            if given and array.dtype.kind == "b":
                if array.shape != (len(self),):
                    raise IndexError(f"booleans for {len(self)} elements are an axis of as many")
                return array.nonzero()[0]
            if array.dtype.kind in "iu":
                return array
            if not given and not array.size:
                return array.astype(numpy.intp)
        raise IndexError("an index of flat is an integer, a slice, ..., or an array of integers "
                         f"or booleans, not of type {type(key).__name__}")

    def __getitem__(self, key: Any, /) -> Any:
        if isinstance(key, int) and not isinstance(key, bool):
            return self._element(self._at(key))
        if isinstance(key, tuple) and len(key) == 1:
            key = key[0]
        if _is_number(key):
            return self._element(self._at(key))
        return self._array.take(self._numbers(key))

    def __setitem__(self, key: Any, value: Any, /) -> None:
        if isinstance(key, tuple) and not key:
            raise IndexError("flat is not set by an index without axes")
        if isinstance(key, tuple) and len(key) == 1:
            key = key[0]
        if _is_number(key) and numpy.ndim(value) and not _is_users(self._array):
            raise ValueError(f"an element is set to a number, not to {numpy.size(value)} of them")
        self._array.put(self._at(key) if _is_number(key) else self._numbers(key), value)

    def __eq__(self, other: Any) -> Any:
        return self[:] == other

    def __ne__(self, other: Any) -> Any:
        return self[:] != other

    def __lt__(self, other: Any) -> Any:
        return self[:] < other

    def __le__(self, other: Any) -> Any:
        return self[:] <= other

    def __gt__(self, other: Any) -> Any:
        return self[:] > other

    def __ge__(self, other: Any) -> Any:
        return self[:] >= other

    def __delitem__(self, key: Any, /) -> None:
        raise TypeError("elements of an array cannot be deleted")


def _is_number(key: Any) -> bool:
    return isinstance(key, numpy.integer) or (
        hasattr(key, "__index__") and not isinstance(key, (bool, numpy.bool_))
        and not hasattr(key, "__getitem__"))


def flat(array: Array) -> FlatIterator:
    """Runs for Array.flat."""
    made = bare(FlatIterator)
    made._array, made._number, made._values = array, 0, None
    return made

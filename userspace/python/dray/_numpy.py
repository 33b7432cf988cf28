# SPDX-License-Identifier: Apache-2.0 OR MIT
"""NumPy's functions of a dray.Array, except ufuncs: NumPy computes them by the methods of the
first argument, or over the same memory, and its new arrays become dray's."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy

from ._dray import Array

# Functions that ask a method of the first argument, or a property of it.
_BY_METHODS = frozenset(
    "all amax amin any argmax argmin argsort around clip cumprod cumsum diagonal imag max mean min "
    "moveaxis ndim nonzero prod ptp put ravel real reshape round round_ shape size squeeze std sum "
    "swapaxes take transpose var".split())
# Functions with like= that are written in C: NumPy removed the like= by which it asks us.
_BY_LIKE = frozenset(
    "arange array asanyarray asarray ascontiguousarray asfortranarray empty eye frombuffer fromfile "
    "fromfunction fromiter fromstring full genfromtxt identity loadtxt ones require tri "
    "zeros".split())


def _has_rules(type: Any) -> bool:
    """Whether a type brings rules of its own for NumPy's functions."""
    rule = getattr(type, "__array_function__", None)
    return rule is not None and rule is not numpy.ndarray.__array_function__


class _Exchange:
    """Arrays of NumPy over the memory of arrays of dray, and back."""

    def __init__(self) -> None:
        self._given: list[tuple[numpy.ndarray[Any, Any], Any]] = []

    def to_numpy(self, value: Any) -> Any:
        """An array of NumPy instead of a dray.Array, also in lists and tuples."""
        if type(value) is Array:
            array = numpy.asarray(value)
            self._given.append((array, value))
            return array
        if type(value) is numpy.ndarray:
            self._given.append((value, value))
        if type(value) in (list, tuple):
            return type(value)([self.to_numpy(each) for each in value])
        return value

    def to_dray(self, value: Any) -> Any:
        """The caller's own array, or a dray.Array for another array of NumPy."""
        if type(value) is numpy.ndarray:
            for array, given in self._given:
                if array is value:
                    return given
            try:
                return Array(value)
            except TypeError:
                return value  # a type that dray.Array lacks
        if type(value) in (list, tuple):
            return type(value)([self.to_dray(each) for each in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[self.to_dray(each) for each in value])
        return value


def array_function(self: Array, function: Callable[..., Any], types: Any, args: tuple[Any, ...],
                   kwargs: dict[str, Any], /) -> Any:
    """Calls a function of NumPy; new arrays of it are dray's, and so are its outputs."""
    for type_ in types:
        if type_ is not Array and _has_rules(type_):
            return NotImplemented
    implementation: Optional[Callable[..., Any]] = getattr(function, "_implementation", None)
    name = getattr(function, "__name__", "")
    if implementation is None:
        if name not in _BY_LIKE:
            return NotImplemented
        implementation = function
    exchange = _Exchange()
    first = 1 if name in _BY_METHODS and type(args[0] if args else None) is Array else 0
    given = [*args[:first], *[exchange.to_numpy(each) for each in args[first:]]]
    named = {key: exchange.to_numpy(each) for key, each in kwargs.items()}
    return exchange.to_dray(implementation(*given, **named))

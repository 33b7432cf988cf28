# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Methods of dray.Array and docstrings of dray.ufunc that are written in Python: the array-API
standard, and the rest of NumPy's array, by NumPy over the same memory."""

from __future__ import annotations

import operator
import pickle
import types
from typing import Any, Optional

import numpy

from . import _dray
from ._dray import Array
from ._numpy import array_function

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _order(kind: Any, stable: Any) -> None:
    """Refuses the choices that numpy.sort() refuses; each order here is stable."""
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"kind is {', '.join(_KINDS)} or None, not {kind!r}; each keeps the order "
                         "of equal elements")
    if kind is not None and stable is not None:
        raise ValueError("kind and stable are two names of one choice: pass one of them")


def sort(array: Array, axis: Any = -1, kind: Any = None, order: Any = None, *,
         stable: Any = None) -> None:
    """Runs for Array.sort() with more than an axis."""
    _order(kind, stable)
    if order is None:
        array.sort(operator.index(axis))
    else:
        numpy.asarray(array).sort(axis, "stable", order)


def argsort(array: Array, axis: Any = -1, kind: Any = None, order: Any = None, *,
            stable: Any = None) -> Any:
    """Runs for Array.argsort() with more than an axis."""
    _order(kind, stable)
    return array.argsort(axis) if order is None else Array(
        numpy.asarray(array).argsort(axis, "stable", order))


def clip(array: Array, min: Any = None, max: Any = None,  # pylint: disable=redefined-builtin
         out: Any = None, **keywords: Any) -> Any:
    """Runs for Array.clip() with keywords of a ufunc, as dtype=."""
    made = numpy.clip(numpy.asarray(array), min, max, out, **keywords)
    return Array(made) if type(made) is numpy.ndarray and made is not out else made


class _Methods:
    """Attributes of dray.Array; self is an Array."""

    def __array_namespace__(self: Any, *, api_version: Optional[str] = None) -> types.ModuleType:
        """dray.xp, the namespace of the array-API standard 2025.12 and the versions before."""
        if api_version is not None and api_version not in _VERSIONS:
            raise ValueError(f"dray.xp follows the versions {', '.join(_VERSIONS)} of the standard, "
                             f"not {api_version!r}")
        from . import xp

        return xp

    __array_function__ = array_function

    @property
    def device(self: Any) -> str:
        """Where its elements are: "cpu", or "device" for memory that only engines reach."""
        return "cpu" if _dray.is_reached(self) else "device"

    def to_device(self: Any, device: str, /, *, stream: Any = None) -> Array:
        """The array itself if it is there; else a copy by dray.copy()."""
        if stream is not None:
            raise ValueError(f"a copy between devices waits for its end: stream is None, not {stream!r}")
        if device not in ("cpu", "device"):
            raise ValueError(f"a device is 'cpu' or 'device', not {device!r}")
        if device == self.device:
            return self  # type: ignore[no-any-return]
        made = (Array.empty(self.shape, self.dtype) if device == "cpu" else
                _functions().device_empty(self.shape, self.dtype))
        _functions().copy(made, self)
        return made

    @property
    def mT(self: Any) -> Array:
        """A view with the last two axes exchanged."""
        if self.ndim < 2:
            raise ValueError(f"a matrix has two axes or more, not {self.ndim}")
        return self.swapaxes(-1, -2)  # type: ignore[no-any-return]

    @property
    def data(self: Any) -> memoryview:
        """A memoryview of the elements."""
        return memoryview(self)

    @property
    def ctypes(self: Any) -> Any:
        """Address, shape and strides as objects of ctypes, as of NumPy's array."""
        return numpy.asarray(self).ctypes

    def __complex__(self: Any) -> complex:
        return complex(numpy.asarray(self))

    def argpartition(self: Any, kth: Any, axis: Any = -1, kind: str = "introselect",
                     order: Any = None) -> Any:
        """The indices that would partition it."""
        return numpy.argpartition(self, kth, axis, kind, order)  # type: ignore[arg-type]

    def byteswap(self: Any, inplace: bool = False) -> Array:
        """The elements with their bytes in reverse, a copy or the array itself."""
        made = self if inplace else self.copy()
        numpy.asarray(made).byteswap(True)
        return made  # type: ignore[no-any-return]

    def choose(self: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
        """Elements of the choices that the array numbers."""
        return numpy.choose(self, choices, out, mode)

    def compress(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """The parts along an axis for which a condition is true."""
        return numpy.compress(condition, self, axis, out)

    def dump(self: Any, file: Any) -> None:
        """Pickles the array to a file or a path."""
        if hasattr(file, "write"):
            pickle.dump(self, file, 2)
        else:
            with open(file, "wb") as opened:
                pickle.dump(self, opened, 2)

    def dumps(self: Any) -> bytes:
        """The pickled array."""
        return pickle.dumps(self, 2)

    def flatten(self: Any, order: str = "C") -> Array:
        """A copy of the elements along a single axis."""
        return self.copy(order).ravel(order)  # type: ignore[no-any-return]

    def getfield(self: Any, dtype: Any, offset: int = 0) -> Array:
        """A view of bytes of each element as another type."""
        return Array(numpy.asarray(self).getfield(dtype, offset))

    def partition(self: Any, kth: Any, axis: int = -1, kind: str = "introselect",
                  order: Any = None) -> None:
        """Puts the elements of some numbers at their place in order, between smaller and greater."""
        numpy.asarray(self).partition(kth, axis, kind, order)  # type: ignore[call-overload]

    def repeat(self: Any, repeats: Any, axis: Any = None) -> Any:
        """Each element several times."""
        return numpy.repeat(self, repeats, axis)

    def searchsorted(self: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """The places before which values keep the sorted array so."""
        return numpy.searchsorted(self, v, side, sorter)

    def setfield(self: Any, val: Any, dtype: Any, offset: int = 0) -> None:
        """Sets bytes of each element to a value of another type."""
        numpy.asarray(self).setfield(val, dtype, offset)

    def setflags(self: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Checks flags: they never change, so that ValueError names the way for another."""
        flags = self.flags
        for name, wanted, has, way in (
                ("write", write, flags.writeable, "a.broadcast_to(a.shape) is a read-only view, and "
                 "a.copy() is writable"), ("align", align, flags.aligned, "a.copy() is aligned"),
                ("uic", uic, False, "dray has no such copies")):
            if wanted is not None and bool(wanted) != has:
                raise ValueError(f"flags of a dray.Array do not change to {name}={wanted!r}: {way}")

    def tobytes(self: Any, order: Any = "C") -> bytes:
        """The bytes of the elements, in C order or another."""
        return numpy.asarray(self).tobytes(order)

    def tofile(self: Any, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Writes the elements to a file, as bytes or as text between separators."""
        numpy.asarray(self).tofile(fid, sep, format)

    def trace(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
              out: Any = None) -> Any:
        """The sum of a diagonal of two axes."""
        return numpy.trace(self, offset, axis1, axis2, dtype, out)


def _functions() -> Any:
    from . import _functions as found

    return found


class _Docstring:
    """__doc__ of dray.ufunc and of each of its objects."""

    def __init__(self, text: Optional[str]):
        self._text = text

    def __get__(self, found: Any, type: Any = None) -> Optional[str]:
        return self._text if found is None else _describe(found)


# Of ufuncs that older NumPys lack.
_NEWER = {"bitwise_count": "Counts the bits of the absolute value that are 1."}


def _describe(ufunc: _dray.ufunc) -> str:
    """The call, and the first sentence of NumPy's docstring for a ufunc of its name."""
    name = ufunc.__name__
    inputs = ", ".join("x" if ufunc.nin == 1 else f"x{i + 1}" for i in range(ufunc.nin))
    theirs = getattr(numpy, name, None)
    text = (theirs.__doc__ or "") if isinstance(theirs, numpy.ufunc) else ""
    sentences = [part for part in text.split("\n\n")[1:2] if part]
    sentence = " ".join(sentences[0].split()) if sentences else _NEWER.get(
        name, "A ufunc of the program: its loops are those of register().")
    return (f"{name}({inputs}, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, "
            f"signature=None, threads=1)\n\n{sentence}\n\nComputed by dray; dray.ufunc describes the "
            f"arguments and methods.  {ufunc.ntypes} loops.")


def finish() -> None:
    """Adds all of these to the types, which never change again."""
    found = {name: value for name, value in vars(_Methods).items()
             if name not in ("__module__", "__dict__", "__weakref__", "__doc__")}
    for name, value in found.items():
        if isinstance(value, types.FunctionType):
            value.__qualname__ = f"Array.{name}"
            value.__module__ = "dray"
    _dray.finish(Array, found)
    _dray.finish(_dray.ufunc, {"__doc__": _Docstring(_dray.ufunc.__doc__)})

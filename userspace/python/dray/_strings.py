# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays of strings of any length.  The library has the strings as bytes; the object
knows if they are text."""
from __future__ import annotations

import operator
from typing import Any, Iterable, Iterator, Optional, Union, final

import numpy
from numpy import ndarray

from . import _dray
from ._arrow import _capsules
from ._dray import Array
from ._records import named_type

_SHOWN = 6
# The library's relations are Python's numbers of comparisons.
_LESS, _LESS_EQUAL, _EQUAL, _NOT_EQUAL, _GREATER, _GREATER_EQUAL = range(6)


def _items(items: Any) -> tuple[Any, ...]:
    """The strings of an object, in a tuple that no other thread changes."""
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{named_type(items)} is a single string: pass a list with it")
    if isinstance(items, Array):
        items = numpy.asarray(items)
    if not isinstance(items, ndarray):
        return tuple(items)
    if items.ndim != 1:
        raise ValueError(f"strings have 1 axis, the array has {items.ndim}: reshape it by "
                         "ravel()")
    if items.dtype.kind not in "USOT":
        raise TypeError(f"strings are made of arrays of text, bytes or objects, not of "
                        f"{items.dtype}")
    listed = items.tolist()
    # An array of StringDType has a missing value of its own.
    missing = getattr(items.dtype, "na_object", None)
    return tuple(None if item is missing else item for item in listed)


def _is_text(items: tuple[Any, ...], otherwise: bool) -> bool:
    for item in items:
        if item is not None:
            return not isinstance(item, bytes)
    return otherwise


def _indices(index: Any, count: int) -> Array:
    """The indices of an array of integers or bools, or of a list."""
    found = numpy.asarray(index)
    if not found.size and not isinstance(index, (ndarray, Array)):
        found = found.astype(numpy.int64)
    if found.ndim != 1 or found.dtype.kind not in "iub":
        raise IndexError("strings are chosen by integers, slices, and arrays of integers or bools "
                         f"with 1 axis, not by {named_type(index)} of {found.dtype} with "
                         f"{found.ndim} axes")
    if found.dtype.kind == "b":
        if len(found) != count:
            raise IndexError(f"{len(found)} bools are not for {count} strings")
        found = numpy.flatnonzero(found)
    elif found.dtype == numpy.uint64:
        found = numpy.minimum(found, numpy.uint64(numpy.iinfo(numpy.int64).max))
    return Array(numpy.ascontiguousarray(found, numpy.int64))


@final
class Strings(_dray.Handle):
    """Strings of any length, which never change: all text, or all bytes.

        names = dray.Strings(["tx0", "rx0", None])
        names[names == "tx0"].tolist()

    `items`: str, or bytes, and None for a null; also an array of NumPy with one axis
    of text, bytes or objects, of which its missing value is a null
    `errors`: how text that has no form in UTF-8, as a lone surrogate, is encoded, and
    bytes that are not UTF-8 decoded; a name of Python's codecs

    The bytes lie side by side in memory of NumPy's current handler: inside `with
    dray.memory():` in dray's.  Slices share them; indices with arrays copy.

    Comparisons return an Array of bools, with Strings of the same length, a list, an
    array of NumPy or a single string.  Bytes are compared, not letters: for text
    that is the order of code points.  Nulls are last, and equal each other.

    Consumers of Arrow, such as pyarrow.array(), copy only what a slice with a step made."""

    __slots__ = ("_errors", "_text")
    __module__ = "dray"
    # NumPy's arrays leave operators to this class.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    _errors: Optional[str]
    _text: bool

    def __new__(cls, items: Iterable[Any], *, errors: str = "strict") -> Strings:
        return cls._make(items, None if errors == "strict" else errors, True)

    @classmethod
    def _make(cls, items: Iterable[Any], errors: Optional[str], text: bool) -> Strings:
        """Makes strings; `text` decides if all are null."""
        found = _items(items)
        text = _is_text(found, text)
        return _dray.strings_make(cls, found, text, errors)._set(errors, text)

    def _set(self, errors: Optional[str], text: bool) -> Strings:
        self._errors = errors
        self._text = text
        return self

    @classmethod
    def from_arrow(cls, obj: Any, *, errors: str = "strict") -> Strings:
        """Strings over the memory of text or bytes of Arrow, such as a pyarrow.array() of
        strings, which they keep.

        `obj`: as of dray.from_arrow(): an object with one of Arrow's methods, or a pair of
        capsules; text, large text, text views, and the same of bytes.  A
        pyarrow.ChunkedArray of several pieces: combine_chunks()
        `errors`: how bytes that are not UTF-8 are decoded

        TypeError: another type."""
        schema, array = _capsules(obj)
        found, text = _dray.strings_import(cls, schema, array)
        return found._set(None if errors == "strict" else errors, text)

    @property
    def is_text(self) -> bool:
        """Whether the strings are str; else they are bytes."""
        return self._text

    def __len__(self) -> int:
        return _dray.strings_count(self)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = _dray.strings_slice(Strings, self, index)
        elif hasattr(type(index), "__index__") and not getattr(index, "ndim", 0):
            at = operator.index(index)
            return _dray.strings_item(self, at, self._text, self._errors)
        else:
            part = _dray.strings_take(Strings, self, _indices(index, len(self)))
        return part._set(self._errors, self._text)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def _compare(self, other: Any, relation: int) -> Any:
        if other is None or isinstance(other, (str, bytes)):
            other = [other]
        if isinstance(other, (list, tuple, ndarray)):
            other = Strings._make(other, self._errors, self._text)
        if not isinstance(other, Strings):
            return NotImplemented
        if self._text != other._text:
            raise TypeError("text is not compared with bytes: encode it, as [name.encode() for "
                            "name in strings]")
        count = len(other) if len(self) == 1 else len(self)
        return _dray.strings_compare(self, other, relation, Array.empty(count, "?"))

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, _LESS)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, _LESS_EQUAL)

    def __eq__(self, other: Any) -> Any:
        return self._compare(other, _EQUAL)

    def __ne__(self, other: Any) -> Any:
        return self._compare(other, _NOT_EQUAL)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, _GREATER)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, _GREATER_EQUAL)

    def argsort(self) -> Array:
        """The indices that sort the strings, as an Array of int64; equal strings stay in
        their order."""
        return _dray.strings_argsort(self, Array.empty(len(self), "i8"))

    def sort(self) -> Strings:
        """A copy in order: these strings never change."""
        return _dray.strings_take(Strings, self, self.argsort())._set(self._errors, self._text)

    def copy(self) -> Strings:
        """A copy in memory of NumPy's current handler."""
        return _dray.strings_take(Strings, self, None)._set(self._errors, self._text)

    def tolist(self) -> list[Any]:
        """The strings as str or bytes, nulls as None."""
        return _dray.strings_list(self, self._text, self._errors)

    def numpy(self, dtype: Any = object) -> ndarray[Any, Any]:
        """An array of NumPy: of objects, with None for nulls, or of `dtype`, such as "U" or
        "S", which cut zero characters at the end and have no nulls (ValueError)."""
        wanted = numpy.dtype(dtype)
        items = self.tolist()
        if wanted.kind in "US" and None in items:
            raise ValueError(f"string {items.index(None)} is null, for which {wanted} has no value: "
                             "use numpy() of objects")
        return numpy.array(items, wanted)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None
                  ) -> ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array of NumPy needs a copy of the strings, which copy=False "
                             "does not allow")
        return self.numpy(object if dtype is None else dtype)

    def __arrow_c_schema__(self) -> Any:
        """A capsule of Arrow's schema."""
        return _dray.strings_export(self, self._text, None, False)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Capsules of Arrow's schema and array: text or bytes, large if that is asked for or
        needed.  ValueError for text that is not UTF-8, which `errors` let in."""
        pair: tuple[Any, Any] = _dray.strings_export(self, self._text, requested_schema, True)
        return pair

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.tolist(), self._errors, self._text)

    def __repr__(self) -> str:
        count = len(self)
        if count <= _SHOWN:
            return f"dray.Strings({self.tolist()!r})"
        half = _SHOWN // 2
        shown = [repr(item) for part in (self[:half], self[-half:]) for item in part]
        shown.insert(half, "...")
        return f"dray.Strings([{', '.join(shown)}]: {count} strings)"


def _restored(items: list[Union[str, bytes, None]], errors: Optional[str], text: bool) -> Strings:
    return Strings._make(items, errors, text)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays for libraries that read and write Arrow's capsules, such as pyarrow, Polars
and pandas."""
from __future__ import annotations

from typing import Any, Iterable, Literal, Optional, Sequence, Union, overload

import numpy

from . import _dray
from ._dray import Array
from ._records import named_type

Masked = tuple[Array, Optional[Array]]


class ArrowArray:
    """An array, and a mask of its nulls, for consumers of Arrow's capsules; made by
    to_arrow()."""

    __slots__ = ("array", "mask", "_copy")

    array: Array
    """The elements."""
    mask: Optional[Array]
    """A bool for each element, true for a null; None: there are no nulls."""

    def __init__(self, array: Array, mask: Optional[Array], copy: bool) -> None:
        self.array = array
        self.mask = mask
        self._copy = copy

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        nulls = "without nulls" if self.mask is None else "with a mask"
        return f"<dray.ArrowArray of {self.array.dtype}, shape {self.array.shape}, {nulls}>"

    def __arrow_c_schema__(self) -> Any:
        """A capsule of Arrow's schema."""
        return self.array.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Capsules of Arrow's schema and array."""
        return _dray.export_arrow(self.array, self.mask, self._copy, requested_schema, False)

    def __arrow_c_device_array__(self, requested_schema: Any = None,
                                 **kwargs: Any) -> tuple[Any, Any]:
        """The same, with a device array: the CPU's, and nothing to wait for."""
        for name, value in kwargs.items():
            if value is not None:
                raise NotImplementedError(
                    f"__arrow_c_device_array__() has no argument {name!r}")
        return _dray.export_arrow(self.array, self.mask, self._copy, requested_schema, True)


def _as_rows(array: Array, fields: Sequence[str]) -> Array:
    """Two axes as an axis of structures, with a name for each column."""
    is_list = isinstance(fields, Iterable) and not isinstance(fields, str)
    names: list[Any] = list(fields) if is_list else [fields]
    if not is_list or not all(isinstance(name, str) for name in names):
        raise TypeError(f"fields= is a list of names, a string for each column, not {fields!r}")
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(f"fields= has a name for each column of two axes: {len(names)} names are "
                         f"not for shape {array.shape}")
    if len(set(names)) < len(names):
        raise ValueError(f"fields have the same name: {names}")
    dense = array if array.flags.c_contiguous else array.copy("C")
    if not names or not array.size:
        return Array.empty(array.shape[0], [(name, array.dtype) for name in names])
    return dense.view([(name, array.dtype) for name in names]).reshape(array.shape[0])


def to_arrow(a: Any, mask: Any = None, *, copy: Optional[bool] = None,
             fields: Optional[Sequence[str]] = None) -> ArrowArray:
    """An object for pyarrow.array(), polars.Series(), nanoarrow.array() and other
    consumers of Arrow's capsules.

        pyarrow.array(dray.to_arrow(numpy.ma.masked_less(picture, 0)))

    `a`: an Array, an array of NumPy, or a masked array, whose mask is used
    `mask`: a bool for each element, true for a null; for fields, a bool for each
    `copy`: None copies if Arrow's layout differs: bools are bits there, days have 32
    bits, elements lie side by side, and the fields of a structure apart.
    False raises ValueError instead; True always copies
    `fields`: the names of the columns of two axes, for a frame: polars.DataFrame(),
    pyarrow.record_batch() and pandas.DataFrame.from_arrow() of it.  Always copies

    More axes become lists of a fixed size, complex numbers pairs.  Dates that are
    none (NaT) become nulls.  TypeError for other types, such as objects and text of a
    fixed size, of which Strings are made.
    Each consumer waits until no transfer writes the array; its elements must not
    change until the consumer is done.  Copies lie in ordinary memory."""
    if isinstance(a, numpy.ma.MaskedArray):
        if mask is None and a.mask is not numpy.ma.nomask:
            mask = a.mask
        a = numpy.ma.getdata(a)
    array = Array(a)
    if copy:
        array = array.copy()
    nulls = None if mask is None else Array(numpy.asarray(mask))
    if fields is not None:
        array = _as_rows(array, fields)
        nulls = None if nulls is None else _as_rows(nulls, fields)
    return ArrowArray(array, nulls, copy is not False)


def _capsules(obj: Any) -> tuple[Any, Any]:
    if isinstance(obj, tuple) and len(obj) == 2:
        return obj
    for name in "__arrow_c_device_array__", "__arrow_c_array__":
        method = getattr(obj, name, None)
        if method is not None:
            pair = method()
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError(f"{name}() of {named_type(obj)} returned {pair!r:.200}, "
                                "not a tuple of two capsules")
            return pair
    method = getattr(obj, "__arrow_c_stream__", None)
    if method is not None:
        return _dray.read_arrow_stream(method())
    raise TypeError(f"{named_type(obj)} has none of __arrow_c_device_array__(), "
                    "__arrow_c_array__() and __arrow_c_stream__(), nor is it a tuple of two "
                    "capsules")


@overload
def from_arrow(obj: Any, *, mask: Literal[False] = False, copy: Optional[bool] = None,
               fields: Literal[False] = False) -> Array: ...
@overload
def from_arrow(obj: Any, *, mask: Literal[True], copy: Optional[bool] = None,
               fields: Literal[False] = False) -> Masked: ...
@overload
def from_arrow(obj: Any, *, mask: Literal[False] = False, copy: Optional[bool] = None,
               fields: Literal[True]) -> dict[str, Array]: ...
@overload
def from_arrow(obj: Any, *, mask: Literal[True], copy: Optional[bool] = None,
               fields: Literal[True]) -> dict[str, Masked]: ...


def from_arrow(obj: Any, *, mask: bool = False, copy: Optional[bool] = None,
               fields: bool = False) -> Union[Array, Masked, dict[str, Array],
                                              dict[str, Masked]]:
    """An Array over the memory of an array of Arrow, such as pyarrow's, which it
    keeps.  It is read-only, unless it is a copy.

    `obj`: an object with __arrow_c_device_array__() or __arrow_c_array__(), or the
    two capsules that they return, which are then used up; or an object with
    __arrow_c_stream__(), such as a Series of pandas or Polars, if all of it is in
    one piece
    `mask`: True returns (array, mask): a bool for each element, true for a null, or
    None if there are no nulls.  Without it, nulls are a ValueError
    `copy`: None copies if the layout differs: bools, dates of days, times of day in
    32 bits, and structures as a single array.  False raises ValueError instead; True
    always copies, into memory of NumPy's current handler: inside of `with
    dray.memory():` into dray's
    `fields`: True returns a dictionary with an array for each field of a structure
    or record batch, none of them copied

    Lists of a fixed size become axes.  TypeError for types that an Array lacks, such
    as text, which Strings.from_arrow() reads, and for memory of another device than
    the CPU."""
    schema, array = _capsules(obj)
    made = _dray.import_arrow(schema, array, copy is not False, mask, fields)
    if not (mask or copy or fields):
        return made[0][0]
    # Releasing the producer's arrays, as copies do, may release its schema too.
    names = _dray.arrow_names(schema) if fields else []
    if copy:
        made = [(each.copy() if each.flags.immutable else each, nulls)
                for each, nulls in made]
    if not fields:
        return made[0] if mask else made[0][0]
    results: list[Any] = made if mask else [each for each, _ in made]
    if len(set(names)) < len(names):
        raise ValueError(f"fields have the same name: {names}")
    return dict(zip(names, results))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.nditer: the library's iterator over several operands, with the words of NumPy's."""
from __future__ import annotations

import operator
from types import TracebackType
from typing import Any, Optional, Sequence, Type, Union

import numpy

from . import _dray

# Bits of DRAY_NDITER_* and DRAY_OPERAND_*.
_FLAGS = {
    "c_index": 1 << 0, "f_index": 1 << 1, "multi_index": 1 << 2, "external_loop": 1 << 3,
    "reduce_ok": 1 << 4, "ranged": 1 << 5, "buffered": 1 << 6, "growinner": 1 << 7,
    "grow_inner": 1 << 7, "delay_bufalloc": 1 << 8, "zerosize_ok": 1 << 9,
    "copy_if_overlap": 1 << 10, "common_dtype": 1 << 12, "refs_ok": 0}
_READ, _WRITE, _ALLOCATE = 1 << 0, 1 << 1, 1 << 7
_OPERAND_FLAGS = {
    "readonly": _READ, "readwrite": _READ | _WRITE, "writeonly": _WRITE, "copy": 1 << 2,
    "updateifcopy": 1 << 3, "nbo": 1 << 4, "aligned": 1 << 5, "contig": 1 << 6,
    "allocate": _ALLOCATE, "no_broadcast": 1 << 8, "overlap_assume_elementwise": 1 << 9,
    "writemasked": 1 << 10, "arraymask": 1 << 11, "no_subtype": 0}
_CASTINGS = {"no": 0, "equiv": 1, "safe": 2, "same_kind": 3, "unsafe": 4}
_REDUCTION_AXIS = 1 << 30
_RESET, _RANGE, _COORDINATES, _INDEX, _POSITION, _REMOVE_AXIS, _REMOVE_COORDINATES, _LOOP = range(8)
_MOST_OPERANDS, _MOST_AXES = 8, 64


def _bits(words: Any, known: dict[str, int], of: str) -> int:
    bits = 0
    for word in [words] if isinstance(words, str) else words:
        if word not in known:
            raise ValueError(f"{word!r} is not a flag of {of}: {', '.join(sorted(known))}")
        bits |= known[word]
    return bits


def _operand_bits(words: Any, exists: bool) -> int:
    bits = _bits(words, _OPERAND_FLAGS, "an operand")
    access = [word for word in ("readonly", "readwrite", "writeonly")
              if word in ([words] if isinstance(words, str) else words)]
    if len(access) != 1:
        raise ValueError("an operand has exactly one of readonly, readwrite and writeonly, "
                         f"not {access}")
    if not exists and not bits & _ALLOCATE:
        raise ValueError("an operand that is None has the flag 'allocate'")
    return bits


def _for_each(value: Any, count: int, name: str) -> list[Any]:
    found = list(value)
    if len(found) != count:
        raise ValueError(f"{name} has an entry for each of {count} operands, not {len(found)}")
    return found


class nditer(_dray.NditerBase):  # pylint: disable=invalid-name
    """An iterator over several operands, as numpy.nditer, with its words:

        with dray.nditer([a, None], ["external_loop", "buffered"],
                         [["readonly"], ["writeonly", "allocate"]]) as it:
            for x, y in it:
                y[...] = 2 * x
            result = it.operands[1]

    Elements are arrays of NumPy without axes, or lines of an external loop.  Operands that
    it allocates are of dray.Array.  close(), or the end of `with`, writes buffers and copies
    back; it may be repeated, and other use afterwards is a ValueError."""
    __slots__ = ("_given",)
    _given: tuple[Any, ...]

    def __init__(self, op: Any, flags: Optional[Sequence[str]] = None, op_flags: Any = None,
                 op_dtypes: Any = None, order: str = "K", casting: str = "safe",
                 op_axes: Any = None, itershape: Any = None, buffersize: int = 0):
        given = tuple(op) if isinstance(op, (list, tuple)) else (op,)
        count = len(given)
        if not 1 <= count <= _MOST_OPERANDS:
            raise ValueError(f"an iterator has 1 to {_MOST_OPERANDS} operands, not {count}")
        bits = _bits(flags or (), _FLAGS, "an iterator")
        if order not in ("C", "F", "A", "K"):
            raise ValueError(f"an order is 'C', 'F', 'A' or 'K', not {order!r}")
        if casting not in _CASTINGS:
            raise ValueError(f"casting= is one of {', '.join(_CASTINGS)}, not {casting!r}")
        arrays = [None if each is None else numpy.asarray(each) for each in given]
        if op_flags is None:
            words = [("readonly",) if each is not None else ("writeonly", "allocate")
                     for each in given]
        elif all(isinstance(each, str) for each in op_flags) and op_flags:
            words = [op_flags] * count
        else:
            words = _for_each(op_flags, count, "op_flags")
        wanted = [_operand_bits(each, array is not None) for each, array in zip(words, arrays)]
        for each, array, access in zip(given, arrays, wanted):
            if array is None or not access & _WRITE:
                continue
            if not isinstance(each, (numpy.ndarray, _dray.Array)):
                raise TypeError(f"an operand that is written is an array, not {each!r}")
            if not array.flags.writeable:
                raise ValueError("an operand is read-only, and its flags ask for writes")
        if op_dtypes is None:
            dtypes = [None] * count
        elif isinstance(op_dtypes, (list, tuple)):
            dtypes = _for_each(op_dtypes, count, "op_dtypes")
        else:
            dtypes = [op_dtypes] * count
        types = tuple(None if each is None else numpy.dtype(each) for each in dtypes)
        maps, axes = self._maps(op_axes, count, itershape)
        extents = None if itershape is None or not axes else tuple(map(operator.index, itershape))
        self.make(tuple(arrays), tuple(wanted), types, bits, order, _CASTINGS[casting], axes,
                  maps, extents, operator.index(buffersize))
        self._given = given

    @staticmethod
    def _maps(op_axes: Any, count: int, itershape: Any) -> tuple[Any, int]:
        """The axes of each operand, and their number."""
        if op_axes is None:
            return None, 0 if itershape is None else len(itershape)
        found = [None if each is None else tuple(
            -1 if axis is None or axis is numpy.newaxis else operator.index(axis)
            for axis in each) for each in _for_each(op_axes, count, "op_axes")]
        lengths = {len(each) for each in found if each is not None}
        if len(lengths) > 1 or itershape is not None and lengths | {len(itershape)} != lengths:
            raise ValueError("the entries of op_axes, and itershape, are of the same length")
        axes = lengths.pop() if lengths else 0
        if axes > _MOST_AXES:
            raise ValueError(f"an iterator has at most {_MOST_AXES} axes, not {axes}")
        for each in found:
            for axis in each or ():
                if not -1 <= axis < 2 * _REDUCTION_AXIS:
                    raise ValueError(f"{axis} is not an axis of an operand")
        return tuple(found), axes

    def __enter__(self) -> nditer:
        self._check_open()
        return self

    def __exit__(self, type: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("Iterator is closed")

    def copy(self) -> nditer:
        """Another iterator at the same place; the first alone copies back."""
        made = super().copy()
        made._given = self._given
        return made

    __copy__ = copy

    def __len__(self) -> int:
        return self.nop

    def __getitem__(self, item: Union[int, slice]) -> Any:
        return self.views()[item]

    def __setitem__(self, item: Union[int, slice], value: Any) -> None:
        views = self.views()[item]
        if isinstance(views, tuple):
            for view, each in zip(views, _for_each(value, len(views), "the value")):
                view[...] = each
        else:
            views[...] = value

    def _flag(self, word: str) -> bool:
        return bool(self.flags & _FLAGS[word])

    @property
    def value(self) -> Any:
        """The elements at which it stands: an array, or of several operands a tuple."""
        return self._value()

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands: those that were given, and each that was allocated or copied."""
        self._check_open()
        found: list[Any] = []
        for number, given in enumerate(self._given):
            allocated = self.allocated(number)
            found.append(self.operand(number) if allocated is None else allocated)
            if given is not None and allocated is None:
                found[number] = given if isinstance(given, (numpy.ndarray, _dray.Array)) else (
                    found[number])
        return tuple(found)

    @property
    def dtypes(self) -> tuple[numpy.dtype[Any], ...]:
        """The types that the loop sees."""
        return self._types()

    @property
    def itviews(self) -> tuple[Any, ...]:
        """The operands as they are iterated over."""
        return tuple(self.operand(number) for number in range(self.nop))

    @property
    def has_index(self) -> bool:
        """Whether it keeps `index`."""
        return self._flag("c_index") or self._flag("f_index")

    @property
    def has_multi_index(self) -> bool:
        """Whether it keeps `multi_index`."""
        return self._flag("multi_index")

    @property
    def has_delayed_bufalloc(self) -> bool:
        """Whether reset() makes buffers."""
        return self.delayed

    @property
    def index(self) -> int:
        """The number of the element in C or F order."""
        self._check_kept(self.has_index, "index")
        return self.number

    @index.setter
    def index(self, number: int) -> None:
        self._check_kept(self.has_index, "index")
        self.jump(_INDEX, (operator.index(number),))

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The coordinates of the element."""
        self._check_kept(self.has_multi_index, "multi_index")
        return self.coordinates

    @multi_index.setter
    def multi_index(self, coordinates: Sequence[int]) -> None:
        self._check_kept(self.has_multi_index, "multi_index")
        if len(coordinates) != self.ndim:
            raise ValueError(f"the iterator has {self.ndim} axes, not {len(coordinates)}")
        self.jump(_COORDINATES, tuple(map(operator.index, coordinates)))

    @staticmethod
    def _check_kept(kept: bool, word: str) -> None:
        if not kept:
            raise ValueError(f"the iterator was made without an {word}" if word == "index" else
                             f"the iterator was made without the flag {word!r}")

    @property
    def iterindex(self) -> int:
        """Elements from the start of the iteration."""
        return self.position

    @iterindex.setter
    def iterindex(self, position: int) -> None:
        self.jump(_POSITION, (operator.index(position),))

    @property
    def iterrange(self) -> tuple[int, ...]:
        """The first element that it visits, and the end."""
        return self.range

    @iterrange.setter
    def iterrange(self, between: tuple[int, int]) -> None:
        start, end = between
        self.jump(_RANGE, (operator.index(start), operator.index(end)))

    def reset(self) -> None:
        """Starts over, and makes delayed buffers."""
        self.jump(_RESET, ())

    def remove_axis(self, axis: int) -> None:
        """Leaves an axis out, of which the first element stays."""
        axis = operator.index(axis)
        self.jump(_REMOVE_AXIS, (axis + self.ndim if axis < 0 else axis,))

    def remove_multi_index(self) -> None:
        """Keeps coordinates no more, and merges axes."""
        self.jump(_REMOVE_COORDINATES, ())

    def enable_external_loop(self) -> None:
        """Makes each step a line of elements."""
        self.jump(_LOOP, ())

    def debug_print(self) -> None:
        """Prints flags, shape and types."""
        words = sorted(word for word, bit in _FLAGS.items() if bit and self.flags & bit)
        print(f"nditer: {self.itersize} elements, shape {self.shape}, flags {', '.join(words)}, "
              f"types {', '.join(map(str, self.dtypes))}")

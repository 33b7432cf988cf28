# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Types of a program's own, and descriptions of types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, NoReturn, Optional, final

import numpy

from . import _dray
from ._ufunc import address_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Numbers of enum dray_casting.
_CASTINGS = {"safe": 2, "same_kind": 3, "unsafe": 4}
# NumPy's elements are at most as long.
_LONGEST = 2**31 - 1


class TypeInfo(NamedTuple):
    """A type of elements, as the library describes it.

    name: as of Array.typestr
    kind: the letter of its kind
    itemsize, alignment: in bytes
    meta_size: bytes of meta-data that an array of the type has beside its axes
    functions: addresses of the functions of <dray/element.h>, by their names; 0: none
    """

    name: str
    kind: str
    itemsize: int
    alignment: int
    meta_size: int
    functions: dict[str, int]


def type_info(dtype: Any) -> TypeInfo:
    """Describes a type of NumPy or a UserType."""
    return TypeInfo(*_dray.type_info(dtype))


def user_type(dtype: Any) -> Optional[UserType]:
    """The UserType that a type of NumPy has in its metadata, or that it is."""
    if isinstance(dtype, numpy.dtype) and dtype.metadata:
        dtype = dtype.metadata.get("dray.type")
    return dtype if isinstance(dtype, UserType) else None


def made_of(values: Any, type_: UserType) -> NDArray[Any]:
    """numpy.array() of a UserType."""
    elements = type_._elements(values)
    return filled(numpy.empty(elements.shape, type_.dtype), elements)


def filled(array: NDArray[Any], value: Any) -> NDArray[Any]:
    """Sets all elements of an array of NumPy, which knows no UserType, and returns it."""
    target: Any = array if user_type(array.dtype) is None else _dray.Array(array)
    target[...] = value
    return array


def _function(function: Any) -> tuple[int, Any]:
    """The address of a function in C, or a function of Python."""
    address: int = address_of(function)
    if address or function is None:
        return address, None
    return 0, function


def _elements_of(value: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists and the values in them; anything else is a value."""
    if isinstance(value, numpy.ndarray):
        return value.shape, list(value.flat)
    if not isinstance(value, list):
        return (), [value]
    parts = [_elements_of(each) for each in value]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise ValueError(f"lists of different shapes, {sorted(shapes)}, are no array")
    return (len(value), *(shapes.pop() if shapes else ())), [each for _, values in parts
                                                             for each in values]


@final
class UserType(_dray.UserBase):
    """A type of elements that a program defines; its name is for people.

        fixed = dray.UserType("fixed", 4, alignment=4, kind="x",
                              item=lambda raw: int.from_bytes(raw, "little", signed=True) / 65536,
                              pack=lambda x: round(x * 65536).to_bytes(4, "little", signed=True))
        a = dray.Array.zeros(3, fixed)
        a[0] = 1.5

    itemsize, alignment: bytes, a power of two that divides the former
    kind: a letter of no builtin type: none of ?biufcmMSUVOT
    item: makes a value of Python of an element's bytes; by default the bytes are the value
    pack: makes the bytes of a value; by default values are bytes, and others are converted
        by cast()
    compare: whether a is below, equal to or above b, as an int below, equal to or above 0
    nonzero: whether an element is true; by default both look at bytes

    compare and nonzero are functions of C (of ctypes, of Numba, or an address), of the types
    in <dray/element.h>, or functions of Python, which get values.  The library calls the
    former in any thread, without the GIL.

    compare, nonzero and conversions in Python raise their exceptions in the call that needed
    them; in a thread of the library, as with threads=, that is an OSError with the words of
    the exception, or a line on standard error.

    NumPy's arrays are of plain bytes, and NumPy's functions forget the type.  The garbage
    collector ends it, once no array and no ufunc refers to it."""

    __slots__ = ("__weakref__", "_item", "_pack")
    __module__ = "dray"
    _item: Optional[Callable[[bytes], Any]]
    _pack: Optional[Callable[[Any], bytes]]

    def __new__(cls, name: str, itemsize: int, alignment: int = 1, *, kind: str = "x",
                item: Optional[Callable[[bytes], Any]] = None,
                pack: Optional[Callable[[Any], bytes]] = None, compare: Any = None,
                nonzero: Any = None) -> UserType:
        size: int = _dray.whole(itemsize, "itemsize")
        step: int = _dray.whole(alignment, "alignment", 2**32 - 1)
        if not 1 <= size <= _LONGEST:
            raise ValueError(f"an element of type {name!r} of {size} bytes: 1 to {_LONGEST} are "
                             "possible")
        if step and size % step:
            raise ValueError(f"an element of type {name!r} of {size} bytes is not a multiple of its "
                             f"alignment, {step}: lengthen it")
        for function in (item, pack):
            if function is not None and not callable(function):
                raise TypeError(f"a function is needed, not {function!r}")
        made = super().__new__(cls, name, size, step, kind, *_function(compare),
                               *_function(nonzero), (compare, nonzero))
        made._item, made._pack = item, pack
        return made

    def cast(self, from_: Any, to: Any, loop: Any, context: Any = None, *,
             casting: str = "unsafe") -> None:
        """Sets the conversion between this type and another, of NumPy or a UserType:

            fixed.cast(fixed, "f8", lambda value: value, casting="safe")

        loop: a function of C as of ufunc.register(): operand 0 is of `to`, operand 1 of
            `from_`, aligned or not; or a function of Python from a value to a value
        context: as of ufunc.register()
        casting: the first rule that allows it: "safe", "same_kind" or "unsafe".  Of two
            types in a ufunc, the one that the other converts to safely is the common type

        It may be set again; calls that run finish with the loop before."""
        if casting not in _CASTINGS:
            raise ValueError(f"casting= is one of {', '.join(_CASTINGS)}, not {casting!r}")
        address, function = _function(loop)
        if not address and function is None:
            raise TypeError("a conversion needs a loop")
        _dray.user_type_cast(self, from_, to, address,
                             0 if context is None else address_of(context, False),
                             _CASTINGS[casting], loop, context)

    @property
    def info(self) -> TypeInfo:
        """The type as type_info() describes it."""
        return type_info(self)

    def _value(self, raw: bytes) -> Any:
        return raw if self._item is None else self._item(raw)

    def _bytes(self, value: Any) -> bytes:
        if isinstance(value, numpy.void):
            value = value.tobytes()
        raw = value if isinstance(value, bytes) or self._pack is None else self._pack(value)
        if not isinstance(raw, bytes):
            raise TypeError(f"an element of type {self.name!r} is made of bytes, not of {raw!r}: "
                            "pack= makes them")
        size = self.dtype.itemsize
        if len(raw) != size:
            raise ValueError(f"an element of type {self.name!r} has {size} bytes, not {len(raw)}")
        return raw

    def _values(self, array: NDArray[Any]) -> NDArray[Any]:
        """The values of elements, an array of objects."""
        made = numpy.empty(array.size, object)
        for number, raw in enumerate(array.view(f"V{array.itemsize}").flat):
            made[number] = self._value(raw.tobytes())
        return made.reshape(array.shape)

    def _elements(self, value: Any) -> NDArray[Any]:
        """An array of elements of values, or one that the library converts."""
        if isinstance(value, (numpy.ndarray, _dray.Array)) and value.dtype != object:
            return numpy.asarray(value)
        shape, values = _elements_of(value)
        if self._pack is None and not all([isinstance(each, (bytes, numpy.void))
                                           for each in values]):
            return numpy.asarray(value)
        return numpy.ndarray(shape, self.dtype, b"".join([self._bytes(each) for each in values]))

    def _text(self, array: NDArray[Any], how: Callable[[Any], str]) -> str:
        """NumPy's text of an array, shortened as others are, with values for elements."""
        with numpy.printoptions(formatter={"void": lambda each: how(self._value(each.tobytes()))}):
            return how(array)

    def _str(self, array: NDArray[Any]) -> str:
        return self._text(array, str) if array.ndim else str(self._value(array.tobytes()))

    def _repr(self, array: NDArray[Any]) -> str:
        before, mark, after = self._text(array, repr).rpartition(f"dtype='|V{array.itemsize}'")
        return f"{before}dtype={self.name}{after}" if mark else after

    def __repr__(self) -> str:
        return f"<dray.UserType {self.name!r}, {self.dtype.itemsize} bytes>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} has functions of this process, and cannot be pickled: pickle "
                        f"view('V{self.dtype.itemsize}')")

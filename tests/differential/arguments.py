# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random arguments of operations: each function takes a random.Random and the
array, and returns the arguments by their names.

None if the operation does not apply to the array.  A few arguments are wrong,
because errors are compared too.
"""
import ast
import ctypes
import dataclasses
from random import Random
from typing import Any, Optional

import numpy as np

from elements import Elements, Ours
import others
from memory import overlaps_itself

TYPES = ["?", "i1", "u1", "<i2", ">u2", "<i4", ">i4", "<i8", "<u8", "<f2", "<f4", ">f4",
         "<f8", "<f16", "<c8", ">c16", "S3", "S9", "U2", "U7", "V5", "<M8[s]", ">m8[D]",
         "<m8[ms]"]
# Booleans of other bytes than 0 and 1, and characters beyond Unicode, mean nothing;
# long doubles have unused bytes.
PLAIN = [each for each in TYPES if each[0] not in "?U" and each != "<f16"]
# Structures: nested, with titles, sub-arrays and gaps, out of order, overlapping.
STRUCTURES: list[Any] = [
    [("x", "<i2"), ("y", ">f4")], [("x", "?"), ("y", "<i8"), ("z", "S3")], [("x", "<f8")],
    [(("title", "x"), ">u2"), ("y", "<M8[s]")], [("x", "<i4", (2,)), ("y", "u1", (2, 1))],
    [("x", [("a", "<f2"), ("b", ">c8")]), ("y", "U2")],
    [("x", ">i2"), ("y", [("a", "u1"), ("b", "<u2", (2,))], (2,))],
    {"names": ["x", "y"], "formats": ["<i4", "<i2"], "offsets": [4, 0], "itemsize": 12},
    {"names": ["x", "y"], "formats": ["<i4", "<i2"], "offsets": [0, 2]},
    {"names": ["x", "y"], "formats": ["u1", "<f8"], "aligned": True},
    # Fields of no bytes.
    [("x", "V0"), ("y", "S0"), ("z", "<i2")], [("x", "U0"), ("y", ">f4", (0,)), ("z", "?")]]
MOST_ELEMENTS = 2000
# Numbers of the first elements: also where halves overflow, and at the ends of 64 bits.
FIRST = [0, 0, 0, -3, -3, 250, 65000, 2**63 - 1 - MOST_ELEMENTS, -2**63 + 1]


def a_type(pick: Random) -> Any:
    return pick.choice(TYPES if pick.random() < 0.8 else STRUCTURES)


def type_of(a: np.ndarray) -> Any:
    """Its type as an argument of numpy.dtype()."""
    return ast.literal_eval(str(a.dtype)) if a.dtype.names is not None else a.dtype.str


@dataclasses.dataclass(frozen=True)
class Source:
    """A new array, as a value that can be made smaller and printed."""

    dtype: Any
    shape: tuple[int, ...]
    order: str = "C"
    first: int = 0
    offset: int = 0

    @property
    def text(self) -> str:
        count = int(np.prod(self.shape, dtype=int))
        numbers = f"np.arange({self.first}, {self.first + count})"
        if str(self.dtype)[0] == "V":
            made = f"{numbers}.astype('S{self.dtype[1:]}').view('{self.dtype}')"
        else:
            made = f"{numbers}.astype({self.dtype!r})"
        if self.offset:
            made = (f"np.frombuffer(bytearray({self.offset}) + {made}.tobytes(), "
                    f"{self.dtype!r}, {count}, {self.offset})")
        if self.shape != (count,):
            order = f", order='{self.order}'" if self.order != "C" else ""
            made += f".reshape({self.shape}{order})"
        return made

    def make(self) -> np.ndarray:
        with np.errstate(all="ignore"):
            array = eval(self.text, {"np": np})  # pylint: disable=eval-used
        clear_gaps(array)
        return array


def clear_gaps(array: np.ndarray) -> None:
    """Zeroes the bytes between fields, and those of long doubles that are not used, which
    NumPy leaves as they were in its memory."""
    if array.dtype.char in "gG" and np.finfo(array.dtype).nmant == 63:
        array.ravel("K").view("u1").reshape(-1, np.dtype("g").itemsize)[:, 10:] = 0
    if not array.dtype.names or not array.size:
        return
    fields = {name: array[name].copy() for name in array.dtype.names}
    for field in fields.values():
        clear_gaps(field)
    ctypes.memset(array.ctypes.data, 0, array.nbytes)
    for name, field in fields.items():
        array[name] = field


def text(value: Any) -> str:
    """`value` as Python."""
    if isinstance(value, (Source, Indices, Elements, Ours)):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {text(each)}" for name, each in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(text, value))}{',' * (len(value) == 1)})"
    if value is Ellipsis:
        return "Ellipsis"
    if isinstance(value, slice):
        return f"slice({value.start}, {value.stop}, {value.step})"
    return repr(value)


@dataclasses.dataclass(frozen=True)
class Indices:
    """An array of integers or booleans, or a list; made smaller by its numbers."""

    numbers: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: str

    @property
    def text(self) -> str:
        shape = f".reshape({self.shape})" if self.shape != (len(self.numbers),) else ""
        kind = "" if self.dtype == "list" else f", '{self.dtype}'"
        made = f"np.array({list(self.numbers)}{kind or ', int'}){shape}"
        return f"{made}.tolist()" if self.dtype == "list" else made

    def make(self) -> Any:
        return eval(self.text, {"np": np})  # pylint: disable=eval-used


def array_of(value: Any) -> Any:
    """With arrays instead of their descriptions."""
    if isinstance(value, (Source, Indices, Elements, Ours)):
        return value.make()
    if type(value) is dict:
        return {name: array_of(each) for name, each in value.items()}
    return tuple(map(array_of, value)) if type(value) is tuple else value


def made(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: array_of(value) for name, value in arguments.items()}


def a_shape(pick: Random, most_axes: int = 5) -> tuple[int, ...]:
    extents = [0, 1, 1, 2, 2, 3, 3, 4, 5, 7]
    shape: list[int] = []
    elements = 1
    for _ in range(pick.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])):
        extent = pick.choice(extents)
        if len(shape) == most_axes or elements * extent > MOST_ELEMENTS:
            break
        shape.append(extent)
        elements *= extent or 1
    return tuple(shape)


def a_source(pick: Random) -> Source:
    dtype = a_type(pick)
    return Source(dtype, a_shape(pick), pick.choice("CCCF"), pick.choice(FIRST),
                  pick.choice([0, 0, 0, 0, 1]))


def nothing(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {}


def wrong(pick: Random) -> bool:
    return pick.random() < 0.04


def an_integer(pick: Random, extent: int) -> Any:
    if wrong(pick) or not extent:
        return pick.choice([extent, -extent - 1, 10**30, -2**63, 2**63])
    return pick.randrange(-extent, extent)


def a_bound(pick: Random, extent: int) -> Any:
    return pick.choice([None, None, pick.randrange(-extent - 2, extent + 3),
                        pick.randrange(-extent - 2, extent + 3), 2**63, -2**63])


def a_slice(pick: Random, extent: int) -> slice:
    step = pick.choice([None, None, 1, 1, -1, -1, 2, 3, -2, -7, 2**62, -2**63])
    if wrong(pick):
        step = pick.choice([0, 1.5])
    if pick.random() < 0.3:
        return slice(None, None, step)
    return slice(a_bound(pick, extent), a_bound(pick, extent), step)


def an_index(pick: Random, a: np.ndarray, integers: float = 0.3) -> Any:
    """A basic index; a tuple, or one step."""
    count = pick.randrange(a.ndim + 1)
    steps: list[Any] = [
        an_integer(pick, extent) if pick.random() < integers else a_slice(pick, extent)
        for extent in (a.shape[:count] if pick.random() < 0.7
                       else a.shape[a.ndim - count:])]
    if pick.random() < 0.3:
        steps.insert(pick.randrange(len(steps) + 1), Ellipsis)
    while pick.random() < 0.2:
        steps.insert(pick.randrange(len(steps) + 1), None)
    if wrong(pick):
        steps.append(pick.choice([0, Ellipsis, slice(None), 1.5, "x"]))
    return steps[0] if len(steps) == 1 and pick.random() < 0.5 else tuple(steps)


def basic_index(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"i": an_index(pick, a)}


def slices(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"i": an_index(pick, a, 0)}


def a_value(pick: Random, a: np.ndarray) -> Any:
    if a.dtype.kind in "SUV" and not a.dtype.names:
        return pick.choice([b"x", b"long text"])
    if wrong(pick):
        return pick.choice(["text", None, [1, [2]], 10**40])
    return pick.choice([0, 1, True, 3])


def value(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"v": a_value(pick, a)}


def index_and_value(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"i": an_index(pick, a), "v": a_value(pick, a)}


def at(a: np.ndarray, index: Any) -> np.ndarray:
    """The part of `a`, or all of it if the index is wrong."""
    try:
        return np.asarray(a[index])
    except Exception:  # pylint: disable=broad-except
        return a


def a_narrower_shape(pick: Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that can be broadcast to `shape`."""
    narrow = [1 if pick.random() < 0.2 else extent for extent in shape]
    if pick.random() < 0.3:
        narrow = narrow[pick.randrange(len(narrow) + 1):]
    if pick.random() < 0.1:
        narrow.insert(0, 1)
    if wrong(pick):
        narrow.append(pick.choice([1, 2]))
    return tuple(narrow)


def index_and_array(pick: Random, a: np.ndarray) -> dict[str, Any]:
    index = an_index(pick, a, 0.2)
    shape = a_narrower_shape(pick, at(a, index).shape)
    dtype = type_of(a) if pick.random() < 0.5 else a_type(pick)
    return {"i": index, "v": Source(dtype, shape, pick.choice("CF"), 5)}


def two_parts(pick: Random, a: np.ndarray) -> dict[str, Any]:
    index = an_index(pick, a, 0.1)
    part = at(a, index)
    if pick.random() < 0.5:
        return {"i": index, "j": an_index(pick, a, 0.1)}
    # A part of the same shape, elsewhere.
    moved = tuple(slice(start, start + size) for start, size in
                  zip((pick.randrange(3) for _ in range(a.ndim)), part.shape))
    return {"i": tuple(slice(extent) for extent in part.shape) if pick.random() < 0.5
            else index, "j": moved}


def axes(pick: Random, a: np.ndarray) -> dict[str, Any]:
    order = list(range(a.ndim))
    pick.shuffle(order)
    order = [each - a.ndim if pick.random() < 0.2 else each for each in order]
    if wrong(pick):
        order.insert(0, pick.choice([0, 7]))
    if wrong(pick) and order:
        order[0] = pick.choice([order[-1], 64, -9])
    return {"x": None if wrong(pick) else tuple(order)}


def wider_shape(pick: Random, a: np.ndarray) -> dict[str, Any]:
    room = MOST_ELEMENTS // max(a.size, 1)
    shape = []
    for extent in a.shape:
        if extent == 1 and room > 4 and pick.random() < 0.6:
            extent = pick.choice([0, 2, 3, 4])
            room //= extent or 1
        shape.append(extent)
    while pick.random() < 0.3 and room > 3 and len(shape) < 6:
        shape.insert(0, pick.choice([0, 1, 2, 3]))
        room //= shape[0] or 1
    if wrong(pick):
        shape.append(pick.choice([0, 2, -1]))
    return {"s": tuple(shape)}


def order(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"o": "x" if wrong(pick) else pick.choice("CFAK")}


def a_new_shape(pick: Random) -> tuple[int, ...]:
    shape = a_shape(pick)
    return shape + pick.choice([(-1,), (2**62, 8), (1,) * 65]) if wrong(pick) else shape


def shape_and_order(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"s": a_new_shape(pick), "o": pick.choice("CF")}


def steps(pick: Random, a: np.ndarray) -> dict[str, Any]:
    """The arguments of a range of few numbers, or none."""
    first = pick.choice([pick.randrange(-300, 300), pick.uniform(-9, 9)])
    step = 0 if wrong(pick) else pick.choice([pick.randrange(1, 40), pick.uniform(.1, 2)])
    step *= pick.choice([1, -1])
    return {"f": first, "s": first + pick.randrange(-2, 40) * step, "t": step,
            "d": pick.choice([None] + [each for each in TYPES if each[-1] not in "?]"])}


def cast(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"d": type_of(a) if pick.random() < 0.2 else a_type(pick),
            "o": pick.choice("KKCFA"),
            "r": pick.choice(["unsafe", "unsafe", "same_kind", "safe", "equiv", "no"])}


def an_axis(pick: Random, ndim: int) -> int:
    return pick.choice([ndim, -ndim - 1, 64]) if wrong(pick) or not ndim \
        else pick.randrange(-ndim, ndim)


def two_axes(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"x": an_axis(pick, a.ndim), "y": an_axis(pick, a.ndim)}


def several_axes(pick: Random, ndim: int, count: int) -> tuple[int, ...]:
    """Different ones, unless they are wrong."""
    chosen = [axis - ndim if pick.random() < 0.3 else axis
              for axis in pick.sample(range(ndim), min(count, ndim))]
    if wrong(pick):
        chosen.append(an_axis(pick, ndim))
    return tuple(chosen)


def one_or_more(pick: Random, numbers: tuple[int, ...]) -> Any:
    return numbers[0] if len(numbers) == 1 and pick.random() < 0.7 else numbers


def some_axes(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if not a.ndim:
        return None  # of which np.flip() makes a scalar
    count = pick.randrange(a.ndim + 1)
    return {"x": None if pick.random() < 0.2 else
            one_or_more(pick, several_axes(pick, a.ndim, count))}


def moves(pick: Random, a: np.ndarray) -> dict[str, Any]:
    count = pick.randrange(a.ndim + 1)
    return {"f": one_or_more(pick, several_axes(pick, a.ndim, count)),
            "t": one_or_more(pick, several_axes(pick, a.ndim, count))}


def axes_of_one(pick: Random, a: np.ndarray) -> dict[str, Any]:
    ones = [axis for axis, extent in enumerate(a.shape) if extent == 1]
    if pick.random() < 0.3:
        return {"x": None}
    if wrong(pick) or not ones:
        return {"x": an_axis(pick, a.ndim)}
    return {"x": one_or_more(pick, tuple(pick.sample(ones, pick.randint(1, len(ones)))))}


def new_axes(pick: Random, a: np.ndarray) -> dict[str, Any]:
    count = pick.randint(0, 2)
    return {"x": one_or_more(pick, several_axes(pick, a.ndim + count, count))}


def diagonal(pick: Random, a: np.ndarray) -> dict[str, Any]:
    axis1, axis2 = (several_axes(pick, a.ndim, 2) + (0, 1))[:2]
    return {"k": pick.choice([0, 0, 1, -1, 2, -3, 9, -9]), "x": axis1, "y": axis2}


def factors(pick: Random, number: int) -> list[int]:
    """Extents of so many elements, each from 2 on."""
    found = []
    while number > 1:
        factor = next((prime for prime in (2, 3, 5, 7) if number % prime == 0), number)
        if found and pick.random() < 0.5:
            found[pick.randrange(len(found))] *= factor
        else:
            found.append(factor)
        number //= factor
    pick.shuffle(found)
    return found


def other_shape(pick: Random, a: np.ndarray) -> dict[str, Any]:
    shape = factors(pick, a.size) if a.size else [0] + list(a.shape)[:2]
    if pick.random() < 0.3:
        # Joins or divides axes in place, which needs no copy.
        shape = list(a.shape)
        at = pick.randrange(a.ndim) if a.ndim else 0
        shape[at:at + 1] = factors(pick, a.shape[at]) if a.ndim and a.shape[at] else [1]
    while pick.random() < 0.3:
        shape.insert(pick.randrange(len(shape) + 1), 1)
    if shape and pick.random() < 0.3:
        shape[pick.randrange(len(shape))] = -1
    if wrong(pick):
        shape.append(pick.choice([0, 2, -1, 2**62]))
    return {"s": tuple(shape), "o": pick.choice("CCCFA")}


def of_complex(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    """NumPy makes an array of zeros for other types."""
    return {} if a.dtype.kind == "c" else None


def has_unused_bytes(a: np.ndarray) -> bool:
    """Long doubles and structures may have some, of any value."""
    return a.dtype.char in "gG" or bool(a.dtype.names)


def other_type(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if has_unused_bytes(a):
        return None
    dtype = pick.choice(PLAIN)
    if pick.random() < 0.5:
        dtype = pick.choice([each for each in PLAIN
                             if np.dtype(each).itemsize == a.itemsize] or PLAIN)
    return {"d": dtype}


def window(pick: Random, a: np.ndarray) -> dict[str, Any]:
    if a.ndim and pick.random() < 0.6:
        count = pick.randint(1, a.ndim)
        axes = several_axes(pick, a.ndim, count)
    else:
        axes = tuple(range(a.ndim))
    shape = tuple(pick.randint(0 if wrong(pick) else 1, max(extent, 1)) + wrong(pick)
                  for extent in (a.shape[axis] if -a.ndim <= axis < a.ndim else 1
                                 for axis in axes))
    if wrong(pick):
        shape += (1,)
    named = one_or_more(pick, axes)
    return {"s": shape if isinstance(named, tuple) else shape[0],
            "x": None if axes == tuple(range(a.ndim)) and pick.random() < 0.5 else named}


def within(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    """Shape and strides that do not leave the elements: NumPy does not look."""
    shape = a_shape(pick, 3)
    strides = tuple(pick.choice([0, a.itemsize, 2 * a.itemsize, 1, *a.strides])
                    for _ in shape)
    low, high = np.lib.array_utils.byte_bounds(a)
    made = np.lib.stride_tricks.as_strided(a, shape, strides)
    first, last = np.lib.array_utils.byte_bounds(made)
    meaningless = has_unused_bytes(a) or a.dtype.kind == "U"
    if not a.size or meaningless or (made.size and not low <= first <= last <= high):
        return None
    return {"s": shape, "t": strides}


def two_slices(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if not a.ndim:
        return None  # a[()] is a scalar then
    return {"i": an_index(pick, a, 0), "j": an_index(pick, a, 0)}


def integers(pick: Random, extent: int, shape: tuple[int, ...]) -> Indices:
    count = int(np.prod(shape, dtype=int))
    numbers = [pick.randrange(-extent, extent) if extent else 0 for _ in range(count)]
    if count and wrong(pick):
        numbers[-1] = pick.choice([extent, -extent - 1])
    dtype = pick.choice(["<i8", "<i8", "<i4", ">i2", "list",
                         "u1" if min(numbers, default=0) >= 0 else "i1"])
    if dtype[1] == "1" and max(map(abs, numbers), default=0) > 127:
        dtype = "<i8"
    return Indices(tuple(numbers), shape, dtype if shape else "<i8")


def booleans(pick: Random, shape: tuple[int, ...]) -> Indices:
    count = int(np.prod(shape, dtype=int))
    return Indices(tuple(int(pick.random() < 0.4) for _ in range(count)), shape, "?")


def an_array_index(pick: Random, a: np.ndarray) -> Any:
    common = pick.choice([(), (1,), (2,), (3,), (0,), (2, 3), (2, 1), (1, 3)])
    steps: list[Any] = []
    axis = 0
    while axis < a.ndim and pick.random() < 0.85:
        kind = pick.random()
        if kind < 0.35:
            shape = a_narrower_shape(pick, common)
            steps.append(integers(pick, a.shape[axis], shape))
        elif kind < 0.5:
            count = pick.randint(1, min(2, a.ndim - axis))
            extents = list(a.shape[axis:axis + count])
            if wrong(pick):
                extents[0] += 1
            steps.append(booleans(pick, tuple(extents)))
            axis += count - 1
        elif kind < 0.6:
            steps.append(an_integer(pick, a.shape[axis]))
        else:
            steps.append(a_slice(pick, a.shape[axis]))
        axis += 1
    if pick.random() < 0.3:
        steps.insert(pick.randrange(len(steps) + 1), Ellipsis)
    while pick.random() < 0.15:
        steps.insert(pick.randrange(len(steps) + 1), pick.choice([None, None, True, False]))
    if wrong(pick):
        steps.append(pick.choice([Indices((0,), (1,), "<i8"), Indices((1, 0), (2,), "<f8")]))
    return steps[0] if len(steps) == 1 and pick.random() < 0.5 else tuple(steps)


def array_index(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"i": an_array_index(pick, a)}


def array_index_and_array(pick: Random, a: np.ndarray) -> dict[str, Any]:
    index = an_array_index(pick, a)
    part = at(a, made({"i": index})["i"])
    dtype = type_of(a) if pick.random() < 0.6 else a_type(pick)
    return {"i": index, "v": Source(dtype, a_narrower_shape(pick, part.shape),
                                    pick.choice("CF"), 5)}


def index_of_partner(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    given = one_array_index(pick, a)
    return given and {**given, "k": pick.choice(others.INSTALLED)}


def index_and_partner(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if a.dtype.kind == "V":
        return None
    return {**index_and_array(pick, a), "k": pick.choice(others.INSTALLED)}


def a_partner(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if not is_number(a):
        return None
    dtype = pick.choice(["?", "u1", "<i4", "<i8", "<f4", "<f8", "<c16"])
    return {"v": Source(dtype, a_narrower_shape(pick, a.shape), pick.choice("CF"), 5),
            "k": pick.choice(others.INSTALLED)}


def version(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"v": pick.choice([(1, 0), (2, 0), (3, 0)])}


def some_integers(pick: Random, extent: int) -> Indices:
    return integers(pick, extent, pick.choice([(), (1,), (3,), (0,), (2, 3)]))


def mode(pick: Random, a: np.ndarray) -> str:
    """NumPy never ends to wrap around an axis without elements."""
    return pick.choice(["raise", "raise", "wrap", "clip"]) if a.size else "raise"


def numbers_along_an_axis(pick: Random, a: np.ndarray) -> dict[str, Any]:
    axis = None if pick.random() < 0.3 else an_axis(pick, a.ndim)
    extent = a.size if axis is None else \
        a.shape[axis] if -a.ndim <= axis < a.ndim else 1
    return {"n": some_integers(pick, extent), "x": axis,
            "m": mode(pick, a)}


def numbers_and_values(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if overlaps_itself(a):
        return None  # NumPy writes all elements
    dtype = type_of(a) if pick.random() < 0.6 or not a.size else a_type(pick)
    return {"n": some_integers(pick, a.size), "v": Source(dtype, a_shape(pick, 2), first=5),
            "m": mode(pick, a)}


def axis(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"k": an_axis(pick, a.ndim)}


def axis_or_none(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"x": None if pick.random() < 0.3 else an_axis(pick, a.ndim)}


def is_number(a: np.ndarray) -> bool:
    """Whether sums of its small integers are exact."""
    return a.dtype.kind in "?iufc" and a.dtype.char not in "eFgG" and bool(
        a.dtype.kind == "?" or np.abs(a.astype("c16")).max(initial=0) < 2**20)


def reduction(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    if not is_number(a):
        return None
    return {"x": None if pick.random() < 0.3 else an_axis(pick, a.ndim),
            "d": pick.choice(["i4", "u8", "f8", "c16", "?", "f4"])}


def axis_and_type(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {**axis_or_none(pick, a), "d": pick.choice([None, None, "i4", "u8", "f8", "?", "f4"])}


def decimals(pick: Random, a: np.ndarray) -> dict[str, Any]:
    return {"k": pick.choice([0, 0, 1, -1])}


def with_output(call: Any, arguments: Any) -> Any:
    """Makes arguments, an output for the results of `call`, and the side of the inputs."""
    def make_all(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
        given = arguments(pick, a)
        if given is None or not is_number(a) or a.dtype.kind == "c" or a.size > 300:
            return None
        try:
            result = np.asarray(call.run(a, made(given)))
        except Exception:  # pylint: disable=broad-except
            result = a
        dtype = result.dtype.str if pick.random() < 0.6 else pick.choice(TYPES)
        shape = a_narrower_shape(pick, result.shape) if pick.random() < 0.1 else result.shape
        if "cum" in call.text and len(shape) != result.ndim:
            return None  # NumPy reads memory of others
        return {**given, "o": Source(dtype, shape, pick.choice("CF"), 7), "p": pick.random() < 0.5}
    return make_all


def one_array_index(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    index = an_array_index(pick, a)
    return {"i": index} if isinstance(index, Indices) and index.dtype != "list" else None


def axis_to_sort(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    return None if overlaps_itself(a) else {"x": an_axis(pick, a.ndim)}


def a_field(pick: Random, a: np.ndarray) -> Optional[dict[str, Any]]:
    """A field of a structure over the bytes of an element."""
    if has_unused_bytes(a) or a.itemsize < 3:
        return None
    first = pick.choice(["u1", "<i2", ">u2"])
    rest = a.itemsize - np.dtype(first).itemsize
    second = pick.choice([("y", f"S{rest}"), ("y", f"V{rest}"), ("y", "u1", (rest,))])
    return {"d": [("x", first), second], "f": "z" if wrong(pick) else pick.choice("xy")}

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays of chosen numbers and layouts, as values that can be made smaller and printed."""
import dataclasses
import functools
import math
from random import Random
from types import CodeType
from typing import Any, Iterator

import dray
import numpy as np

INTEGERS = ["i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"]
FLOATS = ["<f2", "<f4", "<f8"]
COMPLEX = ["<c8", "<c16"]
# Without "<M8": NumPy 2.4 ends the process when it converts many to a unit.
DATES = ["<M8[D]", "<M8[s]", "<M8[ns]", "<M8[25s]", "<M8[M]"]
DURATIONS = ["<m8[D]", "<m8[s]", "<m8[ns]", "<m8[25s]", "<m8", "<m8[M]"]
NOT_A_TIME = -2**63

LAYOUTS = {
    "C": "{x}",
    "F": "np.asfortranarray({x})",
    "strided": "np.repeat({x}, 2, -1)[..., ::2]",
    "negative": "np.flip(np.flip({x}).copy())",
    "transposed": "{x}.T.copy().T",
    "misaligned": "np.frombuffer(bytearray(1) + {x}.tobytes(), {dtype!r}, {size}, 1)"
                  ".reshape({shape})",
    "broadcast": "np.broadcast_to({row}, {shape})",
}


@dataclasses.dataclass(frozen=True)
class Elements:
    """`numbers`, repeated to fill the shape.  Dates are integers."""

    numbers: tuple[Any, ...]
    dtype: str
    shape: tuple[int, ...]
    layout: str = "C"

    def filled(self, shape: tuple[int, ...]) -> str:
        numbers = f"[{', '.join(map(number_text, self.numbers))}]"
        if np.dtype(self.dtype).kind in "mM":
            made = f"np.array({numbers}, '<i8').view('<{self.dtype[1:]}')"
            if self.dtype == ">m8":  # NumPy 2.4 would not swap its bytes
                made += ".byteswap().view('>m8')"
            elif self.dtype[0] == ">":
                made += f".astype('{self.dtype}')"
        else:
            made = f"np.array({numbers}, '{self.dtype}')"
        if shape == (len(self.numbers),):
            return made
        # np.resize() makes elements of the machine's byte order.
        order = f".astype('{self.dtype}')" if self.dtype[0] == ">" else ""
        return f"np.resize({made}, {shape}){order}"

    @functools.cached_property
    def text(self) -> str:
        row = self.filled((1,) + self.shape[1:]) if self.shape else ""
        return LAYOUTS[self.layout].format(
            x=self.filled(self.shape), dtype=self.dtype, row=row, shape=self.shape,
            size=math.prod(self.shape))

    @functools.cached_property
    def code(self) -> CodeType:
        return compile(self.text, "elements", "eval")

    def make(self) -> np.ndarray:
        return eval(self.code, {"np": np})  # pylint: disable=eval-used


@dataclasses.dataclass(frozen=True)
class Ours:
    """An argument that dray gets as a dray.Array."""

    elements: Elements

    @property
    def text(self) -> str:
        return f"dray.Array({self.elements.text})"

    def make(self) -> Any:
        return dray.Array(self.elements.make())


def ours(value: Any) -> Any:
    """Arguments with Ours instead of Elements."""
    if isinstance(value, Elements):
        return Ours(value)
    if type(value) is tuple:
        return tuple(map(ours, value))
    if type(value) is dict:
        return {name: ours(each) for name, each in value.items()}
    return value


def readable(array: Any) -> Any:
    """An input as NumPy 2.4 reads it: it never swaps the bytes of durations without a unit."""
    if isinstance(array, np.ndarray) and array.dtype == np.dtype(">m8") \
            and np.datetime_data(array.dtype)[0] == "generic" and not array.dtype.isnative:
        return array.byteswap().view("<m8")
    return array


def number_text(number: Any) -> str:
    if isinstance(number, complex):
        return f"complex({number_text(number.real)}, {number_text(number.imag)})"
    return repr(number) if not isinstance(number, float) or math.isfinite(number) \
        else f"float('{number}')"


def smaller(value: Elements) -> Iterator[Elements]:
    if value.layout != "C":
        yield dataclasses.replace(value, layout="C")
    if value.dtype[0] == ">":
        yield dataclasses.replace(value, dtype="<" + value.dtype[1:])
    shape = value.shape
    for at, extent in enumerate(shape):
        if value.layout == "C" or len(shape) > 1:
            yield dataclasses.replace(value, shape=shape[:at] + shape[at + 1:])
        for other in sorted({0, 1, 2, extent // 2, extent - 1}):
            if 0 <= other < extent and not (value.layout == "misaligned" and not other):
                yield dataclasses.replace(value, shape=shape[:at] + (other,) + shape[at + 1:])
    for at in range(len(value.numbers)):
        if len(value.numbers) > 1:
            yield dataclasses.replace(
                value, numbers=value.numbers[:at] + value.numbers[at + 1:])
    for at, number in enumerate(value.numbers):
        if number not in (0, 1):
            yield dataclasses.replace(
                value, numbers=value.numbers[:at] + (type(number)(1),) + value.numbers[at + 1:])


def float_numbers(pick: Random, dtype: Any, tame: bool) -> float:
    limits = np.finfo(dtype)
    if tame or pick.random() < 0.55:
        number = pick.choice([pick.uniform(-9, 9), pick.uniform(0, 2), pick.gauss(0, 30),
                              float(pick.randrange(-20, 20))])
    elif pick.random() < 0.5:
        number = pick.choice([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, math.inf, -math.inf, math.nan])
    else:
        number = pick.choice([1, -1]) * pick.choice([
            limits.smallest_subnormal, limits.tiny, limits.max, limits.eps, limits.max / 2,
            math.pi, math.pi / 2, 2.0**20 + 0.5, limits.tiny * 3,
            math.exp(pick.uniform(math.log(limits.tiny), math.log(limits.max)))])
    with np.errstate(all="ignore"):
        return float(dtype.type(number))


def numbers(pick: Random, dtype: str, count: int, tame: bool = False) -> tuple[Any, ...]:
    """Elements of a type, special ones among them unless they are to be tame."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return tuple(pick.random() < 0.5 for _ in range(count))
    if kind.kind in "mM":
        return tuple(NOT_A_TIME if pick.random() < 0.1 else pick.randrange(-3000, 20000)
                     for _ in range(count))
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        most = (0, 1, 2, 3, 5, 7, 8, 40, 100) + (() if tame else
                                                 (limits.max, limits.min, limits.max // 2, 63))
        chosen = [pick.choice(most) for _ in range(count)]
        return tuple(-number if kind.kind == "i" and pick.random() < 0.3
                     and number != limits.min else number for number in chosen)
    if kind.kind == "c":
        part = np.dtype(f"f{kind.itemsize // 2}")
        return tuple(complex(float_numbers(pick, part, tame), float_numbers(pick, part, tame))
                     for _ in range(count))
    return tuple(float_numbers(pick, kind, tame) for _ in range(count))


def shape(pick: Random) -> tuple[int, ...]:
    if pick.random() < 0.3:
        return (pick.choice([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 130,
                             1000 if pick.random() < 0.3 else 40,
                             9000 if pick.random() < 0.1 else 12]),)
    return tuple(pick.choice([0, 1, 1, 2, 2, 3, 4, 5, 8, 9, 17])
                 for _ in range(pick.choice([0, 1, 2, 2, 2, 3, 3, 4])))


def elements(pick: Random, dtype: str, extents: tuple[int, ...], *, tame: bool = False,
             written: bool = False) -> Elements:
    layouts = ["C", "C", "C"]
    if extents:
        layouts += ["F", "transposed", "strided", "negative"]
        if math.prod(extents):
            layouts.append("misaligned")
        if not written and extents[0]:
            layouts.append("broadcast")
    if dtype[0] == "<" and not (dtype == "<m8" and written) and pick.random() < 0.12:
        dtype = ">" + dtype[1:]
    count = min(max(math.prod(extents), 1), pick.choice([3, 6, 12]))
    return Elements(numbers(pick, dtype, count, tame), dtype, extents, pick.choice(layouts))

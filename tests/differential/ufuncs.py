# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random calls of ufuncs and of their methods: one operation for each.

A line has `a`, an array; `v`, the other inputs; and `k`, keywords.  dray takes `a` as a
dray.Array and all else as NumPy's arrays.
"""
import dataclasses
import functools
import math
from random import Random
from typing import Any, Callable, Optional

import numpy as np

import arguments as make
import dray
import elements
from elements import Elements
from operations import Operation, Line

# Ufuncs of NumPy that dray does not have: docs/ufuncs.md tells why.
THEIRS = {name: each for name, each in vars(np).items() if isinstance(each, np.ufunc)}
MISSING = sorted(name for name in THEIRS
                 if not isinstance(getattr(dray, name, None), dray.ufunc))
NAMES = sorted({each.__name__ for name, each in THEIRS.items()
                if name not in MISSING and not each.signature})
ALL = (["?"] + elements.INTEGERS + elements.FLOATS + elements.COMPLEX + elements.DATES
       + elements.DURATIONS)
NUMBERS = ["?"] + elements.INTEGERS + elements.FLOATS + elements.COMPLEX


@functools.lru_cache(None)
def types(name: str, place: int) -> tuple[str, ...]:
    """Types that stand in a loop of NumPy's at a place; plain ones."""
    letters = {loop[place] for loop in getattr(np, name).types}
    found = [dtype for dtype in ALL if np.dtype(dtype).char in letters]
    return tuple(found or NUMBERS)


def a_type(pick: Random, name: str, place: int, other: str = "") -> str:
    if make.wrong(pick):
        return pick.choice(ALL)
    if other and other in types(name, place) and pick.random() < 0.6:
        return other
    return pick.choice(types(name, place))


def a_number(pick: Random, dtype: str) -> Any:
    """A number of Python, which has a kind alone."""
    return pick.choice([0, 1, -1, 2, 3, 7, 100, 200, 300, 70000, -5, 2**40, 0.5, -1.5, 2.0, 1e10,
                        True, 1j, -2**63, 2**63, 0, 1, 2, 3])


def is_tame(name: str, keywords: dict[str, Any]) -> bool:
    """Whether odd numbers would be converted to types that do not have them."""
    return "casting" in keywords or name in ("ldexp", "left_shift", "right_shift")


def result_types(name: str, inputs: list[Any]) -> Optional[tuple[np.dtype, ...]]:
    ufunc = getattr(np, name)
    given = [each if not isinstance(each, Elements) else np.dtype(each.dtype) for each in inputs]
    given = [type(each) if type(each) in (int, float, complex) else
             np.dtype(bool) if isinstance(each, bool) else each for each in given]
    try:
        return ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))[ufunc.nin:]
    except TypeError:
        return None


def an_output(pick: Random, dtype: Any, shape: tuple[int, ...]) -> Elements:
    name = np.dtype(dtype).str
    if name[0] == "|":
        name = name[1:]
    if name not in ALL or make.wrong(pick):
        name = pick.choice(ALL if np.dtype(dtype).kind in "mM" else NUMBERS)
    if make.wrong(pick):
        shape = pick.choice([shape[1:], shape + (2,), (3,) + shape])
    return elements.elements(pick, name, shape, tame=True, written=True)


def wider_type(pick: Random, dtype: np.dtype) -> str:
    """A type to which numbers of another are converted with a meaning."""
    if dtype.kind in "fc":
        return pick.choice(elements.FLOATS + elements.COMPLEX)
    return pick.choice(elements.INTEGERS + elements.FLOATS) if dtype.kind in "iub" else \
        "<" + dtype.str[1:3]  # a unit is not taken for dtype=


def common_shape(inputs: list[Any]) -> Optional[tuple[int, ...]]:
    try:
        return np.broadcast_shapes(*(each.shape for each in inputs if isinstance(each, Elements)))
    except ValueError:
        return None


COMPARISONS = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")


def keywords(pick: Random, name: str, inputs: list[Any]) -> dict[str, Any]:
    """Keywords of a call."""
    given: dict[str, Any] = {}
    made = result_types(name, inputs)
    shape = common_shape(inputs)
    if made and shape is not None and pick.random() < 0.3:
        outputs = tuple(an_output(pick, dtype if pick.random() < 0.7 else wider_type(pick, dtype),
                                  shape) for dtype in made)
        given["out"] = outputs if len(outputs) > 1 or pick.random() < 0.5 else outputs[0]
        if pick.random() < 0.5:
            mask = make.a_narrower_shape(pick, shape)
            given["where"] = elements.elements(pick, "?" if not make.wrong(pick) else "u1", mask)
    if pick.random() < 0.08:
        given["order"] = pick.choice("CFAK")
    if any(isinstance(each, Elements) and each.dtype[1:2] in "mM" for each in inputs):
        return given  # NumPy chooses their types in ways of its own
    if pick.random() < 0.08:
        given["casting"] = pick.choice(["no", "equiv", "safe", "same_kind", "unsafe", "odd"])
    if made and pick.random() < 0.1 and "out" not in given:
        given["dtype"] = wider_type(pick, made[0])
    elif made and pick.random() < 0.05 and all(isinstance(each, Elements) for each in inputs):
        loop = pick.choice(getattr(np, name).types)
        if not set(loop) & set("OgGMm"):
            given["signature"] = loop
    return given


def needs_tame(given: dict[str, Any]) -> bool:
    """Whether inputs are converted to integers, which have no values for odd numbers."""
    return "signature" in given or \
        "dtype" in given and np.dtype(given["dtype"]).kind not in "fc"


def tamed(value: Any, pick: Random) -> Any:
    if not isinstance(value, Elements):
        return value
    return Elements(elements.numbers(pick, value.dtype, len(value.numbers), True), value.dtype,
                    value.shape, value.layout)


def source(pick: Random, name: str) -> Elements:
    return elements.elements(pick, a_type(pick, name, 0), elements.shape(pick))


def others(pick: Random, name: str, a: Elements) -> list[Any]:
    given: list[Any] = []
    for place in range(1, getattr(np, name).nin):
        if pick.random() < 0.2:
            given.append(a_number(pick, a.dtype))
            continue
        shape = a.shape if pick.random() < 0.6 else make.a_narrower_shape(pick, a.shape)
        plain = a.dtype.replace(">", "<")
        given.append(elements.elements(pick, a_type(pick, name, place, plain), shape))
    return given


def call(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    a = source(pick, name)
    inputs = [a, *others(pick, name, a)]
    given = keywords(pick, name, inputs)
    if is_tame(name, given) or needs_tame(given):
        inputs = [tamed(each, pick) for each in inputs]
    return inputs[0], {"v": tuple(inputs[1:]), "k": given}


def outer(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    a = elements.elements(pick, a_type(pick, name, 0), make.a_shape(pick, 2))
    b = elements.elements(pick, a_type(pick, name, 1, a.dtype.replace(">", "<")),
                          make.a_shape(pick, 2))
    if math.prod(a.shape) * math.prod(b.shape) > make.MOST_ELEMENTS:
        b = Elements(b.numbers, b.dtype, ())
    given = [a, b]
    if is_tame(name, {}):
        given = [tamed(each, pick) for each in given]
    return given[0], {"v": (given[1],), "k": {}}


def axes_of(pick: Random, ndim: int) -> Any:
    chosen = pick.random()
    if chosen < 0.3:
        return None
    if chosen < 0.7:
        return make.an_axis(pick, ndim)
    return make.several_axes(pick, ndim, pick.randrange(ndim + 1))


def reduced_shape(a: Elements, axis: Any, keepdims: bool) -> tuple[int, ...]:
    axes = range(len(a.shape)) if axis is None else \
        {each % max(len(a.shape), 1) for each in (axis if isinstance(axis, tuple) else (axis,))}
    return tuple(1 if at in axes else extent for at, extent in enumerate(a.shape)
                 if keepdims or at not in axes)


def reduction(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    a = source(pick, name)
    given: dict[str, Any] = {}
    if pick.random() < 0.9:
        given["axis"] = axes_of(pick, len(a.shape))
    axis = given.get("axis", 0)
    if pick.random() < 0.3:
        given["keepdims"] = True
    if pick.random() < 0.15 and a.dtype[1:2] not in "mM":
        given["dtype"] = wider_type(pick, np.dtype(a.dtype))
        a = tamed(a, pick) if needs_tame(given) else a
    if pick.random() < 0.2:
        given["initial"] = pick.choice([0, 1, 2, None, 5])
    if pick.random() < 0.2:
        given["where"] = elements.elements(pick, "?", make.a_narrower_shape(pick, a.shape))
    if pick.random() < 0.2:
        made = result_types(name, [a, a])
        dtype = given.get("dtype") or (made[0] if made else np.dtype(a.dtype))
        kind = np.dtype(dtype).kind
        given["out"] = an_output(pick, dtype if pick.random() < 0.7 or kind in "mM" else
                                 wider_type(pick, np.dtype(dtype)),
                                 reduced_shape(a, axis, "keepdims" in given))
    if name in EARLY:
        given = {"axis": make.an_axis(pick, len(a.shape))}
    if name == "heaviside" and "out" in given and np.dtype(given["out"].dtype).kind not in "fc":
        del given["out"]  # a negative number of an unsigned type: C leaves its value open
    return a if not is_tame(name, {}) else tamed(a, pick), {"k": given}


# Of which NumPy's vectors read results early: accepted_ufuncs.py computes them itself.
EARLY = ("arctan2", "power", "float_power")


def accumulation(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    a = source(pick, name)
    given: dict[str, Any] = {}
    if pick.random() < 0.8:
        given["axis"] = make.an_axis(pick, len(a.shape))
    if pick.random() < 0.15 and a.dtype[1:2] not in "mM":
        given["dtype"] = wider_type(pick, np.dtype(a.dtype))
        a = tamed(a, pick) if needs_tame(given) else a
    if pick.random() < 0.2:
        made = result_types(name, [a, a])
        dtype = given.get("dtype") or (made[0] if made else np.dtype(a.dtype))
        given["out"] = dataclasses.replace(an_output(pick, dtype, a.shape), shape=a.shape,
                                           layout="C")
    return a if not is_tame(name, {}) else tamed(a, pick), {"k": given}


def segments(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    a, arguments = accumulation(name, pick)
    if name in EARLY:
        arguments["k"] = {"axis": make.an_axis(pick, len(a.shape))}
    axis = arguments["k"].get("axis", 0)
    extent = a.shape[axis] if -len(a.shape) <= axis < len(a.shape) else 1
    count = pick.choice([0, 1, 2, 3, 5])
    numbers = tuple(pick.randrange(extent) if extent else 0 for _ in range(count))
    if numbers and make.wrong(pick):
        numbers = numbers[:-1] + (pick.choice([extent, -1]),)
    if "out" in arguments["k"] and len(a.shape):
        at = axis % len(a.shape)
        out = arguments["k"]["out"]
        arguments["k"]["out"] = Elements(out.numbers, out.dtype, a.shape[:at] + (count,)
                                         + a.shape[at + 1:])
    return a, {"i": make.Indices(numbers, (count,), "<i8"), **arguments}


def in_place(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    a = elements.elements(pick, a_type(pick, name, 0), make.a_shape(pick, 3), written=True,
                          tame=True)
    real = np.empty(a.shape, a.dtype)
    index = make.an_array_index(pick, real) if pick.random() < 0.7 else make.an_index(pick, real)
    if getattr(np, name).nin == 1:
        return a, {"i": index, "v": ()}
    part = make.at(real, make.made({"i": index})["i"])
    if not part.size:
        index, part = (), real  # NumPy 2.4 may end the process
    shape = make.a_narrower_shape(pick, part.shape)
    if math.prod(shape) > make.MOST_ELEMENTS:
        shape = ()
    plain = a.dtype.replace(">", "<")
    value = a_number(pick, plain) if pick.random() < 0.2 else \
        elements.elements(pick, a_type(pick, name, 1, plain), shape, tame=True)
    return a, {"i": index, "v": (value,)}


def overlap(name: str, pick: Random) -> tuple[Elements, dict[str, Any]]:
    """Inputs and the output are parts of one array."""
    both = [each for each in types(name, 0) if each in types(name, getattr(np, name).nin)]
    a = elements.elements(pick, pick.choice(both or NUMBERS),
                          tuple(pick.choice([3, 4, 5, 8, 20]) for _ in range(pick.randint(1, 2))),
                          written=True, tame=True)
    kept = tuple(max(extent - pick.randrange(3), 1) for extent in a.shape)

    def part() -> tuple[slice, ...]:
        found = []
        for extent, count in zip(a.shape, kept):
            start = pick.randrange(extent - count + 1)
            found.append(slice(start, start + count) if pick.random() < 0.7 else
                         slice(start + count - 1, start - 1 if start else None, -1))
        return tuple(found)
    return a, {"i": part(), "j": part(), "o": part()}


METHODS: dict[str, tuple[str, Callable[[str, Random], tuple[Elements, dict[str, Any]]]]] = {
    "": ("(a, *v, **k)", call),
    "outer": (".outer(a, *v, **k)", outer),
    "reduce": (".reduce(a, **k)", reduction),
    "accumulate": (".accumulate(a, **k)", accumulation),
    "reduceat": (".reduceat(a, i, **k)", segments),
    "at": (".at(a, i, *v);", in_place),
    "overlap": ("", overlap)}


def is_beyond(name: str, a: np.ndarray, given: dict[str, Any]) -> bool:
    """Whether an int of Python is compared that the other input's type does not have."""
    inputs = (a, *make.made(given)["v"])
    return name in COMPARISONS and any(
        type(each) is int and not np.iinfo(other.dtype).min <= each <= np.iinfo(other.dtype).max
        for each in inputs for other in inputs if getattr(other, "dtype", np.dtype("f8")).kind in "iu")


def kills_numpy(name: str, method: str, a: np.ndarray, given: dict[str, Any]) -> bool:
    """Whether NumPy 2.4 would read memory of others: an output of fewer axes; at() without
    elements, or values of more axes; a comparison under a mask that is true or false for all
    elements, of which the loop leaves a pointer unset."""
    if not method:
        return "where" in given.get("k", {}) and is_beyond(name, a, given)
    if method == "at":
        given = make.made(given)
        part = make.at(a, given["i"])
        return not part.size or any(not np.size(each) or np.ndim(each) > part.ndim
                                    for each in given["v"])
    out = given.get("k", {}).get("out")
    return method in ("accumulate", "reduceat") and out is not None and len(out.shape) != a.ndim


def inputs(array: np.ndarray, given: dict[str, Any]) -> tuple[Any, ...]:
    """Those of a call, of the types that it asks for."""
    found = (array, *map(elements.readable, make.made(given).get("v", ())))
    keywords = given.get("k", {})
    asked = keywords.get("signature")
    if asked is None and "dtype" in keywords and np.dtype(keywords["dtype"]).kind in "fc":
        if not any(np.asarray(each).dtype.kind == "c" for each in found):
            asked = (keywords["dtype"],) * len(found)
    if asked is None:
        return found
    with np.errstate(all="ignore"):
        return tuple(np.asarray(each).astype(dtype) for each, dtype in zip(found, asked))


# Names of a call's surroundings: reactions to errors of numbers, and whether dray gets
# its own arrays.
REACTIONS = "e"
OURS = "w"


def surroundings(pick: Random) -> dict[str, Any]:
    kinds = {"divide": "warn", "over": "warn", "under": "warn", "invalid": "warn"}
    if pick.random() < 0.4:
        kinds = {name: pick.choice(["ignore", "warn", "raise"]) for name in kinds}
    return {REACTIONS: kinds, **({OURS: True} if pick.random() < 0.3 else {})}


class Ufunc(Operation):
    """A call of a ufunc or of a method."""

    def __init__(self, name: str, method: str):
        line, self.draw = METHODS[method]
        if method == "overlap":
            line = "(a[i], a[j], a[o]);" if getattr(np, name).nin == 2 else "(a[i], a[o]);"
        super().__init__(f"{name}.{method}" if method else name, Line(f"np.{name}{line}"),
                         Line(f"dray.{name}{line}"), make.nothing, 0)
        self.ufunc = name
        self.method = method


# Results are of another type, so that only bools can be reduced.
PREDICATES = COMPARISONS + ("ldexp", "float_power", "copysign", "nextafter")


def weight(name: str, method: str) -> int:
    ufunc = getattr(np, name)
    if method in ("outer", "reduce", "accumulate", "reduceat"):
        if (ufunc.nin, ufunc.nout) != (2, 1):
            return 0
        if name in PREDICATES and method != "outer":
            return 0
        return {"outer": 1, "reduce": 6, "accumulate": 2, "reduceat": 2}[method]
    if method:
        return (2 if method == "at" else 3) if ufunc.nin <= 2 and ufunc.nout == 1 else 0
    return 10


UFUNCS = {each.name: each for each in (
    Ufunc(name, method) for name in NAMES for method in METHODS if weight(name, method))}
WEIGHTS = [weight(each.ufunc, each.method) for each in UFUNCS.values()]

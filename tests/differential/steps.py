# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results of calls that go one step after the other, as ranges.

Each step may err by units in the last place (ULP), and the next one makes more or less
of that.  So the ends of a range go through all steps, in a wider type, and grow by the
ULPs of each.
"""
import dataclasses
from typing import Any, Optional

import numpy as np

# Functions that rise and fall: a range longer than this leaves their results open.
TURNING = {"sin": 0.125, "cos": 0.125, "tan": 0.125}


@dataclasses.dataclass
class Range:
    """Numbers from `low` to `high`, of a wide type; any where it is `open`."""

    low: np.ndarray
    high: np.ndarray
    open: np.ndarray

    def __getitem__(self, index: Any) -> "Range":
        return Range(self.low[index], self.high[index], self.open[index])

    def __setitem__(self, index: Any, other: "Range") -> None:
        self.low[index], self.high[index] = other.low, other.high
        self.open[index] = other.open

    def converted(self, dtype: np.dtype) -> "Range":
        """As elements of a type, which has no value for some numbers."""
        if dtype.kind == "f":
            return Range(*(each.astype(dtype).astype(each.dtype)
                           for each in (self.low, self.high)), self.open)
        if dtype.kind == "b":
            nothing = (self.low <= 0) & (self.high >= 0)
            return Range(self.low != 0, self.high != 0,
                         self.open | nothing & (self.low != self.high))
        low, high = np.trunc(self.low), np.trunc(self.high)
        return Range(low, high, self.open | left_open(low, dtype) | left_open(high, dtype))

    def holds(self, values: np.ndarray) -> np.ndarray:
        wide = values.astype(self.low.dtype)
        return self.open | ((self.low <= wide) & (wide <= self.high)) | \
            (np.isnan(self.low.astype("f8")) & np.isnan(wide.astype("f8")))


def left_open(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Where C leaves the conversion to a type of integers open."""
    if dtype.kind not in "iu":
        return np.zeros(values.shape, bool)
    limits = np.iinfo(dtype)
    whole = np.trunc(values.real)
    return ~((whole >= limits.min) & (whole < float(limits.max) + (limits.bits > 32 or 1)))


def wide_of(dtype: np.dtype) -> np.dtype:
    return np.dtype("f8" if dtype.itemsize < 8 else np.longdouble)


def exact(values: Any, dtype: np.dtype) -> Range:
    """Numbers of a type."""
    numbers = np.array(values).astype(dtype).astype(wide_of(dtype))
    return Range(numbers, numbers.copy(), np.zeros(numbers.shape, bool))


def spacing(size: np.ndarray, dtype: np.dtype) -> np.ndarray:
    limits = np.finfo(dtype)
    usual = np.where((size > 0) & np.isfinite(size), size, 1)
    found = np.exp2(np.floor(np.log2(usual))) * limits.eps
    return np.where(size > 0, np.maximum(found, limits.smallest_subnormal),
                    limits.smallest_subnormal)


def step(name: str, so_far: Range, others: tuple[Any, ...], dtype: np.dtype, ulps: float,
         rounds: bool = True) -> Range:
    """The range of a function's results; `rounds`: to the type at once."""
    function, low, high = getattr(np, name), so_far.low, so_far.high
    # Between the ends: where functions turn, jump or have a value of their own.
    points = [low, high, low / 2 + high / 2] + [
        np.where((low < each) & (high > each), each, low) for each in (0.0, -0.0, 1.0)]
    with np.errstate(all="ignore"):
        found = [function(each, *others) for each in points]
        least, most = np.minimum.reduce(found), np.maximum.reduce(found)
        none = np.isnan(np.array(found, "f8"))
        is_open = so_far.open | (none.any(0) & ~none.all(0))
        if name in TURNING:
            is_open |= high - low > TURNING[name]
        if name == "tan":
            is_open |= (found[2] < found[0]) | (found[1] < found[2])
        size = np.maximum(np.abs(least), np.abs(most))
        if name.startswith("logaddexp"):  # of sizes that cancel
            for each in (low, high, *others):
                size = np.maximum(size, np.nan_to_num(np.abs(each), posinf=0))
        room = ulps * spacing(size, dtype)
        least, most = least - room, most + room
        limit = np.finfo(dtype).max
        most = np.where(most > limit, np.inf, most)
        least = np.where(least < -limit, -np.inf, least)
        if rounds:
            least = np.where(least > limit, np.inf, least)
            most = np.where(most < -limit, -np.inf, most)
    return Range(least, most, is_open)


def along(name: str, a: np.ndarray, axis: int, given: dict[str, Any], method: str,
          dtype: np.dtype, ulps: float, rounds: bool) -> Range:
    """Results of reduce(), accumulate() or reduceat() along an axis."""
    keywords = given.get("k", {})
    values = np.moveaxis(a.astype(dtype), axis, 0)
    mask = np.moveaxis(np.broadcast_to(keywords.get("where", True), a.shape), axis, 0)
    starts, ends = [0], [len(values)]
    if method == "reduceat":
        starts = [int(each) for each in given["i"]]
        ends = [end if end > start else start + 1
                for start, end in zip(starts, starts[1:] + [len(values)])]
    initial = keywords.get("initial", getattr(np, name).identity if "where" in keywords else None)
    found: list[Range] = []
    for start, end in zip(starts, ends):
        so_far, at = exact(values[start], dtype), start + 1
        if initial is not None:
            so_far, at = exact(np.full(values.shape[1:], initial), dtype), start
        if method == "accumulate":
            found.append(so_far)
        for number in range(at, end):
            other = values[number].astype(wide_of(dtype))
            new = step(name, so_far, (other,), dtype, ulps, rounds)
            kept = mask[number]
            so_far = Range(*(np.where(kept, *each) for each in (
                (new.low, so_far.low), (new.high, so_far.high), (new.open, so_far.open))))
            if method == "accumulate":
                found.append(so_far)
        if method != "accumulate":
            found.append(so_far)
    parts = [np.array([getattr(each, part) for each in found])
             for part in ("low", "high", "open")]
    if method == "reduce" and not keywords.get("keepdims"):
        return Range(*(each[0] for each in parts))
    return Range(*(np.moveaxis(each, 0, axis) for each in parts))


def in_place(name: str, a: np.ndarray, given: dict[str, Any], others: tuple[Any, ...],
             dtype: np.dtype, ulps: float) -> Range:
    """Results of at(), which converts each to the type of `a`."""
    elements = np.arange(a.size).reshape(a.shape)[given["i"]]
    others = tuple(np.broadcast_to(np.asarray(each).astype(dtype), elements.shape).ravel()
                   .astype(wide_of(dtype)) for each in others)
    found = exact(a.ravel(), dtype)
    for number, element in enumerate(np.ravel(elements)):
        new = step(name, found[element], tuple(each[number] for each in others), dtype, ulps)
        new = Range(*map(np.asarray, (new.low, new.high, new.open))).converted(a.dtype)
        found[element] = Range(new.low.astype(found.low.dtype),
                               new.high.astype(found.low.dtype), new.open)
    return found


def results(name: str, method: str, inputs: Any, given: dict[str, Any], dtype: np.dtype,
            ulps: float, rounds: bool = True) -> Optional[Range]:
    """The range of a call's results by the loop of a type; None: they do not go in steps."""
    a = np.asarray(inputs[0])
    with np.errstate(all="ignore"):
        if method == "at":
            found = in_place(name, a, given, inputs[1:], dtype, ulps)
            return Range(*(each.reshape(a.shape) for each in (found.low, found.high, found.open)))
        axis = given.get("k", {}).get("axis", 0)
        axis = 0 if axis is None or axis == () else axis
        axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
        if isinstance(axis, tuple) or not a.ndim or given.get("k", {}).get("axis", 0) == ():
            return None
        if given.get("k", {}).get("axis", 0) is None and a.ndim > 1:
            return None
        return along(name, a, axis, given, method, dtype, ulps, rounds)

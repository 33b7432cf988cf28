# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The differences of ufuncs that are meant, with the wording of docs/ufuncs.md."""
import functools
from typing import Any, Optional

import numpy as np

import judge
from accepted import Accepted
from arguments import made

def other_mistake(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    if not (numpy.error and here.error):
        return False
    said = str(here.error)
    return ("only one axis" in said or "non-broadcastable" in said or "output" in said
            or "cannot be broadcast" in said or ("M8" in said and "m8" in said)
            or step.operation.endswith(".at")
            or bool({"casting", "signature", "dtype"} & set(step.arguments.get("k", {}))))


def times_and_durations(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (step.operation.split(".")[0] in ("minimum", "maximum", "fmin", "fmax")
            and not numpy.error and isinstance(here.error, TypeError)
            and "M8" in str(here.error) and "m8" in str(here.error))


def large_integer(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, OverflowError)
            and (not here.error or isinstance(here.error, TypeError))
            and ("C long" in str(numpy.error) or "too big" in str(numpy.error)))


def read_too_early(step: Any, before: Any, numpy: Any, here: Any, what: str) -> bool:
    """Whether dray's result is that of one step after the other."""
    name, _, method = step.operation.partition(".")
    given = step.arguments.get("k", {})
    if (name not in ("arctan2", "power", "float_power") or method not in ("reduce", "reduceat")
            or what != "values" or {"out", "where", "dtype", "initial"} & set(given)):
        return False
    axis = given.get("axis", 0)
    if not isinstance(axis, int):
        return False
    values = np.moveaxis(before.astype(before.dtype.newbyteorder("=")), axis, 0)
    starts = list(made(step.arguments)["i"]) if method == "reduceat" else [0]
    parts = [slice(start, end if end > start else start + 1)
             for start, end in zip(starts, starts[1:] + [len(values)])]
    if method == "reduceat" and parts and starts[-1] < len(values):
        parts[-1] = slice(starts[-1], None)
    with np.errstate(all="ignore"):
        steps = np.array([functools.reduce(getattr(np, name), list(values[part]))
                          for part in parts], here.value.dtype)
    result = np.asarray(here.value)
    result = result[None] if method == "reduce" and not given.get("keepdims") else \
        np.moveaxis(result, axis, 0)
    return judge.close(name, "accumulate", (before,), steps, result)


def overlap(step: Any, before: Any, _numpy: Any, here: Any, what: str) -> bool:
    """Whether dray's result is that of inputs copied aside."""
    name, _, method = step.operation.partition(".")
    if method != "overlap" or what != "values":
        return False
    ufunc, given = getattr(np, name), step.arguments
    after = before.copy()
    with np.errstate(all="ignore"):
        after[given["o"]] = ufunc(*[before[given[each]].copy() for each in "ij"[:ufunc.nin]])
    return judge.close(name, method, (before,), after, np.asarray(here.value))


def time_without_unit(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, ValueError) and not here.error
            and ("generic units" in str(numpy.error) or "specified unit" in str(numpy.error)))


def huge_index(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return isinstance(numpy.error, OverflowError) and isinstance(here.error, IndexError)


ACCEPTED: list[Accepted] = [
    Accepted("Of a call with several mistakes, such as types without a loop and two axes of a "
             "ufunc whose order counts, the error may be that of another one.",
             "The order in which arguments are checked is the library's.",
             other_mistake),
    Accepted("`minimum()` and the like of a date and a duration are a `TypeError`.",
             "NumPy takes the duration for a date.",
             times_and_durations),
    Accepted("Numbers of Python from 2^63 to 2^64 - 1 may stand beside bools and durations.",
             "NumPy makes an int64 of them, which is an `OverflowError`.",
             large_integer),
    Accepted("`reduce()` and `reduceat()` of `arctan2` and powers go one step after the other.",
             "NumPy's AVX-512 loops read several elements of the result before they are written.",
             read_too_early),
    Accepted("Dates and durations without a unit take that of others, and integers are durations or "
             "dates without one.",
             "NumPy does so only if the value is NaT.",
             time_without_unit),
    Accepted("An output of another type that overlaps an input has the results of a copied input.",
             "NumPy's has random bools, seen with `isnan()` of numbers that are none.",
             overlap),
    Accepted("An index of 2^63 or more is an `IndexError` in `at()`, in NumPy an "
             "`OverflowError`.",
             "As in all other indices of dray.Array.",
             huge_index),
]


def reason(*found: Any) -> Optional[str]:
    """Returns the accepted difference that `found` is, or None."""
    return next((each.difference for each in ACCEPTED if each.holds(*found)), None)

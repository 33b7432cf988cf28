# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The differences of ufuncs that are meant, with the wording of docs/ufuncs.md."""
from typing import Any, Optional

from accepted import Accepted

def other_mistake(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    if not (numpy.error and here.error):
        return False
    said = str(here.error)
    return ("only one axis" in said or "non-broadcastable" in said
            or (".at" in step.operation and isinstance(here.error, IndexError))
            or bool({"casting", "signature", "dtype"} & set(step.arguments.get("k", {}))))


def times_and_durations(step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (step.operation.split(".")[0] in ("minimum", "maximum", "fmin", "fmax")
            and not numpy.error and isinstance(here.error, TypeError)
            and "M8" in str(here.error) and "m8" in str(here.error))


def large_integer(_step: Any, _before: Any, numpy: Any, here: Any, _what: str) -> bool:
    return (isinstance(numpy.error, OverflowError) and not here.error
            and ("C long" in str(numpy.error) or "too big" in str(numpy.error)))


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
    Accepted("An index of 2^63 or more is an `IndexError` in `at()`, in NumPy an "
             "`OverflowError`.",
             "As in all other indices of dray.Array.",
             huge_index),
]


def reason(*found: Any) -> Optional[str]:
    """Returns the accepted difference that `found` is, or None."""
    return next((each.difference for each in ACCEPTED if each.holds(*found)), None)

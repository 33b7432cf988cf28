# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What stands where an array was to be that could not be opened.

An exception while a message is unpickled ends who reads it: a worker of
multiprocessing.Pool takes an OSError there for the end of its queue, and goes
without a word; so does the thread that collects the results, and whoever waits
for them waits for ever.  So it is raised where the array is used, in a task or
after it, from where it finds its way to whoever asked for the result.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, NoReturn

import numpy

# What it has of its own, or as every object.
_KEPT = {"__class_getitem__", "__copy__", "__deepcopy__", "__doc__",
         "__format__", "__hash__", "__new__", "__reduce__", "__reduce_ex__",
         "__repr__", "__setstate__", "__sizeof__", "__str__"}

_SENTENCE = "an array that was sent here could not be opened: "


class LostArray:
    """Stands for an array that another process sent and that could not be
    opened here: its sender had ended or revoked it or is on another machine, or
    one of both processes had no descriptor left.

    Whatever is done with it as with an array raises the error of
    open_array(), with the same class and errno.  `error` is that error.  It
    can be told by isinstance(x, dray.LostArray), and passed on to other
    processes, where it is one too.
    """

    __slots__ = ("error",)

    error: Exception

    def __init__(self, error: Exception) -> None:
        object.__setattr__(self, "error", error)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        # Each time another one: a traceback grows with every raise.
        raise copy.copy(self.error)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # whether it can do what no array can
            raise AttributeError(f"a lost array has no {name}")
        self._refuse()

    __setattr__ = __delattr__ = _refuse
    __hash__ = None  # type: ignore[assignment]  # as an array

    def __repr__(self) -> str:
        return f"<dray.LostArray: {self.error}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return LostArray, (self.error,)


def _refuse_all() -> None:
    """Operators and NumPy look at the class, and ask no __getattr__."""
    for name in set(vars(numpy.ndarray)) - _KEPT:
        if not name.startswith("__"):
            continue
        if callable(getattr(numpy.ndarray, name)):
            setattr(LostArray, name, LostArray._refuse)
        else:
            setattr(LostArray, name, property(LostArray._refuse))


_refuse_all()


def lost(error: Exception) -> LostArray:
    """In place of an array whose opening raised `error`."""
    if isinstance(error, OSError) and error.errno is not None:
        return LostArray(OSError(error.errno, _SENTENCE + str(error.strerror)))
    return LostArray(type(error)(_SENTENCE + str(error)))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A substitute for an array that could not be opened.

An exception while a message is unpickled ends its reader.  A worker of
multiprocessing.Pool mistakes an OSError there for the end of its queue, and ends
silently.  So does the thread that collects the results, and its callers wait
for ever.  The substitute raises the error later, when the array is used: in a
task, which passes it to the caller, or on the result.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, ClassVar, NoReturn

import numpy

# Attributes of its own, or of every object.
_KEPT = {"__class_getitem__", "__copy__", "__deepcopy__", "__doc__",
         "__format__", "__hash__", "__new__", "__reduce__", "__reduce_ex__",
         "__repr__", "__setstate__", "__sizeof__", "__str__"}

_SENTENCE = "an array that was sent here could not be opened: "


class LostArray:
    """Stands for an array that another process sent and that could not be
    opened here.  Its sender ended or revoked it, or is on another machine,
    or either process was out of file descriptors.

    Any use as an array raises the error of open_array(), with the same class
    and errno.  `error` is that error.  isinstance(x, dray.LostArray) finds a
    lost array, which stays lost if it is passed on to other processes.
    """

    __slots__ = ("error",)

    error: Exception

    def __init__(self, error: Exception) -> None:
        object.__setattr__(self, "error", error)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        # A copy each time, because a traceback grows with every raise.
        raise copy.copy(self.error)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # asks for an ability that no array has
            raise AttributeError(f"a lost array has no {name}")
        self._refuse()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        self._refuse()

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse()

    # As an array.
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore

    def __repr__(self) -> str:
        return f"<dray.LostArray: {self.error}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return LostArray, (self.error,)


def _refuse_all() -> None:
    """Covers operators and NumPy, which look at the class only."""
    for name in set(vars(numpy.ndarray)) - _KEPT:
        if not name.startswith("__"):
            continue
        if callable(getattr(numpy.ndarray, name)):
            setattr(LostArray, name, LostArray._refuse)
        else:
            setattr(LostArray, name, property(LostArray._refuse))


_refuse_all()


def lost(error: Exception) -> LostArray:
    """Makes the substitute for an array, if opening it raised `error`."""
    if isinstance(error, OSError) and error.errno is not None:
        return LostArray(OSError(error.errno, _SENTENCE + str(error.strerror)))
    return LostArray(type(error)(_SENTENCE + str(error)))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The parts of dray.Scope that are written in Python."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

from . import _dray


def decorated(scope: _dray.Scope,
              function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function to be called in the scope."""
    if not callable(function):
        raise TypeError(f"a scope decorates functions, this is a "
                        f"{type(function).__name__}")
    if (inspect.isgeneratorfunction(function)
            or inspect.isasyncgenfunction(function)):
        raise TypeError(f"{function.__qualname__}() is a generator, which leaves "
                        "its scope open between items: use `with` inside of it")
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def call_later(*args: Any, **kwargs: Any) -> Any:
            with scope:
                return await function(*args, **kwargs)
        return call_later

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with scope:
            return function(*args, **kwargs)
    return call


def explain(error: MemoryError) -> None:
    """Adds the library's sentence to NumPy's error, from Python 3.11 on.

    NumPy raises its own class only if its handler had no memory, so the
    sentence is about that.  That class too is named MemoryError."""
    note = f"dray: {_dray.last_error()}"
    if (hasattr(type(error), "_total_size")
            and hasattr(error, "add_note")
            and note not in getattr(error, "__notes__", ())):
        error.add_note(note)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which lines and functions allocate memory."""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
import threading
from typing import (Any, Callable, Concatenate, Iterable, Literal, NamedTuple, Optional, ParamSpec,
                    Protocol, TypeVar, Union, final, overload)

import numpy

from . import _dray
from ._hook import MemoryHook

_Parameters = ParamSpec("_Parameters")
_Others = ParamSpec("_Others")
_Result = TypeVar("_Result", covariant=True)
_Object = TypeVar("_Object", contravariant=True)
# File, function and line of a frame.
_Frame = tuple[str, str, int]
_Stack = tuple[_Frame, ...]

_NUMPY = os.path.dirname(numpy.__file__) + os.sep
_PACKAGE = os.path.dirname(__file__) + os.sep
# Held to change a profile; also of a decorator that several threads are in.  A thread
# that reads a profile may free or allocate meanwhile, by the garbage collector.
_lock = threading.RLock()


def _new_lock() -> None:
    """Renews the lock, which a thread of the parent perhaps held at fork()."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


class ProfilerRecord(NamedTuple):
    """The memory that a line, or a function, allocated.

    filename, function, lineno: of the program; lineno is 0 in a table of functions
    count: number of blocks
    total_bytes: the sum of their bytes
    current_bytes: of blocks that are not freed
    peak_bytes: the most at a time
    """

    filename: str
    function: str
    lineno: int
    count: int  # type: ignore[assignment]  # pyright: ignore  # hides tuple.count()
    total_bytes: int
    current_bytes: int
    peak_bytes: int


class _Numbers:
    __slots__ = ("count", "total", "current", "peak")

    def __init__(self) -> None:
        self.count = self.total = self.current = self.peak = 0

    def add(self, size: int) -> None:
        self.count += 1
        self.total += size
        self.current += size
        self.peak = max(self.peak, self.current)


def _stack() -> _Stack:
    """The frames of the program, the outermost first; without this package."""
    frames = []
    frame = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            name = getattr(code, "co_qualname", code.co_name)
            frames.append((code.co_filename, name, frame.f_lineno or 0))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(reversed(frames))


def _place(stack: _Stack) -> _Frame:
    """The innermost line that is not NumPy's."""
    for frame in reversed(stack):
        if not frame[0].startswith("<__array_function__") and not frame[0].startswith(_NUMPY):
            return frame
    return stack[-1] if stack else ("", "", 0)


@final
class profiler(MemoryHook):
    """Finds the lines and functions of this thread that allocate dray's memory:

        with dray.profiler() as p:
            work()
        print(p.report())
        p.save("work.speedscope.json")      # a flame graph, for speedscope.app

        @dray.profiler()
        def load(path): ...

    It may be entered again, and adds to its numbers; `load.profiler` is the profiler of a
    decorated function.  In a child of fork() it continues with a copy.  Bytes are those
    of blocks, as in dray.statistics()."""

    __module__ = "dray"

    def __init__(self) -> None:
        self.name = f"profiler {id(self):#x}"
        self.clear()

    def clear(self) -> None:
        """Forgets all."""
        with _lock:
            self._stacks: dict[_Stack, list[int]] = {}
            # By lines and by functions.
            self._lines: dict[_Frame, _Numbers] = {}
            self._functions: dict[_Frame, _Numbers] = {}
            self._live: dict[int, tuple[int, _Numbers, _Numbers]] = {}

    def malloc_postprocess(self, **kwargs: Any) -> None:
        """Notes a block."""
        address, size = kwargs["mem_ptr"], kwargs["mem_size"]
        if not address:
            return
        stack = _stack()
        place = _place(stack)
        with _lock:
            self._forget(address)  # another thread freed it
            sums = self._stacks.setdefault(stack, [0, 0])
            sums[0] += size
            sums[1] += 1
            line = self._lines.setdefault(place, _Numbers())
            function = self._functions.setdefault((*place[:2], 0), _Numbers())
            line.add(size)
            function.add(size)
            self._live[address] = size, line, function

    def free_preprocess(self, **kwargs: Any) -> None:
        """Notes the end of a block."""
        with _lock:
            self._forget(kwargs["mem_ptr"])

    def _forget(self, address: int) -> None:
        size, *places = self._live.pop(address, (0,))
        for numbers in places:
            numbers.current -= size

    def records(self, by: Literal["line", "function"] = "line") -> list[ProfilerRecord]:
        """A list of ProfilerRecord, of the highest peak first."""
        if by not in ("line", "function"):
            raise ValueError(f"by is {by!r}: 'line' or 'function'")
        with _lock:
            table = self._lines if by == "line" else self._functions
            found = [ProfilerRecord(*place, numbers.count, numbers.total, numbers.current,
                                    numbers.peak)
                     for place, numbers in table.copy().items()]
        return sorted(found, key=lambda each: (-each.peak_bytes, -each.total_bytes, each))

    def report(self, by: Literal["line", "function"] = "line") -> str:
        """The records as a table, a line for each."""
        rows = [("count", "peak", "total", "now", "place")]
        for each in self.records(by):
            line = f":{each.lineno}" if each.lineno else ""
            rows.append((f"{each.count:,}", f"{each.peak_bytes:,}", f"{each.total_bytes:,}",
                         f"{each.current_bytes:,}", f"{each.filename}{line} {each.function}"))
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join([cell.rjust(width) for cell, width in zip(row[:4], widths)]
                                   + [row[4]]) for row in rows)

    def speedscope(self, name: str = "dray") -> dict[str, Any]:
        """The flame graphs of bytes and of blocks, as an object of speedscope's format."""
        with _lock:
            stacks = {stack: list(sums) for stack, sums in self._stacks.copy().items()}
        numbers: dict[_Frame, int] = {}
        samples = [[numbers.setdefault(frame, len(numbers)) for frame in stack]
                   for stack in stacks]
        profiles = []
        for title, unit, at in (("bytes", "bytes", 0), ("blocks", "none", 1)):
            weights = [sums[at] for sums in stacks.values()]
            profiles.append({"type": "sampled", "name": f"{name}: {title}", "unit": unit,
                             "startValue": 0, "endValue": sum(weights), "samples": samples,
                             "weights": weights})
        return {"$schema": "https://www.speedscope.app/file-format-schema.json",
                "shared": {"frames": [{"name": function, "file": file, "line": line}
                                      for file, function, line in numbers]},
                "profiles": profiles, "name": name, "activeProfileIndex": 0,
                "exporter": f"dray {_dray.version}"}

    def save(self, path: Union[str, os.PathLike[str]], name: Optional[str] = None) -> None:
        """Writes speedscope() to a file, which speedscope.app opens."""
        text = json.dumps(self.speedscope(name or os.path.basename(os.fsdecode(path))))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __call__(self, function: Callable[_Parameters, _Result]
                 ) -> _Profiled[_Parameters, _Result]:
        """Decorates a function, which may call itself."""
        if not callable(function):
            raise TypeError(f"a profiler decorates functions, this is a "
                            f"{type(function).__name__}")
        if any(kind(each) for each in (function, type(function).__call__) for kind in (
                inspect.isgeneratorfunction, inspect.isasyncgenfunction,
                inspect.iscoroutinefunction)):
            name = getattr(function, "__qualname__", repr(function))
            raise TypeError(f"{name}() is suspended while others run: use `with` inside of it")

        @functools.wraps(function)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            hooks: Iterable[Any] = _dray.hooks()
            if self in hooks:
                return function(*args, **kwargs)
            with self:
                return function(*args, **kwargs)
        made: Any = call
        made.profiler = self
        return made  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<dray.profiler, {len(self._lines)} lines, {len(self._live)} blocks>"


# In the class of a decorated function the name is the attribute's.
_Profiler = profiler


class _Profiled(Protocol[_Parameters, _Result]):
    """For type checkers: a decorated function, or a method bound to its object."""

    profiler: _Profiler
    __name__: str
    __qualname__: str

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result: ...

    @overload
    def __get__(self, instance: None, owner: Any = None, /) -> _Profiled[_Parameters, _Result]: ...

    @overload
    def __get__(self: _Profiled[Concatenate[_Object, _Others], _Result], instance: _Object,
                owner: Any = None, /) -> _Profiled[_Others, _Result]: ...

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Executors of calls: IPs between streams, and devices of OpenCL."""

from __future__ import annotations

import itertools
from typing import Any, Iterable, Optional, Sequence, Union, final

import numpy

from . import _dray
from ._dray import MAX_FRAMES, Array, ufunc
from ._records import OpenCLDevice
from ._registers import Interrupt
from ._stream import Stream

_Cost = Optional[tuple[tuple[int, float], tuple[int, float]]]


def _types(function: ufunc, types: Iterable[Any]) -> tuple[numpy.dtype[Any], ...]:
    """The types of all operands of a ufunc."""
    if not isinstance(function, ufunc):
        raise TypeError(f"a dray.ufunc is needed, not {function!r}")
    found = tuple(types)
    if len(found) != function.nargs:
        raise ValueError(f"{len(found)} types, the ufunc has {function.nargs} operands")
    return tuple(map(numpy.dtype, found))


class _Executor(_dray.Handle):
    __slots__ = ()

    def _set_cost(self, function: ufunc, types: tuple[Any, ...], cost: _Cost) -> None:
        if cost is not None and not isinstance(cost, tuple):
            raise TypeError("a cost is None or two pairs of elements and seconds")
        _dray.executor_set_cost(self, function, types, cost)


def _hold(streams: Iterable[Stream]) -> tuple[Any, ...]:
    """Keeps streams open as long as the result."""
    held = []
    for stream in streams:
        if not isinstance(stream, Stream):
            raise TypeError(f"a stream of dray.stream() is needed, not {stream!r}")
        held.append(stream._hold())
    return tuple(held)


def _rings(calls: Iterable[Any], operands: int) -> tuple[tuple[Any, ...], ...]:
    """The operands of calls: the streams get rings over their memory."""
    found = tuple(calls)
    if len(found) > MAX_FRAMES:
        raise ValueError(f"{len(found)} rings, at most {MAX_FRAMES}")
    for arrays in found:
        if not isinstance(arrays, tuple) or len(arrays) != operands:
            raise TypeError(f"a ring is a tuple of {operands} arrays, not {arrays!r}")
        for array in arrays:
            if not isinstance(array, (numpy.ndarray, Array)):
                raise TypeError(f"a ring lies over arrays, not over {array!r}")
    return found


@final
class StreamExecutor(_Executor):
    """An IP between streams that computes a loop of a ufunc.

    types: of its inputs, then of its outputs.
    tx: streams that send, a stream for each input, or a single stream for the inputs
        of a frame in turn.
    rx: streams that receive, a stream for each output.
    frame_bytes, depth: a call is cut into packets of so many bytes of its widest
        operand, of which so many are in flight.
    timeout: most seconds for a packet.
    stage: lets the CPU copy operands that the engine cannot use, and convert
        operands of other types; masks need it, too.
    ring: tuples of arrays, the operands of calls.  The streams get rings over these,
        which cost least, and only calls with the same arrays.
    done: the interrupt that the IP raises when it is done.  A call waits for it after
        its packets, at most `timeout`, and forgets arrivals before it.

    After a call that failed, the executor refuses calls until reset().

    The streams stay open as long as it."""

    __slots__ = ("_loop",)
    __module__ = "dray"
    _loop: tuple[ufunc, tuple[numpy.dtype[Any], ...]]

    def __new__(cls, ufunc: ufunc, types: Sequence[Any], tx: Sequence[Stream],
                rx: Sequence[Stream], *, frame_bytes: Union[int, str] = 0, depth: int = 0,
                timeout: float = 10.0, stage: bool = False,
                ring: Iterable[tuple[Any, ...]] = (),
                done: Optional[Interrupt] = None) -> StreamExecutor:
        found = _types(ufunc, types)
        if not 1e-9 <= timeout <= 1e6:
            raise ValueError("timeout is a nanosecond to 1000000 seconds")
        if not 0 <= depth < 2**32:
            raise ValueError(f"depth is 1 to 32 frames, or 0, not {depth}")
        rings = _rings(ring, ufunc.nargs)
        made = _dray.stream_executor(
            cls, ufunc, found, _hold(tx), _hold(rx), _dray.size(frame_bytes, "frame_bytes", 1 << 30),
            depth, int(timeout * 1e9), stage, tuple(itertools.chain(*rings)), rings,
            done)
        made._loop = ufunc, found
        return made

    @property
    def cost(self) -> _Cost:
        """The times of calls: two pairs of elements and seconds, of few and of many
        elements; None: not measured.  May be set; None measures anew."""
        return _dray.executor_cost(self, *self._loop)  # type: ignore[no-any-return]

    @cost.setter
    def cost(self, value: _Cost) -> None:
        self._set_cost(*self._loop, value)

    def reset(self) -> None:
        """Accepts calls again after a failure.  The IP holds no byte of it any more:
        the program reset the IP, or received all that was left."""
        _dray.executor_reset(self)


@final
class OpenCLExecutor(_Executor):
    """A device of OpenCL that computes loops of ufuncs, over the same memory.

    loops: tuples (ufunc, types, source[, function[, by_address]]): the types of the
        inputs, then of the outputs; an expression of a, b, ..., the inputs, such as
        'a < b'; or the source of a function of an element, in OpenCL C, and its
        name.  by_address: it expects addresses of elements, of any types.
    platform, device: parts of their names; None: the first.
    options: for the compiler.
    copies: allows a device with memory of its own, too."""

    __slots__ = ()
    __module__ = "dray"

    def __new__(cls, loops: Sequence[tuple[Any, ...]], *, platform: Optional[str] = None,
                device: Optional[str] = None, options: Optional[str] = None,
                copies: bool = False) -> OpenCLExecutor:
        found = []
        for loop in loops:
            if not (isinstance(loop, tuple) and 3 <= len(loop) <= 5
                    and isinstance(loop[2], str)):
                raise TypeError(f"a loop is a tuple (ufunc, types, source), not {loop!r}")
            found.append((loop[0], _types(loop[0], loop[1]), loop[2],
                          loop[3] if len(loop) > 3 else None, len(loop) > 4 and loop[4]))
        if len(found) > 256:
            raise ValueError(f"{len(found)} loops, at most 256")
        return _dray.opencl_executor(cls, tuple(found), platform, device, options, copies)

    @property
    def device(self) -> OpenCLDevice:
        """The device, and the number of its calls."""
        return _dray.opencl_device(self)

    def get_cost(self, ufunc: ufunc, types: Sequence[Any], /) -> _Cost:
        """The times of a loop's calls: two pairs of elements and seconds, of few and of
        many elements; None: not measured."""
        found = _types(ufunc, types)
        return _dray.executor_cost(self, ufunc, found)  # type: ignore[no-any-return]

    def set_cost(self, ufunc: ufunc, types: Sequence[Any], cost: _Cost, /) -> None:
        """Sets them, as get_cost() returns them; None measures anew."""
        self._set_cost(ufunc, _types(ufunc, types), cost)


# The name in the sentence about a missing argument.
OpenCLExecutor.__new__.__qualname__ = "OpenCLExecutor"

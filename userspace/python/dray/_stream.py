# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The parts of dray.Stream, dray.Event and dray.Frames that are written in
Python: the memory of frames, and asyncio.

No thread waits.  A waiter has a reader for its stream's descriptor in its
loop.  Since the descriptor gets quiet when one of them has read it, that one
looks at all waiters of the stream, those of other loops included.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import functools
import inspect
import math
import operator
import os
import weakref
from typing import Any, Callable, Coroutine, Generator, Iterable, Optional

import numpy

from . import _dray

# Streams with tasks that wait: the future of each, and the fact that ends the wait.
_waiters: weakref.WeakKeyDictionary[
    _dray.Stream, dict[asyncio.Future[None], Callable[[], bool]]
] = weakref.WeakKeyDictionary()


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def look(stream: _dray.Stream) -> None:
    """Wakes each waiter if its fact holds."""
    for future, fact in list(_waiters.get(stream, {}).items()):
        try:
            holds = fact()
        except Exception:  # the waiter asks itself, and gets it
            holds = True
        if holds:
            # It may belong to a loop that has ended.
            with contextlib.suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(_wake, future)


def _read(stream: _dray.Stream) -> None:
    if not stream.closed:
        stream.ended()
    look(stream)


def copy_descriptor(descriptor: int) -> int:
    """A copy that is none of the standard streams, which a program may have closed."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


async def _until(stream: _dray.Stream, fact: Callable[[], bool]) -> None:
    """Lets the loop go on until `fact` holds, which transfers change when they
    end."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    waiters = _waiters.setdefault(stream, {})
    waiters[future] = fact
    # A loop has one reader for each descriptor.
    descriptor: Optional[int] = None
    try:
        # An end from here on finds the waiter.
        if not fact():
            descriptor = copy_descriptor(stream.fileno())
            loop.add_reader(descriptor, _read, stream)
            await future
    finally:
        del waiters[future]
        if descriptor is not None:
            loop.remove_reader(descriptor)
            os.close(descriptor)


async def _wait(event: _dray.Event) -> int:
    try:
        if not event.done:
            await _until(event.stream, lambda: event.done)
    except BaseException:
        event.cancel()
        raise
    return event.wait()


def wait_in_loop(event: _dray.Event) -> Generator[Any, None, int]:
    """Runs for `await event`: lets the loop go on until the transfer has
    ended, and cancels it if the task is cancelled."""
    return _wait(event).__await__()


async def _room(stream: _dray.Stream, fences: Iterable[_dray.Fence]) -> None:
    """Lets the loop go on until a submission may succeed."""
    for fence in fences:
        if not fence.done:
            # If it fails, the submission says so.
            with contextlib.suppress(OSError):
                await fence
            return
    in_flight = stream.counts().in_flight
    if in_flight:
        await _until(stream, lambda: stream.closed
                     or stream.counts().in_flight < in_flight)
    else:
        # Other streams of this user have all the slots.
        await asyncio.sleep(0.002)


class _Transfer(Coroutine[Any, Any, int]):
    """A coroutine that submits at once, before its first step: a receiver that
    is not awaited yet has packets that are sent meanwhile."""

    def __init__(self, stream: _dray.Stream, submit: Callable[[], _dray.Event],
                 fences: tuple[_dray.Fence, ...]) -> None:
        self._event: Optional[_dray.Event] = None
        with contextlib.suppress(BlockingIOError):
            self._event = submit()
        self._rest = self._go_on(stream, submit, fences)

    async def _go_on(self, stream: _dray.Stream, submit: Callable[[], _dray.Event],
                     fences: tuple[_dray.Fence, ...]) -> int:
        while self._event is None:
            await _room(stream, fences)
            with contextlib.suppress(BlockingIOError):
                self._event = submit()
        return await self._event

    def _cancel_unbegun(self) -> None:
        """Cancels a transfer that no `await` can cancel."""
        if inspect.getcoroutinestate(self._rest) == inspect.CORO_CREATED and self._event:
            self._event.cancel()

    def send(self, value: Any, /) -> Any:
        return self._rest.send(value)

    def throw(self, *error: Any) -> Any:
        self._cancel_unbegun()
        try:
            return self._rest.throw(*error)
        finally:
            del error  # its traceback has this frame

    def close(self) -> None:
        self._cancel_unbegun()
        self._rest.close()

    def __await__(self) -> Generator[Any, Any, int]:
        return self._rest.__await__()


def _transfer(stream: _dray.Stream, start: Callable[..., _dray.Event],
              a: Any, fences: Iterable[_dray.Fence],
              **options: Any) -> _Transfer:
    fences = tuple(fences)
    return _Transfer(stream, functools.partial(
        start, a, wait=False, nonblock=True, fences=fences, **options), fences)


def send_async(stream: _dray.Stream, a: Any, /, *,
               deadline: Optional[float] = None, stage: bool = False,
               fences: Iterable[_dray.Fence] = ()) -> _Transfer:
    """Runs for Stream.send_async()."""
    return _transfer(stream, stream.send, a, fences, deadline=deadline,
                     stage=stage)


def recv_async(stream: _dray.Stream, a: Any, /, *,
               deadline: Optional[float] = None, stage: bool = False,
               fences: Iterable[_dray.Fence] = ()) -> _Transfer:
    """Runs for Stream.recv_async()."""
    return _transfer(stream, stream.recv, a, fences, deadline=deadline,
                     stage=stage)


def frames(stream: _dray.Stream, shape: Any, dtype: Any = "f8", *,
           count: int = 8, overwrite: bool = False,
           timeout: Optional[float] = None,
           pool: Optional[_dray.Pool] = None) -> _dray.Frames:
    """Runs for Stream.frames().  No two frames touch one cache line."""
    count = operator.index(count)
    if not 2 <= count <= _dray.MAX_FRAMES:
        raise ValueError(f"{count} frames, a ring has 2 to {_dray.MAX_FRAMES}")
    kind = numpy.dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"frame: {kind!r} holds references to objects")
    extents = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    node = stream.node
    step = max([node.info().cache_line] + [
        channel.alignment for channel in node.channels()
        if channel.name == stream.name])
    size = -(-math.prod(extents) * kind.itemsize // step) * step
    if pool is None:
        pool = node.pool(name="frames")
    with _dray.scope(pool, 0):
        memory = numpy.empty(max(size, 0) * count + step, numpy.uint8)
    start = -memory.__array_interface__["data"][0] % step
    return _dray.frames(stream, tuple(
        numpy.ndarray(extents, kind, memory, start + index * size)
        for index in range(count)), overwrite, timeout)


def _may_step(frames: _dray.Frames) -> bool:
    return frames.closed or frames.counts().waiting > 0


async def next_frame(frames: _dray.Frames) -> numpy.ndarray:
    """Runs for `async for`."""
    while (frame := _dray.poll_frames(frames)) is None:
        try:
            await asyncio.wait_for(
                _until(frames.stream, lambda: _may_step(frames)), frames.timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(errno.ETIME, f"no frame of {frames.stream.name} "
                               f"within {frames.timeout} seconds") from None
    return frame


async def flush_async(frames: _dray.Frames) -> None:
    """Runs for Frames.flush_async()."""
    while True:
        try:
            return frames.flush(timeout=0)
        except TimeoutError as error:
            if error.errno != errno.ETIME:
                raise
        await _until(frames.stream, lambda: _may_step(frames))

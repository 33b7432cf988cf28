# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Streams, the events of their packets, and their frames, over the parts in C.

No thread waits.  A waiter has a reader for its stream's descriptor in its
loop.  Since the descriptor gets quiet when one of them has read it, that one
looks at all waiters of the stream, those of other loops included.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import inspect
import math
import operator
import os
import weakref
from types import TracebackType
from typing import (TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Generator, Iterable,
                    Literal, Optional, Type, Union, final, overload)

import numpy

from ._dray import (MAX_FRAMES, Array, EventBase, FramesBase, Pool, StreamBase, scope, use)
from ._dray import frames as _ring
from ._records import Explanation, RingCounts, StreamCounts

if TYPE_CHECKING:  # asyncio is imported where it is used: it costs as much as this package
    import asyncio

    from numpy.typing import NDArray

    from ._dray import _Scalar
    from ._fence import Fence
else:
    _Scalar = Any
_AnyArray = Union[numpy.ndarray, Array]

# Streams with tasks that wait: the future of each, and the fact that ends the wait.
_waiters: weakref.WeakKeyDictionary[
    Stream, dict[asyncio.Future[None], Callable[[], bool]]
] = weakref.WeakKeyDictionary()


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def look(stream: Stream) -> None:
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


def _read(stream: Stream) -> None:
    if not stream.closed:
        stream.ended()
    look(stream)


def copy_descriptor(descriptor: int) -> int:
    """A copy that is none of the standard streams, which a program may have closed."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


async def _until(stream: Stream, fact: Callable[[], bool]) -> None:
    """Lets the loop go on until `fact` holds, which transfers change when they
    end."""
    import asyncio

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


async def _wait(event: Event) -> int:
    try:
        if not event.done:
            await _until(event.stream, lambda: event.done)
    except BaseException:
        event.cancel()
        raise
    return event.wait()


async def _room(stream: Stream, fences: Iterable[Fence]) -> None:
    """Lets the loop go on until a submission may succeed."""
    import asyncio

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


async def _finish(stream: Stream, submit: Callable[[], Event], fences: tuple[Fence, ...],
                  events: list[Event]) -> int:
    """Submits a packet unless `events` has it, and waits for its end."""
    while not events:
        await _room(stream, fences)
        with contextlib.suppress(BlockingIOError):
            events.append(submit())
    return await events[0]


class _Transfer(Coroutine[Any, Any, int]):
    """A coroutine that submits at once, before its first step: a receiver that
    is not awaited yet has packets that are sent meanwhile."""

    def __init__(self, stream: Stream, name: str, submit: Callable[[], Event],
                 fences: tuple[Fence, ...]) -> None:
        self._events: list[Event] = []
        with contextlib.suppress(BlockingIOError):
            self._events.append(submit())
        self._rest = _finish(stream, submit, fences, self._events)
        named: Any = self._rest
        named.__name__ = name  # of Python's warning about a coroutine without await
        named.__qualname__ = f"Stream.{name}"

    def __del__(self) -> None:
        if hasattr(self, "_rest"):  # the submission did not fail
            with contextlib.suppress(OSError):
                self._cancel_unbegun()

    def _cancel_unbegun(self) -> None:
        """Cancels a transfer that no `await` can cancel."""
        if inspect.getcoroutinestate(self._rest) == inspect.CORO_CREATED and self._events:
            self._events[0].cancel()

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
        return (yield from self._rest.__await__())


def _transfer(stream: Stream, start: Callable[..., Event],
              a: Any, fences: Iterable[Fence],
              **options: Any) -> _Transfer:
    fences = tuple(fences)
    return _Transfer(stream, f"{start.__name__}_async", functools.partial(
        start, a, wait=False, nonblock=True, fences=fences, **options), fences)


_SEND, _RECEIVE, _SHOW = range(3)


@final
class Event(EventBase):
    """The end of a packet; asyncio can await it, for the count of elements."""

    __slots__ = ()
    __module__ = "dray"

    @property
    def bytes(self) -> int:
        """Bytes that moved, also if it failed.  BlockingIOError before the end."""
        return self._tell()[0]

    @property
    def number(self) -> int:
        """Of the packet; each stream counts its packets.  BlockingIOError before the end."""
        return self._tell()[1]

    @property
    def time(self) -> float:
        """When it ended, as of time.monotonic().  BlockingIOError before the end."""
        return self._tell()[2]

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits until the transfer ends, for at most timeout seconds, and returns
        the count of elements.  Raises the transfer's error if it failed, TimeoutError
        (ETIME) if the time runs out.  The transfer continues then, and after
        KeyboardInterrupt."""
        return self._wait(timeout)

    def cancel(self) -> None:
        """Ends the transfer with OSError (ECANCELED), unless it is done.

        Returns when nothing uses its array any more; bytes counts the moved bytes."""
        self._cancel()

    def __await__(self) -> Generator[Any, None, int]:
        """Lets the loop go on until the transfer has ended, and cancels it if the task
        is cancelled."""
        return _wait(self).__await__()

    def __repr__(self) -> str:
        status = self._status()
        if status == -errno.ECHILD:
            return f"<dray.Event of {self.stream.name}, of the parent process>"
        if status < 0:
            return f"<dray.Event of {self.stream.name}, failed: {os.strerror(-status)}>"
        return f"<dray.Event of {self.stream.name}, {'done' if status else 'not done'}>"


@final
class Stream(StreamBase):
    """A channel that sends or receives packets; dray.stream() opens it."""

    __slots__ = ()
    __module__ = "dray"

    @overload
    def send(self, a: _AnyArray, /, *, wait: Literal[True] = True,
             timeout: Optional[float] = None, deadline: Optional[float] = None,
             stage: bool = False, nonblock: bool = False,
             fences: Iterable[Fence] = ()) -> int: ...
    @overload
    def send(self, a: _AnyArray, /, *, wait: Literal[False],
             timeout: Optional[float] = None, deadline: Optional[float] = None,
             stage: bool = False, nonblock: bool = False,
             fences: Iterable[Fence] = ()) -> Event: ...

    def send(self, a: _AnyArray, /, *, wait: bool = True, timeout: Optional[float] = None,
             deadline: Optional[float] = None, stage: bool = False, nonblock: bool = False,
             fences: Iterable[Fence] = ()) -> Any:
        """Sends the elements of a, in C order, as a single packet.

        Returns their count when the packet is sent, or with wait=False an
        Event at once.  The array is kept until the end, and must not be written.

        timeout: most seconds of the call; then TimeoutError (ETIME).
        deadline: most seconds of the transfer; then it ends with
        TimeoutError (ETIMEDOUT); at most 600, and None or math.inf is none.
        stage: lets the CPU copy the packet to a buffer if the engine cannot use the
        array: memory of NumPy, or an alignment.
        nonblock: BlockingIOError if the stream is full.
        fences: of dray.copy(); the engine starts when they are done.

        If the call waits and raises, at a timeout or by KeyboardInterrupt, the
        transfer is cancelled first: nothing uses the array any more.  If the
        transfer succeeds at that moment, there is no TimeoutError.

        OSError (EOPNOTSUPP) if the engine cannot, with its limit; ValueError for a
        closed stream, a stream that receives, and an array without elements."""
        return self._move(_SEND, a, wait, timeout, deadline, stage, nonblock, fences)

    @overload
    def recv(self, a: _AnyArray, /, *, wait: Literal[True] = True,
             timeout: Optional[float] = None, deadline: Optional[float] = None,
             stage: bool = False, nonblock: bool = False,
             fences: Iterable[Fence] = ()) -> int: ...
    @overload
    def recv(self, a: _AnyArray, /, *, wait: Literal[False],
             timeout: Optional[float] = None, deadline: Optional[float] = None,
             stage: bool = False, nonblock: bool = False,
             fences: Iterable[Fence] = ()) -> Event: ...

    def recv(self, a: _AnyArray, /, *, wait: bool = True, timeout: Optional[float] = None,
             deadline: Optional[float] = None, stage: bool = False, nonblock: bool = False,
             fences: Iterable[Fence] = ()) -> Any:
        """Receives a packet into a, in C order, otherwise as send().

        Returns the count of received elements: a shorter packet ends the
        transfer, a longer packet continues in the next.  The driver of the AXI DMA
        does not report a longer packet: then only a deadline or a timeout ends the call.
        OSError (EBADMSG) if the last element is not whole: receive such packets
        into bytes, or ask Event.bytes.
        The array must not be used until the end, and ValueError if it is
        read-only or its elements share bytes."""
        return self._move(_RECEIVE, a, wait, timeout, deadline, stage, nonblock, fences)

    def show(self, a: _AnyArray, /, *, deadline: Optional[float] = None, stage: bool = False,
             nonblock: bool = False, fences: Iterable[Fence] = ()) -> Event:
        """Shows a, an array of rows, on the display of a stream such as "display0".

        It stays there until the next show replaces it: then the Event that is
        returned is done.  The array is kept until then, and changes to it may be
        seen.  The keywords are the same as send()'s.

        OSError (EOPNOTSUPP) if the display needs another alignment or stride;
        ValueError for a stream that does not show."""
        event: Event = self._move(_SHOW, a, False, None, deadline, stage, nonblock, fences)
        return event

    def send_async(self, a: _AnyArray, /, *, deadline: Optional[float] = None,
                   stage: bool = False, fences: Iterable[Fence] = ()
                   ) -> Coroutine[Any, Any, int]:
        """Sends as send(), for asyncio: `await s.send_async(a)`.

        Submits at once if there is room; the result is a coroutine.  No thread waits.  If the task is cancelled, the transfer is too."""
        return _transfer(self, self.send, a, fences, deadline=deadline, stage=stage)

    def recv_async(self, a: _AnyArray, /, *, deadline: Optional[float] = None,
                   stage: bool = False, fences: Iterable[Fence] = ()
                   ) -> Coroutine[Any, Any, int]:
        """Receives as recv(), for asyncio: `count = await s.recv_async(a)`.

        Submits at once if there is room; the result is a coroutine.  No thread waits.  If the task is cancelled, the transfer is too."""
        return _transfer(self, self.recv, a, fences, deadline=deadline, stage=stage)

    @overload
    def frames(self, shape: Any, *, count: int = 8, overwrite: bool = False,
               timeout: Optional[float] = None, pool: Optional[Pool] = None
               ) -> Frames[numpy.float64]: ...
    @overload
    def frames(self, shape: Any, dtype: Union[type[_Scalar], numpy.dtype[_Scalar]], *,
               count: int = 8, overwrite: bool = False, timeout: Optional[float] = None,
               pool: Optional[Pool] = None) -> Frames[_Scalar]: ...
    @overload
    def frames(self, shape: Any, dtype: Any = "f8", *, count: int = 8, overwrite: bool = False,
               timeout: Optional[float] = None, pool: Optional[Pool] = None) -> Frames: ...

    def frames(self, shape: Any, dtype: Any = "f8", *, count: int = 8, overwrite: bool = False,
               timeout: Optional[float] = None, pool: Optional[Pool] = None) -> Any:
        """Makes a ring of frames for the stream, and iterates over them without a copy.

            for frame in s.frames((480, 640), 'u2', count=8): ...
            async for frame in s.frames((480, 640), 'u2'): ...

        Each packet fills a frame, an array of NumPy.  At the loop's next step the
        engine gets the frame again: the array becomes read-only, and shows later
        packets.  Copy a frame to keep it.  Its memory stays as long as the array.
        A packet that is shorter than the frame makes fewer rows; OSError (EBADMSG)
        if the last row is not whole.  For a longer packet, see recv().  The next step
        continues after any error, also after TimeoutError and KeyboardInterrupt, with
        the next packet.

        A stream that sends hands out frames to fill.  At the loop's next step the frame
        is sent; flush() sends the last frame and waits:

            frames = s.frames((480, 640), 'u2')
            for picture, frame in zip(pictures, frames):
                frame[:] = picture
            frames.flush()

        count: frames, 2 to 1024, in memory of pool or of a new pool on the node.
        overwrite: a packet replaces the oldest waiting frame, if the program
        is late.  By default the stream is held back.  Frames.lost counts such packets.
        timeout: seconds of a step, then TimeoutError (ETIME).

        The ring ends with its last reference, as after `break`, or by close() or `with`;
        so does the loop, and with the stream.  Until then send() and recv() are OSError
        (EBUSY), as is a second ring."""
        return _ring(self, _make_frames(self, shape, dtype, count, pool), overwrite, timeout)

    def explain(self, a: _AnyArray, /, *, stage: bool = False) -> Explanation:
        """Says how a packet of a would be moved, as Explanation; moves nothing.

        engine is False if the CPU would make a staging copy.  Raises the errors
        of send() or recv()."""
        return self._explain(a, stage)

    def counts(self) -> StreamCounts:
        """Counters since it was opened, as StreamCounts."""
        return self._counts()

    def cancel(self) -> None:
        """Ends all transfers in flight with OSError (ECANCELED)."""
        self._cancel()

    def fileno(self) -> int:
        """A file descriptor, readable for poll() when transfers end.

        It belongs to the stream.  ended() makes it quiet; `await` calls that, so
        a program uses either of both."""
        return self._fileno()

    def ended(self) -> int:
        """The count of ended transfers; makes fileno() quiet until the next."""
        return self._ended()

    def close(self) -> None:
        """Ends all transfers in flight with OSError (ECANCELED), and closes the stream.

        If other threads are in calls of the stream, it closes after the last.  Events
        stay valid.  May be called again."""
        self._close()
        # Tasks that wait for its packets look again.
        look(self)

    def __enter__(self) -> Stream:
        """Returns the stream."""
        self._check()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType], /) -> Literal[False]:
        """Closes the stream."""
        self.close()
        return False

    def __repr__(self) -> str:
        return (f"<dray.Stream {self.name}, back end {self.node.backend}"
                f"{', closed' if self.closed else ''}>")


def _make_frames(stream: Stream, shape: Any, dtype: Any, count: int,
                 pool: Optional[Pool]) -> tuple[numpy.ndarray, ...]:
    """The arrays of frames.  No two of them touch the same cache line."""
    count = operator.index(count)
    if not 2 <= count <= MAX_FRAMES:
        raise ValueError(f"{count} frames, a ring has 2 to {MAX_FRAMES}")
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
    with scope(pool, 0):
        memory = numpy.empty(max(size, 0) * count + step, numpy.uint8)
    start = -memory.__array_interface__["data"][0] % step
    return tuple(numpy.ndarray(extents, kind, memory, start + index * size)
                 for index in range(count))


@final
class Frames(FramesBase[_Scalar]):
    """The frames of a ring, in turn."""

    __slots__ = ()
    __module__ = "dray"

    @property
    def number(self) -> int:
        """Of the packet in the frame at hand; each stream counts its packets.  To send,
        of the last packet in the frame, or 0."""
        return self._tell()[0]

    @property
    def bytes(self) -> int:
        """Of that packet."""
        return self._tell()[1]

    @property
    def time(self) -> float:
        """When that packet ended, as of time.monotonic()."""
        return self._tell()[2]

    @property
    def lost(self) -> int:
        """Packets that were overwritten just before the frame at hand."""
        return self._tell()[3]

    def flush(self, timeout: Optional[float] = None) -> None:
        """Sends the frame at hand, and waits until all frames are sent.

        timeout: seconds, then TimeoutError (ETIME).  OSError if a frame was not
        sent, ValueError if the stream receives."""
        self._flush(timeout)

    async def flush_async(self) -> None:
        """Flushes for asyncio: `await frames.flush_async()`."""
        while True:
            try:
                return self._flush(0)
            except TimeoutError as error:
                if error.errno != errno.ETIME:
                    raise
            await _until(self.stream, self._may_step)

    def close(self, timeout: Optional[float] = None) -> None:
        """Ends the ring: the stream can send, receive or use other frames.

        To receive, packets that were not read are lost, and later packets count from 1
        again.  To send, waits until the frames are sent, without the one at hand.
        `with` does the same at its end, but drops all after an exception; so does the
        end of the last reference, without a wait: frames to be sent still are.

        timeout: seconds, then TimeoutError (ETIME).  May be called again."""
        self._close(False, timeout)

    def __enter__(self) -> Frames[_Scalar]:
        """Returns the frames."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType], /) -> Literal[False]:
        """Ends the ring, as close(); after an exception nothing waits for frames."""
        self._close(kind is not None, self.timeout)
        return False

    def counts(self) -> RingCounts:
        """Counters of the ring, as RingCounts."""
        return self._counts()

    def _may_step(self) -> bool:
        return self.closed or self._counts().waiting > 0

    def __aiter__(self) -> AsyncIterator[NDArray[_Scalar]]:
        return self

    async def __anext__(self) -> NDArray[_Scalar]:
        import asyncio

        while (frame := self._poll()) is None:
            try:
                await asyncio.wait_for(_until(self.stream, self._may_step), self.timeout)
            except asyncio.TimeoutError:
                raise TimeoutError(errno.ETIME, f"no frame of {self.stream.name} "
                                   f"within {self.timeout} seconds") from None
        return frame


for _class in Event, Stream, Frames:
    use(_class)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The ends of transfers and calls, over their parts in C; asyncio can await them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator, Optional, Union, final

from ._dray import CallBase, FenceBase, use
from ._stream import _wake, copy_descriptor

if TYPE_CHECKING:
    import asyncio


async def _wait(fence: Union[Fence, Call]) -> Any:
    if not fence.done:
        import asyncio

        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        # A loop reads a descriptor for a single reader, and a fence may be
        # awaited twice.
        descriptor = copy_descriptor(fence.fileno())
        try:
            loop.add_reader(descriptor, _wake, done)
            await done
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
    return fence.wait()


@final
class Fence(FenceBase):
    """The point where a transfer is done; asyncio can await it."""

    __slots__ = ()
    __module__ = "dray"

    @property
    def time(self) -> float:
        """When it was over, as of time.monotonic(), 0 if the CPU copied.

        BlockingIOError before the end."""
        return self._time()

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the transfer is done, for at most timeout seconds.  Raises the
        transfer's error if it failed, TimeoutError (ETIME) if the time runs out."""
        self._wait(timeout)

    def fileno(self) -> int:
        """A file descriptor, readable for poll() when the transfer is done.

        It belongs to the fence.  ValueError if the CPU made the transfer."""
        return self._fileno()

    def __await__(self) -> Generator[Any, None, None]:
        """Waits until the transfer is done, without a thread."""
        return _wait(self).__await__()

    def __repr__(self) -> str:
        status = self._status()
        if status < 0:
            return f"<dray.Fence, failed: {os.strerror(-status)}>"
        return f"<dray.Fence, {'done' if status else 'not done'}>"


@final
class Call(CallBase):
    """A call of a queue, which keeps its arrays until the end; asyncio can await it."""

    __slots__ = ()
    __module__ = "dray"

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Returns the result after the end of the call, or raises its error; TimeoutError
        after `timeout` seconds, and the call goes on.  Warns once of errors of numbers."""
        return self._wait(timeout)

    def cancel(self) -> None:
        """Ends a call that waits at once; a call that runs ends when its executor looks.
        wait() raises the error."""
        self._cancel()

    def fileno(self) -> int:
        """A file descriptor, readable for poll() after the end of the call.

        It belongs to the call."""
        return self._fileno()

    def __await__(self) -> Generator[Any, None, Any]:
        """Waits until the end of the call, without a thread."""
        return _wait(self).__await__()


for _class in Fence, Call:
    use(_class)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The part of dray.Fence and dray.Call that is written in Python: `await fence`."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Generator, Union

from . import _dray
from ._stream import _wake, copy_descriptor


async def _wait(fence: Union[_dray.Fence, _dray.Call]) -> Any:
    if not fence.done:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        # A loop has one reader for each descriptor, and a fence may be
        # awaited twice.
        descriptor = copy_descriptor(fence.fileno())
        try:
            loop.add_reader(descriptor, _wake, done)
            await done
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
    return fence.wait()


def wait_in_loop(fence: Union[_dray.Fence, _dray.Call]) -> Generator[Any, None, Any]:
    """Runs for `await fence`: lets the loop go on until the fence is done."""
    return _wait(fence).__await__()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Streams: what waits returns a count, what does not an event; frames keep their type."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import dray


def brightest(camera: dray.Stream) -> int:
    frames = camera.frames((480, 640), np.uint16, count=8)
    assert_type(frames, "dray.Frames[np.uint16]")
    for frame in frames:
        assert_type(frame, NDArray[np.uint16])
        return int(frame.max())
    return frames.counts().lost


async def echo(tx: dray.Stream, rx: dray.Stream, a: dray.Array) -> int:
    event = rx.recv(a, wait=False)
    assert_type(event, dray.Event)
    await tx.send_async(a)
    async for frame in rx.frames((2, 2)):
        assert_type(frame, NDArray[np.float64])
    return await event


with dray.stream("tx0") as out, dray.stream("rx0", points=64) as back:
    assert_type(out.send(np.zeros(3), timeout=0.1), int)
    print(back.explain(np.zeros(3)).reason)

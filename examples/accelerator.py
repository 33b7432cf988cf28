#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Frames of a camera through an accelerator, by asyncio.

    camera --rx1--> frames --tx0--> accelerator --rx0--> results

At the same time the camera fills a frame, the accelerator works on the middle of the frame
before, which its engine reads in place, and the program looks at an earlier result.

On the host, "tx1" leads to "rx1" and "tx0" to "rx0": the program plays the camera, and the
accelerator returns each packet.  On a board, remove film().
"""
import asyncio

import dray
import numpy as np

SHAPE = 480, 640
MIDDLE = np.s_[112:368, 192:448]
FRAMES, RESULTS = 12, 3
# Seconds.  A stream may be silent for ever.
LIMIT = 10


async def film(camera):
    """Plays the camera: a bright square moves to the right."""
    picture = dray.zeros(SHAPE, np.uint8)
    for number in range(FRAMES):
        picture[...] = 0
        picture[200:280, 40 * number:40 * number + 80] = 250
        await camera.send_async(picture, deadline=LIMIT)


async def accelerate(camera, tx, rx, free, results):
    """Sends the middle of each frame, and passes its result on before it is there.

    With overwrite=True, the ring would not hold back a camera that cannot wait.
    """
    with camera.frames(SHAPE, np.uint8, count=4, timeout=LIMIT) as frames:
        number = 0
        async for frame in frames:
            result = await free.get()
            received = asyncio.ensure_future(rx.recv_async(result, deadline=LIMIT))
            # The camera gets the frame again at the next step, so the send ends before.
            await tx.send_async(frame[MIDDLE], deadline=LIMIT)
            results.put_nowait((number, result, received))
            number += 1
            if number == FRAMES:
                return


async def look(free, results):
    """Says where the square is in each result."""
    for _ in range(FRAMES):
        number, result, received = await results.get()
        await received
        bright = result[128].nonzero()[0]
        where = f"columns {bright[0]} to {bright[-1]}" if bright.size else "nothing"
        print(f"frame {number}: {where}")
        free.put_nowait(result)


async def run(*streams):
    filmed, camera, tx, rx = streams
    free, results = asyncio.Queue(), asyncio.Queue()
    for _ in range(RESULTS):
        free.put_nowait(dray.empty((256, 256), np.uint8))
    await asyncio.gather(film(filmed), accelerate(camera, tx, rx, free, results),
                         look(free, results))


def main():
    with dray.stream("tx1") as filmed, dray.stream("rx1") as camera, \
            dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        asyncio.run(run(filmed, camera, tx, rx))


if __name__ == "__main__":
    main()

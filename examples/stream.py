#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Packets and frames through a stream.

    picture --tx0--> logic --rx0--> tile, frames

On the host, "tx0" and "rx0" are the ends of a loop.  On a board they are
channels of its device tree, with logic between them that returns each packet.
"""
import asyncio

import dray
import numpy as np

ROWS, COLUMNS, TILE = 512, 1024, 64
# Seconds.  A stream may be silent for ever.
LIMIT = 10


def packet(tx, rx, picture):
    """Sends a tile, and receives its rows from the last to the first."""
    tile = dray.empty((TILE, TILE), np.uint8)
    source = picture[100:100 + TILE, 32:32 + TILE]
    print(f"{source.size} elements: {tx.explain(source).reason}")
    # A receive that waits already loses nothing.
    received = rx.recv(tile[::-1], wait=False, deadline=LIMIT)
    tx.send(source, timeout=LIMIT)
    count = received.wait()
    print(f"packet {received.number} brought {count} elements")
    print(f"the tile has row {tile[0, 0]} first and row {tile[-1, 0]} last")


async def send_rows(tx, picture):
    """Sends rows of the picture, and waits for each without a thread."""
    for row in range(0, ROWS, TILE):
        await tx.send_async(picture[row])


async def receive_rows(rx):
    """Looks at each row where the engine has put it."""
    frames = rx.frames(COLUMNS, np.uint8, count=4, timeout=LIMIT)
    sums = []
    async for frame in frames:
        sums.append(int(frame.sum()))
        if len(sums) == ROWS // TILE:
            return sum(sums)


async def rows(tx, rx, picture):
    total, _ = await asyncio.gather(receive_rows(rx), send_rows(tx, picture))
    print(f"{ROWS // TILE} rows with a sum of {total}, as in the picture: "
          f"{total == picture[::TILE].sum()}")


def main():
    picture = dray.empty((ROWS, COLUMNS), np.uint8)
    picture[:] = np.arange(ROWS)[:, None] % 256
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        packet(tx, rx, picture)
        asyncio.run(rows(tx, rx, picture))


if __name__ == "__main__":
    main()

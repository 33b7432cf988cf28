#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A board's frames as futures of Dask, and a cluster that works on them.

    rx0 --> frames of a ring --> worker on the board --> records or bytes --> workers

A task on the board copies each frame out of the ring, since the engine needs it again, and
scatters the copy: a future of an array that stays on the board.  Workers of the same machine
open a record of it, others receive its bytes into memory of dray.

On the host, "tx0" and "rx0" are the ends of a loop, and the task plays the accelerator.
With a board, start its worker by `dask worker tcp://... --name board --preload dray.dask`.
"""
import dray
import dray.dask
import numpy as np
from distributed import Client, LocalCluster, get_client

SHAPE = 256, 1024
FRAMES = 8
# Seconds.  A stream may be silent for ever.
LIMIT = 10


def frames_as_futures():
    """Runs on the board.  Returns a future of each frame."""
    node = dray.open()
    if not node.shareable:
        # The host's private memory has no records.
        node = dray.open("host:shareable")
    copies = []
    with node.stream("tx0") as tx, node.stream("rx0") as rx, node.pool():
        frames = rx.frames(SHAPE, np.uint8, count=4, timeout=LIMIT)
        picture = np.zeros(SHAPE, np.uint8)
        for number in range(FRAMES):
            tx.send(picture, timeout=LIMIT)
            copy = np.empty(SHAPE, np.uint8)
            dray.copy(copy, next(frames))
            copies.append(copy)
            picture += 1
    return get_client().scatter(copies, hash=False)


def brightness(frame):
    """Runs on the other worker, on the board's memory."""
    return int(frame.sum(dtype="i8")) // frame.size


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, \
            Client(cluster) as client:
        client.register_plugin(dray.dask.plugin())
        board, other = client.scheduler_info()["workers"]
        frames = client.submit(frames_as_futures, workers=[board])
        results = client.map(brightness, frames.result(), workers=[other])
        print(f"brightness of {FRAMES} frames: {client.gather(results)}")
        counts = client.run(dray.dask.counts)
        print(f"{counts[board].records} records, {counts[other].opened} opened")


if __name__ == "__main__":
    main()

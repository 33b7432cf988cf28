#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A pipeline of processes that work on the same frames, in place.

    program --frame--> smooth --frame--> threshold --number--> program

The queues of multiprocessing carry references.  Each stage maps the
memory and writes its result there, so the program finds it in its own arrays.
"""
import multiprocessing
import sys

import dray
import numpy as np

FRAMES = 8
SHAPE = (480, 640)


def smooth(frame):
    """Replaces each pixel by the mean of it and its left neighbour."""
    means = (frame[:, 1:].astype(np.uint16) + frame[:, :-1]) // 2
    frame[:, 1:] = means


def threshold(frame):
    """Makes each pixel 0 or 255."""
    frame[:] = np.where(frame > 100, 255, 0)


def smooth_stage(source, sink):
    """Smooths frames and passes them on, until None arrives."""
    while (item := source.get()) is not None:
        smooth(item[1])
        sink.put(item)
    sink.put(None)


def threshold_stage(source, sink):
    """Marks bright pixels and reports the number of each frame."""
    while (item := source.get()) is not None:
        number, frame = item
        threshold(frame)
        sink.put(number)
    sink.put(None)


def make_frames():
    """Frames with a bright square that moves to the right."""
    with dray.memory(shareable=True):
        frames = [np.zeros(SHAPE, np.uint8) for _ in range(FRAMES)]
    for number, frame in enumerate(frames):
        frame[200:280, 60 * number:60 * number + 80] = 250
    return frames


def main():
    # If stages were forked, they would share all of the program's arrays.
    context = multiprocessing.get_context("spawn")
    first, second, done = (context.Queue() for _ in range(3))
    stages = [context.Process(target=smooth_stage, args=(first, second), daemon=True),
              context.Process(target=threshold_stage, args=(second, done), daemon=True)]
    for stage in stages:
        stage.start()
    frames = make_frames()
    for item in enumerate(frames):
        first.put(item)
    first.put(None)
    # If a stage dies, this raises queue.Empty.
    while (number := done.get(timeout=60)) is not None:
        columns = frames[number][240].nonzero()[0]
        print(f"frame {number}: bright from column {columns[0]} to {columns[-1]}")
    for stage in stages:
        stage.join()
    if any(stage.exitcode for stage in stages):
        sys.exit("pipeline: a stage failed")
    print(f"{FRAMES} frames in {dray.handler_name(frames[0])}")


if __name__ == "__main__":
    main()

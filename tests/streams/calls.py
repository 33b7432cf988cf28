# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls of the ufunc "invert" by an IP on the AXI DMA of the emulated ZCU102: random
views of bytes, as the CPU computes them.

    calls.py [CALLS]
"""

import itertools
import sys

import dray
import numpy as np

ROOM = 1 << 16
# The engine takes words of 4 bytes; of other views the CPU makes copies.
FREE = ((1, 0.0), (2, 0.0))


def random_view(dice, memory, shape):
    """Returns a view of `shape` in `memory`, or None if it does not fit."""
    order = dice.permutation(len(shape))
    parent = [int(shape[axis]) * int(dice.integers(1, 3)) for axis in order]
    room = int(np.prod(parent))
    if not 0 < room <= memory.size:
        return None
    start = int(dice.integers(0, memory.size - room + 1))
    if dice.integers(2):
        start -= start % 4
    view = memory[start:start + room].reshape(parent)
    view = view.transpose(np.argsort(order))
    part = []
    for whole, extent in zip(view.shape, shape):
        step = int(dice.integers(1, whole // extent + 1)) if extent else 1
        cut = slice(0, (extent - 1) * step + 1, step)
        part.append(cut)
    view = view[(Ellipsis, *part)]
    return view[::-1] if view.ndim and dice.integers(4) == 0 else view


def main(calls):
    dice = np.random.default_rng(25)
    with dray.memory(), dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        source = dray.empty(ROOM, "u1")
        target = dray.empty(ROOM, "u1")
        source, target = np.asarray(source), np.asarray(target)
        source[:] = dice.integers(0, 256, ROOM)
        executors = [dray.StreamExecutor(dray.invert, "BB", [tx], [rx], frame_bytes=frame,
                                         depth=depth, stage=True)
                     for frame, depth in ((256, 4), (4096, 8), (65536, 2))]
        queues = [dray.CallQueue([executor]) for executor in executors]
        for executor, queue in zip(executors, queues):
            # The CPU is measured once, and then the streams are always faster.
            executor.cost = FREE
            queue.submit(dray.invert, source, out=target).wait()
        done = 0
        for number in itertools.count():
            if done == calls:
                break
            shape = dice.integers(1, 12, dice.integers(0, 4))
            if len(shape) and dice.integers(4):
                shape[-1] *= 4
            x, y = (random_view(dice, memory, shape) for memory in (source, target))
            if x is None or y is None:
                continue
            queue = queues[number % len(queues)]
            plan = queue.explain(dray.invert, x, out=y)
            if plan.executor != "streams":
                # A frame of other lengths cannot even be copied aside.
                assert "multiples of 4 bytes" in plan.reason, plan
                continue
            expected = target.copy()
            # The same memory, seen as y is.
            offset = y.ctypes.data - target.ctypes.data
            seen = np.lib.stride_tricks.as_strided(expected[offset:], y.shape, y.strides) \
                if all(step >= 0 for step in y.strides) else None
            if seen is None:
                y = y[::-1]
                x = x[::-1]
                offset = y.ctypes.data - target.ctypes.data
                seen = np.lib.stride_tricks.as_strided(expected[offset:], y.shape,
                                                       y.strides)
            np.invert(x, out=seen)
            queue.submit(dray.invert, x, out=y).wait(60)
            assert target.tobytes() == expected.tobytes(), (number, x.shape, x.strides)
            done += 1
        for queue in queues:
            queue.close()
        return done


print("1..1")
print(f"ok 1 {main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)} calls have the "
      "CPU's bytes")

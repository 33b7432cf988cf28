# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls of the ufunc "invert" by an IP on the AXI DMA of the emulated ZCU102: random
views of bytes, as the CPU computes them.

    calls.py [CALLS]
"""

import sys

import dray
import numpy as np
from random_calls import ROOM, random_calls, same_view

# The engine takes words of 4 bytes; of other views the CPU makes copies.
FREE = ((1, 0.0), (2, 0.0))


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
        for number, (x, y) in enumerate(random_calls(dice, source, target)):
            if done == calls:
                break
            queue = queues[number % len(queues)]
            plan = queue.explain(dray.invert, x, out=y)
            if plan.executor != "streams":
                # A frame of other lengths cannot even be copied aside.
                assert "multiples of 4 bytes" in plan.reason, plan
                continue
            expected = target.copy()
            np.invert(x, out=same_view(y, target, expected))
            queue.submit(dray.invert, x, out=y).wait(60)
            assert target.tobytes() == expected.tobytes(), (number, x.shape, x.strides)
            done += 1
        for queue in queues:
            queue.close()
        return done


print("1..1")
print(f"ok 1 {main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)} calls have the "
      "CPU's bytes")

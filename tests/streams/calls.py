# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls of a ufunc of bytes by an IP on the AXI DMA of the emulated ZCU102: random views,
masks and types, as the CPU computes them; then failures of the streams.

    calls.py UFUNC [CALLS]

UFUNC is "invert", or "add": its IP gets both inputs in one packet.
"""

import contextlib
import itertools
import os
import sys

import dray
import numpy as np
from random_calls import ROOM, random_call, twin

# The engine takes words of 4 bytes; of other views the CPU makes copies.
FREE = ((1, 0.0), (2, 0.0))


def compare(ufunc, oracle, queues, calls):
    """Makes calls that streams take; returns their count."""
    dice = np.random.default_rng(25)
    memory = [np.asarray(dray.empty(ROOM, "u1")) for _ in range(ufunc.nin + 1)]
    for one in memory:
        one[:] = dice.integers(0, 256, ROOM)
    target = memory[-1]
    done = 0
    for number in itertools.count():
        if done == calls:
            return done
        drawn = random_call(dice, ufunc, memory)
        if not drawn:
            continue
        inputs, out, where = drawn
        queue = queues[number % len(queues)]
        plan = queue.explain(ufunc, *inputs, out=out, where=where)
        if plan.executor != "streams":
            # A frame of other lengths cannot even be copied aside.
            assert "multiples of 4 bytes" in plan.reason, plan
            continue
        whole = target if np.shares_memory(out, target) else out
        expected = whole.copy()
        oracle(*inputs, out=twin(out, whole, expected), where=where, casting="unsafe")
        queue.submit(ufunc, *inputs, out=out, where=where).wait(60)
        assert whole.tobytes() == expected.tobytes(), (number, out.shape, out.strides)
        done += 1
    return done


def executor_of(ufunc, tx, rx, **options):
    """Returns an executor that is faster than the CPU, which was measured."""
    made = dray.StreamExecutor(ufunc, "B" * (ufunc.nin + 1), [tx], [rx], **options)
    made.cost = FREE
    return made


def fails(error, queue, *call, out):
    """The call has this error, and the streams have nothing of it any more."""
    try:
        queue.submit(*call, out=out).wait(60)
    except error as seen:
        return str(seen)
    raise AssertionError(f"no {error}")


def drain(rx):
    """Receives the rest of the IP's bytes."""
    rest = np.asarray(dray.empty(ROOM, "u1"))
    with contextlib.suppress(TimeoutError):
        while True:
            rx.recv(rest, deadline=.5)


def recover(ufunc, oracle, tx, rx):
    """Calls fail: a stale packet comes first, and frames are late.  Others follow."""
    data = [np.asarray(dray.empty(4096, "u1")) for _ in range(ufunc.nin + 1)]
    for number, one in enumerate(data):
        one[:] = np.arange(4096) * (number + 3)
    *inputs, out = data
    executor = executor_of(ufunc, tx, rx, frame_bytes=256)
    with dray.CallQueue([executor]) as queue:
        stale = np.asarray(dray.empty(16, "u1"))
        tx.send(stale, deadline=1)
        assert "came back with" in fails(OSError, queue, ufunc, *inputs, out=out)
        plan = queue.explain(ufunc, *inputs, out=out)
        assert plan.executor == "cpu" and "reset" in plan.reason, plan
        drain(rx)
        executor.reset()
        assert queue.explain(ufunc, *inputs, out=out).executor == "streams"
        out[:] = 0
        queue.submit(ufunc, *inputs, out=out).wait(60)
        assert out.tolist() == oracle(*inputs).tolist()


def disappear(ufunc, tx, rx):
    """The node is unbound during a call."""
    data = [np.asarray(dray.empty(ROOM, "u1")) for _ in range(ufunc.nin + 1)]
    executor = executor_of(ufunc, tx, rx, frame_bytes=4, depth=8)
    with dray.CallQueue([executor]) as queue:
        call = queue.submit(ufunc, *data[:-1], out=data[-1])
        device = os.path.realpath("/sys/class/misc/dray0/device")
        with open(f"{device}/driver/unbind", "w", encoding="ascii") as file:
            file.write(os.path.basename(device))
        try:
            call.wait(60)
        except OSError as error:
            return error.errno
    return 0


def main(name, calls):
    ufunc, oracle = getattr(dray, name), getattr(np, name)
    with dray.memory(), dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        executors = [executor_of(ufunc, tx, rx, frame_bytes=frame, depth=depth, stage=True)
                     for frame, depth in ((256, 4), (4096, 8), (65536, 2))]
        queues = [dray.CallQueue([executor]) for executor in executors]
        with dray.CallQueue() as cpu:
            cpu.submit(ufunc, *[np.zeros(ROOM, "u1")] * ufunc.nin).wait()
        done = compare(ufunc, oracle, queues, calls)
        print(f"ok 1 {done} calls have the CPU's bytes", flush=True)
        for queue in queues:
            queue.close()
        recover(ufunc, oracle, tx, rx)
        print("ok 2 streams that failed are reset", flush=True)
        error = disappear(ufunc, tx, rx)
        print(f"{'ok' if error else 'not ok'} 3 a node that goes away is error {error} of "
              "the call", flush=True)


print("1..3")
main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000)

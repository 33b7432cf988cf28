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

ROOM = 1 << 16
# The engine takes words of 4 bytes; of other views the CPU makes copies.
FREE = ((1, 0.0), (2, 0.0))
TYPES = ("u1", ">i2", "f4")


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


def twin(view, memory, copy):
    """Returns the view of `copy` that `view` is of `memory`."""
    start = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return np.ndarray(view.shape, view.dtype, copy, start, view.strides)


def random_call(dice, ufunc, memory):
    """Returns inputs, an output and a mask, or None."""
    shape = dice.integers(1, 12, dice.integers(0, 4))
    if len(shape) and dice.integers(4):
        shape[-1] *= 4
    views = [random_view(dice, one, shape) for one in memory]
    if any(view is None for view in views):
        return None
    *inputs, out = views
    where = True
    kind = dice.integers(6)
    if kind == 0:
        where = dice.integers(0, 2, shape).astype(bool)
    elif kind == 1:
        out = np.zeros(shape, TYPES[dice.integers(3)])
    elif kind == 2 and ufunc.nin == 2:
        inputs[1] = inputs[1][..., :1] if len(shape) else inputs[1]
    return inputs, out, where


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

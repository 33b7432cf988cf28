# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Registers and the interrupt of the IP brighten from Python, on the AXI DMA of the emulated
ZCU102; at last the node disappears.

    registers.py [silent]

silent: the IP is "invert", which raises no interrupt.
"""

import asyncio
import errno
import os
import select
import sys

import dray
import numpy as np


def brighten(tx, rx, gain):
    """Passes a packet; the bytes that came back must be brighter by `gain`."""
    data, out = (np.asarray(dray.empty(256, "u1")) for _ in range(2))
    data[:] = np.arange(256)
    event = rx.recv(out, wait=False)
    tx.send(data)
    event.wait(60)
    assert out.tolist() == np.minimum(np.arange(256) + gain, 255).tolist()


def fails(error, call, *args):
    try:
        call(*args)
    except error as caught:
        return str(caught)
    raise AssertionError(f"no {error.__name__}")


def registers(node, tx, rx):
    assert node.register_areas == ["control"]
    with node.registers("control") as control, node.registers() as other:
        assert control.name == other.name == "control" and len(control) == 4096
        for gain in (0, 7, 200, 40):
            control[0] = gain
            assert other[0] == gain and control[0:8][0] == gain
            brighten(tx, rx, gain)
        assert "multiple of 4" in fails(ValueError, control.__getitem__, 2)
        assert "0x1000 bytes" in fails(ValueError, control.__getitem__, 4096)
        assert "from 0" in fails(ValueError, control.__setitem__, 0, -1)
        assert "from 0" in fails(ValueError, control.__setitem__, 0, 1 << 32)
    fails(ValueError, control.__getitem__, 0)
    assert "which has: control" in fails(ValueError, node.registers, "controls")


def interrupt(node, tx, rx):
    assert node.interrupts == ["done"]
    with node.interrupt("done") as done:
        fails(TimeoutError, done.wait, 0)
        for count in range(1, 4):
            brighten(tx, rx, 40)
            assert done.wait(60) == count
        assert "in use" in fails(OSError, node.interrupt)
        brighten(tx, rx, 40)
        done.wait(60)
        done.clear()
        fails(TimeoutError, done.wait, 0)
    fails(ValueError, done.wait)


async def wait_async(node, tx, rx):
    with node.interrupt() as done:
        for _ in range(3):
            waiting = asyncio.ensure_future(asyncio.wait_for(done, 60))
            await asyncio.sleep(0)
            brighten(tx, rx, 40)
            await waiting


def call(node, tx, rx):
    """Calls of a ufunc that this IP computes wait for its interrupt."""
    data, out = (np.asarray(dray.empty(256, "u1")) for _ in range(2))
    data[:] = np.arange(256)
    with node.interrupt() as done:
        executor = dray.StreamExecutor(dray.invert, "BB", [tx], [rx], done=done, timeout=60)
        executor.cost = ((1, 0.0), (2, 0.0))
        with dray.CallQueue() as cpu:
            cpu.submit(dray.invert, np.zeros(256, "u1")).wait()
        with dray.CallQueue([executor]) as queue:
            for _ in range(3):
                queue.submit(dray.invert, data, out=out).wait(60)
                assert out[:3].tolist() == [40, 41, 42]
                # The call waited for it.
                assert select.select([done], [], [], 0)[0]


def disappear(node):
    with node.interrupt() as done:
        device = os.path.realpath("/sys/class/misc/dray0/device")
        with open(f"{device}/driver/unbind", "w", encoding="ascii") as file:
            file.write(os.path.basename(device))
        for call in (done.wait, done.clear, node.registers):
            try:
                call()
            except OSError as error:
                assert error.errno == errno.ENODEV, error
            else:
                raise AssertionError("no error")


def main():
    node = dray.open("kernel:dray0")
    with dray.memory(), node.stream("tx0") as tx, node.stream("rx0") as rx:
        registers(node, tx, rx)
        print("ok 1 registers set the gain", flush=True)
        interrupt(node, tx, rx)
        print("ok 2 a packet's end is an interrupt", flush=True)
        asyncio.run(wait_async(node, tx, rx))
        print("ok 3 a task awaits it", flush=True)
        call(node, tx, rx)
        print("ok 4 a call waits for it", flush=True)
    disappear(node)
    print("ok 5 a device that is gone is an error", flush=True)


def silent():
    node = dray.open("kernel:dray0")
    with dray.memory(), node.stream("tx0") as tx, node.stream("rx0") as rx, \
            node.interrupt() as done, dray.CallQueue() as cpu:
        data, out = (np.asarray(dray.empty(256, "u1")) for _ in range(2))
        cpu.submit(dray.invert, data, out=out).wait()
        executor = dray.StreamExecutor(dray.invert, "BB", [tx], [rx], done=done, timeout=0.3)
        executor.cost = ((1, 0.0), (2, 0.0))
        with dray.CallQueue([executor]) as queue:
            call = queue.submit(dray.invert, data, out=out)
            assert "interrupt done did not arrive" in fails(TimeoutError, call.wait, 60)
            plan = queue.explain(dray.invert, data, out=out)
            assert plan.executor == "cpu" and "reset" in plan.reason, plan
            executor.reset()
            assert queue.explain(dray.invert, data, out=out).executor == "streams"
    print("ok 1 a call whose interrupt never comes ends", flush=True)


if sys.argv[1:] == ["silent"]:
    print("1..1")
    silent()
else:
    print("1..5")
    main()

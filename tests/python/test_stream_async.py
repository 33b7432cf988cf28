# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Streams and asyncio: no thread waits, and a task that is cancelled cancels."""
import asyncio
import errno
import sys
import threading

import numpy as np
import pytest

import dray
from deadline import DEADLINE

pytestmark = pytest.mark.host  # other nodes have no loop


@pytest.fixture
def loop():
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        yield tx, rx


@pytest.fixture(autouse=True)
def starts_no_thread():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


async def started(coroutine):
    """A task that has begun to wait."""
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0)
    return task


async def awaited(event):
    return await event


def test_packets_are_awaited(loop, make):
    tx, rx = loop
    source, target = make(np.arange(20)), make(np.zeros(20, int))

    async def main():
        receiving = await started(rx.recv_async(target[::2]))
        assert not receiving.done()
        assert await tx.send_async(source[10:]) == await receiving == 10
    asyncio.run(main())
    assert (target[::2] == source[10:]).all() and not target[1::2].any()


def test_an_event_is_awaited_for_its_elements(loop, make):
    tx, rx = loop
    target, other = make(np.zeros(20, "u2")), make(np.zeros(20, "u2"))

    async def main():
        events = [rx.recv(each, wait=False) for each in (target, other)]
        tasks = [await started(awaited(event)) for event in events + events]
        await tx.send_async(make(np.ones(8, "u2")))
        await tx.send_async(make(np.ones(9, "u2")))
        assert await asyncio.gather(*tasks) == [8, 9, 8, 9]
        assert await events[0] == 8
    asyncio.run(main())


def test_more_packets_than_there_is_room_for(loop, make):
    tx, rx = loop
    source, target = make(np.arange(20)), make(np.zeros(20, int))

    async def receive():
        for _ in range(200):
            assert await rx.recv_async(target) == 20

    async def main():
        await asyncio.gather(receive(), *[tx.send_async(source) for _ in range(200)])
    asyncio.run(main())
    assert (target == source).all()
    assert tx.counts()[:2] == rx.counts()[:2] == (200, 200)


def test_a_deadline_wakes_the_task(loop, make):
    async def main():
        with pytest.raises(TimeoutError) as caught:
            await loop[1].recv_async(make(np.zeros(3)), deadline=0.01)
        assert caught.value.errno == errno.ETIMEDOUT
    asyncio.run(main())


def test_other_memory_and_fences(loop, make):
    tx, rx = loop
    source, target = np.arange(9), np.zeros(9, int)

    async def main():
        fence = dray.fill(make(np.zeros(3)), 1, wait=False)
        task = await started(rx.recv_async(target, stage=True, fences=[fence]))
        await tx.send_async(source, stage=True, fences=iter([fence]))
        await task
    asyncio.run(main())
    assert (target == source).all()


@pytest.mark.parametrize("fill", [0, 64])
def test_a_cancelled_task_cancels_its_transfer(loop, make, fill):
    tx, rx = loop
    source = make(np.arange(9))
    events = [tx.send(source, wait=False) for _ in range(fill)]

    async def main():
        sending = await started(tx.send_async(source))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sending, 0.01)
        with pytest.raises(asyncio.CancelledError):
            await sending
    asyncio.run(main())
    counts = tx.counts()
    assert counts.in_flight == fill and counts.cancelled == (not fill)
    tx.cancel()
    assert all(event.done for event in events) and sys.getrefcount(source) == 2


@pytest.mark.parametrize("elsewhere", [False, True])
def test_closing_a_stream_wakes_its_tasks(loop, make, elsewhere):
    rx = loop[1]

    async def main():
        task = await started(rx.recv_async(make(np.zeros(9))))
        if elsewhere:
            closing = threading.Thread(target=rx.close)
            closing.start()
            closing.join()
        else:
            rx.close()
        with pytest.raises(OSError) as caught:
            await task
        assert caught.value.errno == errno.ECANCELED
    asyncio.run(main())
    dray.stream("rx0").close()


def test_a_stream_is_awaited_in_the_loops_of_several_threads(loop, make):
    tx, rx = loop
    source = make(np.arange(9))
    received = []

    async def receive():
        target = make(np.zeros(9, int))
        for _ in range(50):
            received.append(await rx.recv_async(target))

    async def send():
        for _ in range(50):
            await tx.send_async(source)
    threads = [threading.Thread(target=lambda each=each: asyncio.run(each()))
               for each in (receive, send) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert received == [9] * 150


def test_a_loop_that_has_ended_is_forgotten(loop, make):
    tx, rx = loop

    async def main():
        await started(rx.recv_async(make(np.zeros(9))))
    asyncio.run(main())     # which cancels the task
    assert rx.counts().cancelled == 1
    target = make(np.zeros(9))
    event = rx.recv(target, wait=False)
    tx.send(make(np.ones(9)))
    assert event.wait() == 9


def test_what_is_wrong_with_a_call_is_said(loop):
    async def main():
        with pytest.raises(ValueError, match="a deadline of 0 seconds"):
            await loop[0].send_async(np.zeros(3), deadline=0)
        with pytest.raises(TypeError, match="timeout"):
            await loop[0].send_async(np.zeros(3), timeout=1)
    asyncio.run(main())


def test_a_transfer_that_is_never_awaited_is_cancelled(loop, make):
    tx, rx = loop
    lost, target = make(np.zeros(4)), make(np.zeros(4))
    with pytest.warns(RuntimeWarning, match="Stream.recv_async' was never awaited"):
        coroutine = rx.recv_async(lost)
        del coroutine
    assert rx.counts().in_flight == 0
    tx.send(make(np.ones(4)), wait=False)
    assert rx.recv(target, timeout=5) == 4 and not lost.any()

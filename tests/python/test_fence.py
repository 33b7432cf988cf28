# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fences: when a transfer is done, and arrays that live until then."""
import asyncio
import errno
import gc
import select
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import dray
from deadline import DEADLINE


def test_a_copy_that_was_waited_for_is_done(make):
    target = make(np.zeros(1000))
    fence = dray.copy(target, make(np.ones(1000)))
    assert isinstance(fence, dray.Fence)
    assert fence.done and target.all()
    fence.wait()
    fence.wait(0)
    fence.wait(timeout=1.5)


def test_a_copy_that_was_not_waited_for_is_done_after_wait(make):
    target, source = make(np.zeros((50, 64))), make(np.ones((100, 64)))
    fence = dray.copy(target, source[::2], wait=False)
    fence.wait()
    assert fence.done and target.all()


def test_a_fill_gives_a_fence_too(make):
    target = make(np.zeros(1000))
    dray.fill(target, 3, wait=False).wait()
    assert (target == 3).all()


@pytest.mark.parametrize("timeout", [-1, -0.001, float("nan")])
def test_a_timeout_below_zero_is_refused(make, timeout):
    fence = dray.fill(make(np.zeros(3)), 0)
    with pytest.raises(ValueError, match="seconds: 0 or more, or None"):
        fence.wait(timeout)


def test_a_timeout_that_is_no_number_is_a_type_error(make):
    with pytest.raises(TypeError):
        dray.fill(make(np.zeros(3)), 0).wait("soon")


def test_a_huge_timeout_does_not_wrap(make):
    dray.fill(make(np.zeros(3)), 0).wait(1e300)


def test_a_transfer_by_the_cpu_has_no_descriptor(make):
    fence = dray.fill(make(np.zeros(3)), 0, engine=False)
    with pytest.raises(ValueError, match="the CPU made this transfer"):
        fence.fileno()


def test_a_fence_that_is_done_lets_its_arrays_go(make):
    target, source = make(np.zeros(1000)), make(np.ones(1000))
    fence = dray.copy(target, source, wait=False)
    fence.wait()
    assert sys.getrefcount(target) == sys.getrefcount(source) == 2
    fence = dray.copy(target, source, wait=False)
    while not fence.done:
        pass
    assert sys.getrefcount(target) == sys.getrefcount(source) == 2


def test_a_fence_that_is_dropped_lets_its_arrays_go(make):
    target, source = make(np.zeros(1000)), make(np.ones(1000))
    gone = weakref.ref(target)
    dray.copy(target, source, wait=False)
    del target
    gc.collect()
    assert gone() is None


def test_a_failed_copy_keeps_no_array(make):
    target, source = make(np.zeros(10)), make(np.ones(9))
    with pytest.raises(ValueError):
        dray.copy(target, source)
    assert sys.getrefcount(target) == sys.getrefcount(source) == 2


def test_many_threads_may_copy_at_once(make):
    wrong = []

    def work(number):
        source = make(np.full((40, 50), number))
        target = make(np.zeros((40, 50), source.dtype))
        for _ in range(20):
            target[:] = 0
            dray.copy(target[::2], source[::2])
            if target.sum() != number * 1000:
                wrong.append(target)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.fixture
def slow(make):
    """Copies of many descriptors, which an emulated engine takes long for."""
    arrays = [make(np.zeros((6000, 2), np.uint8)),
              make(np.ones((6000, 2), np.uint8))]

    def start(copies=1):
        target, source = arrays
        # The last is done when all are.
        fences = [dray.copy(target[:, :1], source[:, 1:], engine=True,
                            wait=False) for _ in range(copies)]
        return target, fences[-1]
    yield start
    arrays.clear()


def until(outlasts, slow):
    """Starts more and more copies, until the wait is not the shorter part."""
    copies, end = 1, time.monotonic() + DEADLINE
    while True:
        target, fence = slow(copies)
        if outlasts(fence):
            return target, fence
        fence.wait()
        copies = min(2 * copies, 64)
        assert time.monotonic() < end, "an engine that is never at work"


@pytest.mark.kernel
def test_a_wait_that_runs_out_is_a_timeout_error(slow):
    def runs_out(fence):
        try:
            fence.wait(0.001)
        except TimeoutError as error:
            assert error.errno == errno.ETIME
            return True
        return False
    target, fence = until(runs_out, slow)
    # The copy went on, and the fence can be waited for again.
    fence.wait()
    assert fence.done
    assert target[:, 0].all() and not target[:, 1].any()


@pytest.mark.kernel
def test_a_fence_can_be_polled(slow):
    target, fence = slow()
    poll = select.poll()
    poll.register(fence, select.POLLIN)
    assert poll.poll(DEADLINE * 1000) == [(fence.fileno(), select.POLLIN)]
    assert fence.done and target[:, 0].all()


@pytest.mark.kernel
def test_a_signal_ends_a_wait_and_not_the_transfer(slow):
    class Alarm(Exception):
        pass

    waiting = False

    def ring(number, frame):
        # Again and again: the first may come before the call waits.
        nonlocal waiting
        if waiting:
            waiting = False
            raise Alarm

    def is_ended(fence):
        nonlocal waiting
        waiting = True
        try:
            fence.wait()
            waiting = False
        except Alarm:
            # Done, it would be one that came after the wait.
            return not fence.done
        return False
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        target, fence = until(is_ended, slow)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    fence.wait()
    assert fence.done
    assert target[:, 0].all() and not target[:, 1].any()


@pytest.mark.kernel
def test_a_task_that_is_cancelled_leaves_the_copy_alone(slow):
    async def wait(fence):
        await fence

    async def is_cancelled(fence):
        task = asyncio.create_task(wait(fence))
        await asyncio.sleep(0)
        task.cancel()
        # Done, it would be one that came after the wait.
        return isinstance((await asyncio.gather(task, return_exceptions=True))[0],
                          asyncio.CancelledError) and not fence.done
    target, fence = until(lambda fence: asyncio.run(is_cancelled(fence)), slow)
    asyncio.run(wait(fence))
    assert fence.done
    assert target[:, 0].all() and not target[:, 1].any()


@pytest.mark.kernel
def test_a_fence_keeps_its_arrays_alive(slow):
    target, fence = slow()
    count = sys.getrefcount(target)
    fence.wait()
    assert sys.getrefcount(target) == count - 1


@pytest.mark.kernel
def test_memory_freed_under_the_engine_is_not_given_out_again(make):
    def drop(copies):
        source = make(np.ones((6000, 2), np.uint8))
        target = make(np.zeros((6000, 2), np.uint8))
        for _ in range(copies):
            dray.copy(target[:, :1], source[:, 1:], engine=True, wait=False)
        last = dray.fill(make(np.zeros(8)), 0, engine=True, wait=False)
        return target.__array_interface__["data"][0], last

    def outlasts(last):
        with dray.memory():
            other = [np.empty((6000, 2), np.uint8) for _ in range(4)]
        places.clear()
        places.update(a.__array_interface__["data"][0] for a in other)
        return not last.done
    places = set()
    place, last = until(outlasts, drop)
    assert place not in places
    last.wait()

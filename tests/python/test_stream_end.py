# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where frames and transfers end: a stream goes on with something else."""
import asyncio
import errno
import math
import os
import threading

import numpy as np
import pytest

import dray
from deadline import DEADLINE, wait_until

pytestmark = pytest.mark.host  # other nodes have no loop


@pytest.fixture
def loop():
    with dray.stream("tx0") as tx, dray.stream("rx0", points=512) as rx:
        yield tx, rx


@pytest.fixture
def send(loop, make):
    return lambda number: loop[0].send(make(np.full(6, number, "u2")), wait=False)


def leave(rx, **options):
    for frame in rx.frames(6, "u2", timeout=DEADLINE, **options):
        return int(frame[0])


def close(rx):
    frames = rx.frames(6, "u2")
    frames.close()
    assert frames.closed and not list(frames)
    frames.close()


def end_with(rx):
    with rx.frames(6, "u2") as frames:
        assert not frames.closed
    assert frames.closed


def end_with_an_error(rx):
    with pytest.raises(ZeroDivisionError), rx.frames(6, "u2"):
        1 / 0


@pytest.mark.parametrize("end", [close, end_with, end_with_an_error])
@pytest.mark.parametrize("next_use", ["shape", "recv", "same"])
def test_a_ring_that_ended_is_followed_by_anything(loop, send, make, end, next_use):
    rx = loop[1]
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        end(rx)
        send(7)
        if next_use == "recv":
            target = make(np.zeros(6, "u2"))
            assert rx.recv(target, timeout=DEADLINE) == 6 and (target == 7).all()
        else:
            shape = (2, 3) if next_use == "shape" else 6
            with rx.frames(shape, "u2", timeout=DEADLINE) as frames:
                assert (next(frames) == 7).all() and frames.number == 1
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_loop_that_was_left_is_followed_by_another(loop, send, make):
    for turn in range(3):
        send(turn)
        assert leave(loop[1]) == turn
    send(9)
    assert loop[1].recv(make(np.zeros(6, "u2")), timeout=DEADLINE) == 6


def test_points_of_the_stream_are_as_before(loop):
    for _ in range(2):
        with pytest.raises(ValueError, match="opened with 512 points"):
            loop[1].frames(6, count=513)
        close(loop[1])


def test_while_something_has_the_frames_the_error_tells_the_way_out(loop, make):
    frames = loop[1].frames(6, "u2")
    for call in (lambda: loop[1].recv(make(np.zeros(3))), lambda: loop[1].frames(6)):
        with pytest.raises(OSError, match=r"the frames of its ring; .* close\(\) of the frames") as caught:
            call()
        assert caught.value.errno == errno.EBUSY
    del caught, frames
    close(loop[1])


@pytest.mark.parametrize("name", ["tx0", "rx0"])
def test_the_end_wakes_a_thread_that_waits_for_a_frame(loop, name):
    stream = loop[name == "rx0"]
    frames = stream.frames(6, count=2)
    if name == "tx0":
        next(frames), next(frames)
    steps = []
    thread = threading.Thread(target=lambda: steps.append(list(frames)))
    thread.start()
    # To send, a thread in a step would have the frames that close() waits for.
    if name == "tx0":
        assert wait_until(lambda: frames.counts().owned < 2)
        with pytest.raises(ValueError, match="another thread waits"):
            frames.close()
        stream.close()
    else:
        wait_until(lambda: frames.counts().frames == 2)
        frames.close()
    thread.join(DEADLINE)
    assert not thread.is_alive() and steps == [[]]


def test_a_task_that_waits_for_a_frame_ends(loop):
    async def main():
        frames = loop[1].frames(6)

        async def all_frames():
            return [frame async for frame in frames]
        task = asyncio.create_task(all_frames())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        frames.close()
        assert await asyncio.wait_for(task, DEADLINE) == []
    asyncio.run(main())
    close(loop[1])


def receive(rx, count):
    target = dray.zeros(6, "u2")
    for _ in range(count):
        rx.recv(target, timeout=DEADLINE)
        yield int(target[0])


def fill(frames, count):
    for number, frame in zip(range(count), frames):
        frame[:] = number


@pytest.mark.parametrize("ends", ["left", "closed", "with"])
def test_frames_to_send_are_sent_before_the_next_packet(loop, make, ends):
    """The frame at hand, which only flush() sends, is not."""
    tx, rx = loop
    got = []
    thread = threading.Thread(target=lambda: got.extend(receive(rx, 5)))
    if ends == "left":
        fill(tx.frames(6, "u2"), 5)
        thread.start()
    else:
        thread.start()
        with tx.frames(6, "u2", timeout=DEADLINE) as frames:
            fill(frames, 5)
            if ends == "closed":
                frames.close(timeout=DEADLINE)
    tx.send(make(np.full(6, 99, "u2")), timeout=DEADLINE)
    thread.join(DEADLINE)
    assert got == [0, 1, 2, 3, 99]


def test_a_close_that_would_wait_too_long_leaves_the_ring(loop):
    with loop[0].frames(6, "u2") as frames:
        fill(frames, 3)
        with pytest.raises(TimeoutError):
            frames.close(timeout=0.01)
        assert not frames.closed
        assert list(receive(loop[1], 2)) == [0, 1]


def test_an_error_drops_frames_to_send(loop):
    with pytest.raises(ZeroDivisionError), loop[0].frames(6, "u2") as frames:
        fill(frames, 3)
        1 / 0
    with pytest.raises(TimeoutError):
        loop[1].recv(dray.zeros(6, "u2"), timeout=0.01)


def test_a_packet_that_must_not_wait_finds_the_rest_of_a_loop(loop, make):
    fill(loop[0].frames(6, "u2"), 3)
    with pytest.raises(BlockingIOError):
        loop[0].send(make(np.zeros(3)), nonblock=True)
    with pytest.raises(TimeoutError):
        loop[0].send(make(np.zeros(3)), timeout=0.01)
    assert list(receive(loop[1], 2)) == [0, 1]


def test_a_closed_ring_has_nothing_to_flush(loop):
    frames = loop[0].frames(6)
    frames.close()
    with pytest.raises(ValueError, match="the frames of tx0 are closed"):
        frames.flush()


def test_a_forked_child_leaves_the_ring_of_its_parent(loop, send):
    frames = loop[1].frames(6, "u2", timeout=DEADLINE)
    child = os.fork()
    if not child:
        del frames
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    send(3)
    assert (next(frames) == 3).all()


def test_a_receive_is_there_before_it_is_awaited(loop, make):
    target = make(np.zeros(6, "u2"))

    async def main():
        receiving = loop[1].recv_async(target)
        assert loop[1].counts().in_flight == 1
        loop[0].send(make(np.full(6, 4, "u2")), timeout=DEADLINE)
        assert await receiving == 6
    asyncio.run(main())
    assert (target == 4).all()


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_a_receive_that_was_never_awaited_is_cancelled(loop, make, end):
    async def main():
        receiving = loop[1].recv_async(make(np.zeros(6, "u2")))
        if end == "close":
            receiving.close()
        else:
            task = asyncio.create_task(receiving)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert loop[1].counts().in_flight == 0
    asyncio.run(main())


@pytest.mark.parametrize("deadline", [math.inf, None, 600])
def test_a_deadline_without_end_is_none(loop, make, deadline):
    loop[1].recv(make(np.zeros(3)), wait=False, deadline=deadline).cancel()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rings of frames on the host, where a packet to "tx0" comes from "rx0"."""
import asyncio
import errno
import gc
import threading
import weakref

import numpy as np
import pytest

import dray
from deadline import DEADLINE, wait_until

pytestmark = pytest.mark.host  # other nodes have no loop


@pytest.fixture
def loop():
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        yield tx, rx


@pytest.fixture
def send(loop, make):
    """send(array): without a wait, one packet."""
    return lambda array: loop[0].send(make(array), wait=False)


def test_a_loop_has_each_frame_without_a_copy(loop, send):
    frames = loop[1].frames((4, 6), "u2", count=3, timeout=DEADLINE)
    places, numbers = [], []
    for i in range(3):
        send(np.full((4, 6), i, "u2"))
    for i, frame in enumerate(frames):
        send(np.full((4, 6), i + 3, "u2"))
        assert type(frame) is np.ndarray and frame.flags.writeable
        assert (frame.shape, frame.dtype) == ((4, 6), "u2") and (frame == i).all()
        assert (frames.bytes, frames.lost) == (48, 0)
        places.append(frame.__array_interface__["data"][0])
        numbers.append(frames.number)
        if i == 9:
            break
    assert numbers == list(range(1, 11))
    assert places[:7] == places[3:] and len(set(places)) == 3
    assert len({place // 64 for place in places}) == 3
    assert frames.time > 0 and frames.timeout == DEADLINE and frames.stream is loop[1]
    # A loop that was left can go on.
    assert (next(frames) == 10).all() and iter(frames) is frames


def test_a_frame_that_went_back_is_read_only_and_stays_in_memory(loop, send):
    rx = loop[1]
    frames = rx.frames(3, "u2", count=2, timeout=DEADLINE)
    send(np.full(3, 1, "u2"))
    send(np.full(3, 2, "u2"))
    first = next(frames)
    second = next(frames)
    assert not first.flags.writeable and second.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7
    send(np.full(3, 3, "u2"))
    third = next(frames)
    assert (first == 3).all() and np.shares_memory(first, third)
    rx.close()
    del frames
    gc.collect()
    assert (first == 3).all() and (second == 2).all()
    third[:] = 4
    assert (first == 4).all()


@pytest.mark.exact
def test_memory_of_frames_goes_with_the_stream_and_the_last_array(loop, send):
    pool = dray.open("host").pool()
    frames = loop[1].frames(3, "u2", count=2, pool=pool)
    send(np.ones(3, "u2"))
    frame = next(frames)
    del frames
    assert pool.stats().blocks == 1
    loop[1].close()
    assert pool.stats().blocks == 1 and frame.all()
    del frame
    assert pool.stats().blocks == 0


@pytest.mark.exact
def test_memory_of_a_ring_that_the_engine_has_is_parked(loop):
    pool = dray.open("host").pool()
    frames = loop[1].frames(3000, "u2", count=2, pool=pool)
    assert pool.stats().used >= 12000
    del frames
    assert pool.stats().parked == pool.stats().used == 0


# The shape of frames of u2, bytes of a packet, and the shape that comes.
@pytest.mark.parametrize("shape, sent, came", [
    (8, 6, (3,)), ((), 2, ()), ((4, 3), 18, (3, 3)), ((4, 3), 24, (4, 3)),
    ((4, 3), 17, "17 bytes, its rows have 6 bytes"),
    (8, 5, "5 bytes, its rows have 2 bytes"),
    ((), 1, "1 bytes, its rows have 2 bytes")])
def test_a_short_packet_gives_fewer_rows(loop, send, shape, sent, came):
    frames = loop[1].frames(shape, "u2", timeout=DEADLINE)
    send(np.full(sent, 1, "u1"))
    send(np.full(frames.counts().frames and 2 * int(np.prod(shape)), 2, "u1"))
    if isinstance(came, str):
        with pytest.raises(OSError, match=came) as caught:
            next(frames)
        assert caught.value.errno == errno.EBADMSG
    else:
        frame = next(frames)
        assert frame.shape == came and (frame == 0x101).all()
    assert frames.bytes == sent
    assert next(frames).shape == np.zeros(shape).shape


def test_a_long_packet_goes_on_in_the_next_frame(loop, send):
    frames = loop[1].frames(4, "u1", timeout=DEADLINE)
    send(np.arange(10, dtype="u1"))
    assert [next(frames).tolist() for _ in range(3)] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_ring_that_overwrites_tells_of_lost_packets(loop, make):
    tx, rx = loop
    frames = rx.frames(3, "u2", count=4, overwrite=True, timeout=DEADLINE)
    tx.send(make(np.full(3, 1, "u2")))
    assert next(frames)[0] == 1 and frames.lost == 0
    for i in range(2, 12):
        tx.send(make(np.full(3, i, "u2")))
    # The engine has three of the four.
    assert [(next(frames)[0], frames.number, frames.lost) for _ in range(3)] == [
        (9, 9, 7), (10, 10, 0), (11, 11, 0)]
    counts = frames.counts()
    assert (counts.frames, counts.ended, counts.acquired, counts.lost) == (4, 11, 4, 7)


def test_packets_before_the_ring_are_not_lost(loop, make, send):
    tx, rx = loop
    target = make(np.zeros(3, "u2"))
    for _ in range(5):
        send(np.ones(3, "u2"))
        rx.recv(target)
    frames = rx.frames(3, "u2", overwrite=True)
    send(np.ones(3, "u2"))
    next(frames)
    assert (frames.number, frames.lost) == (6, 0)


def test_a_step_without_a_frame_is_a_timeout_error_and_can_go_on(loop, send):
    frames = loop[1].frames(3, "u2", timeout=0.01)
    for _ in range(2):
        with pytest.raises(TimeoutError, match="no frame of rx0 within 10 ms") as caught:
            next(frames)
        assert caught.value.errno == errno.ETIME
        for name in ("number", "bytes", "time", "lost"):
            with pytest.raises(ValueError, match="no frame of rx0 is at hand"):
                getattr(frames, name)
        send(np.ones(3, "u2"))
        assert next(frames).all()


def test_a_signal_ends_a_step(loop, send, alarm):
    frames = loop[1].frames(3, "u2")
    with pytest.raises(alarm.raised), alarm:
        next(frames)
    send(np.ones(3, "u2"))
    assert next(frames).all()


def test_a_cancelled_frame_is_an_error_and_the_ring_goes_on(loop, send):
    rx = loop[1]
    frames = rx.frames(3, "u2", count=2, timeout=DEADLINE)
    rx.cancel()
    with pytest.raises(OSError, match="frame 1 of rx0 ended after 0 bytes: "
                       "Operation canceled") as caught:
        next(frames)
    assert caught.value.errno == errno.ECANCELED
    send(np.ones(3, "u2"))
    assert next(frames).all()


@pytest.mark.parametrize("name", ["tx0", "rx0"])
def test_the_loop_ends_when_the_stream_is_closed(loop, name):
    stream = loop[name == "rx0"]
    frames = stream.frames(3, "u2", count=2)
    steps = []
    thread = threading.Thread(target=lambda: steps.extend(len(frame) for frame in frames))
    thread.start()
    assert wait_until(lambda: stream.closed or len(steps) == 2 * (name == "tx0"))
    stream.close()
    thread.join(DEADLINE)
    assert not thread.is_alive() and list(frames) == []
    with pytest.raises(ValueError, match="is closed"):
        frames.counts()


def is_refused(frames):
    """Whether a step in another thread is under way."""
    try:
        assert frames._poll() is None
    except ValueError as error:
        assert str(error) == "another thread waits for a frame of rx0"
        return True
    return False


def test_one_thread_at_a_time_makes_a_step(loop, send):
    frames = loop[1].frames(3, "u2")
    came = []

    def step():
        while not came:
            try:
                came.append(next(frames))
            except ValueError:
                pass    # the other thread was faster
    thread = threading.Thread(target=step)
    thread.start()
    assert wait_until(lambda: is_refused(frames))
    send(np.ones(3, "u2"))
    thread.join(DEADLINE)
    assert came[0].all()


def test_frames_are_sent_when_the_loop_goes_on(loop, make):
    tx, rx = loop
    frames = tx.frames((4, 6), "u2", count=3, timeout=DEADLINE)
    target = make(np.zeros((4, 6), "u2"))
    came = []

    def receive():
        for _ in range(20):
            assert rx.recv(target, timeout=DEADLINE) == 24
            came.append(target.copy())
    thread = threading.Thread(target=receive)
    thread.start()
    for i, frame in zip(range(20), frames):
        assert frame.shape == (4, 6)
        frame[:] = i
    frames.flush(timeout=DEADLINE)
    thread.join()
    assert not frame.flags.writeable
    assert [each[0, 0] for each in came] == list(range(20))
    assert all((each == each[0, 0]).all() for each in came)
    # All frames are back, and none is sent again.
    assert frames.counts().owned == 3
    assert [next(frames).shape for _ in range(2)] == [(4, 6)] * 2
    assert frames.number > 0 and rx.recv(target) == 24


def test_a_flush_that_does_not_end_is_a_timeout_error(loop, make):
    tx, rx = loop
    frames = tx.frames(3, "u2", count=3)
    next(frames)[:] = 1
    for _ in range(2):
        with pytest.raises(TimeoutError) as caught:
            frames.flush(0.01)
        assert caught.value.errno == errno.ETIME
    assert rx.recv(make(np.zeros(3, "u2"))) == 3
    frames.flush(DEADLINE)
    next(frames)[:] = 2
    next(frames)
    tx.cancel()
    # It sends the frame at hand, and tells of the one before.
    with pytest.raises(OSError, match="frame 2 of tx0 ended after 0 bytes"):
        frames.flush(0.01)
    assert rx.recv(make(np.zeros(3, "u2"))) == 3
    frames.flush(DEADLINE)


def test_a_frame_that_was_not_sent_is_an_error_once(loop, make):
    tx, rx = loop
    frames = tx.frames(3, "u2", count=2, timeout=DEADLINE)
    next(frames)[:] = 1
    next(frames)
    tx.cancel()
    with pytest.raises(OSError, match="frame 1 of tx0 ended after 0 bytes"):
        next(frames)
    assert next(frames)[0] == 1
    assert rx.recv(make(np.zeros(3, "u2"))) == 3
    counts = frames.counts()
    assert (counts.ended, counts.owned, counts.waiting) == (2, 1, 1)


@pytest.mark.parametrize("arguments, keywords, error, sentence", [
    ((3,), {"count": 1}, ValueError, "1 frames, a ring has 2 to 1024"),
    ((3,), {"count": 0}, ValueError, "0 frames, a ring has 2 to 1024"),
    ((3,), {"count": -1}, ValueError, "-1 frames, a ring has 2 to 1024"),
    (((4096, 4096),), {"count": 1000000}, ValueError, "1000000 frames, a ring has 2"),
    ((3,), {"count": "8"}, TypeError, "interpreted as an integer"),
    ((3,), {"timeout": -1}, ValueError, "a timeout of -1 seconds"),
    ((3,), {"pool": 3}, TypeError, "pool is not a dray.Pool but int"),
    ((3, "O"), {}, TypeError, "frame: .* holds references"),
    ((3, "no type"), {}, TypeError, "not understood"),
    (((3, 0),), {}, ValueError, "the view contains no bytes to receive .frame 0."),
    (((3, -1),), {}, ValueError, "negative"),
    (((1 << 40, 1 << 40),), {}, (ValueError, MemoryError), ""),
    ((3,), {"colour": 1}, TypeError, "colour"),
])
def test_what_is_wrong_with_a_ring_is_said(loop, send, arguments, keywords, error,
                                           sentence):
    with pytest.raises(error, match=sentence):
        loop[1].frames(*arguments, **keywords)
    # The stream has none, so another one can follow.
    frames = loop[1].frames(3)
    send(np.ones(3))
    assert next(frames).all()


def test_a_ring_is_alone_on_its_stream(loop, make):
    tx, rx = loop
    array = make(np.zeros(3))
    event = rx.recv(array, wait=False)
    with pytest.raises(OSError, match="rx0 has 1 packet in flight") as caught:
        rx.frames(3)
    event.cancel()
    frames = rx.frames(3)
    for call in (lambda: rx.frames(3), lambda: rx.recv(array)):
        with pytest.raises(OSError, match="ring") as caught:
            call()
        assert caught.value.errno == errno.EBUSY
    with pytest.raises(ValueError, match="tx0 sends, and only received frames are"):
        tx.frames(3, overwrite=True)
    with pytest.raises(ValueError, match="rx0 receives, it cannot send"):
        frames.flush()


def test_asyncio_iterates(loop, make):
    tx, rx = loop
    sums = []

    async def receive():
        async for frame in rx.frames(100, "u4", count=4):
            assert (frame == frame[0]).all()
            sums.append(int(frame[0]))
            if len(sums) == 100:
                break

    async def send():
        frames = tx.frames(100, "u4", count=4)
        number = 0
        async for frame in frames:
            frame[:] = number
            number += 1
            if number == 100:
                break
        await frames.flush_async()

    async def main():
        await asyncio.gather(receive(), send())
    before = threading.active_count()
    asyncio.run(main())
    assert sums == list(range(100)) and threading.active_count() == before


def test_asyncio_has_timeouts_and_ends(loop, send):
    rx = loop[1]

    async def main():
        frames = rx.frames(3, "u2", timeout=0.01)
        with pytest.raises(TimeoutError, match="no frame of rx0 within 0.01 sec") as caught:
            async for _ in frames:
                pass
        assert caught.value.errno == errno.ETIME
        task = asyncio.create_task(frames.__anext__())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        send(np.ones(3, "u2"))
        assert (await frames.__anext__()).all()
        task = asyncio.create_task(count(frames))
        await asyncio.sleep(0)
        rx.close()
        assert await task == 0
    asyncio.run(main())


async def count(frames):
    number = 0
    async for _ in frames:
        number += 1
    return number


def test_a_cycle_through_frames_is_collected(make):
    class Holder:
        pass

    holder = Holder()
    stream = dray.stream("rx0")
    holder.frames = stream.frames(3)
    gone = weakref.ref(holder)
    del stream, holder
    gc.collect()
    assert gone() is None
    dray.stream("rx0").close()


def test_frames_that_are_still_sent_bound_a_new_ring(loop):
    tx = loop[0]
    frames = tx.frames(4, timeout=0.01)
    next(frames)[:] = 1
    next(frames)[:] = 2     # the first is sent now, and nobody receives
    del frames
    with pytest.raises(TimeoutError):
        tx.frames(4, timeout=0.01)

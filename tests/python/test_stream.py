# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Streams on the host, where a packet that is sent to "tx0" comes from "rx0"."""
import errno
import gc
import os
import re
import select
import sys
import threading
import time
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


def test_a_packet_of_a_strided_view_comes_back(loop, make):
    tx, rx = loop
    source, target = make(np.arange(20, dtype="u2")), make(np.zeros((3, 8), "u2"))
    event = rx.recv(target[1:, ::-2], wait=False)
    assert not event.done and repr(event) == "<dray.Event of rx0, not done>"
    assert tx.send(source[1:9]) == 8
    assert event.wait() == event.count == 8
    wanted = np.zeros((3, 8), "u2")
    wanted[1:, ::-2] = np.arange(1, 9).reshape(2, 4)
    assert (target == wanted).all()
    assert (event.done, event.bytes, event.number) == (True, 16, 1)
    assert 0 <= time.monotonic() - event.time < DEADLINE
    assert event.stream is rx and repr(event) == "<dray.Event of rx0, done>"


# The type, elements sent as bytes, and elements that come.
@pytest.mark.parametrize("dtype, sent, count", [
    ("u1", 7, 7), ("<u2", 6, 3), (">f8", 8, 1), ("V3", 9, 3),
    ([("r", "u1"), ("xy", "<f4", (2,))], 18, 2)], ids=str)
def test_a_short_packet_ends_a_receive_with_its_elements(loop, make, dtype, sent,
                                                         count):
    tx, rx = loop
    tx.send(make(np.full(sent, 1, np.uint8)), wait=False)
    target = make(np.zeros(9, dtype))
    assert rx.recv(target) == count
    seen = target.view(np.uint8).reshape(-1)
    assert seen[:sent].all() and not seen[sent:].any()


def test_a_long_packet_goes_on_in_the_next_receive(loop, make):
    tx, rx = loop
    event = tx.send(make(np.arange(10, dtype="u1")), wait=False)
    parts = [make(np.zeros(n, "u1")) for n in (4, 5, 6)]
    assert [rx.recv(part) for part in parts] == [4, 5, 1]
    assert event.wait() == 10
    assert np.concatenate(parts).tolist() == [*range(10), 0, 0, 0, 0, 0]


def test_an_element_that_is_not_whole_is_an_error_that_tells_the_bytes(loop, make):
    tx, rx = loop
    target = make(np.zeros(9, "<u4"))
    event = rx.recv(target, wait=False)
    tx.send(make(np.full(7, 1, "u1")), wait=False)
    for ask in (event.wait, lambda: event.count):
        with pytest.raises(OSError, match="^.Errno 74. packet 1 of rx0 moved "
					  "7 bytes, not a multiple of "
					  "elements of 4 bytes$"):
            ask()
    assert event.done and event.bytes == 7
    tx.send(make(np.full(7, 1, "u1")), wait=False)
    with pytest.raises(OSError) as caught:
        rx.recv(target)
    assert caught.value.errno == errno.EBADMSG


@pytest.mark.parametrize("limit, code", [("timeout", errno.ETIME),
                                         ("deadline", errno.ETIMEDOUT)])
def test_a_silent_stream_is_a_timeout_error_and_loses_nothing(loop, make, limit,
                                                              code):
    tx, rx = loop
    target, source = make(np.zeros(9, "u1")), make(np.ones(9, "u1"))
    with pytest.raises(TimeoutError, match="packet 1 of rx0 .* 0 bytes") as caught:
        rx.recv(target, **{limit: 0.01})
    assert caught.value.errno == code
    assert rx.counts().in_flight == 0
    event = tx.send(source, wait=False)
    assert not event.done and not target.any()
    assert rx.recv(target, **{limit: DEADLINE}) == 9 and target.all()


def test_polls_behind_a_silent_receive_leave_its_array_alone(make):
    source, target = make(np.ones(9, "u1")), make(np.zeros(9, "u1"))
    other = make(np.zeros(9, "u1"))
    with dray.stream("tx0") as tx, dray.stream("rx0", points=1) as rx:
        event = rx.recv(target, wait=False)
        for _ in range(200):
            with pytest.raises(TimeoutError):
                rx.recv(other, timeout=0)
        with pytest.raises(BlockingIOError, match="the timeline has 128 points"):
            rx.recv(other, nonblock=True)
        assert not event.done and rx.counts().in_flight == 1
        tx.send(source)
        assert event.wait() == 9 and target.all() and not other.any()


def test_a_timeout_of_a_call_tells_how_many_bytes_had_moved(loop, make):
    tx, rx = loop
    source = make(np.ones(9, "u1"))
    event = rx.recv(make(np.zeros(4, "u1")), wait=False)
    with pytest.raises(TimeoutError, match="packet 1 of tx0 is still under way after "
                       "[0-9]+ ms; it was cancelled after 4 bytes"):
        tx.send(source, timeout=0.01)
    assert event.wait() == 4 and sys.getrefcount(source) == 2


def test_an_event_can_be_waited_for_again_after_a_timeout(loop, make):
    tx, rx = loop
    event = rx.recv(make(np.zeros(9, "u1")), wait=False)
    for timeout in (0, 0.001):
        with pytest.raises(TimeoutError) as caught:
            event.wait(timeout)
        assert caught.value.errno == errno.ETIME
    for name in ("count", "bytes", "number", "time"):
        with pytest.raises(BlockingIOError, match="packet 1 of rx0 is not done"):
            getattr(event, name)
    tx.send(make(np.ones(3, "u1")))
    assert event.wait(timeout=DEADLINE) == 3


@pytest.mark.parametrize("ask", [
    lambda event: event.cancel(), lambda event: event.stream.cancel(),
    lambda event: event.stream.close()], ids=["event", "stream", "close"])
def test_a_cancelled_transfer_says_so(loop, make, ask):
    target = make(np.zeros(9, "u1"))
    event = loop[1].recv(target, wait=False)
    ask(event)
    for _ in range(2):
        with pytest.raises(OSError, match="packet 1 of rx0 ended after 0 bytes: "
                           "Operation canceled") as caught:
            event.wait()
        assert caught.value.errno == errno.ECANCELED
        event.cancel()
    assert event.done and event.bytes == 0
    assert repr(event) == "<dray.Event of rx0, failed: Operation canceled>"
    assert sys.getrefcount(target) == 2


def fill_line(tx, array):
    """Sends packets until there is no room; their events."""
    events = []
    while True:
        try:
            events.append(tx.send(array, wait=False, nonblock=True))
        except BlockingIOError as error:
            assert "the queue is full, it holds 64" in str(error)
            assert len(events) == 64
            return events


def test_a_full_stream_is_refused_or_waited_for(loop, make):
    tx, rx = loop
    array, target = make(np.arange(9)), make(np.zeros(9, int))
    events = fill_line(tx, array)
    with pytest.raises(TimeoutError, match="the time ran out before there was room "
                       "in tx0, nothing was submitted"):
        tx.send(array, timeout=0.01)
    assert tx.counts().submitted == 64
    receiver = threading.Thread(target=lambda: [rx.recv(target) for _ in range(66)])
    receiver.start()
    assert tx.send(array, timeout=DEADLINE) == tx.send(array) == 9
    receiver.join()
    assert all(event.done for event in events)
    assert tx.counts() == (66, 66, 66 * 72, 0, 0, 0, 0, 0)


def test_memory_of_numpys_needs_a_staging_copy(loop):
    tx, rx = loop
    source, target = np.arange(12).reshape(3, 4), np.zeros((4, 3), int)
    for call in (tx.send, tx.explain, rx.recv, rx.explain):
        with pytest.raises(OSError, match="the engine cannot: the view lies outside "
                           "of dray's memory; the packet allows no copy, stage=True does") as caught:
            call(source)
        assert caught.value.errno == errno.EOPNOTSUPP
    told = tx.explain(source.T, stage=True)
    assert isinstance(told, dray.Explanation)
    assert not told.engine and told.elements == 12 and "outside" in told.reason
    event = rx.recv(target[:, ::-1], wait=False, stage=True)
    assert tx.send(source.T, stage=True) == event.wait() == 12
    assert (target[:, ::-1] == source.T).all()
    assert tx.counts().staged == rx.counts().staged == 1


def test_explain_tells_of_a_packet_for_the_engine(loop, make):
    told = loop[0].explain(make(np.zeros((4, 6), "u2"))[:, ::2])
    assert told.engine and (told.elements, told.bytes, told.run) == (12, 24, 2)


def test_an_array_is_waited_for_while_packets_use_it(loop, make):
    tx, rx = loop
    source, target = make(np.ones(16)), make(np.zeros(16))
    event = rx.recv(target, wait=False)
    dray.wait(source, write=True, timeout=0)
    for write in (False, True):
        with pytest.raises(TimeoutError, match="after 0 ms"):
            dray.wait(target, write=write, timeout=0)
    dray.wait(target[:0], write=True)
    tx.send(source)
    dray.wait(target)
    assert target.all() and event.done
    sent = tx.send(source, wait=False)
    dray.wait(source)
    with pytest.raises(TimeoutError):
        dray.wait(source, write=True, timeout=0.001)
    sent.cancel()
    dray.wait(source, write=True)
    with pytest.raises(ValueError, match="timeout of -1 seconds"):
        dray.wait(source, timeout=-1)


def test_fences_of_copies_are_waited_for(loop, make):
    tx, rx = loop
    array, target = make(np.zeros(9)), make(np.zeros(9))
    fences = [dray.fill(array, n, wait=False) for n in (1, 2)]
    tx.send(array, fences=fences, wait=False)
    assert rx.recv(target, fences=iter(fences)) == 9 and (target == 2).all()


READ_ONLY = np.zeros(3)
READ_ONLY.flags.writeable = False


# How a receive of nine bytes into an array of dray's is asked for, wrongly.
@pytest.mark.parametrize("array, keywords, error, sentence", [
    (None, {"timeout": -1}, ValueError, "a timeout of -1 seconds: 0 or more"),
    (None, {"timeout": "soon"}, TypeError, "must be real number"),
    (None, {"deadline": float("nan")}, ValueError, "a deadline of nan seconds: 0 or"),
    (None, {"deadline": 0}, ValueError, "a deadline of 0 seconds: above 0"),
    (None, {"deadline": 601}, ValueError, "a deadline of 601 seconds, the longest is 600"),
    (None, {"deadline": 1e300}, ValueError, r"of 1e\+300 seconds, the longest is 600"),
    (None, {"fences": 3}, TypeError, "not iterable"),
    (None, {"fences": [3]}, TypeError, "fences has an int, no dray.Fence"),
    (None, {"fences": [dray.fill(dray.zeros(3), 0)] * 17}, ValueError,
     "17 fences, a packet has up to 16"),
    (None, {"colour": 1}, TypeError, "unexpected keyword argument 'colour'"),
    ([1, 2], {}, TypeError, "a is not a NumPy array or dray.Array but list"),
    (np.array([None]), {}, TypeError, "a: .* holds references"),
    (np.zeros((3, 0)), {"stage": True}, ValueError, "the view contains no bytes to receive"),
    (READ_ONLY, {"stage": True}, ValueError, "a: the array is read-only"),
    (np.lib.stride_tricks.as_strided(np.zeros(3), (3,), (0,)), {"stage": True},
     ValueError, "3 elements at one address"),
])
def test_what_is_wrong_with_a_receive_is_said(loop, make, array, keywords, error,
                                              sentence):
    target = make(np.zeros(9, "u1")) if array is None else array
    with pytest.raises(error, match=sentence):
        loop[1].recv(target, **keywords)
    assert loop[1].counts().submitted == 0


@pytest.mark.parametrize("name, keywords, error, sentence", [
    ("rx9", {}, ValueError, 'no stream "rx9" on host, which has: tx0, rx0, tx1, rx1'),
    ("", {}, ValueError, 'no stream ""'),
    ("rx\0", {}, ValueError, "null character"),
    (3, {}, TypeError, "must be str"),
    ("rx1", {"points": 65537}, ValueError, "65537 points, a stream has up to 65536"),
    ("rx1", {"points": -1}, ValueError, "points is -1: from 0 to 4294967295"),
    ("rx1", {"batch": 65}, ValueError, "a batch of 65 packets, at most 64"),
    ("rx1", {"batch": 1 << 32}, ValueError, "batch is 4294967296: from 0"),
    ("rx0", {}, OSError, "rx0 of host is open already, by another object of this process; close it first, "
     "in Python by rx0.close()"),
])
def test_what_is_wrong_with_an_opening_is_said(loop, name, keywords, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)):
        dray.stream(name, **keywords)


def test_a_direction_that_a_stream_does_not_have_is_refused(loop, make):
    array = make(np.zeros(3))
    with pytest.raises(ValueError, match="tx0 sends, it cannot receive"):
        loop[0].recv(array)
    with pytest.raises(ValueError, match="rx0 receives, it cannot send"):
        loop[1].send(array)
    with pytest.raises(ValueError, match="tx0 sends, it cannot show"):
        loop[0].show(array)


def test_a_stream_of_another_node_is_another_stream(loop, shared):
    node = dray.open("host:shareable")
    with dray.stream("tx0", node=node) as tx, node.stream("rx0", points=4) as rx:
        tx.send(shared(np.arange(5)), wait=False)
        target = shared(np.zeros(5, int))
        assert rx.recv(target) == 5 and target[4] == 4
        with pytest.raises(OSError, match="of another node"):
            loop[0].send(target)


def test_a_closed_stream_says_so(loop, make):
    rx = loop[1]
    assert not rx.closed and repr(rx) == "<dray.Stream rx0, back end host>"
    event = rx.recv(make(np.zeros(3)), wait=False)
    rx.close()
    rx.close()
    assert rx.closed and repr(rx) == "<dray.Stream rx0, back end host, closed>"
    assert rx.name == "rx0" and event.done
    array = make(np.zeros(3))
    for call in (lambda: rx.recv(array), lambda: rx.explain(array), rx.counts,
                 rx.cancel, rx.fileno, rx.ended, rx.__enter__):
        with pytest.raises(ValueError, match="the stream rx0 is closed"):
            call()
    with dray.stream("rx0") as again:
        assert again.counts().submitted == 0


def test_an_array_lives_until_its_transfer_ends(loop, make):
    tx, rx = loop
    target = make(np.zeros(1000))
    gone = weakref.ref(target)
    event = rx.recv(target, wait=False)
    del target
    gc.collect()
    assert gone() is not None
    tx.send(make(np.ones(1000)))
    assert event.done and gone() is None


def test_an_array_lives_also_if_nobody_keeps_the_event(loop, make):
    """Of NumPy's, into which the CPU copies when it notices the end."""
    tx, rx = loop
    target = np.zeros(1000)
    gone = weakref.ref(target)
    rx.recv(target, wait=False, stage=True)
    del target
    tx.send(make(np.ones(1000)))
    gc.collect()
    assert gone() is not None
    # The next packet finds the end.
    rx.recv(make(np.ones(1)), wait=False)
    assert gone() is None


def test_a_stream_that_is_dropped_is_closed_and_lets_its_arrays_go(make):
    target = make(np.zeros(1000))
    event = dray.stream("rx0").recv(target, wait=False)
    assert sys.getrefcount(target) == 3 and not event.done
    del event
    assert sys.getrefcount(target) == 2
    dray.stream("rx0").close()


def test_a_cycle_through_a_stream_is_collected(make):
    class Labelled(np.ndarray):
        pass

    stream = dray.stream("rx0")
    target = make(np.zeros(1000)).view(Labelled)
    target.event = stream.recv(target, wait=False)
    gone = weakref.ref(target)
    del stream, target
    assert gone() is not None
    gc.collect()
    assert gone() is None
    dray.stream("rx0").close()


def test_a_stream_can_be_polled(loop, make):
    tx, rx = loop
    target = make(np.zeros(9, "u1"))
    poll = select.poll()
    poll.register(rx, select.POLLIN)
    event = rx.recv(target, wait=False)
    assert poll.poll(0) == []
    tx.send(make(np.ones(9, "u1")), wait=False)
    assert poll.poll(DEADLINE * 1000) == [(rx.fileno(), select.POLLIN)]
    assert rx.ended() == 1 and event.done
    assert poll.poll(0) == []


@pytest.mark.parametrize("limit", [None, DEADLINE])
def test_a_signal_ends_a_call_that_waits_and_its_transfer(loop, make, alarm, limit):
    target = make(np.zeros(9))
    with pytest.raises(alarm.raised), alarm:
        loop[1].recv(target, timeout=limit)
    assert loop[1].counts().in_flight == 0 and sys.getrefcount(target) == 2


@pytest.mark.parametrize("limit", [None, DEADLINE])
def test_a_signal_ends_a_wait_for_room(loop, make, alarm, limit):
    array = make(np.zeros(9))
    fill_line(loop[0], array)
    with pytest.raises(alarm.raised), alarm:
        loop[0].send(array, timeout=limit)
    assert loop[0].counts().submitted == 64


def test_a_signal_ends_the_wait_for_an_event_only(loop, make, alarm):
    tx, rx = loop
    event = rx.recv(make(np.zeros(9)), wait=False)
    with pytest.raises(alarm.raised), alarm:
        event.wait()
    assert rx.counts().in_flight == 1
    tx.send(make(np.ones(4)))
    assert event.wait() == 4


@pytest.mark.parametrize("fill", [0, 64])
def test_closing_a_stream_ends_the_calls_of_other_threads(loop, make, fill):
    tx, errors = loop[0], []
    array = make(np.zeros(9))
    for _ in range(fill):
        tx.send(array, wait=False)

    def send():
        try:
            tx.send(array)
        except OSError as error:
            errors.append(error.errno)
    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    if not fill:
        assert wait_until(lambda: tx.counts().in_flight == 3)
    tx.close()
    for thread in threads:
        thread.join()
    # A call that had not begun finds it closed: ValueError.
    assert set(errors) <= {errno.ECANCELED} and (fill or len(errors) == 3)
    dray.stream("tx0").close()


def test_many_threads_send_and_receive(loop, make):
    tx, rx = loop
    sums = []

    def send(number):
        for _ in range(50):
            assert tx.send(make(np.full(20, number))[::2], timeout=DEADLINE) == 10

    def recv():
        for _ in range(50):
            target = make(np.zeros(10, int))
            assert rx.recv(target) == 10 and (target == target[0]).all()
            sums.append(target[0])
    threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]
    threads += [threading.Thread(target=recv) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == sorted(list(range(4)) * 50)


def test_a_forked_child_cannot_use_its_parents_stream(loop, make):
    tx, rx = loop
    target = make(np.zeros(9, "u1"))
    event = rx.recv(target, wait=False)
    child = os.fork()
    if child == 0:
        wrong = 0
        for call in (lambda: rx.recv(target), rx.counts, rx.cancel, event.wait,
                     event.cancel, lambda: event.done):
            try:
                call()
                wrong += 1
            except ChildProcessError:
                pass
        wrong += repr(event) != "<dray.Event of rx0, of the parent process>"
        rx.close()
        os._exit(wrong)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    tx.send(make(np.ones(9, "u1")))
    assert event.wait() == 9

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Queues of calls of ufuncs.  The host's streams are a loop: an IP that computes
"positive", of which the output is the input."""

import asyncio
import ctypes
import errno
import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import dray
from deadline import DEADLINE

pytestmark = pytest.mark.host  # other nodes have no loop


def streams(receive="rx0", **options):
    """Returns an executor of the loop of bytes."""
    with dray.stream("tx0") as tx, dray.stream(receive) as rx:
        # The executor keeps them open.
        return dray.StreamExecutor(dray.positive, "BB", [tx], [rx], **options)


def fast(**options):
    """Returns the same, known to be faster than the CPU, which was measured."""
    with dray.CallQueue() as queue:
        queue.submit(dray.positive, np.zeros(10, "u1")).wait()
    executor = streams(**options)
    executor.cost = ((1, 0.0), (2, 0.0))
    return executor


def test_a_call_returns_its_result():
    with dray.CallQueue() as queue:
        call = queue.submit(dray.add, np.arange(5), 1)
        assert np.asarray(call.wait()).tolist() == [1, 2, 3, 4, 5]
        assert call.done
        out = np.zeros(3)
        mask = np.array([True, False, True])
        same = queue.submit(dray.multiply, [1.5, 2, 3], 2, out=out, where=mask)
        assert same.wait() is out
        assert out.tolist() == [3, 0, 6]
        one, two = queue.submit(dray.modf, [1.25, -2.5]).wait()
        assert np.asarray(one).tolist() == [.25, -.5]
        assert np.asarray(two).tolist() == [1, -2]


def test_a_call_takes_the_arguments_of_its_ufunc():
    x = np.arange(6, dtype="i4").reshape(2, 3)
    with dray.CallQueue() as queue:
        assert queue.submit(dray.add, x, 1, dtype="f8").wait().dtype == "f8"
        assert queue.submit(dray.add, x, 1, sig="dd->d").wait()[0, 0] == 1
        assert queue.submit(dray.add, x * .5, 2**70).wait()[0, 0] == 2.**70
        assert queue.submit(dray.add, x, 1, order="F").wait().flags.f_contiguous
        out = np.zeros((2, 3), "i2")
        assert queue.submit(dray.add, x, x, out, casting="unsafe").wait() is out
        for wrong in ({"casting": "odd"}, {"order": "Z"}, {"colour": 1}, {"dtype": "O"}):
            with pytest.raises((TypeError, ValueError)):
                queue.submit(dray.add, x, 1, **wrong)


def test_numbers_that_do_not_fit_are_refused_or_compared():
    u = np.ones(3, "u1")
    with dray.CallQueue() as queue:
        for number in (300, -1, 2**40):
            with pytest.raises(OverflowError):
                queue.submit(dray.add, u, number)
            assert not np.asarray(queue.submit(dray.equal, u, number).wait()).any()
        assert not np.asarray(queue.submit(dray.equal, u, 257).wait()).any()


def test_operands_live_until_the_call_has_ended():
    with dray.CallQueue() as queue:
        calls = [queue.submit(dray.add, np.arange(200_000.) + number, number)
                 for number in range(8)]
        for number, call in enumerate(calls):
            assert np.asarray(call.wait())[1000] == 1000 + 2 * number


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_no_queue_of_its_parent():
    queue = dray.CallQueue()
    call = queue.submit(dray.add, np.arange(200_000.), 1)
    child = os.fork()
    if not child:
        status = 1
        try:
            with pytest.raises(ChildProcessError):
                queue.submit(dray.add, 1, 2)
            with dray.CallQueue() as own:
                status = int(own.submit(dray.add, 1, 2).wait() != 3)
            queue.close()
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert np.asarray(call.wait())[1000] == 1001
    queue.close()


def test_a_call_that_waits_is_cancelled_at_once():
    with dray.memory():
        silent = np.zeros(100, "u1")
    with dray.stream("rx0") as rx, dray.CallQueue() as queue:
        packet = rx.recv(silent, wait=False)
        first, second = (queue.submit(dray.positive, silent) for _ in range(2))
        first.cancel()
        with pytest.raises(OSError, match="cancelled"):
            first.wait(timeout=0)
        queue.cancel()
        with pytest.raises(OSError, match="before it began"):
            second.wait(timeout=0)
        queue.close()
        assert not packet.done
        packet.cancel()


def test_a_program_ends_though_a_call_waits_for_ever():
    program = """if True:
        import dray, numpy as np
        with dray.memory():
            silent = np.zeros(100, "u1")
        rx = dray.stream("rx0")
        rx.recv(silent, wait=False)
        queue = dray.CallQueue()
        calls = [queue.submit(dray.positive, silent) for _ in range(3)]
        del calls[0]
        """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=DEADLINE)


def test_calls_are_awaited():
    go = threading.Event()

    @dray_loop
    def slow(data, count):
        go.wait(60)
        data[1][:count] = data[0][:count] + 1

    async def work(queue):
        call = queue.submit(slow, np.arange(3.))
        twice = asyncio.gather(call_of(call), call_of(call))
        await asyncio.sleep(0)
        assert not call.done
        go.set()
        one, two = await twice
        assert one is two and one.tolist() == [1, 2, 3]
        assert (await call).tolist() == [1, 2, 3]
        go.clear()
        cancelled = [queue.submit(slow, np.arange(3.)) for _ in range(2)][1]
        cancelled.cancel()
        with pytest.raises(OSError, match="before it began"):
            await cancelled
        go.set()

    async def call_of(call):
        return await call

    with dray.CallQueue() as queue:
        asyncio.run(work(queue))


def test_a_full_queue_waits_without_the_interpreter():
    numbers = []

    @dray_loop
    def note(data, count):
        numbers.append(int(data[0][0]))

    with dray.CallQueue(depth=2) as queue:
        for number in range(100):
            queue.submit(note, np.array([float(number)]))
    assert numbers == list(range(100))
    with pytest.raises(ValueError, match="up to 1048576"):
        dray.CallQueue(depth=2**21)


def test_calls_of_two_queues_are_ordered_by_memory():
    go = threading.Event()
    order = []

    @dray_loop
    def slow(data, count):
        go.wait(60)
        order.append("slow")
        data[1][:count] = data[0][:count] + 1

    @dray_loop
    def quick(data, count):
        order.append("quick")
        data[1][:count] = data[0][:count] * 2

    a, b, c = np.arange(4.), np.zeros(4), np.zeros(4)
    with dray.CallQueue() as one, dray.CallQueue() as two:
        first = one.submit(slow, a, out=b)
        second = two.submit(quick, b, out=c)
        with pytest.raises(TimeoutError):
            second.wait(timeout=0)
        go.set()
        assert second.wait(60) is c
        first.wait(60)
    assert order == ["slow", "quick"]
    assert c.tolist() == [2, 4, 6, 8]


def dray_loop(function):
    """Makes a ufunc of one float64 of a function of arrays."""
    import ctypes  # pylint: disable=import-outside-toplevel

    loop = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.POINTER(ctypes.c_double)),
        ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)

    @loop
    def call(data, strides, count, context):  # pylint: disable=unused-argument
        function([np.ctypeslib.as_array(data[i], (count,)) for i in range(2)], count)
        return 0

    made = dray.ufunc(function.__name__, 1, 1)
    made.register((np.float64, np.float64), call)
    return made


def test_streams_compute_calls_and_the_plan_says_so():
    with dray.memory(), dray.CallQueue([streams(frame_bytes=64)]) as queue:
        x = np.arange(100, dtype="u1")
        y = np.zeros_like(x)
        plan = queue.explain(dray.positive, x, out=y)
        assert (plan.executor, plan.elements, plan.bytes) == ("streams", 100, 200)
        assert plan.seconds is None
        queue.submit(dray.positive, x, out=y).wait()
        assert y.tolist() == x.tolist()
        assert queue.explain(dray.positive, x, out=y).executor == "cpu"
        queue.submit(dray.positive, x, out=y).wait()
        assert queue.explain(dray.positive, x, out=y).seconds > 0
        plan = queue.explain(dray.positive, x.astype("f4"))
        assert plan.executor == "cpu"
        assert "takes" in plan.reason or "take" in plan.reason


def test_a_cost_is_read_and_set():
    executor = streams(stage=True)
    assert executor.cost is None
    executor.cost = ((1, 2), (10, 3.5))
    assert executor.cost == ((1, 2), (10, 3.5))
    with dray.CallQueue([executor]) as queue:
        for count, seconds in ((1, 2), (4, 2.5), (10, 3.5), (16, 4.5)):
            plan = queue.explain(dray.positive, np.zeros(count, "u1"))
            assert f"streams: {seconds * 1e9:.0f} ns" in plan.reason
    executor.cost = None
    assert executor.cost is None
    for wrong in (1, (1, 2), ((1, 2),), ((2, 1), (1, 1)), ((0, 1), (1, 1)),
                  ((1, -1), (1, 1)), ((1, float("nan")), (1, 1))):
        with pytest.raises((TypeError, ValueError)):
            executor.cost = wrong


@pytest.mark.parametrize("arguments, error, sentence", [
    ((), TypeError, "missing"),
    ((np.add, 1, 2), TypeError, "a dray.ufunc is needed"),
    ((dray.add, 1), TypeError, "takes from 2 to 3"),
    ((dray.add, np.zeros(2), np.zeros(3)), ValueError, ""),
    ((dray.invert, np.zeros(2)), TypeError, "no loop"),
])
def test_wrong_calls_are_refused(arguments, error, sentence):
    with dray.CallQueue() as queue:
        with pytest.raises(error, match=sentence):
            queue.submit(*arguments)


def test_outputs_are_made_in_the_order_of_calls():
    x = np.asfortranarray(np.arange(12.).reshape(3, 4))
    for operands in ((x, 1), (x.T, x.T), (x[:, ::2], x[:, 1::2]), (x, np.arange(4)),
                     (x.reshape(3, 2, 2).transpose(1, 2, 0), 2)):
        with dray.CallQueue() as queue:
            made = np.asarray(queue.submit(dray.add, *operands).wait())
        assert made.strides == dray.add(*operands).strides == np.add(*operands).strides
        assert made.tolist() == np.add(*operands).tolist()


def test_errors_of_numbers_are_those_of_the_submission():
    heard = []
    with dray.CallQueue() as queue:
        with dray.errstate(divide="ignore", invalid="ignore"):
            quiet = queue.submit(dray.divide, [1., 0.], 0.)
        with dray.errstate(divide="raise"):
            raised = queue.submit(dray.divide, [1.], 0.)
        with dray.errstate(call=lambda *args: heard.append(args), divide="call"):
            called = queue.submit(dray.divide, [1.], 0.)
        warned = queue.submit(dray.divide, [1., 0.], 0.)
        with dray.errstate(all="raise"):
            assert np.isnan(np.asarray(quiet.wait())[1])
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            raised.wait()
        assert np.isinf(np.asarray(called.wait())).all()
        assert heard == [("divide by zero", 1)]
        with pytest.warns(RuntimeWarning, match="divide by zero") as warnings:
            warned.wait()
        assert len(warnings) == 2 and "invalid value" in str(warnings[1].message)
        warned.wait()  # once
        with dray.errstate(over="raise"), pytest.raises(FloatingPointError, match="in cast"):
            queue.submit(dray.add, np.ones(3, "f2"), 1e10)


def test_masks_and_conversions_are_copied_if_the_cpu_may():
    x = np.arange(100, dtype="u1")
    mask = x % 3 == 0
    for stage, executor in ((False, "cpu"), (True, "streams")):
        streams_of = fast(frame_bytes=64, stage=stage)
        with dray.CallQueue([streams_of]) as queue:
            for out, where in ((np.full(100, 200, "u1"), mask), (np.zeros(100, ">i4"), True),
                               (np.full(100, 7, "<f8"), mask)):
                plan = queue.explain(dray.positive, x, out=out, where=where)
                assert plan.executor == executor, plan.reason
                expected = out.copy()
                np.positive(x, out=expected, where=where)
                assert queue.submit(dray.positive, x, out=out, where=where).wait() is out
                assert out.tolist() == expected.tolist()
        del queue, streams_of  # and with it its streams


def test_a_mask_that_the_output_changes_is_left_to_the_cpu():
    with dray.memory():
        x, memory = np.ones(64, "u1"), np.zeros(65, "u1")
    memory[0:64:4] = 1
    expected = memory.copy()
    np.positive(x, out=expected[1:], where=memory[:64].view("?").copy())
    with dray.CallQueue([fast(stage=True)]) as queue:
        call = dray.positive, x
        where = {"out": memory[1:], "where": memory[:64].view("?")}
        plan = queue.explain(*call, **where)
        assert plan.executor == "cpu" and "shares bytes with the mask" in plan.reason
        queue.submit(*call, **where).wait(60)
    assert memory.tolist() == expected.tolist()


def test_executors_over_the_same_streams_take_turns():
    with dray.CallQueue() as queue:
        queue.submit(dray.positive, np.zeros(10, "u1")).wait()
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        executors = [dray.StreamExecutor(dray.positive, "BB", [tx], [rx], frame_bytes=64)
                     for _ in range(2)]
    for executor in executors:
        executor.cost = ((1, 0.0), (2, 0.0))
    with dray.memory():
        data = [[np.asarray(dray.zeros(19968, "u1")) for _ in range(2)] for _ in executors]
    wrong = []

    def call(executor, x, y, number):
        with dray.CallQueue([executor]) as queue:
            for turn in range(20):
                x[:] = number + turn
                queue.submit(dray.positive, x, out=y).wait(60)
                if (x != y).any():
                    wrong.append(turn)
    threads = [threading.Thread(target=call, args=(executor, *pair, 100 * number))
               for number, (executor, pair) in enumerate(zip(executors, data))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_several_inputs_must_fit_one_packet_together():
    """Bytes with gaps: each is a piece of its own, and a packet has 65,536."""
    with dray.memory():
        x = dray.zeros(160_000, "u1")[::4]
    with dray.CallQueue() as queue:
        queue.submit(dray.add, x, x).wait()
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        executor = dray.StreamExecutor(dray.add, "BBB", [tx], [rx], frame_bytes=40_000)
    executor.cost = ((1, 0.0), (2, 0.0))
    with dray.memory(), dray.CallQueue([executor]) as queue:
        plan = queue.explain(dray.add, x, x)
        assert plan.executor == "cpu" and "80000 contiguous pieces" in plan.reason, plan
        plan = queue.explain(dray.add, x[:30_000], x[:30_000])
        assert plan.executor == "streams", plan


def test_a_stream_stands_once_in_an_executor():
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        with pytest.raises(ValueError, match="twice"):
            dray.StreamExecutor(dray.add, "BBB", [tx, tx], [rx])


def test_an_executor_takes_calls_again_after_its_reset():
    x, y = np.arange(100, dtype="u1"), np.zeros(100, "u1")
    silent = fast(receive="rx1", timeout=.01, stage=True)
    with dray.CallQueue([silent]) as queue:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                queue.submit(dray.positive, x, out=y).wait()
            assert queue.explain(dray.positive, x, out=y).executor == "cpu"
            assert "reset" in queue.explain(dray.positive, x, out=y).reason
            silent.reset()
            assert queue.explain(dray.positive, x, out=y).executor == "streams"


@pytest.mark.parametrize("frames", (1, 10))
def test_a_call_that_waits_for_its_ip_can_be_cancelled(frames):
    with dray.memory():
        x, y = dray.zeros(64 * frames, "u1"), dray.zeros(64 * frames, "u1")
    silent = fast(receive="rx1", timeout=600, frame_bytes=64)
    with dray.CallQueue([silent]) as queue:
        call = queue.submit(dray.positive, x, out=y)
        with pytest.raises(TimeoutError):
            call.wait(.1)
        call.cancel()
        with pytest.raises(OSError) as error:
            call.wait(60)
        assert error.value.errno == errno.ECANCELED
    del error, call, queue, silent  # and with it its streams


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_takes_no_part_in_calls_by_streams():
    x, y = np.arange(100, dtype="u1"), np.zeros(100, "u1")
    silent = fast(receive="rx1", stage=True, timeout=1)
    with dray.CallQueue([silent]) as queue:
        call = queue.submit(dray.positive, x, out=y)
        with pytest.raises(TimeoutError):
            call.wait(.1)
        child = os.fork()
        if not child:
            status = 1
            try:
                with pytest.raises(ChildProcessError):
                    silent.reset()
                with dray.CallQueue([silent]) as own:
                    own.submit(dray.positive, x, out=y).wait()
                status = y.tolist() != x.tolist()
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        with pytest.raises(TimeoutError):
            call.wait()


def test_rings_take_calls_with_their_own_arrays():
    with dray.memory():
        pairs = [tuple(np.asarray(dray.empty(1000, "u1")) for _ in range(2)) for _ in range(3)]
    executor = fast(frame_bytes=64, ring=pairs[:2])
    with dray.CallQueue([executor]) as queue:
        other = queue.explain(dray.positive, pairs[2][0], out=pairs[2][1])
        assert other.executor == "cpu" and "no ring" in other.reason
        for number in range(10):
            x, y = pairs[number % 2]
            x[:] = number
            assert queue.explain(dray.positive, x, out=y).executor == "streams"
            queue.submit(dray.positive, x, out=y).wait()
            assert (y == number).all()
    del queue, executor  # and with it its streams
    for wrong, error in (([1], TypeError), ([([0] * 64, pairs[0][1])], TypeError), ([(pairs[0][0],)], TypeError),
                         ([pairs[0], pairs[0]], ValueError)):
        with pytest.raises(error):
            streams(frame_bytes=64, ring=wrong)


LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                        ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_void_p)


def a_ufunc(function):
    """Returns a ufunc of a loop, which computes nothing."""
    made = dray.ufunc("made", 1, 1)
    made.register("d->d", LOOP(lambda *args: function() or 0))
    return made


def test_a_call_that_nobody_has_runs_to_its_end():
    go, ended = threading.Event(), threading.Event()
    owner = np.zeros(3)
    watched = weakref.ref(owner)
    queue = dray.CallQueue()
    queue.submit(a_ufunc(lambda: go.wait(60) and ended.set()), owner)
    del owner
    assert watched() is not None and not ended.is_set()
    go.set()
    queue.close()
    assert ended.is_set()
    # The main thread drops it between two steps of a loop, without another submission.
    assert next((number for number in range(1000) if watched() is None), None) is not None


def test_a_call_may_close_its_queue_and_cannot_wait_for_it():
    queue, errors = dray.CallQueue(), []

    def use():
        try:
            queue.submit(dray.exp, np.ones(3)).wait()
        except OSError as error:
            errors.append(error.errno)
        queue.close()
    assert queue.submit(a_ufunc(use), np.ones(3)).wait(60) is not None
    assert errors == [errno.EDEADLK]


def test_a_collection_in_a_call_frees_its_queue():
    class App:
        pass
    app = App()
    app.me, app.queue = app, dray.CallQueue()
    ended = threading.Event()
    app.call = app.queue.submit(a_ufunc(lambda: gc.collect() and ended.set()), np.ones(3))
    del app
    assert ended.wait(60)
    with dray.CallQueue() as other:
        assert other.submit(dray.exp, [0.]).wait().tolist() == [1]


@pytest.mark.parametrize("keep", ["sys.keep", "keep", "builtins.keep"])
def test_the_interpreter_ends_after_its_calls(keep):
    program = f"""
import builtins, ctypes, sys, threading
import numpy as np
import dray
LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                        ctypes.c_void_p)
made = dray.ufunc("made", 1, 1)
made.register("d->d", LOOP(lambda *args: threading.main_thread().join() or 0))
queue = dray.CallQueue()
{keep} = [queue.submit(made, np.ones(3)) for _ in range(3)]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_rings_leave_masks_and_other_types_to_the_cpu():
    with dray.memory():
        x, y = dray.zeros(64, "u2"), dray.zeros(64, "u2")
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        executor = dray.StreamExecutor(dray.positive, ["u2", "u2"], [tx], [rx], stage=True,
                                       frame_bytes=16, ring=[(x, y)])
    executor.cost = ((1, 0.0), (2, 0.0))
    swapped = np.asarray(y).view(">u2")
    with dray.CallQueue([executor]) as queue:
        for out, where in ((y, np.ones(64, bool)), (swapped, True)):
            plan = queue.explain(dray.positive, x, out=out, where=where)
            assert plan.executor == "cpu" and "no masks and no conversions" in plan.reason
            queue.submit(dray.positive, x, out=out, where=where).wait(60)


def test_calls_of_no_elements_are_explained():
    with dray.CallQueue([fast(stage=True)]) as queue:
        for shape in ((0,), (5, 0), (0, 5)):
            plan = queue.explain(dray.positive, np.zeros(shape, "u1"))
            assert (plan.executor, plan.elements) == ("cpu", 0)
            assert np.asarray(queue.submit(dray.positive, np.zeros(shape, "u1")).wait()).size == 0


def test_a_closed_queue_takes_nothing():
    queue = dray.CallQueue()
    queue.close()
    queue.close()
    with pytest.raises(ValueError, match="closed"):
        queue.submit(dray.add, 1, 2)


@pytest.mark.parametrize("change, error", [
    ({"types": "B"}, ValueError),
    ({"tx": []}, ValueError),
    ({"rx": [None]}, TypeError),
    ({"depth": 33}, ValueError),
    ({"timeout": 601}, ValueError),
    ({"depth": 2**32}, ValueError),
    ({"depth": -1}, ValueError),
    ({"timeout": 1e-12}, ValueError),
    ({"timeout": 0}, ValueError),
    ({"ufunc": np.add}, TypeError),
])
def test_wrong_executors_are_refused(change, error):
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        options = {"ufunc": dray.positive, "types": "BB", "tx": [tx], "rx": [rx]}
        with pytest.raises(error):
            dray.StreamExecutor(**{**options, **change})

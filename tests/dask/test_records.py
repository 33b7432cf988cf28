# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays between workers of one machine: which pass as records, and how they arrive."""
import numpy as np
import pytest

import dray
import tasks
from conftest import add, remove

N = 16384


def kept_array():
    return tasks.keep("x", tasks.shared(N))


def forget():
    tasks.kept.clear()


def first(a):
    return float(a[0])


@pytest.mark.parametrize("receiver", ["b", "c"], ids=["same-address", "another-address"])
def test_a_worker_of_the_same_machine_has_the_same_memory(workers, receiver):
    with workers.passed_as("a", "records") as records:
        f = workers.task("a", kept_array)
        g = workers.task(receiver, tasks.passed, f)
        workers.ask("a", tasks.set_first, "x", 99)
        assert workers.value(receiver, first, g) == 99
    assert records.now == 1
    workers.ask("a", forget)


def structure():
    return tasks.shared(N, "u4").view([("x", "i2"), ("y", "u2")])


def dates():
    return tasks.shared(N, "i8").view("M8[us]")


LAYOUTS = {
    "dense": lambda: tasks.shared((4, N)),
    "fortran": lambda: tasks.shared((4, N)).T,
    "gaps": lambda: tasks.shared((8, N))[::2, ::3],
    "reversed": lambda: tasks.shared(2 * N)[::-2],
    "structure": structure,
    "dates": dates,
    "bools": lambda: tasks.shared(4 * N, "?"),
    "other-order": lambda: tasks.shared(N, ">i4"),
    "array-of-dray": lambda: dray.Array(tasks.shared((4, N)))[::2],
}


@pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_and_types_arrive_as_they_are(workers, make):
    with workers.passed_as("a", "records") as records:
        f = workers.task("a", make)
        there, here = workers.value("b", tasks.described, f), workers.value("a", tasks.described, f)
    assert records.now == 1
    assert not there.pop("writable") and here.pop("writable")
    assert there.pop("odd") == here.pop("odd")
    assert there == here


def nested():
    return {"list": [tasks.shared(N), 1], "pair": (tasks.shared(N), "text"), "small": np.ones(3)}


def nested_total(value):
    return tasks.total(value["list"][0], value["pair"][0], value["small"])


def test_arrays_in_containers_pass_as_records(workers):
    with workers.passed_as("a", "records") as records:
        f = workers.task("a", nested)
        assert workers.value("b", nested_total, f) == N * (N + 1) + 3
    assert records.now == 2


@pytest.mark.parametrize("make", [lambda: tasks.shared(1024), lambda: tasks.shared((0, 5)),
                                  lambda: np.ones(N), lambda: np.array([{}] * N)],
                         ids=["small", "empty", "numpys-memory", "objects"])
def test_other_arrays_are_copied(workers, make):
    with workers.passed_as("a", "records") as records:
        f = workers.task("a", make)
        assert workers.value("b", np.size, f) == workers.value("a", np.size, f)
    assert records.now == 0


@pytest.mark.parametrize("direct", [True, False], ids=["from-the-worker", "by-the-scheduler"])
@pytest.mark.parametrize("kind", [np.asarray, dray.Array])
def test_a_client_gets_bytes(workers, kind, direct):
    with workers.passed_as("a", "records") as records:
        f = workers.task("a", lambda: kind(tasks.shared(N)))
        a = workers.client.gather(f, direct=direct)
    assert records.now == 0
    assert type(a) is (np.ndarray if kind is np.asarray else kind)
    assert tasks.total(a) == N * (N + 1) / 2 and dray.handler_name(np.asarray(a)) != "dray"


@pytest.mark.parametrize("without", ["a", "b"], ids=["sender", "receiver"])
def test_a_worker_without_the_plugin_gets_and_sends_bytes(workers, without):
    workers.ask(without, remove)
    with workers.passed_as("a", "records") as records:
        f = workers.task("a", lambda: [tasks.shared(N), dray.Array(tasks.shared(N))])
        assert workers.value("b", lambda v: tasks.total(*v), f) == N * (N + 1)
    assert records.now == 0
    workers.ask(without, add)


def test_arrays_are_writable_if_asked(workers):
    workers.ask("b", add, writable=True)
    f = workers.task("a", tasks.shared, N)
    assert workers.value("b", tasks.described, f)["writable"]
    workers.ask("b", add)


def test_200_tasks_in_a_loop(workers):
    with workers.passed_as("a", "records") as records, workers.passed_as("b", "opened") as opened:
        for _ in range(200):
            f = workers.client.submit(tasks.shared, N, workers=["a"], pure=False)
            g = workers.client.submit(tasks.total, f, workers=["b"], pure=False)
            assert g.result() == N * (N + 1) / 2
    assert records.now == opened.now == 200


def test_spilled_arrays_come_back_from_the_disk(workers):
    def evict(dask_worker):
        while dask_worker.data.memory:
            dask_worker.data.evict()
        return len(dask_worker.data.disk)

    f = workers.task("a", lambda: [tasks.shared(N), dray.Array(tasks.shared(N))])
    assert workers.ask("a", evict) == 1
    workers.until("a", tasks.state, (0, 0, 0))
    assert workers.value("b", lambda v: tasks.total(*v), f) == N * (N + 1)


@pytest.mark.parametrize("poor", ["a", "b"], ids=["sender", "receiver"])
def test_arrays_are_copied_when_file_descriptors_run_out(workers, poor):
    fs = [workers.task("a", tasks.shared, N) for _ in range(20)]
    assert workers.value("b", tasks.total, fs[0]) == N * (N + 1) / 2
    workers.ask(poor, tasks.limit_files, 5)
    try:
        assert workers.value("b", tasks.total, *fs) == 20 * N * (N + 1) / 2
    finally:
        workers.ask(poor, tasks.limit_files, None)


def test_a_reply_waits_for_the_engine_and_not_the_event_loop(workers):
    f = workers.task("a", tasks.receive_later)
    g = workers.client.submit(tasks.total, f, workers=["b"], pure=False)
    # The worker asks for the array, and answers questions, before the stream has filled it.
    workers.until("a", lambda dask_worker: dask_worker.transfer_outgoing_count, 1)
    workers.ask("a", tasks.send_now)
    assert g.result(timeout=30) == 7 * N

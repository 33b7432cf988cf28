# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Workers that die by kill -9 before and after a record is opened, and records that cannot
be opened."""
import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from distributed import wait
from distributed.protocol import deserialize

import asker
import dray
import dray.dask
import tasks
from conftest import DEADLINE

N = 1 << 18
SUM = N * (N + 1) / 2


@contextlib.contextmanager
def killed(workers, name):
    """`with` kills a worker; afterwards its nanny has started another."""
    before, end = workers.address(name), time.monotonic() + DEADLINE
    yield
    while workers.addresses().get(name, before) == before:
        assert time.monotonic() < end, f"{name} does not start again"


def kill(workers, name):
    with killed(workers, name):
        os.kill(workers.ask(name, os.getpid), signal.SIGKILL)


def test_an_array_of_a_sender_that_dies_before_the_open_is_made_again(workers):
    f = workers.client.submit(lambda: [tasks.shared(N), tasks.WhenSent(tasks.die)], workers=["a"],
                              allow_other_workers=True, pure=False)
    wait(f, timeout=DEADLINE)
    with killed(workers, "a"):
        g = workers.client.submit(lambda v: tasks.total(v[0]), f, workers=["b"], pure=False)
        assert g.result(DEADLINE) == SUM


def test_an_array_of_a_sender_that_dies_after_the_open_stays(workers):
    f = workers.task("a", tasks.shared, N)
    g = workers.task("b", tasks.passed, f)
    kill(workers, "a")
    with workers.passed_as("b", "opened") as opened:
        assert workers.value("b", tasks.total, g) == SUM
    assert opened.now == 0


def test_a_receiver_that_dies_before_the_open_keeps_no_memory(workers):
    f = workers.task("a", tasks.shared, N)
    with subprocess.Popen([sys.executable, asker.__file__, workers.address("a"), f.key],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as receiver:
        assert receiver.stdout.readline() == b"received\n"
        assert workers.ask("a", tasks.state)[0] == 1
        receiver.kill()
    workers.until("a", tasks.state, (0, 1, 0))
    assert workers.value("b", tasks.total, f) == SUM


def test_a_receiver_that_dies_after_the_open_keeps_no_memory(workers):
    f = workers.task("a", tasks.shared, N)
    g = workers.task("b", tasks.passed, f)
    kill(workers, "b")
    del g
    workers.until("a", tasks.state, (0, 1, 0))


async def opened_as(worker, key, change):
    """Opens the record of an array of a worker after a change of its header."""
    comm, sent = await asker.message(worker, key)
    try:
        return np.array(deserialize(await change(comm, sent.header), sent.frames))
    finally:
        comm.abort()


@pytest.fixture
def here():
    """Lets this process open records, and counts from the first failure."""
    dray.dask._replace_serializers()
    dray.dask._hooks.failures = 0


@pytest.mark.parametrize("length", [0, 10, 63])
def test_a_cut_record_is_named(workers, here, length):
    async def cut(comm, header):
        record = header["sub-header"]["dray"]
        return {**header, "sub-header": {**header["sub-header"], "dray": record[:length]}}

    f = workers.task("a", tasks.shared, N)
    with pytest.raises(OSError, match="record") as caught:
        asyncio.run(opened_as(workers.address("a"), f.key, cut))
    assert caught.value.errno == errno.EBADMSG


def test_a_stale_record_is_named(workers, here):
    async def stale(comm, header):
        comm.abort()
        while (await asyncio.to_thread(workers.ask, "a", tasks.state))[0]:
            pass
        return header

    f = workers.task("a", tasks.shared, N)
    with pytest.raises(OSError) as caught:
        asyncio.run(opened_as(workers.address("a"), f.key, stale))
    assert caught.value.errno in (errno.ESTALE, errno.ECONNREFUSED) and str(caught.value)


def test_a_worker_that_cannot_open_records_gets_bytes(workers):
    f = workers.task("a", lambda: [tasks.shared(N), tasks.WhenSent(dray.revoke_waiting)])
    with workers.passed_as("a", "records") as records, workers.passed_as("b", "refused") as refused:
        g = workers.client.submit(lambda v: tasks.total(v[0]), f, workers=["b"], pure=False)
        assert g.result(DEADLINE) == SUM
    assert records.now == refused.now == 3
    workers.register(dray.dask.plugin())
    with workers.passed_as("b", "opened") as opened:
        assert workers.value("b", tasks.total, workers.task("a", tasks.shared, N)) == SUM
    assert opened.now == 1

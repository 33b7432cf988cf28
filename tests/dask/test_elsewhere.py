# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Workers on other machines, and in a network namespace of their own: they get bytes."""
import os
import shutil
import subprocess

import distributed.comm.tcp
import numpy as np
import pytest
from distributed import Client

from conftest import Workers, start, worker_elsewhere

import dray
import tasks

N = 16384

# Whether distributed reads each large frame into memory of its own.
SEPARATE = hasattr(distributed.comm.tcp, "read_bytes_rw")


@pytest.mark.parametrize("make", [lambda: tasks.shared((4, N)),
                                  lambda: dray.Array(tasks.shared((4, N))),
                                  lambda: tasks.shared((4, 2 * N))[:, ::2],
                                  lambda: tasks.shared((N, 4)).T],
                         ids=["dense", "array-of-dray", "gaps", "fortran"])
def test_elements_are_received_into_dray_memory(workers, far, make):
    f = workers.task("a", make)
    with workers.passed_as("a", "records") as records, \
            workers.passed_as("far", "received") as received:
        there = workers.value("far", tasks.described, f)
    here = workers.value("a", tasks.described, f)
    assert (records.now, received.now) == (0, 1)
    for name in "type", "list", "dtype", "writable", "memory":
        assert there[name] == here[name]
    if SEPARATE:
        assert there["odd"] == 0


def test_what_was_received_passes_as_a_record(workers, far):
    f = workers.task("far", tasks.shared, N)
    g = workers.task("a", tasks.passed, f)
    del f
    with workers.passed_as("a", "records") as records:
        assert workers.value("b", tasks.total, g) == N * (N + 1) / 2
    assert records.now == 1


def test_a_new_frame_has_the_pages_of_the_last(workers, far):
    def addresses():
        f = workers.task("a", np.ones, 8 << 20)
        return workers.value("far", lambda a: a.ctypes.data, f)

    first = addresses()
    workers.until("far", tasks.state, (0, 0, 0))
    assert addresses() == first


@pytest.fixture(scope="module")
def namespace():
    """Workers "a" here, and "inside" in a network namespace, with a wire between."""
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("network namespaces need root and iproute2")
    name, net = f"dray{os.getpid()}", f"198.18.{os.getpid() % 256}"
    here, there = f"{name[-12:]}a", f"{name[-12:]}b"

    def ip(command):
        subprocess.run(["ip", *command.split()], check=True)

    ip(f"netns add {name}")
    try:
        ip(f"link add {here} type veth peer name {there} netns {name}")
        ip(f"addr add {net}.1/30 dev {here}")
        ip(f"link set {here} up")
        ip(f"-n {name} addr add {net}.2/30 dev {there}")
        ip(f"-n {name} link set {there} up")
        with start({"a": f"{net}.1"}, f"{net}.1") as cluster, Client(cluster) as client:
            workers = Workers(client)
            workers.register(dray.dask.plugin())
            with worker_elsewhere(workers, "inside", ["ip", "netns", "exec", name],
                                  "--host", f"{net}.2"):
                yield workers
    finally:
        ip(f"netns delete {name}")


@pytest.mark.parametrize("sender, receiver", [("a", "inside"), ("inside", "a")])
def test_a_worker_in_its_own_network_namespace_gets_and_sends_bytes(namespace, sender, receiver):
    with namespace.passed_as(sender, "records") as records, \
            namespace.passed_as(receiver, "received") as received:
        f = namespace.task(sender, tasks.shared, N)
        assert namespace.value(receiver, tasks.total, f) == N * (N + 1) / 2
    assert (records.now, received.now) == (0, 1)

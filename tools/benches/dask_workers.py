# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times an array from a worker of Dask to another, and prints samples for tools/bench.

A sample is the time of a task that reads two elements of an array of another worker, the
fastest of three: Dask's own cost of a task is part of it.  Workers "dray0" and "dray1" pass records, "tcp0"
and "tcp1" lack the plugin, and "far", in a user namespace of its own, counts as another
machine.  With an argument, workers on UCX are measured, too.
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import time

import alloc
import distributed
import numpy as np
from distributed import Client, LocalCluster

import dray

SIZES = {"64 KiB": 1 << 16, "1 MiB": 1 << 20, "16 MiB": 1 << 24, "64 MiB": 1 << 26}
PLUGIN = ("--preload", "dray.dask")
ELSEWHERE = ("unshare", "--user", "--map-root-user")
WORKERS = {"dray0": ((), PLUGIN), "dray1": ((), PLUGIN), "tcp0": ((), ()), "tcp1": ((), ()),
           "far": (ELSEWHERE, PLUGIN)}
UCX = {"ucx0": ((), ()), "ucx1": ((), ())}
# Of each contender the sender and the receiver.
NEAR = {"dray": ("dray0", "dray1"), "TCP": ("tcp0", "tcp1")}
FAR = {"dray": ("dray0", "far"), "TCP": ("tcp0", "tcp1")}
ROUNDS = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or 7
# Moves of a sample, which is the fastest: a task waits for many processes in turn.
MOVES = 3


def make(size, number):
    with dray.memory(shareable=True):
        a = np.empty(size // 4, "f4")
    a[:] = number
    return a


def touch(a):
    return float(a[0] + a[-1])


def moved(clients, size, number, sender, receiver):
    """Milliseconds of a task on the receiver with an array of the sender."""
    client = clients["ucx" if sender in UCX else "tcp"]
    f = client.submit(make, size, number, workers=[sender], pure=False)
    distributed.wait(f)
    begin = time.perf_counter()
    g = client.submit(touch, f, workers=[receiver], pure=False)
    result = g.result()
    end = time.perf_counter()
    assert result == 2 * number
    # The next contender does not wait for the end of these arrays.
    del f, g
    client.run(int)
    return (end - begin) * 1e3


def samples(clients, contenders):
    """Contender -> ms, in each round each once; the first round, which makes pages and
    connections, is not counted."""
    found = {name: [] for name in contenders}
    for number in range(ROUNDS + 1):
        for name in alloc.turns(contenders, number):
            size, workers = contenders[name]
            found[name].append(min(moved(clients, size, number, *workers)
                                   for _ in range(MOVES)))
    return {name: values[1:] for name, values in found.items()}


def show(clients):
    near = {**NEAR, "UCX": tuple(UCX)} if "ucx" in clients else NEAR
    for title, size in SIZES.items():
        goal = ("TCP", 0.25) if title == "64 MiB" else ()
        found = samples(clients, {name: (size, workers) for name, workers in near.items()})
        alloc.show(f"{title}, to a worker of this machine", "ms", "lower", found, goal)
    found = samples(clients, {name: (SIZES[size], NEAR["dray"]) for name, size in
                             (("dray", "64 MiB"), ("64 KiB by records", "64 KiB"))})
    alloc.show("64 MiB by records", "ms", "lower", found, ("64 KiB by records", 1.2))
    for title in "1 MiB", "64 MiB":
        found = samples(clients, {name: (SIZES[title], workers) for name, workers in FAR.items()})
        alloc.show(f"{title}, to another machine", "ms", "lower", found,
                   ("TCP", 1.05) if title == "64 MiB" else ())


@contextlib.contextmanager
def started(protocol, workers, folder):
    """A client of a cluster with these workers."""
    with LocalCluster(n_workers=0, host="127.0.0.1", protocol=protocol,
                      dashboard_address=":0") as cluster, Client(cluster) as client:
        processes = [subprocess.Popen(
            [*prefix, sys.executable, "-m", "distributed.cli.dask_worker",
             cluster.scheduler_address, "--no-nanny", "--name", name, "--nthreads", "1",
             "--host", "127.0.0.1", "--no-dashboard", "--memory-limit", "0", "--local-directory", folder, *options])
            for name, (prefix, options) in workers.items()]
        try:
            client.wait_for_workers(len(workers), timeout=60)
            yield client
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


def main():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as clusters:
        clients = {"tcp": clusters.enter_context(started("tcp", WORKERS, folder))}
        if sys.argv[1:]:
            clients["ucx"] = clusters.enter_context(started("ucxx", UCX, folder))
        show(clients)


if __name__ == "__main__":
    main()

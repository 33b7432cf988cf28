# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times an array from a worker of Dask to another, and prints samples for tools/bench.

A sample is the time of a task that reads two elements of an array of another worker:
Dask's own cost of a task is part of it.  Workers "dray0" and "dray1" pass records, "tcp0"
and "tcp1" lack the plugin, and "far", in a user namespace of its own, counts as another
machine.
"""
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
# Rows: title, sizes by contender, workers by contender, goal.
NEAR = {"dray": ("dray0", "dray1"), "TCP": ("tcp0", "tcp1")}
FAR = {"dray": ("dray0", "far"), "TCP": ("tcp0", "tcp1")}
ROUNDS = int(os.environ.get("DRAY_BENCH_ROUNDS", 0)) or 15


def make(size, number):
    with dray.memory(shareable=True):
        a = np.empty(size // 4, "f4")
    a[:] = number
    return a


def touch(a):
    return float(a[0] + a[-1])


def moved(client, size, number, sender, receiver):
    """Milliseconds of a task on the receiver with an array of the sender."""
    f = client.submit(make, size, number, workers=[sender], pure=False)
    distributed.wait(f)
    begin = time.perf_counter()
    result = client.submit(touch, f, workers=[receiver], pure=False).result()
    end = time.perf_counter()
    assert result == 2 * number
    return (end - begin) * 1e3


def samples(client, contenders):
    """Contender -> ms, in each round each once; the first round, which makes pages and
    connections, is not counted."""
    found = {name: [] for name in contenders}
    for number in range(ROUNDS + 1):
        for name in alloc.turns(contenders, number):
            size, workers = contenders[name]
            found[name].append(moved(client, size, number, *workers))
    return {name: values[1:] for name, values in found.items()}


def show(client):
    for title, size in SIZES.items():
        goal = ("TCP", 0.25) if title == "64 MiB" else ()
        found = samples(client, {name: (size, workers) for name, workers in NEAR.items()})
        alloc.show(f"{title}, to a worker of this machine", "ms", "lower", found, goal)
    found = samples(client, {name: (SIZES[size], NEAR["dray"]) for name, size in
                             (("dray", "64 MiB"), ("64 KiB by records", "64 KiB"))})
    alloc.show("64 MiB by records", "ms", "lower", found, ("64 KiB by records", 1.2))
    for title in "1 MiB", "64 MiB":
        found = samples(client, {name: (SIZES[title], workers) for name, workers in FAR.items()})
        alloc.show(f"{title}, to another machine", "ms", "lower", found,
                   ("TCP", 1.05) if title == "64 MiB" else ())


def main():
    with tempfile.TemporaryDirectory() as folder, \
            LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as cluster, \
            Client(cluster) as client:
        started = [subprocess.Popen(
            [*prefix, sys.executable, "-m", "distributed.cli.dask_worker",
             cluster.scheduler_address, "--no-nanny", "--name", name, "--nthreads", "1",
             "--no-dashboard", "--memory-limit", "0", "--local-directory", folder, *options])
            for name, (prefix, options) in WORKERS.items()]
        try:
            client.wait_for_workers(len(WORKERS), timeout=60)
            show(client)
        finally:
            for worker in started:
                worker.terminate()
            for worker in started:
                worker.wait()


if __name__ == "__main__":
    main()

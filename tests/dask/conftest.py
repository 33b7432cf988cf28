# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A cluster of distributed's own workers, with dray.dask on the host.

Workers "a" and "b" have the same address, and "c" another.  "far" has a user namespace of its
own, so that it counts as another machine.
"""
import contextlib
import gc
import os
import subprocess
import sys
import time

import distributed
import pytest
from distributed import Client, Nanny, Scheduler, SpecCluster

import dray.dask
import tasks

DEADLINE = 60


class Workers:
    """A client, and its workers by name."""

    def __init__(self, client):
        self.client = client

    def addresses(self):
        return self.client.run_on_scheduler(
            lambda dask_scheduler: {w.name: w.address for w in dask_scheduler.workers.values()})

    def address(self, name):
        """A worker's address; waits for a worker that starts again."""
        end = time.monotonic() + DEADLINE
        while name not in (found := self.addresses()):
            assert time.monotonic() < end, f"{name} does not start"
        return found[name]

    def task(self, name, function, *arguments):
        """A task on a worker; the future is done, or in error."""
        future = self.client.submit(function, *arguments, workers=[name], pure=False)
        distributed.wait(future, timeout=DEADLINE)
        return future

    def value(self, name, function, *arguments):
        return self.task(name, function, *arguments).result()

    def ask(self, name, function, *arguments, **named):
        """Runs a function on a worker, beside its tasks."""
        address = self.address(name)
        return self.client.run(function, *arguments, workers=[address], **named)[address]

    def until(self, name, function, wanted):
        """Asks until the answer is the wanted, for messages under way have no end."""
        end = time.monotonic() + DEADLINE
        while (got := self.ask(name, function)) != wanted:
            assert time.monotonic() < end, f"{name}: {got}, not {wanted}"

    def passed_as(self, name, count):
        """The growth of a counter of a worker."""
        return Growth(self, name, count)

    def register(self, plugin):
        register = getattr(self.client, "register_plugin", None)
        (register or self.client.register_worker_plugin)(plugin)


class Growth:
    """`with`: notes a counter of a worker; .now: its growth."""

    def __init__(self, workers, name, count):
        self.workers, self.name, self.count = workers, name, count

    def __enter__(self):
        self.before = getattr(self.workers.ask(self.name, tasks.counts), self.count)
        return self

    def __exit__(self, *unused):
        self.now = getattr(self.workers.ask(self.name, tasks.counts), self.count) - self.before


async def remove(dask_worker):
    """Removes the plugin of a worker."""
    await dask_worker.plugin_remove(name="dray")


async def add(dask_worker, **options):
    """Gives a worker the plugin, or another."""
    await dask_worker.plugin_add(plugin=dray.dask.plugin(**options))


def start(hosts, host="127.0.0.1", **options):
    """A cluster with a worker for each name, at its address, and a scheduler at `host`."""
    return SpecCluster(
        workers={name: {"cls": Nanny, "options": {
            "nthreads": 1, "host": host, "name": name, "dashboard": False, "memory_limit": "1GiB",
            **options}} for name, host in hosts.items()},
        scheduler={"cls": Scheduler, "options": {"host": host, "dashboard": False}})


@contextlib.contextmanager
def worker_elsewhere(workers, name, prefix, *options):
    """Starts a worker by the command line, behind another command."""
    process = subprocess.Popen(
        [*prefix, sys.executable, "-m", "distributed.cli.dask_worker",
         workers.client.scheduler.address, "--no-nanny", "--name", name, "--nthreads", "1",
         "--no-dashboard", "--preload", "dray.dask", "--local-directory", os.getcwd(), *options])
    try:
        end = time.monotonic() + DEADLINE
        while name not in workers.addresses():
            assert process.poll() is None and time.monotonic() < end, f"{name} does not start"
        yield
    finally:
        process.terminate()
        process.wait(DEADLINE)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    os.chdir(tmp_path_factory.mktemp("spill"))
    # Workers of the command line find the modules of tests.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    hosts = {"a": "127.0.0.1", "b": "127.0.0.1", "c": "127.0.0.2"}
    with start(hosts) as cluster, Client(cluster) as client:
        client.wait_for_workers(len(hosts))
        workers = Workers(client)
        workers.register(dray.dask.plugin())
        yield workers


@pytest.fixture(scope="session")
def far(cluster):
    with worker_elsewhere(cluster, "far", ["unshare", "--user", "--map-root-user"]):
        yield cluster


@pytest.fixture
def workers(cluster):
    """The workers; at the end no record waits, and all memory is free."""
    yield cluster
    gc.collect()  # an error that a test caught keeps its futures
    for name in "abc":
        cluster.until(name, tasks.state, (0, 0, 0))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""distributed without the parts that the plugin replaces: a warning, and no change."""
import asyncio
import warnings

import distributed.comm.tcp
import pytest
from distributed import Scheduler, Worker

import dray.dask

CHANGES = {
    "get_data": lambda worker: worker.handlers.pop("get_data"),
    "connection_args": lambda worker: delattr(worker.rpc, "connection_args"),
}


async def warned_by(change):
    """The warnings of two registrations, and whether the worker passes records."""
    async with Scheduler(port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1) as worker:
            undo = dict(worker.handlers), worker.rpc.connection_args
            change(worker)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(2):
                    await worker.plugin_add(plugin=dray.dask.plugin())
            passes = worker in dray.dask._hooks.workers
            worker.handlers, worker.rpc.connection_args = undo
            return [str(warning.message) for warning in caught
                    if str(warning.message).startswith("dray:")], passes


@pytest.mark.parametrize("name", CHANGES)
def test_without_a_hook_arrays_are_copied(name):
    (text,), passes = asyncio.run(warned_by(CHANGES[name]))
    assert name in text and "copied" in text and not passes


def test_without_host_array_frames_lie_elsewhere(monkeypatch):
    monkeypatch.delattr(distributed.comm.tcp, "host_array")
    (text,), passes = asyncio.run(warned_by(lambda worker: None))
    assert "host_array" in text and passes

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""distributed without the parts that the plugin replaces: a warning, and no change."""
import asyncio
import warnings

import distributed.comm.tcp
import pytest
from distributed import Scheduler, Worker

import dray.dask

CHANGES = {
    "get_data": lambda patch, worker: patch.delitem(worker.handlers, "get_data"),
    "connection_args": lambda patch, worker: patch.delattr(worker.rpc, "connection_args"),
    "host_array": lambda patch, worker: patch.delattr(distributed.comm.tcp, "host_array"),
}


async def warned_by(change):
    """The warnings of two registrations, and whether the worker passes records."""
    async with Scheduler(port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1) as worker:
            with pytest.MonkeyPatch.context() as patch, \
                    warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                change(patch, worker)
                for _ in range(2):
                    await worker.plugin_add(plugin=dray.dask.plugin())
            texts = [str(warning.message) for warning in caught]
            return ([text for text in texts if text.startswith("dray:")],
                    worker in dray.dask._hooks.workers)


@pytest.mark.parametrize("name", CHANGES)
def test_without_a_hook_the_plugin_warns_once_and_arrays_are_copied(name):
    (text,), passes = asyncio.run(warned_by(CHANGES[name]))
    assert name in text and passes == (name == "host_array")

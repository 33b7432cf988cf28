# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory and arrays of NumPy: elements keep their type."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import dray

assert_type(dray.empty((480, 640)), NDArray[np.float64])
assert_type(dray.zeros(3, np.uint8), NDArray[np.uint8])
assert_type(dray.zeros(3, np.dtype(np.int16), heap=None), NDArray[np.int16])
assert_type(dray.shared_zeros(3, np.complex64), NDArray[np.complex64])
picture = np.zeros((4, 4), np.float32)
assert_type(dray.array(picture), NDArray[np.float32])
assert_type(dray.array([1, 2], np.uint16), NDArray[np.uint16])
dray.empty(3, "u1")[0] = 1


def half(pool: dray.Pool) -> NDArray[np.float32]:
    with dray.memory(pool, min_bytes="4K") as inner:
        copied = dray.empty((2, 4), np.float32, pool=inner)
    fence: dray.Fence = dray.copy(copied, picture[::2], wait=False)
    fence.wait(timeout=1)
    print(dray.explain(copied, picture[::2]).reason, pool.stats().used, dray.handler_name(copied))
    return copied


@dray.memory()
def load(count: int) -> NDArray[np.float64]:
    return np.zeros(count)


class Count(dray.MemoryHook):
    name = "Count"

    def malloc_postprocess(self, **kwargs: int) -> None:
        print(kwargs["size"])


@dray.profiler()
def add(a: int, b: int) -> int:
    return a + b


class Adder:
    @dray.profiler()
    def add(self, text: str) -> bytes:
        return text.encode()


limited = dray.mr.LimitingResourceAdaptor(dray.mr.PoolMemoryResource(), "1G")
counted = dray.mr.StatisticsResourceAdaptor(limited)
with dray.memory(counted), dray.statistics() as s, Count() as count, dray.profiler() as p:
    assert_type(s.peak + s.total_bytes, int)
    assert_type(count, Count)
    assert_type(add(1, 2), int)
    assert_type(add.profiler, dray.profiler)
    assert_type(Adder().add("1"), bytes)
    assert_type(Adder().add.profiler.records(), list[dray.ProfilerRecord])
    print(p.report("function"), p.records()[:1], dray.owns(picture), dray.heaps()[0].total)
assert_type(counted.allocation_counts.peak_bytes, int)
assert_type(limited.allocate(8), int)

node: dray.Node = dray.open("host")
print(half(node.pool(limit="1G")), load(3), [heap.total for heap in node.heaps()])

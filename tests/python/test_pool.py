# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pools: where their memory comes from, what they count, and when they end."""
import gc
import weakref

import numpy as np
import pytest

import dray

CARVEOUT = "carveout"  # it has no cached memory for a pool


def buffers():
    return sum(heap.buffers for heap in dray.open().heaps())


def test_a_pool_goes_with_its_last_array():
    before = buffers()
    with dray.memory(dray.open().pool()) as pool:
        array = np.zeros(1000)
    del pool
    gc.collect()
    assert buffers() == before + 1
    del array
    gc.collect()
    assert buffers() == before


def test_a_heap_is_chosen_by_its_name():
    for heap in dray.open().heaps():
        if heap.type == CARVEOUT:
            continue
        with dray.memory(heap=heap.name) as pool:
            assert pool is dray.pool(heap.name)
            array = np.arange(10)
        assert array.sum() == 45
        assert pool.stats().blocks >= 1


def test_an_unknown_heap_is_a_value_error_that_names_it():
    with pytest.raises(ValueError, match="nosuchheap"):
        dray.memory(heap="nosuchheap")


def test_a_pool_and_a_heap_together_are_refused():
    with pytest.raises(TypeError, match="has its heap and its node already"):
        dray.memory(dray.pool(), heap="cma")
    with pytest.raises(TypeError, match="has its heap and its node already"):
        dray.install(dray.pool(), shareable=True)


@pytest.mark.parametrize("call", [dray.memory, dray.install])
def test_what_is_no_pool_is_a_type_error(call):
    with pytest.raises(TypeError, match="pool is not a dray.Pool but str"):
        call("cma")


def test_a_pool_keeps_to_its_limit():
    pool = dray.open().pool(name="small", initial=1 << 20, limit=1 << 20)
    with dray.memory(pool):
        with pytest.raises(MemoryError):
            np.empty(2 << 20, np.uint8)
        assert dray.last_error() != ""
        assert np.zeros(1000).sum() == 0
    assert pool.stats().reserved <= 1 << 20


def test_a_failed_resize_leaves_the_array_alone():
    with dray.memory(dray.open().pool(initial=1 << 20, limit=1 << 20)):
        array = np.arange(1000)
    with pytest.raises(MemoryError):
        array.resize(1 << 24, refcheck=False)
    assert array.shape == (1000,) and array.sum() == 499500


@pytest.mark.parametrize("min_bytes", [0, 4096])
def test_an_impossible_size_is_a_memory_error(min_bytes):
    with dray.memory(min_bytes=min_bytes):
        with pytest.raises(MemoryError):
            np.empty(1 << 62, np.uint8)
        with pytest.raises(MemoryError):
            np.zeros(1 << 62, np.uint8)
        array = np.arange(10)
        with pytest.raises(MemoryError):
            array.resize(1 << 59, refcheck=False)
        assert array.sum() == 45


def test_two_arrays_share_no_cache_line():
    line = dray.open().info().cache_line
    with dray.memory():
        arrays = [np.zeros(1, np.uint8) for _ in range(64)]
    lines = [a.__array_interface__["data"][0] // line for a in arrays]
    assert len(set(lines)) == len(lines)


@pytest.mark.exact
def test_stats_count_blocks_and_bytes():
    pool = dray.open().pool()
    before = dray.stats(pool)
    with dray.memory(pool):
        array = np.empty(100_000, np.uint8)
    during = dray.stats(pool)
    assert during.blocks == before.blocks + 1
    assert during.used >= before.used + 100_000
    assert during.peak >= during.used
    assert during.reserved >= during.used
    del array
    after = pool.stats()
    assert (after.blocks, after.used) == (before.blocks, before.used)


@pytest.mark.exact
def test_trim_gives_memory_back():
    pool = dray.open().pool()
    with dray.memory(pool):
        array = np.ones(1 << 22, np.uint8)
    del array
    assert pool.trim() > 0
    with dray.memory(pool):
        assert np.ones(10).sum() == 10


def test_a_pool_and_a_node_say_what_they_are(handler):
    node = dray.open()
    kind = "shareable" if node.shareable else "private"
    assert repr(node) == (f"<dray.Node {node.info().name}, back end "
                          f"{node.backend}, {kind}>")
    assert repr(node.pool()).startswith(
        f"<dray.Pool, back end {node.backend}, {kind}, 0 bytes used")


def test_private_and_shareable_memory_can_be_told():
    for spec, shareable, name in [("host", False, "dray host"),
                                  ("host:shareable", True,
                                   "dray host:shareable")]:
        node = dray.open(spec)
        with node.pool() as pool:
            array = np.zeros(3)
        assert (node.shareable, pool.shareable) == (shareable, shareable)
        assert dray.handler_name(array).endswith(name)


def test_a_pool_is_a_scope(handler):
    pool = dray.open().pool()
    with pool as entered, pool:
        assert entered is pool
        assert pool.stats().blocks == 0
        array = np.zeros(3)
    assert dray.handler_name(array) == handler
    assert pool.stats().blocks == 1
    assert dray.handler_name() == "default_allocator"
    with pytest.raises(RuntimeError, match="is not entered"):
        pool.__exit__(None, None, None)


def test_a_pool_has_weak_references():
    pool = dray.open().pool()
    reference = weakref.ref(pool)
    assert reference() is pool
    del pool
    gc.collect()
    assert reference() is None


def test_a_closed_pool_has_its_arrays_and_nothing_more():
    before = buffers()
    pool = dray.open().pool()
    with pool:
        array = np.arange(1000)
    assert not pool.closed
    pool.close()
    pool.close()
    assert pool.closed and repr(pool) == "<dray.Pool, closed>"
    for use in (pool.stats, pool.trim, pool.__enter__,
                lambda: pool.handler_name, lambda: pool.shareable,
                lambda: dray.memory(pool), lambda: dray.install(pool),
                lambda: dray.stats(pool)):
        with pytest.raises(ValueError, match="^the pool is closed$"):
            use()
    assert array.sum() == 499500 and buffers() == before + 1
    del array
    gc.collect()
    assert buffers() == before


def test_a_default_pool_that_was_closed_is_made_anew():
    heap = dray.open().heaps()[0]
    if heap.type == CARVEOUT:
        pytest.skip("the first heap has no memory for a pool")
    first = dray.pool(heap.name)
    first.close()
    assert dray.pool(heap.name) is not first
    assert dray.stats().blocks >= 0

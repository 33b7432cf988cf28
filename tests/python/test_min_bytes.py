# SPDX-License-Identifier: Apache-2.0 OR MIT
"""memory(min_bytes=N): smaller arrays stay with the handler that was there."""
import gc
import os
import random
import threading

import numpy as np
import pytest

import dray

DEFAULT = "default_allocator"
LIMIT = 4096
MOST = (1 << 64) - 1


def place_of(size):
    """Of a new array of so many bytes, by all ways that NumPy asks."""
    arrays = [np.empty(size, np.uint8), np.zeros(size, np.uint8),
              np.array(b"x" * size), np.ones(size, np.int8) + 1]
    names = {dray.handler_name(array) for array in arrays}
    assert len(names) == 1, (size, names)
    return names.pop()


@pytest.mark.parametrize("size", [0, 1, 1000, LIMIT - 1])
def test_a_smaller_array_stays_with_numpy(size):
    with dray.memory(min_bytes=LIMIT):
        assert place_of(size) == DEFAULT


@pytest.mark.parametrize("size", [LIMIT, LIMIT + 1, 1_000_000])
def test_others_lie_in_dray_memory(handler, size):
    with dray.memory(min_bytes=LIMIT):
        assert place_of(size) == handler


def test_the_limit_is_in_the_handlers_name_and_the_scope(handler):
    scope = dray.memory(min_bytes=LIMIT)
    assert (scope.min_bytes, dray.memory().min_bytes) == (LIMIT, 0)
    with scope as pool:
        assert pool is dray.pool()
        assert dray.handler_name() == f"{handler} from {LIMIT} bytes"
    assert dray.handler_name() == DEFAULT


def test_without_a_limit_all_lie_in_dray_memory(handler):
    with dray.memory(min_bytes=0):
        assert dray.handler_name() == handler
        assert place_of(0) == handler


def test_a_limit_above_all_memory_leaves_everything():
    with dray.memory(min_bytes=MOST):
        assert place_of(1_000_000) == DEFAULT


SIZES = [10, LIMIT - 1, LIMIT, LIMIT + 1, 100, 50 * LIMIT, 0, 3 * LIMIT, 1]


@pytest.mark.exact
def test_resize_across_the_limit_moves_the_array_and_its_bytes(handler):
    with dray.memory(min_bytes=LIMIT):
        array = np.full(SIZES[-1], 1, np.uint8)
    used = dray.stats().used
    for size in SIZES * 3:
        before = array.copy()
        array.resize(size, refcheck=False)
        both = min(size, before.size)
        assert (array[:both] == before[:both]).all()
        assert not array[both:].any()
        # One byte is the least that NumPy asks for.
        assert dray.handler_name(array) == (
            handler if max(size, 1) >= LIMIT else DEFAULT)
        array[:] = random.randrange(1, 256)
    del array
    assert dray.stats().used == used


def test_arrays_outlive_the_scope_and_the_pool():
    with dray.memory(dray.open().pool(), min_bytes=LIMIT):
        small, large = np.arange(10), np.arange(10_000)
    gc.collect()
    assert (small.sum(), large.sum()) == (45, 49_995_000)
    # The handler is gone but for them: it still knows both places.
    large.resize(10, refcheck=False)
    small.resize(10_000, refcheck=False)
    assert (small.sum(), large.sum()) == (45, 45)
    assert dray.handler_name(large) == DEFAULT


def buffers():
    return sum(heap.buffers for heap in dray.open().heaps())


def test_a_pool_goes_with_its_last_array_small_or_large():
    before = buffers()
    with dray.memory(dray.open().pool(), min_bytes=LIMIT):
        small, large = np.zeros(10), np.zeros(10_000)
    del large
    gc.collect()
    assert buffers() == before + 1
    assert small.sum() == 0
    del small
    gc.collect()
    assert buffers() == before


@pytest.mark.exact
def test_scopes_nest(handler, host_handler):
    host = dray.open("host").pool()
    with dray.memory(min_bytes=1000):
        with dray.memory(host, min_bytes=100_000):
            assert place_of(999) == DEFAULT
            assert place_of(99_999) == handler
            assert place_of(100_000) == host_handler
            assert host.stats().blocks == 0
            array = np.zeros(100_000, np.uint8)
            assert host.stats().blocks == 1
            array.resize(50_000, refcheck=False)
            assert dray.handler_name(array) == handler
            assert host.stats().blocks == 0
            array.resize(10, refcheck=False)
            assert dray.handler_name(array) == DEFAULT
            array.resize(200_000, refcheck=False)
            assert host.stats().blocks == 1
        with dray.memory():
            assert place_of(1) == handler
        assert place_of(999) == DEFAULT
        assert place_of(1000) == handler
    assert not array.any()
    del array
    assert host.stats().blocks == 0


def test_what_is_small_may_lie_in_the_pool_of_an_outer_scope(handler):
    with dray.memory():
        with dray.memory(min_bytes=LIMIT):
            array = np.arange(10, dtype=np.uint8)
            assert dray.handler_name(array) == handler
            array.resize(LIMIT, refcheck=False)
            array.resize(5, refcheck=False)
            assert array.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.exact
def test_entering_again_adds_no_handler():
    scope = dray.memory(min_bytes=LIMIT)
    before = dray.stats().blocks
    for _ in range(5000):
        scope.__enter__()
    array = np.zeros(10)
    large = np.zeros(10_000)
    assert dray.handler_name(array) == DEFAULT
    for _ in range(5000):
        scope.__exit__(None, None, None)
    del array, large
    for _ in range(5000):
        dray.install(min_bytes=LIMIT)
        np.zeros(10)
    dray.uninstall()
    assert dray.stats().blocks == before


def test_install_has_a_limit_too(handler):
    assert dray.install(min_bytes=LIMIT).pool is dray.pool()
    assert place_of(LIMIT - 1) == DEFAULT
    assert place_of(LIMIT) == handler
    dray.uninstall()
    assert place_of(LIMIT) == DEFAULT


def test_a_limit_takes_the_place_of_the_one_installed_before(handler):
    dray.install(min_bytes=100)
    dray.install(dray.open("host").pool(), min_bytes=LIMIT)
    assert place_of(LIMIT - 1) == DEFAULT
    with dray.memory(min_bytes=100):
        for limit in (LIMIT, 2 * LIMIT):
            dray.install(dray.open("host").pool(), min_bytes=limit)
            assert place_of(99) == DEFAULT
            assert place_of(limit - 1) == handler
    dray.uninstall()


def test_a_scope_stays_when_what_was_installed_below_it_is_replaced(handler):
    dray.install(min_bytes=100)
    with dray.memory(min_bytes=100):
        dray.install(dray.open("host").pool(), min_bytes=LIMIT)
        assert place_of(100) == handler
    dray.uninstall()


def test_what_was_installed_before_stays_for_its_arrays_only():
    node, before = dray.open(), buffers()
    dray.install(node.pool(), min_bytes=100)
    array = np.full(LIMIT, 7, np.uint8)
    for limit in [100, LIMIT] * 5:
        dray.install(node.pool(), min_bytes=limit)
        np.zeros(2 * LIMIT)
    gc.collect()
    # The array's, and the last one.
    assert buffers() == before + 2
    array.resize(10, refcheck=False)
    assert dray.handler_name(array) == DEFAULT
    array.resize(2 * LIMIT, refcheck=False)
    assert (array[:10] == 7).all() and not array[10:].any()
    dray.uninstall()
    del array
    gc.collect()
    assert buffers() == before


def test_an_exception_leaves_the_scope():
    with pytest.raises(KeyError):
        with dray.memory(min_bytes=LIMIT):
            raise KeyError
    assert dray.handler_name() == DEFAULT


@pytest.mark.parametrize("wrong, error, sentence", [
    (-1, ValueError, f"min_bytes is -1: a number of bytes from 0 to {MOST}"),
    (MOST + 1, ValueError,
     f"min_bytes is {MOST + 1}: a number of bytes from 0 to {MOST}"),
    (1.5, TypeError, "min_bytes is not a whole number but float"),
    ("4 XB", ValueError, "min_bytes is '4 XB': a number of bytes, or one with K, "
     'M, G or T as "64K"'),
    (None, TypeError, "min_bytes is not a whole number but NoneType")])
def test_a_limit_that_is_no_size_is_refused(wrong, error, sentence):
    for call in (dray.memory, dray.install, dray.share_arrays):
        with pytest.raises(error) as caught:
            call(min_bytes=wrong)
        assert str(caught.value) == sentence
    assert dray.handler_name() == DEFAULT


def test_a_small_array_is_not_in_dray_memory():
    with dray.memory(min_bytes=LIMIT):
        small = np.zeros(10)
    with pytest.raises(ValueError, match="dst"):
        dray.copy(small, small)


@pytest.mark.exact
def test_threads_share_a_scope_and_free_each_others_arrays():
    used = dray.stats().used
    scope, together = dray.memory(min_bytes=1000), threading.Barrier(4)
    shelf, wrong = [None] * 32, []

    def work(seed):
        dice = random.Random(seed)
        together.wait()
        for _ in range(1500):
            with scope:
                array = np.full(dice.randrange(300), seed)
            if dice.random() < 0.5:
                array.resize(dice.randrange(300), refcheck=False)
            if not np.isin(array, (0, seed)).all():
                wrong.append(array)
            shelf[dice.randrange(32)] = array
    threads = [threading.Thread(target=work, args=(seed,))
               for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    shelf.clear()
    gc.collect()
    assert dray.stats().used == used


@pytest.mark.parametrize("shareable", [False, True])
def test_a_forked_child_frees_what_it_inherits_where_it_came_from(shareable):
    with dray.memory(shareable=shareable, min_bytes=LIMIT):
        arrays = [np.full(size, 7, np.uint8) for size in SIZES]
    child = os.fork()
    if child == 0:
        status = 2
        try:
            for array, size in zip(arrays, reversed(SIZES)):
                array.resize(size, refcheck=False)
            kept = [np.isin(array, (0, 7)).all() for array in arrays]
            arrays.clear()
            status = 0 if all(kept) else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all((array == 7).all() for array in arrays)

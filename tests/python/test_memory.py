# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Scopes: which memory new arrays lie in, and until when."""
import asyncio
import contextvars
import gc
import os
import threading

import numpy as np
import pytest

import dray

try:
    from numpy._core.multiarray import get_handler_version
except ImportError:  # NumPy 1
    from numpy.core.multiarray import get_handler_version

DEFAULT = "default_allocator"


def test_arrays_made_in_the_scope_lie_in_dray_memory(handler):
    with dray.memory():
        for array in (np.zeros(3), np.empty((2, 3)), np.ones(1000),
                      np.arange(7), np.array([1, 2]), np.full(5, 3.0)):
            assert dray.handler_name(array) == handler
            assert get_handler_version(array) == 1


def test_arrays_made_after_the_scope_do_not():
    with dray.memory():
        pass
    assert dray.handler_name(np.zeros(3)) == DEFAULT


def test_the_scope_gives_the_pool(handler):
    with dray.memory() as pool:
        assert isinstance(pool, dray.Pool)
        assert pool.handler_name == handler
    assert pool is dray.pool()
    assert dray.memory().pool is pool


def test_zeros_are_zero_in_memory_that_was_used_before():
    with dray.memory():
        for _ in range(4):
            array = np.zeros(100_000, np.uint8)
            assert not array.any()
            array[:] = 255
            del array


def test_arrays_that_fill_their_blocks_do_not_touch():
    """NumPy would take them for overlapping, and leave vectors unused."""
    with dray.memory():
        arrays = [np.ones(size // 8) for size in
                  64 * [64] + 32 * [4096] + 8 * [1 << 16] + 4 * [1 << 20]]
    arrays += [dray.shared_zeros(1 << 18) for _ in range(2)]
    places = sorted((a.ctypes.data, a.nbytes) for a in arrays)
    for (start, size), (after, _) in zip(places, places[1:]):
        assert start + size < after


def test_an_array_outlives_the_scope_and_the_pool():
    with dray.memory(dray.open().pool()):
        array = np.arange(1000)
    gc.collect()
    assert array.sum() == 499500
    array.resize(100_000, refcheck=False)
    assert array[:1000].sum() == 499500 and not array[1000:].any()


def name_of(handler, spec):
    return f"{handler}:shareable" if spec == "host:shareable" else handler


@pytest.mark.parametrize("shareable", [False, True])
def test_arrays_keep_a_handler_that_was_removed(handler, host_handler,
                                                shareable):
    spec = "host:shareable" if shareable and handler == host_handler else None
    dray.install(dray.open(spec).pool())
    kept = np.arange(1000)
    dray.uninstall()
    gc.collect()
    assert dray.handler_name() == DEFAULT
    handler = name_of(handler, spec)
    assert dray.handler_name(kept) == handler
    for size in (100_000, 10, 0, 5000):
        kept.resize(size, refcheck=False)
        assert dray.handler_name(kept) == handler
    assert not kept.any()
    assert dray.handler_name(kept.copy()) == DEFAULT


def test_scopes_nest(handler, host_handler):
    with dray.memory():
        assert dray.handler_name() == handler
        with dray.memory(dray.open("host").pool()):
            assert dray.handler_name() == host_handler
        assert dray.handler_name() == handler
    assert dray.handler_name() == DEFAULT


def test_a_scope_can_be_entered_again_while_it_is_open(handler):
    scope = dray.memory()
    with scope:
        with scope:
            assert dray.handler_name() == handler
        assert dray.handler_name() == handler
    assert dray.handler_name() == DEFAULT
    with scope:
        assert dray.handler_name() == handler
    assert dray.handler_name() == DEFAULT


def test_an_exception_leaves_the_scope(handler):
    with pytest.raises(KeyError, match="mine"):
        with dray.memory():
            with pytest.raises(ZeroDivisionError):
                with dray.memory():
                    1 / 0
            assert dray.handler_name() == handler
            raise KeyError("mine")
    assert dray.handler_name() == DEFAULT


def test_scopes_left_in_another_order_end_where_they_began(host_handler):
    outer, inner = dray.memory(), dray.memory(dray.open("host").pool())
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert dray.handler_name() == host_handler
    inner.__exit__(None, None, None)
    assert dray.handler_name() == DEFAULT


def test_a_generator_may_keep_a_scope_open_longer_than_its_caller():
    def generator():
        with dray.memory():
            yield
    running = generator()
    with dray.memory(dray.open("host").pool()):
        next(running)
    with dray.memory():
        running.close()
    assert dray.handler_name() == DEFAULT


def test_leaving_a_scope_that_is_not_open_is_refused():
    with pytest.raises(RuntimeError, match="is not entered in this thread"):
        dray.memory().__exit__(None, None, None)


def in_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


def test_a_new_thread_starts_without_the_handler(handler):
    with dray.memory():
        assert in_thread(dray.handler_name) == DEFAULT
        assert dray.handler_name() == handler


def test_a_scope_in_one_thread_is_not_seen_by_another(handler):
    entered, seen = threading.Barrier(2), threading.Barrier(2)
    names = []

    def other():
        with dray.memory():
            entered.wait()
            names.append(dray.handler_name(np.zeros(3)))
            seen.wait()
    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    names.append(dray.handler_name(np.zeros(3)))
    seen.wait()
    thread.join()
    assert sorted(names) == sorted([handler, DEFAULT])


def test_one_scope_serves_many_threads_at_once(handler):
    scope, together = dray.memory(), threading.Barrier(4)
    wrong = []

    def work():
        together.wait()
        for _ in range(200):
            with scope, scope:
                name = dray.handler_name(np.ones(50))
            if (name, dray.handler_name()) != (handler, DEFAULT):
                wrong.append(name)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.exact
def test_an_array_may_be_freed_by_another_thread():
    used = dray.stats().used
    with dray.memory():
        arrays = [np.ones(1000) for _ in range(100)]
    in_thread(arrays.clear)
    assert dray.stats().used == used


def test_tasks_have_scopes_of_their_own(handler, host_handler):
    async def task(scope, mine, other):
        with scope:
            mine.set()
            await other.wait()
            return dray.handler_name(np.zeros(3))

    async def main():
        a, b = asyncio.Event(), asyncio.Event()
        host = dray.memory(dray.open("host").pool())
        return await asyncio.gather(task(dray.memory(), a, b),
                                    task(host, b, a))
    assert asyncio.run(main()) == [handler, host_handler]
    assert dray.handler_name() == DEFAULT


def test_a_task_inherits_the_scope_it_was_made_in(handler):
    async def name():
        return dray.handler_name()

    async def main():
        with dray.memory():
            task = asyncio.create_task(name())
        return await task
    assert asyncio.run(main()) == handler


def test_leaving_a_scope_in_another_context_is_refused(handler):
    scope = dray.memory()
    context = contextvars.copy_context()
    context.run(scope.__enter__)
    with pytest.raises(RuntimeError, match="is not entered"):
        scope.__exit__(None, None, None)
    assert context.run(dray.handler_name) == handler


@pytest.mark.parametrize("shareable", [False, True])
def test_a_forked_child_takes_no_memory_of_its_parent(shareable):
    """Both make and free arrays after the fork; none is the other's."""
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()

    def arrays(first):
        with dray.memory(shareable=shareable):
            return [np.full(1000, first + i) for i in range(50)]

    def are(them, first):
        return all((a == first + i).all() for i, a in enumerate(them))
    old = arrays(0)
    child = os.fork()
    if child == 0:
        status = 2
        try:
            mine, kept = arrays(1000), old[25:]
            del old[:25]
            os.write(to_parent, b"x")
            os.read(from_parent, 1)
            status = 0 if are(mine, 1000) and are(kept, 25) else 1
        finally:
            os._exit(status)
    assert os.read(from_child, 1) == b"x"
    assert are(old, 0)
    new = arrays(2000)
    os.write(to_child, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert are(old, 0) and are(new, 2000)
    for end in (from_child, to_parent, from_parent, to_child):
        os.close(end)


def test_install_lasts_until_uninstall(handler):
    assert dray.install().pool is dray.pool()
    assert dray.handler_name(np.zeros(3)) == handler
    dray.uninstall()
    assert dray.handler_name(np.zeros(3)) == DEFAULT


def test_a_scope_undoes_an_install_inside_it():
    with dray.memory():
        dray.uninstall()
        assert dray.handler_name() == DEFAULT
        dray.install(dray.open("host").pool())
    assert dray.handler_name() == DEFAULT


@pytest.mark.parametrize("shareable", ["no", None, [], 0.5])
def test_shareable_is_true_or_false(shareable):
    with pytest.raises(TypeError, match="shareable is .*: True or False"):
        dray.memory(shareable=shareable)


@pytest.mark.parametrize("call, error, sentence", [
    (lambda: dray.memory("cma"), TypeError, "pool is not a dray.Pool but str: heap= takes"),
    (lambda: dray.memory(5), TypeError, "not a dray.Pool but int: dray.pool.. and dray.mr make pools"),
    (lambda: type("Own", (dray.mr.MemoryResource,), {})(), TypeError,
     "cannot create 'dray.MemoryResource' instances: other classes of dray.mr"),
    (lambda: dray.from_xrt(None), TypeError, "a BO or fd=: neither was given"),
    (lambda: dray.from_xrt(3, fd=3), TypeError, "a BO or fd=: both were given"),
    (lambda: dray.matmul(dray.zeros((2, 3)), dray.zeros((2, 3))), ValueError,
     r"the last axis of the first operand has 3 elements, .* meets 2; .* \(2, 3\) and \(2, 3\)"),
    (lambda: dray.from_dlpack(1), TypeError, "an int does not have __dlpack__"),
    (lambda: dray.add(1), TypeError, "but 1 was given"),
    (lambda: dray.OpenCLExecutor(), TypeError, r"OpenCLExecutor\(\)"),
])
def test_errors_name_the_mistake_and_a_way_out(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()

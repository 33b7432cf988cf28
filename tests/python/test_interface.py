# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The functions and methods that users expect, and what errors tell them."""
import asyncio
import gc
import inspect
import sys

import numpy as np
import pytest

import dray
from dray import _dray

DEFAULT = "default_allocator"


def test_arrays_are_made_without_a_scope(handler):
    made = [dray.empty((2, 3), "i2"), dray.zeros(4, order="F"),
            dray.array([[1, 2], [3, 4]], np.int8)]
    assert [dray.handler_name(array) for array in made] == [handler] * 3
    assert made[0].dtype == "i2" and made[0].shape == (2, 3)
    assert not made[1].any() and made[2].tolist() == [[1, 2], [3, 4]]
    assert dray.export_array(dray.zeros(3, shareable=True))
    pool = dray.open().pool()
    array = dray.zeros(3, pool=pool)
    assert pool.stats().blocks == 1
    del array


def test_a_scope_decorates_functions(handler):
    @dray.memory()
    def make(count, *, value):
        """Documented."""
        return np.full(count, value)

    array = make(3, value=2)
    assert dray.handler_name(array) == handler and array.sum() == 6
    assert make.__name__ == "make" and make.__doc__ == "Documented."
    assert dray.handler_name() == DEFAULT


def test_a_scope_decorates_coroutines(handler):
    @dray.memory()
    async def make():
        await asyncio.sleep(0)
        return np.zeros(3)

    assert dray.handler_name(asyncio.run(make())) == handler


def test_a_scope_decorates_no_generators_and_no_values():
    def items():
        yield 1
    with pytest.raises(TypeError, match="items.* is a generator"):
        dray.memory()(items)
    with pytest.raises(TypeError, match="this is a int"):
        dray.memory()(3)


def test_install_ends_with_its_with(handler):
    with dray.memory(dray.open("host").pool()):
        before = dray.handler_name()
        with dray.install(shareable=True) as pool:
            assert pool is dray.pool(shareable=True)
            assert dray.handler_name() == pool.handler_name
        assert dray.handler_name() == before
    installed = dray.install()
    assert installed.pool is dray.pool() and dray.handler_name() == handler
    assert repr(installed).startswith("<dray.Scope of install() from 0 bytes, "
                                      "<dray.Pool, ")
    dray.uninstall()


def test_scopes_and_fences_say_what_they_are(make):
    pool = dray.open().pool()
    assert repr(dray.memory(pool, min_bytes=4096)) == (
        f"<dray.Scope of memory() from 4096 bytes, {pool!r}>")
    array = make(np.arange(10))
    assert repr(dray.copy(array[:5], array[5:])) == "<dray.Fence, done>"


def test_a_fence_can_be_awaited(make):
    array = make(np.arange(1000))

    async def copy():
        fence = dray.copy(array[:500], array[500:], wait=False)
        assert await fence is None
        await asyncio.gather(*[wait(fence) for _ in range(3)])
        return fence.done

    async def wait(fence):
        await fence

    assert asyncio.run(copy())
    assert (array[:500] == np.arange(500, 1000)).all()


class Series:
    """As that of pandas, which is not here."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values[:]


def test_the_handler_of_a_series_is_that_of_its_values(make, handler):
    assert dray.handler_name(Series(make(np.arange(10)))) == handler
    assert dray.handler_name(Series(np.arange(10))) == DEFAULT
    with pytest.raises(TypeError, match="^a is not a NumPy array and gives"):
        dray.handler_name([1, 2])


def test_a_socket_that_is_none_is_named():
    with pytest.raises(TypeError, match="^sock is not a socket .* but str"):
        dray.send("sock", np.zeros(3))
    with pytest.raises(TypeError, match="^sock is not a socket .* but list"):
        dray.receive([])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize("scope", [
    lambda pool: dray.memory(pool), lambda pool: pool,
    lambda pool: dray.install(pool)])
def test_a_memory_error_of_numpy_has_drays_sentence(scope):
    pool = dray.open().pool(name="small", initial="1M", limit="1M")
    with pytest.raises(MemoryError) as caught:
        with scope(pool), scope(pool):
            np.zeros(1 << 21, np.uint8)
    assert caught.value.__notes__ == [f"dray: {dray.last_error()}"]
    assert "1048576" in dray.last_error()
    del caught
    gc.collect()


def test_a_memory_error_of_others_has_no_note():
    with pytest.raises(MemoryError) as caught:
        with dray.memory():
            raise MemoryError("mine")
    assert not hasattr(caught.value, "__notes__")


def test_stats_are_of_the_pool_in_use():
    first, second = dray.open().pool(), dray.open().pool()
    array = dray.zeros(1000, pool=first)
    assert dray.stats().blocks == 1
    with second:
        assert dray.stats().blocks == 0
        with dray.memory(first):
            assert dray.stats().blocks == 1
        assert dray.stats().blocks == 0
    assert dray.stats(first).blocks == 1
    del array


def callables():
    for owner in (_dray, dray.Node, dray.Pool, dray.Scope, dray.Fence,
                  dray.Stream, dray.Event, dray.Frames):
        for name, value in vars(owner).items():
            wanted = not name.startswith("_") or name in ("__enter__", "__exit__")
            if wanted and callable(value) and not isinstance(value, type):
                yield pytest.param(value, id=f"{owner.__name__}.{name}")


@pytest.mark.parametrize("function", list(callables()))
def test_every_function_has_a_signature(function):
    assert inspect.signature(function) is not None

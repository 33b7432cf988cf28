# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.mr: resources that stack, and arrays in their memory."""
import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import dray
from dray import mr
from deadline import wait_until

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


@pytest.fixture
def pool():
    pool = dray.open().pool()
    yield pool
    assert pool.stats().blocks == 0
    pool.close()


@pytest.fixture
def base(pool):
    return mr.PoolMemoryResource(pool)


def callbacks():
    return mr.CallbackMemoryResource(lambda nbytes, stream: libc.malloc(nbytes),
                                     lambda ptr, nbytes, stream: libc.free(ptr))


STACKS = {
    "pool": lambda base, path: base,
    "malloc": lambda base, path: mr.MallocMemoryResource(),
    "callback": lambda base, path: callbacks(),
    "limit": lambda base, path: mr.LimitingResourceAdaptor(base, "64M"),
    "log": lambda base, path: mr.LoggingResourceAdaptor(base, path),
    "tracking": lambda base, path: mr.TrackingResourceAdaptor(base),
    "on-failure": lambda base, path: mr.FailureCallbackResourceAdaptor(base, print),
    "prefetch": lambda base, path: mr.PrefetchResourceAdaptor(base),
    "statistics": lambda base, path: mr.StatisticsResourceAdaptor(
        mr.PrefetchResourceAdaptor(mr.TrackingResourceAdaptor(mr.LoggingResourceAdaptor(
            mr.LimitingResourceAdaptor(base, "64M"), path), True))),
}


@pytest.mark.parametrize("name", STACKS)
def test_arrays_lie_in_each_stack(name, base, tmp_path):
    resource = STACKS[name](base, tmp_path / "log.csv")
    with dray.memory(resource) as entered:
        assert entered is resource
        array = np.arange(1000.0)
        zeros = np.zeros((100, 100), np.uint8)
        library = dray.Array.zeros(1000)
        with dray.memory():
            assert "resource" not in dray.handler_name()
        assert dray.handler_name() == f"dray resource {name}"
        total = dray.add(library, array)
    assert dray.handler_name(array) == dray.handler_name(library) == f"dray resource {name}"
    assert dray.owns(array) == (name not in ("malloc", "callback"))
    assert repr(resource).startswith("<dray.mr.")
    del resource, entered  # arrays keep it
    gc.collect()
    array.resize(5000, refcheck=False)
    assert array[:1000].sum() == 499500 and not array[1000:].any() and not zeros.any()
    assert float(total.sum()) == 499500


def test_a_block_is_an_address(base):
    counted = mr.StatisticsResourceAdaptor(base)
    block = counted.allocate(100)
    assert isinstance(block, int) and block
    ctypes.memset(block, 7, 100)
    assert counted.allocation_counts == mr.AllocationCounts(100, 1, 100, 1, 100, 1)
    counted.deallocate(block, 100)
    assert counted.allocation_counts == mr.AllocationCounts(0, 0, 100, 1, 100, 1)
    free, total = base.capacity()
    assert 0 < free <= total


def test_counters_nest_as_rmms(base):
    counted = mr.StatisticsResourceAdaptor(base)
    with dray.memory(counted):
        kept = np.empty(100, np.uint8)
        assert counted.push_counters() == (100, 1, 100, 1, 100, 1)
        assert counted.allocation_counts == (0,) * 6
        np.empty(50, np.uint8)
        assert counted.pop_counters() == (0, 0, 50, 1, 50, 1)
        assert counted.allocation_counts == (100, 1, 150, 2, 150, 2)
    with pytest.raises(ValueError, match="without its begin"):
        counted.pop_counters()
    del kept


def test_a_limit_is_a_memory_error_to_numpy(base):
    limited = mr.LimitingResourceAdaptor(base, 1000)
    assert limited.get_allocation_limit() == 1000
    assert limited.upstream_mr is limited.get_upstream() is base
    with dray.memory(limited):
        kept = np.empty(800, np.uint8)
        assert limited.get_allocated_bytes() == 800
        with pytest.raises(MemoryError):
            np.empty(201, np.uint8)
        with pytest.raises(MemoryError):
            kept.resize(1001, refcheck=False)
    assert "the limit of 1000" in dray.last_error()
    with pytest.raises(MemoryError, match="the limit of 1000 leaves 200"):
        limited.allocate(201)
    assert limited.capacity() == (200, 1000)
    del kept
    assert limited.get_allocated_bytes() == 0


@pytest.mark.parametrize("limit, error", [
    (-1, ValueError), (2**64, ValueError), ("much", ValueError), (1.5, TypeError),
    (None, TypeError)])
def test_impossible_limits_are_refused(base, limit, error):
    with pytest.raises(error, match="allocation_limit"):
        mr.LimitingResourceAdaptor(base, limit)


def test_a_limit_of_0_allows_nothing(base):
    with dray.memory(mr.LimitingResourceAdaptor(base, 0)), pytest.raises(MemoryError):
        np.empty(0)


@pytest.mark.parametrize("make", [
    lambda: mr.PoolMemoryResource("cma"),
    lambda: mr.StatisticsResourceAdaptor(None),
    lambda: mr.LimitingResourceAdaptor(dray.pool(), 10),
    lambda: mr.PrefetchResourceAdaptor(3),
    lambda: mr.TrackingResourceAdaptor(dray.open()),
    lambda: mr.LoggingResourceAdaptor(mr.MallocMemoryResource(), 3),
    lambda: mr.FailureCallbackResourceAdaptor(mr.MallocMemoryResource(), 3),
    lambda: mr.FailureCallbackResourceAdaptor(3, print),
    lambda: mr.CallbackMemoryResource(None, print),
    lambda: mr.MemoryResource(),
    lambda: dray.memory(mr.MallocMemoryResource(), min_bytes=10),
    lambda: dray.memory(mr.MallocMemoryResource(), heap="cma"),
    lambda: mr.MallocMemoryResource().allocate("1K"),
])
def test_other_objects_are_type_errors(make):
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize("call, error", [
    (lambda base: base.allocate(-1), ValueError),
    (lambda base: base.allocate(2**63), MemoryError),
    (lambda base: base.allocate(2**62), MemoryError),
    (lambda base: base.allocate(1, -1), ValueError),
    (lambda base: base.deallocate(4096, 1), ValueError),
    (lambda base: base.deallocate(-1, 1), ValueError),
    (lambda base: mr.MallocMemoryResource().capacity(), OSError),
])
def test_bad_numbers_are_refused(base, call, error):
    with pytest.raises(error):
        call(base)


def test_a_closed_pool_makes_no_resource(pool):
    other = dray.open().pool()
    other.close()
    with pytest.raises(ValueError, match="closed"):
        mr.PoolMemoryResource(other)
    # A resource keeps the pool open for its arrays.
    other = dray.open().pool()
    resource = mr.PoolMemoryResource(other)
    other.close()
    with dray.memory(resource):
        assert np.ones(10).sum() == 10


def test_a_log_has_rmms_columns(base, tmp_path):
    path = tmp_path / "log.csv"
    logged = mr.LoggingResourceAdaptor(base, path)
    assert logged.get_file_name() == str(path)
    with dray.memory(logged):
        np.empty(100, np.uint8)
    logged.deallocate(logged.allocate(7, 3), 7, 3)
    logged.flush()
    head, *lines = path.read_text(encoding="ascii").splitlines()
    assert head == "Thread,Time,Action,Pointer,Size,Stream"
    rows = [line.split(",") for line in lines]
    assert [(row[2], row[4], row[5]) for row in rows] == [
        ("allocate", "100", "0"), ("free", "100", "0"), ("allocate", "7", "3"),
        ("free", "7", "3")]


@pytest.mark.parametrize("path, error", [
    ("none/log.csv", FileNotFoundError), (".", IsADirectoryError), ("a\0b", ValueError)])
def test_a_log_that_cannot_be_written_is_named(base, tmp_path, path, error):
    with pytest.raises(error):
        mr.LoggingResourceAdaptor(base, os.path.join(tmp_path, path))


def test_a_full_disk_is_told_by_flush(base):
    with pytest.raises(OSError, match="/dev/full"):
        mr.LoggingResourceAdaptor(base, "/dev/full")


def test_live_blocks_are_listed(base):
    tracked = mr.TrackingResourceAdaptor(base, capture_stacks=True)
    assert tracked.get_outstanding_allocations_str() == ""
    with dray.memory(tracked):
        kept = np.empty(100, np.uint8)
    text = tracked.get_outstanding_allocations_str()
    assert f"{kept.ctypes.data:#x} of 100 bytes" in text and "allocated by" in text
    assert tracked.get_allocated_bytes() == 100
    del kept
    assert tracked.get_allocated_bytes() == 0


def test_a_callback_frees_memory_for_the_allocation_that_failed(base):
    limited = mr.LimitingResourceAdaptor(base, 1000)
    kept, asked = [], []

    def make_room(nbytes):
        asked.append(nbytes)
        if kept:
            kept.clear()
            return True
        return False

    with dray.memory(mr.FailureCallbackResourceAdaptor(limited, make_room)):
        kept.append(np.empty(600, np.uint8))
        array = np.empty(500, np.uint8)
        with pytest.raises(MemoryError):
            np.empty(501, np.uint8)
    assert asked == [500, 501]
    del array


class Truth:
    def __bool__(self):
        raise LookupError("no truth")


def fail(*args):
    raise LookupError("callback")


@pytest.mark.parametrize("callback", [fail, lambda: True, lambda nbytes: Truth()])
def test_a_failure_callback_that_raises_is_false(base, callback, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: raised.append(error.exc_type))
    resource = mr.FailureCallbackResourceAdaptor(mr.LimitingResourceAdaptor(base, 10), callback)
    with dray.memory(resource), pytest.raises(MemoryError):
        np.empty(100)
    assert len(raised) == 1
    with pytest.raises(MemoryError, match="the limit of 10"):
        resource.allocate(100)


@pytest.mark.parametrize("allocate, reported", [
    (fail, [LookupError]), (lambda nbytes, stream: 0, []), (lambda nbytes, stream: -1, None),
    (lambda nbytes, stream: None, [TypeError]), (lambda: 1, [TypeError]),
    (lambda nbytes, stream: "x" * (1 << 62) * 4, None)])
def test_callbacks_without_memory_are_memory_errors(allocate, reported, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: raised.append(error.exc_type))
    resource = mr.CallbackMemoryResource(allocate, fail)
    with dray.memory(resource), pytest.raises(MemoryError):
        np.empty(100)
    with pytest.raises(MemoryError, match="the callback returned no memory for 100 bytes"):
        resource.allocate(100)
    assert reported is None or raised == 2 * reported


def test_callbacks_end_with_the_last_array():
    class Function:
        def __call__(self, nbytes, stream):
            return libc.malloc(nbytes)

    import weakref
    function = Function()
    gone = weakref.ref(function)
    with dray.memory(mr.CallbackMemoryResource(function, lambda p, n, s: libc.free(p))):
        array = np.ones(100)
    del function
    gc.collect()
    assert gone() is not None
    del array
    gc.collect()
    assert gone() is None


def test_statistics_hooks_and_profiles_see_them(base):
    limited = mr.LimitingResourceAdaptor(base, 1000)

    class Sizes(dray.MemoryHook):
        name, sizes = "Sizes", []

        def malloc_postprocess(self, **kwargs):
            self.sizes.append((kwargs["size"], bool(kwargs["mem_ptr"])))

    with dray.memory(limited), dray.statistics() as s, Sizes() as hook, dray.profiler() as p:
        kept = np.empty(100, np.uint8)
        np.empty(200, np.uint8)
        with pytest.raises(MemoryError):
            np.empty(2000, np.uint8)
        kept.resize(300, refcheck=False)
    assert (s.current, s.peak, s.total, s.count) == (300, 400, 600, 3)
    assert hook.sizes == [(100, True), (200, True), (2000, False), (300, True)]
    assert sum(each.current_bytes for each in p.records()) == 300
    del kept


def test_large_calls_and_queues_use_them():
    """Also if the library runs without the GIL, or ends calls on its own threads."""
    counted = mr.StatisticsResourceAdaptor(callbacks())
    x = np.arange(1 << 18, dtype="f8")
    with dray.memory(counted):
        a = dray.Array(x)
        b = dray.add(a, 1)
        with dray.Sequence() as sequence:
            one, two = sequence.input(a), sequence.input(b)
            sequence.output(one * two + 1)
        done = sequence.run(a, b, threads=2)
        queue = dray.CallQueue()
        calls = [queue.submit(dray.multiply, a, b) for _ in range(8)]
        for call in calls:
            call.wait(timeout=60)
        assert np.array_equal(np.asarray(done), x * (x + 1) + 1)
        dropped = [queue.submit(dray.multiply, a, a) for _ in range(8)]
        del calls, call, done, b, sequence, one, two, dropped, queue
    assert wait_until(lambda: counted.allocation_counts.current_count == 0)
    assert counted.allocation_counts.total_count >= 18


PROGRAM = """
import ctypes, dray, dray.mr, numpy as np
hook = dray.MemoryHook().__enter__()
scope, profile = dray.statistics().__enter__(), dray.profiler().__enter__()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
dray.install(dray.mr.CallbackMemoryResource(lambda n, s: libc.malloc(n),
                                            lambda p, n, s: libc.free(p)))
array = np.ones(1000)
dray.install()
other = np.ones(1000)
print(scope.count)
"""


def test_a_program_may_end_with_all_of_it_in_use():
    environment = {name: value for name, value in os.environ.items() if name != "DRAY_HANDLER"}
    done = subprocess.run([sys.executable, "-X", "dev", "-c", PROGRAM], text=True,
                          capture_output=True, timeout=60, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 2


def test_threads_share_a_stack(base):
    counted = mr.StatisticsResourceAdaptor(mr.LimitingResourceAdaptor(base, "64M"))

    def churn():
        with dray.memory(counted):
            for size in range(300):
                np.empty(size, np.uint8)

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = counted.allocation_counts
    assert (counts.current_bytes, counts.current_count, counts.total_count) == (0, 0, 1200)


def test_the_module_is_found_by_its_name():
    assert dray.mr is mr
    assert set(mr.__all__) <= set(dir(mr))

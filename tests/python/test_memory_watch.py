# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What programs see of their memory: statistics, hooks, profiles, logs."""
import concurrent.futures
import functools
import gc
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import dray

GRANULE = 64  # of the default pool
SIZES = (0, 1, 8, 1000, 4096, 100_000, 1 << 20)


class Hook(dray.MemoryHook):
    """Notes its calls; `fails` names a method that raises."""

    def __init__(self, name="Hook", fails=None):
        self.name, self.fails, self.calls = name, fails, []

    def note(self, method, kwargs):
        self.calls.append((method, kwargs))
        if method == self.fails:
            raise LookupError(method)

    def names(self):
        return [name for name, _ in self.calls]


def noting(method):
    return lambda self, **kwargs: self.note(method, kwargs)


METHODS = {
    "alloc_preprocess": {"device_id", "mem_size"},
    "alloc_postprocess": {"device_id", "mem_size", "mem_ptr"},
    "malloc_preprocess": {"device_id", "size", "mem_size"},
    "malloc_postprocess": {"device_id", "size", "mem_size", "mem_ptr", "pmem_id"},
    "free_preprocess": {"device_id", "mem_size", "mem_ptr", "pmem_id"},
    "free_postprocess": {"device_id", "mem_size", "mem_ptr", "pmem_id"},
}
for _name in METHODS:
    setattr(Hook, _name, noting(_name))


def numbers(s):
    return (s.current_bytes, s.current_count, s.peak_bytes, s.peak_count, s.total_bytes,
            s.total_count)


# Statistics

@pytest.mark.exact
@pytest.mark.parametrize("size", SIZES)
def test_a_scope_counts_the_blocks_of_arrays(size):
    with dray.memory(), dray.statistics() as s:
        first = np.empty(size, np.uint8)
        block = s.current_bytes
        assert numbers(s) == (block, 1, block, 1, block, 1)
        second = np.empty(size, np.uint8)
        del first
        assert numbers(s) == (block, 1, 2 * block, 2, 2 * block, 2)
        del second
    assert size <= block <= size + max(2 * GRANULE, size // 64)
    assert numbers(s) == (0, 0, 2 * block, 2, 2 * block, 2)
    assert (s.current, s.peak, s.total, s.count) == (0, 2 * block, 2 * block, 2)
    assert f"peak_bytes={2 * block}" in repr(s)


@pytest.mark.exact
def test_blocks_of_before_that_are_freed_lead_below_0():
    with dray.memory():
        old = np.empty(1000)
        with dray.statistics() as s:
            del old
        assert s.current_bytes < 0 and s.current_count == -1
        assert s.peak_bytes == s.total_count == 0


@pytest.mark.exact
def test_a_resize_is_counted_as_a_free_and_an_allocation():
    with dray.memory(), dray.statistics() as s:
        array = np.zeros(10)
        array.resize(1000, refcheck=False)
        assert s.current_count == 1 and s.total_count == 2
        assert s.current_bytes >= 8000
    del array


@pytest.mark.exact
def test_memory_outside_of_dray_is_not_counted():
    with dray.statistics() as s:
        np.zeros(1000)
        with dray.memory(min_bytes=1000):
            small = np.zeros(10)
    assert s.count == 0
    del small


@pytest.mark.exact
def test_arrays_of_the_library_are_counted():
    with dray.memory(), dray.statistics() as s:
        array = dray.Array.zeros(1000)
        assert s.current_bytes >= 8000
        total = dray.add(array, 1)
        assert s.current_bytes >= 16000
    del array, total


@pytest.mark.exact
def test_scopes_nest_and_end_in_any_order():
    outer, inner, last = dray.statistics(), dray.statistics(), dray.statistics()
    with dray.memory():
        outer.__enter__()
        a = np.empty(100)
        inner.__enter__()
        b = np.empty(100)
        outer.__exit__(None, None, None)
        last.__enter__()
        c = np.empty(100)
        inner.__exit__(None, None, None)
        d = np.empty(100)
        last.__exit__(None, None, None)
    assert [outer.count, inner.count, last.count] == [2, 2, 2]
    del a, b, c, d
    assert outer.current_count == 2  # as it was at its end


@pytest.mark.parametrize("wrong", [
    lambda s: s.__exit__(None, None, None),
    lambda s: [s.__enter__(), s.__enter__()],
    lambda s: [s.__enter__(), s.__exit__(None, None, None), s.__exit__(None, None, None)],
])
def test_a_scope_that_is_entered_or_left_twice_is_refused(wrong):
    s = dray.statistics()
    with pytest.raises(RuntimeError, match="dray.statistics"):
        wrong(s)


@pytest.mark.exact
def test_a_scope_may_be_entered_again_and_begins_at_0():
    s = dray.statistics()
    for _ in range(2):
        with dray.memory(), s:
            np.empty(100)
        assert s.count == 1


@pytest.mark.exact
def test_a_scope_sees_all_threads():
    begun, go = threading.Event(), threading.Event()

    def work():
        with dray.memory():
            begun.set()
            go.wait()
            np.empty(1000)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    with dray.statistics() as s:
        go.set()
        thread.join()
    assert (s.count, s.current_count) == (1, 0)


@pytest.mark.exact
def test_threads_count_exactly():
    def churn(_):
        with dray.memory(), dray.statistics():
            for size in range(500):
                np.empty(size)

    with dray.statistics() as s:
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(churn, range(4)))
    assert s.total_count == 2000
    assert (s.current_count, s.current_bytes) == (0, 0)


@pytest.mark.exact
def test_a_child_of_fork_counts_on_its_own():
    with dray.memory(), dray.statistics() as s:
        before = np.empty(100)
        child = os.fork()
        if not child:
            kept = np.empty(100)
            os._exit(s.current_count if kept is not None else 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert s.current_count == 1
    del before


def test_counters_end_with_the_object():
    s = dray.statistics()
    s.__enter__()
    del s
    with dray.memory():
        np.empty(100)


# Hooks

@pytest.mark.exact
def test_a_hook_sees_calls_by_cupys_names():
    with dray.memory():
        np.empty(100)  # so that the pool is there
        with Hook() as hook:
            array = np.empty(100)
            address = array.ctypes.data
            del array
    assert hook.names()[-4:] == ["malloc_preprocess", "malloc_postprocess",
                                 "free_preprocess", "free_postprocess"]
    for name, kwargs in hook.calls:
        assert set(kwargs) == METHODS[name]
        assert kwargs["device_id"] == 0 and kwargs["mem_size"] >= 800
    assert {kwargs["mem_ptr"] for _, kwargs in hook.calls[-3:]} == {address}


@pytest.mark.exact
def test_a_hook_sees_that_the_pool_grows():
    with dray.memory(dray.open().pool()), Hook() as hook:
        array = np.empty(64 << 20, np.uint8)
    assert hook.names() == ["malloc_preprocess", "alloc_preprocess", "alloc_postprocess",
                            "malloc_postprocess"]
    assert hook.calls[1][1]["mem_size"] >= 32 << 20
    assert hook.calls[0][1] == {"device_id": 0, "size": 64 << 20, "mem_size": 64 << 20}
    del array


@pytest.mark.exact
def test_a_failed_allocation_has_no_address():
    with dray.memory(dray.open().pool(limit="1M")), Hook() as hook:
        with pytest.raises(MemoryError):
            np.empty(16 << 20, np.uint8)
    assert hook.names()[0] == "malloc_preprocess"
    assert hook.calls[-1] == ("malloc_postprocess", {
        "device_id": 0, "size": 16 << 20, "mem_size": 0, "mem_ptr": 0, "pmem_id": 0})


@pytest.mark.exact
@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_hook_that_raises_fails_no_call(method, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: raised.append(error.exc_type))
    with dray.memory(dray.open().pool()), Hook(fails=method) as hook:
        try:
            raise ValueError("on its way")  # which the hook must leave alone
        except ValueError as error:
            array = np.ones(32 << 20, np.uint8)
            assert array[-1] == 1 and str(error) == "on its way"
        del array
    assert raised == [LookupError] * hook.names().count(method)
    assert hook.names()[-1] == "free_postprocess"


def test_what_a_hook_allocates_no_hook_sees():
    class Greedy(dray.MemoryHook):
        name, calls = "Greedy", 0

        def malloc_preprocess(self, **kwargs):
            self.calls += 1
            np.empty(10)

    with dray.memory(), Greedy() as hook, Hook() as other:
        np.empty(10)
    assert hook.calls == 1
    assert other.names().count("malloc_preprocess") == 1


def test_a_hook_belongs_to_its_thread():
    with Hook() as hook:
        def work():
            with dray.memory():
                np.empty(100)
            with pytest.raises(RuntimeError, match="entered elsewhere"):
                hook.__exit__(None, None, None)

        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            threads.submit(work).result()
    assert hook.calls == []


def test_hooks_are_left_in_any_order_and_have_names_of_their_own():
    first, second = Hook("first"), Hook("second")
    with dray.memory():
        first.__enter__()
        second.__enter__()
        with pytest.raises(KeyError, match="first already exists"):
            Hook("first").__enter__()
        first.__exit__()
        np.empty(100)
        second.__exit__()
        np.empty(100)
    assert first.calls == []
    assert second.names().count("malloc_preprocess") == 1
    with pytest.raises(RuntimeError, match="left already"):
        second.__exit__()


def test_a_hook_may_leave_in_the_middle_of_a_call():
    class Once(dray.MemoryHook):
        name, calls = "Once", 0

        def malloc_preprocess(self, **kwargs):
            self.calls += 1
            self.__exit__()

    with dray.memory():
        hook = Once()
        hook.__enter__()
        np.empty(100)
        np.empty(100)
    assert hook.calls == 1


# Profiles

def allocate(count):
    return [np.empty(1000) for _ in range(count)]


@pytest.mark.exact
def test_a_profile_finds_lines_and_functions():
    with dray.memory(), dray.profiler() as p:
        kept = allocate(3)
        np.add(kept[0], 1)
    line = allocate.__code__.co_firstlineno + 1
    first, *others = p.records()
    assert (first.filename, first.lineno, first.count) == (__file__, line, 3)
    assert first.current_bytes == first.peak_bytes == first.total_bytes >= 24000
    assert all(each.filename == __file__ for each in others)
    assert {each.lineno for each in p.records("function")} == {0}
    del kept
    table = p.report().splitlines()
    assert table[0].split() == ["count", "peak", "total", "now", "place"]
    assert f"{__file__}:{line}" in table[1]
    assert len(p.report("function").splitlines()) == 1 + len(p.records("function"))
    with pytest.raises(ValueError, match="'line' or 'function'"):
        p.records("module")
    p.clear()
    assert p.records() == []


@pytest.mark.exact
def test_a_program_in_a_folder_named_numpy_is_not_numpy():
    file = os.path.join(os.sep, "home", "numpy", "program.py")
    with dray.memory(), dray.profiler() as p:
        exec(compile("np.ones(1000)", file, "exec"), {"np": np})
    assert {each.filename for each in p.records()} == {file}


@pytest.mark.exact
def test_a_profile_knows_what_was_freed():
    with dray.memory(), dray.profiler() as p:
        for _ in range(5):
            allocate(2)
    record = p.records()[0]
    assert record.count == 10 and record.current_bytes == 0
    assert record.total_bytes == 10 * (record.peak_bytes // 2)


@pytest.mark.exact
def test_a_profile_is_a_flame_graph_of_speedscope(tmp_path):
    with dray.memory(), dray.profiler() as p:
        kept = allocate(3)
    path = tmp_path / "work.speedscope.json"
    p.save(path)
    graph = json.loads(path.read_text(encoding="utf-8"))
    assert graph == p.speedscope("work.speedscope.json")
    assert graph["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = graph["shared"]["frames"]
    assert {"name", "file", "line"} == set(frames[0])
    size, blocks = graph["profiles"]
    assert (size["unit"], blocks["unit"]) == ("bytes", "none")
    assert size["endValue"] == sum(size["weights"]) == p.records()[0].total_bytes
    assert sum(blocks["weights"]) == 3
    for profile in (size, blocks):
        assert profile["type"] == "sampled"
        assert len(profile["samples"]) == len(profile["weights"])
        for sample in profile["samples"]:
            assert all(0 <= number < len(frames) for number in sample)
    names = [frames[number]["name"] for number in size["samples"][0]]
    assert any(name.endswith("allocate") for name in names)
    del kept
    with pytest.raises(FileNotFoundError):
        p.save(tmp_path / "none" / "x.json")


@pytest.mark.exact
def test_a_decorated_function_is_profiled_also_if_it_calls_itself():
    @dray.profiler()
    def nested(depth):
        np.empty(1000)
        return nested(depth - 1) if depth else depth

    with dray.memory():
        assert nested(3) == 0
        with concurrent.futures.ThreadPoolExecutor(4, initializer=dray.install) as threads:
            list(threads.map(nested, [1] * 8))
        np.empty(1000)
    assert sum(each.count for each in nested.profiler.records()) == 4 + 16


READERS = {
    "records": lambda p, path: p.records(),
    "report": lambda p, path: p.report(),
    "speedscope": lambda p, path: p.speedscope(),
    "save": lambda p, path: p.save(os.fsencode(path)),
    "clear": lambda p, path: p.clear(),
}


@pytest.mark.exact
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_profile_is_read_while_the_collector_frees_arrays(reader, tmp_path):
    code = compile("\n".join(["np.empty(10)"] * 1000), "lines.py", "exec")
    before = gc.get_threshold()
    try:
        with dray.memory(), dray.profiler() as p:
            exec(code, {"np": np})
            gc.collect()
            gc.set_threshold(300)
            for _ in range(50):
                cycle = [np.empty(1000)]
                cycle.append(cycle)
            del cycle
            reader(p, tmp_path / "work.json")
    finally:
        gc.set_threshold(*before)


def generate():
    yield


async def later():
    pass


class Later:
    async def __call__(self):
        pass


@pytest.mark.parametrize("wrong, match", [(3, "this is a int"), (generate, "suspended"),
                                          (later, "suspended"), (Later(), "suspended"),
                                          (functools.partial(later), "suspended")])
def test_a_profiler_refuses_what_it_cannot_decorate(wrong, match):
    with pytest.raises(TypeError, match=match):
        dray.profiler()(wrong)


@pytest.mark.exact
def test_a_child_of_fork_profiles_on_its_own():
    with dray.memory(), dray.profiler() as p:
        child = os.fork()
        if not child:
            kept = allocate(2)
            os._exit(sum(each.count for each in p.records()) if kept else 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert p.records() == []


# Logs

PROGRAM = """
import os, dray, numpy as np
with dray.memory():
    a = np.zeros(1000)
    a.resize(5000, refcheck=False)
    b = a + 1
    del a
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    else:
        c = np.zeros(7777)      # a child writes nothing
        os._exit(0)
print(os.getpid())
"""


def run(log, program=PROGRAM):
    environment = dict(os.environ, DRAY_MEMORY_LOG=str(log))
    environment.pop("DRAY_HANDLER", None)
    return subprocess.run([sys.executable, "-c", program], env=environment, text=True,
                          capture_output=True, timeout=60, check=False)


# What ends the log, and the words that the process says once.
LOST = {
    "a daemon": ("os.closerange(3, 256); own = [open(os.devnull) for _ in range(9)]",
                 "Bad file descriptor"),
    "a file that is full": ("import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
                            "resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))", "File too large"),
}


@pytest.mark.parametrize("case", LOST)
def test_a_log_that_is_not_complete_says_so_once(tmp_path, case):
    ends, words = LOST[case]
    done = run(tmp_path / "log.csv", f"""
import os, dray, numpy as np
with dray.memory():
    a = np.zeros(1000)
    {ends}
    b = [np.zeros(1000) for _ in range(3)]
""")
    assert done.stderr == f"dray: the log of DRAY_MEMORY_LOG is not complete: {words}\n"
    assert done.returncode == 0


def test_a_numpy_program_is_logged_and_its_log_replayed(tmp_path):
    done = run(tmp_path / "log.csv")
    assert done.returncode == 0, done.stderr
    log = tmp_path / f"log.csv.{done.stdout.strip()}"
    assert [log] == list(tmp_path.iterdir())
    head, *lines = log.read_text(encoding="ascii").splitlines()
    assert head == "Thread,Time,Action,Pointer,Size,Stream"
    rows = [line.split(",") for line in lines]
    sizes = [(action, int(size)) for _, _, action, _, size, _ in rows]
    assert sizes[0] == ("allocate", 8000)
    assert ("allocate", 40000) in sizes and ("free", 40000) in sizes
    assert not any(size == 7777 * 8 for _, size in sizes)
    live = set()
    for _, _, action, pointer, _, _ in rows:  # no address is out twice
        assert (pointer in live) == (action == "free")
        live ^= {pointer}
    replay = Path(os.environ.get("DRAY_BUILD", "")) / "tools/replay/dray-replay"
    if not replay.exists():
        pytest.skip("dray-replay is not built")
    done = subprocess.run([replay, "--json", "-c", "1", log], text=True, capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


@pytest.mark.parametrize("path, error", [
    ("none/log.csv", "FileNotFoundError"),
    ("x" * 5000, "OSError"),
])
def test_a_log_that_cannot_be_written_is_an_error_of_the_first_pool(tmp_path, path, error):
    done = run(tmp_path / path)
    assert done.returncode == 1
    assert error in done.stderr.splitlines()[-1], done.stderr


# Facts of arrays, and tracemalloc

def test_owns_says_whose_memory_it_is():
    with dray.memory():
        ours = np.zeros((4, 5))
    theirs = np.zeros((4, 5))
    for of, expected in ((ours, True), (theirs, False)):
        for view in (of, of[::-1, ::2], of.T, of[2:2], dray.Array(of), of.view(np.uint8)):
            assert dray.owns(view) is expected
    assert dray.owns(dray.zeros(0)) and dray.owns(dray.zeros(3, "M8[s]"))


@pytest.mark.parametrize("wrong", [None, 3, [1.0], b"text", np.float64(3)])
def test_owns_refuses_other_objects(wrong):
    with pytest.raises(TypeError, match="not an array of NumPy or a dray.Array"):
        dray.owns(wrong)


def test_heaps_are_the_nodes():
    node = dray.open()
    names = [heap.name for heap in node.heaps()]
    assert [heap.name for heap in dray.heaps()] == names
    assert [heap.name for heap in dray.heaps(node)] == names
    with pytest.raises(AttributeError):
        dray.heaps("host")


@pytest.mark.exact
def test_tracemalloc_sees_arrays_of_numpy_in_its_domain():
    domain = np.lib.tracemalloc_domain
    tracemalloc.start()
    try:
        with dray.memory():
            array = np.empty(100_000, np.uint8)
            other = dray.Array.empty(100_000, np.uint8)
        trace = tracemalloc.take_snapshot().filter_traces(
            [tracemalloc.DomainFilter(True, domain)])
        found = [each for each in trace.traces if each.size == 100_000]
        assert len(found) == 1  # not that of the library
        assert found[0].traceback[0].filename == __file__
    finally:
        tracemalloc.stop()
    del array, other

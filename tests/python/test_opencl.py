# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls of ufuncs by a device of OpenCL, which is PoCL here: the bits of the CPU."""

import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import dray
from random_calls import ROOM, random_call, twin

# For compiled kernels, which PoCL keeps otherwise.
CACHE = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
os.environ.setdefault("POCL_CACHE_DIR", CACHE.name)

# The CPU is measured once, and then the device is always faster.
FREE = ((1, 0.0), (2, 0.0))
INTEGERS = "bBhHiIqQ"
FLOATS = "efd"


def make(*loops, **options):
    return dray.OpenCLExecutor(loops, **options)


def find_device():
    """Returns why OpenCL is not there; a run that needs it fails without."""
    try:
        make((dray.invert, "BB", "~a"))
    except (OSError, TypeError) as error:
        if os.environ.get("DRAY_TEST_OPENCL"):
            raise
        return str(error)
    return None


pytestmark = pytest.mark.skipif(bool(find_device()), reason="no device of OpenCL")

# Ufuncs, their types and an element of the output, of the inputs a and b.
TABLE = [
    *((dray.add, kind * 3, "a + b") for kind in "BHIQ" + FLOATS + "FD"),
    *((dray.subtract, kind * 3, "a - b") for kind in "BHIQ" + FLOATS + "FD"),
    *((dray.multiply, kind * 3, "a * b") for kind in "BIQ" + FLOATS),
    # A product of ints, which the shorts become, may not overflow.
    (dray.multiply, "HHH", "(uint)a * b"),
    *((dray.add, kind * 3, f"({name})((u{name})a + (u{name})b)")
      for kind, name in zip("bhiq", ("char", "short", "int", "long"))),
    *((dray.divide, kind * 3, "a / b") for kind in FLOATS),
    *((dray.sqrt, kind * 2, "sqrt(a)") for kind in FLOATS),
    *((dray.invert, kind * 2, "~a") for kind in INTEGERS),
    (dray.logical_not, "??", "!a"),
    *((dray.bitwise_and, kind * 3, "a & b") for kind in INTEGERS + "?"),
    *((dray.bitwise_xor, kind * 3, "a ^ b") for kind in INTEGERS),
    *((dray.less, kind * 2 + "?", "a < b") for kind in INTEGERS + FLOATS),
    *((dray.equal, kind * 2 + "?", "a == b") for kind in INTEGERS + FLOATS),
    *((dray.negative, kind * 2, "-a") for kind in FLOATS),
    *((dray.absolute, kind * 2, "fabs(a)") for kind in FLOATS),
    *((dray.floor, kind * 2, "floor(a)") for kind in FLOATS),
    *((dray.rint, kind * 2, "rint(a)") for kind in FLOATS),
    (dray.conjugate, "FF", "(float2)(a.x, -a.y)"),
    (dray.conjugate, "DD", "(double2)(a.x, -a.y)"),
    (dray.divmod, "IIII", "void both(uint a, uint b, uint *q, uint *r)"
     "{ *q = b ? a / b : 0; *r = b ? a % b : 0; }", "both"),
]


@pytest.fixture(scope="module", name="whole")
def whole_fixture():
    """An executor of the table, which takes each call, and its queue."""
    executor = make(*TABLE)
    for function, types, *_ in TABLE:
        executor.set_cost(function, types, FREE)
    with dray.CallQueue([executor]) as queue:
        for function, types, *_ in TABLE:
            inputs = [np.ones(1, kind) for kind in types[:function.nin]]
            queue.submit(function, *inputs).wait(60)  # measures the CPU
        yield executor, queue


@pytest.mark.parametrize("name", ["invert", "add"])
def test_the_calls_of_the_streams_have_the_bits_of_the_cpu(whole, name):
    executor, queue = whole
    ufunc, oracle = getattr(dray, name), getattr(np, name)
    dice = np.random.default_rng(25)
    with dray.memory():
        memory = [np.asarray(dray.empty(ROOM, "u1")) for _ in range(ufunc.nin + 1)]
    for one in memory:
        one[:] = dice.integers(0, 256, ROOM)
    target = memory[-1]
    done = executor.device.calls + 2000
    while executor.device.calls < done:
        drawn = random_call(dice, ufunc, memory)
        if not drawn:
            continue
        inputs, out, where = drawn
        plan = queue.explain(ufunc, *inputs, out=out, where=where)
        # Calls with an output of another type are the CPU's.
        assert (plan.executor == "opencl") == (out.dtype == np.uint8), plan
        whole_out = target if np.shares_memory(out, target) else out
        expected = whole_out.copy()
        oracle(*inputs, out=twin(out, whole_out, expected), where=where, casting="unsafe")
        queue.submit(ufunc, *inputs, out=out, where=where).wait(60)
        assert whole_out.tobytes() == expected.tobytes(), (out.shape, out.strides)


def random_bytes(dice, shape, kind):
    """Returns an array of any bits, with many numbers near each other."""
    if kind == "?":
        return dice.integers(0, 2, shape).astype("?")
    if kind in INTEGERS and dice.integers(2):
        return dice.integers(0, 5, shape).astype(kind)
    count = int(np.prod(shape)) * np.dtype(kind).itemsize
    return np.frombuffer(dice.bytes(count), kind).reshape(shape)


def random_layout(dice, array, broadcast):
    """Returns the elements of an array in another layout, maybe one row for all."""
    axes = dice.permutation(array.ndim)
    room = np.empty([array.shape[axis] * 2 for axis in axes], array.dtype)
    part = tuple(slice(None, None, (2, -2)[dice.integers(2)]) if dice.integers(2)
                 else slice(array.shape[axis]) for axis in axes)
    view = room[(Ellipsis, *part)].transpose(np.argsort(axes))
    view[...] = array
    if broadcast and array.ndim and not dice.integers(4):
        view = np.broadcast_to(view[:1], array.shape)
    return view


def same_bits(a, b):
    """Whether all bits are equal; a NaN equals any NaN."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    parts = {"F": "f", "D": "d"}.get(a.dtype.char, a.dtype.char)
    a, b = a.view(parts), b.view(parts)
    if parts in FLOATS:
        both = np.isnan(a) & np.isnan(b)
        a, b = np.where(both, 0, a), np.where(both, 0, b)
    return a.tobytes() == b.tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_calls_have_the_bits_of_the_cpu(whole, seed):
    executor, queue = whole
    dice = np.random.default_rng(seed)
    before = executor.device.calls
    for number in range(500):
        function, types, *_ = TABLE[dice.integers(len(TABLE))]
        shape = tuple(dice.integers(1, 7, dice.integers(0, 7)))
        if not dice.integers(3):
            shape = (*shape[:2], int(dice.integers(1, 900)))
        inputs = [random_layout(dice, random_bytes(dice, shape, kind), True)
                  for kind in types[:function.nin]]
        outs = [random_layout(dice, np.zeros(shape, kind), False)
                for kind in types[function.nin:]]
        mask = random_bytes(dice, shape, "?") if not dice.integers(3) else True
        if function.nin == 2 and types[0] == types[2] and not dice.integers(4):
            if inputs[0].flags.writeable:
                outs[0] = inputs[0]
        expected = [out.copy() for out in outs]
        plan = queue.explain(function, *inputs, out=tuple(outs), where=mask)
        assert plan.executor == "opencl", plan
        with dray.errstate(all="ignore"):
            function(*(x.copy() for x in inputs), out=tuple(expected), where=mask)
        queue.submit(function, *inputs, out=tuple(outs), where=mask).wait(60)
        for out, right in zip(outs, expected):
            assert same_bits(out, right), (number, function, types, shape)
    assert executor.device.calls == before + 500


def test_a_kernel_sees_the_very_elements():
    see = dray.ufunc("see", 1, 1)
    see.register((np.uint8, np.uint64), LOOP)
    source = "void see(global const uchar *a, global ulong *out) { *out = (ulong)a; }"
    executor = make((see, (np.uint8, np.uint64), source, "see", True))
    executor.set_cost(see, (np.uint8, np.uint64), FREE)
    with dray.memory(), dray.CallQueue([executor]) as queue:
        for x in (np.zeros(1000, "u1"), np.zeros((9, 8, 7, 6, 5), "u1")[::2, :, ::-3, 1::2]):
            out = np.zeros(x.shape, "u8")
            queue.submit(see, x, out=out).wait(60)
            queue.submit(see, x, out=out).wait(60)
            index = np.indices(x.shape).reshape(x.ndim, -1).T
            right = [x.ctypes.data + int(at @ x.strides) for at in index]
            assert out.ravel().tolist() == right
    device = executor.device
    assert device.shared and device.unified
    assert (device.calls, device.bytes) == (3, 9 * (1000 + 2 * 5 * 8 * 3 * 3 * 5))


# A loop of the CPU that does nothing.
LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                        ctypes.c_void_p)(lambda data, strides, count, context: 0)


def refused(queue, function, *inputs, **keywords):
    plan = queue.explain(function, *inputs, **keywords)
    assert plan.executor == "cpu"
    return plan.reason


def test_other_calls_are_the_cpus(whole):
    _, queue = whole
    room = np.zeros(100, "i4")
    bytes_ = np.zeros(100, "u1")
    assert "no kernel of exp" in refused(queue, dray.exp, np.zeros(3))
    assert "operand 0 is" in refused(queue, dray.invert, room.astype(">i4"))
    assert "operand 0 is not aligned" in refused(
        queue, dray.invert, bytes_[1:41].view("i4"), out=room[:10])
    assert "output 1 shares bytes with operand 0" in refused(
        queue, dray.invert, bytes_[:50], out=bytes_[1:51])
    # Without a byte in common, and the very elements, they may.
    assert queue.explain(dray.invert, bytes_[::2], out=bytes_[1::2]).executor == "opencl"
    assert queue.explain(dray.invert, bytes_, out=bytes_).executor == "opencl"


def test_calls_of_no_elements_end(whole):
    _, queue = whole
    made = queue.submit(dray.add, np.zeros((3, 0), "f4"), np.zeros((3, 0), "f4")).wait(60)
    assert made.shape == (3, 0)


def test_costs_are_set_and_read():
    executor = make((dray.invert, "BB", "~a"))
    assert executor.get_cost(dray.invert, "BB") is None
    executor.set_cost(dray.invert, "BB", ((1, 2), (10, 3.5)))
    assert executor.get_cost(dray.invert, "BB") == ((1, 2), (10, 3.5))
    executor.set_cost(dray.invert, "BB", None)
    assert executor.get_cost(dray.invert, "BB") is None
    with pytest.raises(ValueError, match="3 types"):
        executor.get_cost(dray.invert, "BBB")


@pytest.mark.parametrize("loops, options, error, sentence", [
    ([], {}, ValueError, "1 to 256 loops"),
    ([1], {}, TypeError, "a loop is a tuple"),
    ([(dray.add, "fff")], {}, TypeError, "a loop is a tuple"),
    ([(np.add, "fff", "a + b")], {}, TypeError, "a dray.ufunc is needed"),
    ([(dray.add, "ff", "a + b")], {}, ValueError, "2 types"),
    ([(dray.add, "fff", "a + nothing")], {}, ValueError,
     "source of add does not compile: source:1:5: use of undeclared identifier 'nothing'"),
    ([(dray.add, "fff", "a +")], {}, ValueError, "does not compile: source:"),
    ([(dray.add, "fff", "float f(float a) { return a; }", "f")], {}, ValueError,
     "does not compile: .*too many arguments"),
    ([(dray.add, "fff", "float f(float a) { return a; }", "g")], {}, ValueError,
     "does not compile: .*'g'"),
    ([(dray.add, "fff", "a + b")] * 2, {}, ValueError, "are of the same types"),
    ([(dray.modf, "fff", "a")], {}, ValueError, "name a function"),
    ([(dray.add, "fff", "a + b", "")], {}, ValueError, "is without a name"),
    ([(dray.add, (">f4", "f4", "f4"), "a + b")], {}, ValueError, "OpenCL lacks a type for"),
    ([(dray.add, "fff", "a + b")], {"platform": "no such"}, OSError, 'a platform "no such"'),
    ([(dray.add, "fff", "a + b")], {"device": "no such"}, OSError, 'named "no such"'),
    ([(dray.add, "fff", "a + b")], {"options": "-no-such-option"}, ValueError, "clBuildProgram"),
])
def test_wrong_executors_are_refused(loops, options, error, sentence):
    with pytest.raises(error, match=sentence):
        make(*loops, **options)


def test_a_platform_and_a_device_are_chosen_by_name():
    device = make((dray.invert, "BB", "~a")).device
    same = make((dray.invert, "BB", "~a"), platform=device.platform[:6],
                device=device.device[-6:]).device
    assert same[:3] == device[:3]


@pytest.mark.parametrize("name, value, sentence", [
    ("DRAY_OPENCL", "none", "not wanted"),
    ("DRAY_OPENCL", "/none.so", "OpenCL is not there"),
    ("DRAY_OPENCL", "libc.so.6", "has no function"),
    ("OCL_ICD_VENDORS", "/none", "has no platform"),
])
def test_a_machine_without_opencl_is_told(name, value, sentence):
    program = "import dray; dray.OpenCLExecutor([(dray.invert, 'BB', '~a')])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                         check=False, env={**os.environ, name: value}, timeout=300)
    assert ran.returncode == 1
    assert sentence in ran.stderr


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_no_opencl_of_its_parent():
    executor = make((dray.invert, "BB", "~a"))
    child = os.fork()
    if not child:
        status = 1
        try:
            with pytest.raises(ChildProcessError, match="parent"):
                make((dray.invert, "BB", "~a"))
            with dray.CallQueue([executor]) as queue:
                plan = queue.explain(dray.invert, np.zeros(3, "u1"))
                assert plan.executor == "cpu" and "parent" in plan.reason
                assert queue.submit(dray.invert, np.zeros(1, "u1")).wait(60)[0] == 255
            del queue, executor
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert executor.device.device


def test_threads_of_a_platform_take_no_signal():
    program = """if True:
        import pathlib, signal, dray
        def threads():
            tasks = pathlib.Path("/proc/self/task")
            return {path.name: path / "status" for path in tasks.iterdir()}
        before = threads()
        kept = dray.OpenCLExecutor([(dray.invert, "BB", "~a")])
        made = [status for name, status in threads().items() if name not in before]
        for status in made:
            words = dict(line.split(":", 1) for line in status.read_text().splitlines())
            assert int(words["SigBlk"], 16) >> signal.SIGTERM - 1 & 1, words
            assert not int(words["SigBlk"], 16) >> signal.SIGFPE - 1 & 1, words
        print(len(made))
    """
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True, timeout=300).stdout
    assert int(said) > 0

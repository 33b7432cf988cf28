# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kinds of memory, and arrays in memory that only engines reach: the board's heap
"carveout"."""
import copy
import pickle
import socket

import numpy as np
import pytest

import dray
from dray import _dray

SENTENCE = r"device memory: copy it by dray\.copy\(\)"


@pytest.fixture
def usual():
    return "shared" if dray.open().backend == "kernel" else "host"


def test_memory_of_a_node_has_the_kind_of_its_back_end(make, usual):
    array = make(np.arange(10))
    assert dray.memory_kind(array) == usual
    assert dray.memory_kind(array[::-2]) == usual
    assert dray.memory_kind(dray.Array(array)[3:]) == usual
    assert dray.memory_kind(array.ctypes.data + 79) == usual
    assert dray.memory_kind(array, dray.open()) == usual


def test_other_memory_is_unknown(make):
    assert dray.memory_kind(np.zeros(3)) == "unknown"
    assert dray.memory_kind(dray.Array(np.zeros(3))) == "unknown"
    assert dray.memory_kind(0) == dray.memory_kind(2**64 - 1) == "unknown"
    assert dray.memory_kind(make(np.zeros(3))[:0]) == "unknown"


def test_an_address_may_be_a_number_of_numpy(make):
    array = make(np.arange(3))
    address = dray.rows(array)[0, 0]
    assert dray.memory_kind(address) == dray.memory_kind(array)
    with pytest.raises(ValueError, match="an address from 0"):
        dray.memory_kind(np.int64(-1))


def test_memory_of_another_node_is_unknown(usual):
    other = dray.open("host:shareable" if usual == "host" else "host")
    array = dray.empty(3, pool=other.pool())
    assert dray.memory_kind(array) == "host"
    assert dray.memory_kind(array, dray.open()) == "unknown"
    assert dray.memory_kind(array, other) == "host"


@pytest.mark.parametrize("asked, error, sentence", [
    ((-1,), ValueError, "a is -1: an address from 0 to"),
    ((2**64,), ValueError, "an address from 0 to"),
    (("x",), TypeError, "a is not a NumPy array or dray.Array but str"),
    ((1, "node"), TypeError, "node is not a dray.Node but str")])
def test_bad_questions_are_refused(asked, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.memory_kind(*asked)


@pytest.mark.host
def test_the_host_has_ordinary_memory_for_devices():
    array = dray.device_empty((2, 3), "u2")
    array[...] = 5
    assert dray.memory_kind(array) == "host" and array.tolist() == [[5] * 3] * 2


@pytest.mark.parametrize("shape, dtype, error", [
    (0, "u1", ValueError), (-1, "u1", ValueError), (2**62, "f8", OverflowError),
    ((1,) * 65, "u1", ValueError), (3, "O", TypeError), (3, "nothing", TypeError)])
def test_bad_memory_for_devices_is_refused(shape, dtype, error):
    with pytest.raises(error):
        dray.device_empty(shape, dtype)


NUMBERS = np.arange(4096, dtype="<i4").reshape(64, 64)


@pytest.fixture
def device():
    """An array in memory that the CPU does not reach, with known elements."""
    array = dray.device_empty((64, 64), "<i4", heap="carveout")
    with dray.memory():
        numbers = np.array(NUMBERS)
    dray.copy(array, numbers, engine=True)
    return array


def read(device):
    with dray.memory():
        result = np.zeros(device.shape, device.dtype)
    dray.copy(result, device)
    return result


@pytest.mark.kernel
def test_a_carve_out_is_memory_of_a_device(device):
    assert dray.memory_kind(device) == "device"
    assert dray.memory_kind(device[1:, 2]) == "device"
    assert dray.memory_kind(device, dray.open()) == "device"


@pytest.mark.kernel
def test_engines_copy_and_fill_it(device):
    assert (read(device) == NUMBERS).all()
    assert (read(device[::2, 8:24].T) == NUMBERS[::2, 8:24].T).all()
    dray.fill(device[3], 7)
    assert (read(device)[3] == 7).all() and (read(device)[4] == NUMBERS[4]).all()


@pytest.mark.kernel
def test_what_it_is_is_told_without_its_elements(device):
    assert device.shape == (64, 64) and device.strides == (256, 4)
    assert not device.flags.writeable
    for text in (repr(device), str(device), f"{device!r}"):
        assert text == ("<dray.Array of shape (64, 64) and dtype('int32'), device "
                        "memory: copy it by dray.copy()>")
    assert dray.rows(device).tolist() == [
        [_dray.place(device)[0], 16384, 16384, 1]]
    assert dray.explain(device, device[::-1]).elements == 4096


def assign(index, value):
    def set_item(array):
        array[index] = value
    return set_item


# All ways to an element, or to memory that NumPy would read.
ACCESSES = {
    "element": lambda a: a[1, 2],
    "sequence": lambda a: a[0][0],
    "iteration": lambda a: [list(row) for row in a],
    "mask": lambda a: a[np.ones((64, 64), bool)],
    "list": lambda a: a[[0, 1]],
    "index": lambda a: dray.Array(np.arange(64))[a[0]],
    "set": assign((1, 2), 3),
    "set_row": assign(1, np.zeros(64, "<i4")),
    "set_list": assign([1, 2], 0),
    "value": lambda a: assign(..., a)(dray.Array(np.zeros((64, 64), "<i4"))),
    "fill": lambda a: a.fill(1),
    "flat": lambda a: next(a.flat),
    "flat_element": lambda a: a.flat[3],
    "flat_slice": lambda a: a.flat[3:5],
    "flat_set": lambda a: assign(3, 1)(a.flat),
    "item": lambda a: a.item(0),
    "tolist": lambda a: a.tolist(),
    "int": lambda a: int(a[:1, :1]),
    "bool": lambda a: bool(a[:1, :1]),
    "compare": lambda a: a == 3,
    "contains": lambda a: 3 in a,
    "format": lambda a: format(a[0], "d"),
    "copy": lambda a: a.copy(),
    "deepcopy": copy.deepcopy,
    "astype": lambda a: a.astype("f8"),
    "ravel": lambda a: a.T.ravel(),
    "reshape": lambda a: a.T.reshape(-1),
    "take": lambda a: a.take([0]),
    "put": lambda a: a.put([0], [1]),
    "sort": lambda a: a.sort(),
    "argsort": lambda a: a.argsort(),
    "argmax": lambda a: a.argmax(),
    "nonzero": lambda a: a.nonzero(),
    "where": lambda a: (a.view("?")).where(1, 2),
    "chosen": lambda a: dray.Array(np.ones((64, 64), bool)).where(a, 2),
    "pickle": pickle.dumps,
    "save": lambda a: a.save("/dev/null"),
    "bytes": bytes,  # asks for an integer first
    "asarray": np.asarray,
    "array": lambda a: np.array(a),
    "add": lambda a: np.add(a, 1),
    "numpy": lambda a: a.__array__(),
}


@pytest.mark.kernel
@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES.keys())
def test_no_access_of_the_cpu_gets_through(device, access):
    with pytest.raises(ValueError, match=SENTENCE):
        access(device)


@pytest.mark.kernel
def test_it_has_no_buffer_and_no_interface(device):
    for ask in (memoryview, lambda a: np.frombuffer(a, "u1")):
        with pytest.raises(BufferError, match=SENTENCE):
            ask(device)
    for name in ("__array_interface__", "__array_struct__"):
        with pytest.raises(AttributeError, match="the CPU does not reach"):
            getattr(device, name)


@pytest.mark.kernel
def test_numpys_array_over_it_becomes_one_that_is_not_read(device):
    class Interface:
        keep = device
        __array_interface__ = {"shape": (16384,), "typestr": "|u1", "version": 3,
                               "data": (_dray.place(device)[0], False)}
    assert SENTENCE.replace("\\", "") in repr(dray.Array(Interface()))


@pytest.mark.kernel
def test_who_receives_it_gets_an_array_that_is_not_read(device):
    left, right = socket.socketpair()
    with left, right:
        dray.send(left, device[:, ::2])
        received = dray.receive(right)
    assert type(received) is dray.Array
    assert dray.memory_kind(received) == "device"
    assert (read(received) == NUMBERS[:, ::2]).all()


@pytest.mark.kernel
def test_dlpack_passes_it_on_as_memory_of_a_device(device):
    assert device.__dlpack_device__() == (12, 0)
    again = dray.from_dlpack(device[:, ::2])
    capsule = dray.from_dlpack(device.__dlpack__(max_version=(1, 3)))
    for array in (again, capsule[:, ::2]):
        assert dray.memory_kind(array) == "device" and SENTENCE[:13] in repr(array)
        assert (read(array) == NUMBERS[:, ::2]).all()
    with pytest.raises((BufferError, RuntimeError, ValueError)):
        np.from_dlpack(device)
    with pytest.raises(BufferError, match="dray.copy"):
        dray.from_dlpack(device, copy=True)


@pytest.mark.kernel
def test_arrow_refuses_it(device):
    with pytest.raises((BufferError, ValueError)):
        device[0].__arrow_c_array__()


@pytest.mark.kernel
def test_the_cpu_does_not_copy_it(device):
    with pytest.raises(OSError, match="has no mapping for the CPU"):
        dray.copy(np.zeros((64, 64), "<i4"), device)

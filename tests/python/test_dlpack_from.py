# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.from_dlpack(): producers of each kind, and tensors that are wrong."""
import gc

import numpy as np
import pytest

import dray
import tensors
from dray import Array, from_dlpack


class Producer:
    """Calls a function with the arguments that a consumer has given."""

    def __init__(self, dlpack, device=tensors.CPU):
        self.dlpack, self.device = dlpack, device

    def __dlpack__(self, **arguments):
        return self.dlpack(**arguments)

    def __dlpack_device__(self):
        return self.device


def asked(**arguments):
    """The arguments with which from_dlpack(**arguments) calls a producer."""
    calls = []

    def dlpack(**given):
        calls.append(given)
        return made.capsule()
    made = tensors.Made()
    from_dlpack(Producer(dlpack), **arguments)
    return calls


@pytest.mark.parametrize("arguments, given", [
    ({}, {"max_version": (1, 3)}),
    ({"copy": False}, {"max_version": (1, 3), "dl_device": None, "copy": False}),
    # A copy is made here, in memory that the caller has chosen.
    ({"copy": True}, {"max_version": (1, 3)}),
    ({"device": "cpu"}, {"max_version": (1, 3), "dl_device": (1, 0), "copy": None}),
    ({"device": (1, 0), "copy": False},
     {"max_version": (1, 3), "dl_device": (1, 0), "copy": False}),
    ({"writable": True}, {"max_version": (1, 3)}),
    ({"max_version": (1, 0)}, {"max_version": (1, 0)}),
    ({"max_version": (0, 8), "copy": False},
     {"max_version": (0, 8), "dl_device": None, "copy": False}),
])
def test_a_producer_is_asked_for_what_the_caller_needs(arguments, given):
    assert asked(**arguments) == [given]


@pytest.mark.parametrize("arguments", [{}, {"copy": False}, {"device": "cpu"}])
def test_a_producer_before_versions_is_asked_without_arguments(arguments):
    class Old:
        def __dlpack__(self, stream=None):
            return made.capsule()
    made = tensors.Made(versioned=False)
    assert from_dlpack(Old(), **arguments)[2, 3] == 11
    assert made.given_back == 1


def test_an_exception_of_the_producer_is_the_callers():
    class Odd(Exception):
        pass

    def fail(error):
        raise error
    for error in Odd("odd"), BufferError("no"), TypeError("odd"), AttributeError("odd"):
        with pytest.raises(type(error), match=str(error)):
            from_dlpack(Producer(lambda error=error, **_: fail(error)))


@pytest.mark.parametrize("x, sentence", [
    ([1], "a list does not have __dlpack__"),
    (None, "a NoneType does not have __dlpack__"),
    (Producer(lambda **_: 1), "returned an int, not a capsule"),
])
def test_an_object_that_is_no_producer_is_refused(x, sentence):
    with pytest.raises(TypeError, match=sentence):
        from_dlpack(x)


@pytest.mark.parametrize("arguments, error, sentence", [
    ({"device": "gpu"}, ValueError, "device is 'gpu', not None, 'cpu' or a pair"),
    ({"device": 1}, ValueError, "device is 1"),
    ({"device": (1, 0, 0)}, ValueError, "device is"),
    ({"device": ("cpu", 0)}, ValueError, "device is"),
    ({"device": (2, 0)}, BufferError, r"device \(2, 0\): arrays of dray are on"),
    ({"device": (1, 1)}, BufferError, r"device \(1, 1\)"),
    ({"nothing": 1}, TypeError, "has no argument 'nothing'"),
    ({"max_version": 1}, TypeError, "max_version is 1, not a tuple of two numbers"),
    ({"max_version": (1, "3")}, TypeError, "max_version is"),
    ({"max_version": (1, 4)}, ValueError,
     r"max_version is \(1, 4\), \(1, 3\) is the newest that dray reads"),
    ({"max_version": (10**30, 0)}, TypeError, "max_version is"),
])
def test_an_argument_that_cannot_be_met_is_refused(arguments, error, sentence):
    made = tensors.Made()
    for x in Array.zeros(3), np.zeros(3), made.capsule():
        with pytest.raises(error, match=sentence):
            from_dlpack(x, **arguments)
    assert made.given_back == 0


def test_an_array_of_dray_is_seen_through_another_one():
    array = Array.zeros((2, 3))
    seen = from_dlpack(array)
    assert seen is not array and seen.shares_memory(array)
    assert not from_dlpack(array, writable=False).flags.writeable
    copied = from_dlpack(array.broadcast_to((4, 2, 3)), copy=True, writable=True)
    assert copied.flags.writeable and not copied.shares_memory(array)
    with pytest.raises(BufferError, match="read-only, and was to be written"):
        from_dlpack(array.broadcast_to((4, 2, 3)), writable=True)


# The tensor's form and marks, the caller's wish, and whether the array may be written.
@pytest.mark.parametrize("versioned, flags, writable, expected", [
    (True, 0, None, True), (True, 0, True, True), (True, 0, False, False),
    (True, tensors.READ_ONLY, None, False), (True, tensors.READ_ONLY, True, None),
    (True, tensors.READ_ONLY, False, False), (True, tensors.IS_COPIED, None, True),
    (False, 0, None, False), (False, 0, True, True), (False, 0, False, False),
])
def test_a_tensor_is_writable_if_it_and_the_caller_agree(versioned, flags, writable,
                                                         expected):
    made = tensors.Made(versioned)
    if versioned:
        made.managed.flags = flags
    if expected is None:
        with pytest.raises(BufferError, match="the tensor is read-only"):
            from_dlpack(made.capsule(), writable=writable)
        assert made.given_back == 0
        return
    array = from_dlpack(made.capsule(), writable=writable)
    assert array.flags.writeable == expected
    del array
    assert made.given_back == 1


@pytest.mark.exact
@pytest.mark.parametrize("versioned", [True, False])
def test_a_copy_is_made_in_memory_of_the_current_handler(versioned):
    made, before = tensors.Made(versioned), dray.stats().blocks
    with dray.memory():
        array = from_dlpack(made.capsule(), copy=True)
    assert made.given_back == 1 and dray.stats().blocks == before + 1
    made.array[:] = -1
    assert array.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert array.flags.writeable


def test_a_producer_that_copies_is_refused_if_none_may():
    made = tensors.Made()
    made.managed.flags = tensors.IS_COPIED
    with pytest.raises(BufferError, match="the tensor is a copy"):
        from_dlpack(made.capsule(), copy=False)
    assert from_dlpack(made.capsule()).size == 12


def test_a_tensor_is_given_back_once_after_the_last_array():
    made = tensors.Made()
    array = from_dlpack(made.capsule())
    part, seen = array[1:, ::2], np.asarray(array)
    del array
    gc.collect()
    assert made.given_back == 0 and part[1, 1] == 10
    del part
    assert made.given_back == 0 and seen[2, 3] == 11
    del seen
    assert made.given_back == 1


def test_a_tensor_that_nobody_gives_back_needs_no_deleter():
    made = tensors.Made()
    made.managed.deleter = None
    assert from_dlpack(made.capsule()).size == 12


def spoil(**fields):
    def change(made):
        for name, value in fields.items():
            setattr(made.tensor, name, value)
    return change


def negative(made):
    made.shape[1] = -4


def far(made):
    made.strides[0] = 1 << 61


BAD = {
    "is NULL": spoil(shape=None),
    "strides of a tensor of DLPack 1.3 are NULL": spoil(strides=None),
    "12 elements and no data": spoil(data=None),
    "axis 1 of the tensor has -4 elements": negative,
    "stride of 2305843009213693952 elements": far,
    "a tensor of 65 axes, 0 to 64": spoil(ndim=65),
    "a tensor of -1 axes": spoil(ndim=-1),
    "leaves the address space": spoil(byte_offset=(1 << 64) - 8),
    "not aligned to . bytes": spoil(byte_offset=2),
    "code 4 with 16 bits": spoil(code=4, bits=16),
    "code 10 with 8 bits": spoil(code=10, bits=8),
    "code 17 with 4 bits": spoil(code=17, bits=4),
    "code 2 with 128 bits": spoil(bits=128),
    "code 6 with 1 bits": spoil(code=6, bits=1),
    "2 lanes": spoil(lanes=2),
    r"device \(2, 0\), which the CPU does not reach": spoil(device_type=2),
    "device type 12 at .* not in dray's memory": spoil(device_type=12),
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_bad_tensor_is_refused_and_stays_in_its_capsule(sentence):
    made = tensors.Made()
    BAD[sentence](made)
    capsule = made.capsule()
    with pytest.raises(BufferError, match=sentence):
        from_dlpack(capsule)
    assert made.given_back == 0 and tensors.name_of(capsule) == tensors.VERSIONED


def test_a_capsule_gives_back_a_tensor_that_was_refused():
    """Of a later version, too: only its consumer cannot read it."""
    lives = []

    class Owner(np.ndarray):
        def __del__(self):
            lives.remove(1)
    lives.append(1)
    capsule = Array(np.zeros(3).view(Owner)).__dlpack__(max_version=(1, 3))
    tensors.inside(capsule).major = 2
    with pytest.raises(BufferError, match="DLPack 2.3, only versions 1"):
        from_dlpack(capsule)
    assert lives
    del capsule
    gc.collect()
    assert not lives


def test_strides_may_be_missing_before_version_1_2():
    for versioned, minor in (False, None), (True, 0), (True, 1):
        made = tensors.Made(versioned)
        if versioned:
            made.managed.minor = minor
        made.tensor.strides = None
        assert from_dlpack(made.capsule()).strides == (32, 8)


@pytest.mark.parametrize("device", [(3, 0), (11, 1), (13, 0), (1, 5)])
def test_memory_that_the_cpu_reaches_is_taken_from_any_device(device):
    made = tensors.Made()
    made.tensor.device_type, made.tensor.device_id = device
    assert from_dlpack(made.capsule(), device="cpu")[2, 3] == 11


def test_memory_is_where_it_was_asked_to_be():
    """Also that of a producer which does not look at the argument."""
    made = tensors.Made()
    for x in Array.zeros(3), made.capsule(), Producer(lambda **_: made.capsule()):
        with pytest.raises(BufferError, match=r"the memory is on device \(1, 0\), and "
                                              r"\(12, 0\) was asked for"):
            from_dlpack(x, device=(12, 0))
    made.tensor.device_type = 2
    with pytest.raises(BufferError, match="which the CPU does not reach"):
        from_dlpack(Producer(lambda **_: made.capsule()), device="cpu")
    assert made.given_back == 0

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Array as a producer of DLPack: types, layouts, arguments, lifetimes."""
import gc
import weakref

import numpy as np
import pytest

import dray
import tensors
from dray import Array

# Releases of NumPy differ: bools came with 1.25, versions and read-only memory with
# 2.1.
NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])
MODERN = NUMPY >= (2, 1)
MOST_AXES = 64 if NUMPY >= (2, 0) else 32
LATEST = (1, 3)

TYPES = {"?": (6, 8), "i1": (0, 8), "i2": (0, 16), "i4": (0, 32), "i8": (0, 64),
         "u1": (1, 8), "u2": (1, 16), "u4": (1, 32), "u8": (1, 64), "f2": (2, 16),
         "f4": (2, 32), "f8": (2, 64), "c8": (5, 64), "c16": (5, 128)}
NO_CODE = [">f8", ">i2", "M8[s]", "m8[D]", "m8", "S3", "U2", "V8", "i4,f8",
           [("a", ">u2")]]
LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "columns": lambda a: a[:, 1::2],
    "rows": lambda a: a[::2],
    "backwards": lambda a: a[::-1, ::-1],
    "one element": lambda a: a[2:3, 3:4].reshape(()),
    "an axis of one": lambda a: a[1:2, :, None],
    "no axis of two": lambda a: a[:1, :1],
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[:, 5:5],
}
layouts = pytest.mark.parametrize("lay", LAYOUTS.values(), ids=LAYOUTS)
types = pytest.mark.parametrize("dtype", TYPES)
numpys_types = pytest.mark.parametrize(
    "dtype", [dtype for dtype in TYPES if dtype != "?" or NUMPY >= (1, 25)])


def address(a):
    return a.__array_interface__["data"][0]


@layouts
@numpys_types
def test_numpy_sees_the_same_elements(dtype, lay):
    there = np.arange(4 * 6).reshape(4, 6).astype(dtype)
    array = Array(lay(there))
    seen = np.from_dlpack(array)
    assert seen.dtype == there.dtype and seen.shape == array.shape
    assert (seen == lay(there)).all()
    if seen.size:
        assert address(seen) == address(array)
        assert all(mine == theirs for mine, theirs, count
                   in zip(array.strides, seen.strides, seen.shape) if count > 1)


@layouts
@numpys_types
def test_an_array_of_numpy_comes_in_without_a_copy(dtype, lay):
    there = lay(np.arange(4 * 6).reshape(4, 6).astype(dtype))
    array = dray.from_dlpack(there)
    assert type(array) is Array
    assert array.dtype == there.dtype and array.shape == there.shape
    assert (np.asarray(array) == there).all()
    if there.size:
        assert address(array) == address(there)
        assert all(mine == theirs for mine, theirs, count
                   in zip(array.strides, there.strides, there.shape) if count > 1)


@types
def test_the_code_of_a_type_is_the_published_one(dtype):
    tensor = tensors.inside(Array.zeros(3, dtype).__dlpack__()).tensor
    assert (tensor.code, tensor.bits) == TYPES[dtype] and tensor.lanes == 1
    assert tensor.byte_offset == 0 and tensor.strides[0] == 1


@pytest.mark.parametrize("ndim", [*range(0, MOST_AXES + 1, 8), 1, 31, MOST_AXES])
def test_each_rank_that_numpy_has_goes_both_ways(ndim):
    there = np.ones((2,) * min(ndim, 4) + (1,) * max(ndim - 4, 0), "f4")
    array = dray.from_dlpack(there)
    assert array.shape == there.shape
    assert np.from_dlpack(Array(there)).shape == there.shape


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3)])
def test_an_array_comes_back_as_it_was(shape):
    array = Array.zeros(shape, "i4")
    again = dray.from_dlpack(array.__dlpack__(max_version=LATEST))
    assert again.shape == array.shape and again.dtype == array.dtype
    assert again.strides == array.strides and again.flags.writeable
    assert not again.size or again.shares_memory(array)


@pytest.mark.parametrize("dtype", NO_CODE, ids=str)
def test_a_type_without_a_code_is_refused(dtype):
    with pytest.raises(BufferError, match="DLPack"):
        Array.zeros(3, dtype).__dlpack__()


def test_a_stride_that_is_no_count_of_elements_is_refused():
    field = np.zeros(3, "f8,i4")["f0"]
    with pytest.raises(BufferError, match="axis 0 has a stride of 12 bytes"):
        Array(field).__dlpack__()
    # Along one element nothing has to be a step.
    assert np.from_dlpack(Array(field[:1])).shape == (1,)


def test_elements_that_are_not_aligned_are_refused():
    array = Array(np.zeros(25, "u1")[1:].view("f8"))
    with pytest.raises(BufferError, match="not aligned to 8 bytes"):
        array.__dlpack__()
    copied = tensors.inside(array.__dlpack__(max_version=LATEST, copy=True))
    assert copied.tensor.data % 8 == 0


def test_new_memory_is_aligned_to_64_bytes():
    with dray.memory():
        arrays = [Array.zeros(count, "u1") for count in range(1, 300, 7)]
    assert not any(tensors.inside(array.__dlpack__()).tensor.data % 64
                   for array in arrays)


def test_a_read_only_array_leaves_only_with_a_version():
    array = Array.zeros((2, 3)).broadcast_to((4, 2, 3))
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__()
    managed = tensors.inside(array.__dlpack__(max_version=LATEST))
    assert managed.flags == tensors.READ_ONLY
    assert list(managed.tensor.strides[:3]) == [0, 3, 1]
    if MODERN:
        seen = np.from_dlpack(array)
        assert not seen.flags.writeable and seen.strides == (0, 24, 8)
    again = dray.from_dlpack(array.__dlpack__(max_version=LATEST))
    assert not again.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        again[0, 0, 0] = 1


@pytest.mark.parametrize("asked, name, minor", [
    (None, tensors.LEGACY, None), ((0, 8), tensors.LEGACY, None),
    ((1, 0), tensors.VERSIONED, 0), ((1, 2), tensors.VERSIONED, 2),
    ((1, 3), tensors.VERSIONED, 3), ((1, 9), tensors.VERSIONED, 3),
    ((2, 0), tensors.VERSIONED, 3),
])
def test_the_version_is_at_most_what_the_consumer_asks_for(asked, name, minor):
    capsule = Array.zeros(3).__dlpack__(max_version=asked)
    assert tensors.name_of(capsule) == name
    if minor is not None:
        managed = tensors.inside(capsule)
        assert (managed.major, managed.minor) == (1, minor)


def test_the_device_is_the_cpu():
    array = Array.zeros(3, "M8[s]")  # of any type
    assert array.__dlpack_device__() == tensors.CPU
    tensor = tensors.inside(Array.zeros(3).__dlpack__(dl_device=(1, 0))).tensor
    assert (tensor.device_type, tensor.device_id) == tensors.CPU


@pytest.mark.parametrize("arguments, error, sentence", [
    ({"stream": 0}, ValueError, "stream is 0: None waits for transfers, -1 does not"),
    ({"stream": 1 << 70}, ValueError, "stream is 1180591620717411303424"),
    ({"stream": "a"}, ValueError, "stream is 'a'"),
    ({"stream": -1.0}, ValueError, "stream is -1.0"),
    ({"max_version": 1}, TypeError, "max_version is 1, not a tuple of two numbers"),
    ({"max_version": (1,)}, TypeError, r"max_version is \(1,\)"),
    ({"max_version": ("1", 0)}, TypeError, r"max_version is \('1', 0\)"),
    ({"max_version": (2**70, 0)}, TypeError, "max_version is"),
    ({"dl_device": (1, 0.5)}, TypeError, r"dl_device is \(1, 0.5\)"),
    ({"dl_device": (2, 0)}, BufferError, r"device \(1, 0\), and \(2, 0\) was asked for"),
    ({"dl_device": (1, 1)}, BufferError, r"and \(1, 1\) was asked for"),
    ({"dl_device": "cpu"}, TypeError, "dl_device is 'cpu'"),
    ({"copies": True}, TypeError, "has no argument 'copies'"),
])
def test_an_argument_that_cannot_be_met_is_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        Array.zeros(3).__dlpack__(**arguments)


def test_names_of_arguments_are_known_by_their_letters_too():
    name = "".join(["max_", "version"])  # not the constant of the program
    capsule = Array.zeros(3).__dlpack__(**{name: (1, 0)})
    assert tensors.name_of(capsule) == tensors.VERSIONED
    with pytest.raises(TypeError, match="at most 0 positional"):
        Array.zeros(3).__dlpack__(None)


@pytest.mark.parametrize("copy", [None, False])
def test_nothing_is_copied_unless_it_is_asked_for(copy):
    array = Array.zeros(3)
    managed = tensors.inside(array.__dlpack__(max_version=LATEST, copy=copy))
    assert managed.tensor.data == address(array) and managed.flags == 0


@pytest.mark.exact
def test_a_copy_is_the_consumers_in_memory_of_the_current_handler():
    before = dray.stats().blocks
    array = Array(np.arange(6).reshape(2, 3).T).broadcast_to((2, 3, 2))
    with dray.memory():
        capsule = array.__dlpack__(max_version=LATEST, copy=True)
    assert tensors.inside(capsule).flags == tensors.IS_COPIED
    taken = dray.from_dlpack(capsule)
    assert (np.asarray(taken) == np.asarray(array)).all() and taken.flags.writeable
    assert not taken.shares_memory(array) and dray.stats().blocks == before + 1
    # The form before versions has it too, but cannot say so.
    assert tensors.name_of(array.__dlpack__(copy=True)) == tensors.LEGACY


def owned():
    """An array, and a function that tells whether its memory is still there."""
    class Owner(np.ndarray):
        pass
    there = np.arange(12.0).view(Owner)
    lives = weakref.ref(there)
    return Array(there), lambda: gc.collect() >= 0 and lives() is not None


versions = pytest.mark.parametrize("version", [None, LATEST])


@versions
def test_a_capsule_that_nobody_takes_gives_its_tensor_back(version):
    array, lives = owned()
    capsule = array.__dlpack__(max_version=version)
    del array
    assert lives()
    del capsule
    assert not lives()


@versions
def test_a_tensor_outlives_its_array_and_its_capsule(version):
    array, lives = owned()
    capsule = array.__dlpack__(max_version=version)
    taken = dray.from_dlpack(capsule)
    del array, capsule
    assert lives() and taken[5] == 5
    part = taken[2:4]
    del taken
    assert lives() and part[1] == 3
    del part
    assert not lives()


@versions
def test_an_array_outlives_its_tensors(version):
    array, lives = owned()
    for _ in range(3):
        taken = dray.from_dlpack(array.__dlpack__(max_version=version))
        del taken
    assert lives() and array[5] == 5
    del array
    assert not lives()


@pytest.mark.exact
def test_memory_of_a_pool_is_back_after_the_last_consumer():
    before = dray.stats().blocks
    with dray.memory():
        array = Array.zeros((100, 100))
    seen = np.from_dlpack(array)
    del array
    assert dray.stats().blocks == before + 1 and seen.sum() == 0
    del seen
    assert dray.stats().blocks == before


@versions
def test_a_tensor_is_taken_once(version):
    capsule = Array.zeros(3).__dlpack__(max_version=version)
    first = dray.from_dlpack(capsule)
    assert tensors.name_of(capsule).startswith(b"used_dltensor")
    with pytest.raises(ValueError, match='"used_dltensor.*": its tensor was taken '
                                         "before"):
        dray.from_dlpack(capsule)
    assert first.size == 3


@versions
def test_a_capsule_that_was_renamed_is_not_taken(version):
    array, lives = owned()
    capsule = array.__dlpack__(max_version=version)
    name = tensors.name_of(capsule)
    for other in b"tensor", b"used_dltensor", b"":
        tensors.rename(capsule, other)
        with pytest.raises(ValueError, match=f'called "{other.decode()}"'):
            dray.from_dlpack(capsule)
    tensors.rename(capsule, name)
    assert dray.from_dlpack(capsule).size == 12


@versions
def test_numpy_takes_a_capsule_from_an_array_made_by_hand(version):
    class Producer:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **_):
            return self.array.__dlpack__(max_version=version)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    if version and not MODERN:
        pytest.skip("this NumPy knows no versions")
    array = Array.arange(5)
    assert address(np.from_dlpack(Producer(array))) == address(array)

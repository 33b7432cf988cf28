# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory of the real dpctl in dray's hands, on the CPU: each kind, and no other way.

dpctl 0.22 has memory and queues; its arrays are now in dpnp.  An array here is an
object of a few lines over dpctl's memory, as numba-dpex describes them.
"""
import gc
import weakref

import numpy as np
import pytest

import dpctl
import dpctl.memory

import dray

MEMORY = {"host": dpctl.memory.MemoryUSMHost, "shared": dpctl.memory.MemoryUSMShared,
          "device": dpctl.memory.MemoryUSMDevice}
VIEWS = {"all": np.s_[:], "rows": np.s_[1::2], "columns": np.s_[:, 2:5:2],
         "backwards": np.s_[::-1, ::-2], "transposed": None, "one": np.s_[2],
         "element": np.s_[3, 4:5]}
TYPES = ["?", "<i1", "<u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8",
         "<c8", "<c16"]


@pytest.fixture(params=MEMORY)
def kind(request):
    return request.param


class UsmArray:
    """Elements in dpctl's memory, with the strides of a view of `elements`."""

    def __init__(self, kind, elements, cut=np.s_[:], **fields):
        self.memory = MEMORY[kind](elements.nbytes)
        self.memory.copy_from_host(np.frombuffer(elements.tobytes(), np.uint8))
        view = elements.T if cut is None else elements[cut]
        size = elements.itemsize
        start = view.__array_interface__["data"][0]
        first = start - elements.__array_interface__["data"][0]
        self.address = self.memory._pointer + first
        self.fields = {
            "shape": view.shape, "typestr": view.dtype.str,
            "data": (self.memory._pointer, False), "offset": first // size,
            "strides": tuple(each // size for each in view.strides),
            "version": 1, "syclobj": self.memory.sycl_queue, **fields}

    @property
    def __sycl_usm_array_interface__(self):
        return {name: value for name, value in self.fields.items()
                if value is not Ellipsis}


def cut_of(elements, cut):
    return elements.T if cut is None else elements[cut]


def value(array):
    result = np.zeros(array.shape, array.dtype)
    dray.copy_from_sycl(result, array)
    return result


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("cut", VIEWS.values(), ids=VIEWS.keys())
def test_each_kind_type_and_layout_is_read_without_a_copy(kind, dtype, cut):
    elements = (np.arange(24) % 7).astype(dtype).reshape(4, 6)
    usm = UsmArray(kind, elements, cut)
    array, view = dray.from_sycl(usm), cut_of(elements, cut)
    assert (array.shape, array.strides) == (view.shape, view.strides)
    assert array.dtype == view.dtype
    assert dray._dray.place(array)[0] == usm.address
    assert dray.memory_kind(array) == kind == usm.memory.get_usm_type()
    assert (value(array) == view).all()
    if kind != "device":
        assert np.asarray(array).ctypes.data == usm.address
        assert array.tolist() == view.tolist()


def test_dpctls_own_memory_is_read(kind):
    memory = MEMORY[kind](64)
    memory.copy_from_host(np.arange(64, dtype=np.uint8))
    array = dray.from_sycl(memory)
    assert array.shape == (64,) and array.typestr == "|u1"
    assert dray._dray.place(array)[0] == memory._pointer
    assert dray.memory_kind(array) == kind
    assert (value(array) == np.arange(64)).all()


def test_dpctls_flag_tells_that_memory_may_be_written():
    memory = dpctl.memory.MemoryUSMShared(8)
    assert memory.__sycl_usm_array_interface__["data"][1] is True
    array = dray.from_sycl(memory)
    array[3] = 77
    assert bytes(memory)[3] == 77


def test_a_flag_of_others_tells_that_it_may_only_be_read():
    usm = UsmArray("shared", np.zeros(3, "<i4"))
    usm.fields["data"] = (usm.address, True)
    with pytest.raises(ValueError, match="read-only"):
        dray.from_sycl(usm)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        dray.copy_to_sycl(usm, np.ones(3, "<i4"))


def test_a_devices_memory_is_not_read():
    array = dray.from_sycl(UsmArray("device", np.arange(6, dtype="<i4")))
    sentence = "device memory of another library: copy it by dray.copy_from_sycl"
    assert sentence in repr(array) and sentence in str(array[1:])
    for access in (lambda: array[0], array.tolist, array.copy, lambda: list(array),
                   lambda: np.asarray(array), lambda: np.add(array, 1),
                   lambda: array == 1, lambda: dray.copy(np.zeros(6, "<i4"), array)):
        with pytest.raises(ValueError, match=sentence):
            access()
    with pytest.raises(BufferError, match=sentence):
        memoryview(array)


@pytest.mark.parametrize("cut", VIEWS.values(), ids=VIEWS.keys())
@pytest.mark.parametrize("place", [np.array, dray.array, lambda a: dray.Array(a.copy())],
                         ids=["numpy", "dray", "array"])
def test_explicit_copies_go_both_ways(kind, cut, place):
    there = np.full((4, 6), -1, "<i4")
    source = np.arange(24, dtype="<i4").reshape(4, 6)
    usm = UsmArray(kind, there, cut)
    dray.copy_to_sycl(usm, place(cut_of(source, cut)))
    cut_of(there, cut)[...] = cut_of(source, cut)
    assert usm.memory.copy_to_host().tobytes() == there.tobytes()
    target = place(np.zeros(cut_of(source, cut).shape, "<i4"))
    dray.copy_from_sycl(target, usm)
    assert (np.asarray(target) == cut_of(source, cut)).all()


def test_views_of_a_devices_array_are_copied():
    array = dray.from_sycl(UsmArray("device", np.arange(24, dtype="<i4").reshape(4, 6)))
    assert (value(array[1:, ::2]) == [[6, 8, 10], [12, 14, 16], [18, 20, 22]]).all()
    dray.copy_to_sycl(array[:, 1], np.full(4, -5, "<i4"))
    assert (value(array)[:, :3] == [[0, -5, 2], [6, -5, 8], [12, -5, 14],
                                    [18, -5, 20]]).all()


def test_a_queue_of_another_context_knows_the_memory_or_refuses_it(kind):
    """The kind is dpctl's answer, whichever queue is there."""
    usm = UsmArray(kind, np.arange(3, dtype="<i4"), syclobj=dpctl.SyclQueue())
    assert dray.memory_kind(dray.from_sycl(usm)) == kind


def test_a_context_will_do_for_a_queue(kind):
    usm = UsmArray(kind, np.arange(3, dtype="<i4"))
    usm.fields["syclobj"] = usm.memory.sycl_context
    assert dray.memory_kind(dray.from_sycl(usm)) == kind


@pytest.mark.parametrize("syclobj", [
    dpctl.SyclQueue, dpctl.SyclContext, lambda: None, lambda: "cpu", lambda: 5])
def test_a_foreign_pointer_is_of_no_kind_and_is_not_read(syclobj):
    """dpctl would end the process if it were asked by a context."""
    numbers = np.arange(3, dtype="<i4")
    usm = UsmArray("host", numbers, data=(numbers.ctypes.data, False),
                   syclobj=syclobj())
    array = dray.from_sycl(usm)
    assert dray.memory_kind(array) == "unknown"
    with pytest.raises(ValueError, match="unknown memory"):
        array.tolist()
    with pytest.raises(ValueError, match="dpctl does not know the memory"):
        dray.copy_from_sycl(np.zeros(3, "<i4"), usm)


@pytest.mark.parametrize("name", ["host", "shared"])
def test_without_an_address_the_buffer_is_read(name):
    class Buffer(MEMORY[name]):
        @property
        def __sycl_usm_array_interface__(self):
            return {"shape": (2, 3), "typestr": "<i2", "version": 1, "offset": 1,
                    "syclobj": self.sycl_queue}
    memory = Buffer(16)
    memory.copy_from_host(np.arange(8, dtype="<i2").view(np.uint8))
    array = dray.from_sycl(memory)
    assert array.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert dray._dray.place(array)[0] == memory._pointer + 2
    assert dray.memory_kind(array) == name


def test_a_device_without_an_address_has_no_buffer_either():
    with pytest.raises(BufferError, match="has no data"):
        dray.from_sycl(UsmArray("device", np.zeros(3, "<i4"), data=...))


def test_an_array_keeps_dpctls_memory(kind):
    usm = UsmArray(kind, np.arange(24, dtype="<i4").reshape(4, 6))
    gone = weakref.ref(usm)
    view = dray.from_sycl(usm)[2]
    del usm
    gc.collect()
    assert gone() is not None
    assert (value(view) == np.arange(12, 18)).all()
    del view
    gc.collect()
    assert gone() is None


def test_an_array_outlives_all_names_of_dpctls_memory(kind):
    arrays = []
    for number in range(50):
        memory = MEMORY[kind](4096)
        memory.memset(number)
        arrays.append(dray.from_sycl(memory))
    del memory
    gc.collect()
    for number, array in enumerate(arrays):
        assert (value(array) == number).all()


def test_a_kernel_of_the_queue_is_waited_for():
    queue = dpctl.SyclQueue()
    one = dpctl.memory.MemoryUSMShared(1 << 24, queue=queue)
    two = dpctl.memory.MemoryUSMShared(1 << 24, queue=queue)
    one.memset(7)
    queue.memcpy_async(two, one, 1 << 24)
    array = dray.from_sycl(two)
    assert (np.asarray(array) == 7).all()


# The other way: dpctl takes no memory but its own.

@pytest.mark.parametrize("shareable", [False, True])
def test_dpctl_refuses_memory_of_dray(shareable):
    offered = dray.to_sycl(dray.zeros(16, "<i4", shareable=shareable))
    with pytest.raises(ValueError, match="not bound to SyclContext|syclobj"):
        dpctl.memory.as_usm_memory(offered)
    offered._interface["syclobj"] = dpctl.SyclQueue()
    with pytest.raises(ValueError, match="not bound to SyclContext"):
        dpctl.memory.as_usm_memory(offered)


def test_dpctl_copies_memory_of_dray_by_its_buffer(kind):
    """A dray.Array has no interface of SYCL, but a buffer."""
    memory = MEMORY[kind](16)
    memory.copy_from_host(memoryview(dray.Array(dray.array(range(16), "u1"))))
    assert memory.copy_to_host().tolist() == list(range(16))
    into = dray.zeros(16, "u1")
    memory.copy_to_host(into)
    assert into.tolist() == list(range(16))


def test_dray_moves_dpctls_memory_through_a_stream():
    """With a copy by the CPU, as the memory is not dray's."""
    source = dray.from_sycl(UsmArray("shared", np.arange(6, dtype="<i4")))
    target = dray.zeros(6, "<i4")
    with dray.stream("tx0") as tx, dray.stream("rx0") as rx:
        event = rx.recv(target, wait=False)
        tx.send(source, stage=True)
        assert event.wait() == 6
    assert target.tolist() == list(range(6))

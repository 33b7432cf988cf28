# SPDX-License-Identifier: Apache-2.0 OR MIT
"""__sycl_usm_array_interface__, read and offered.

The objects here are stand-ins: plain classes with the interface, and one with a module
in the place of dpctl, since dpctl takes 1.6 GB.  tests/interop/test_dpctl.py has the real
one.
"""
import gc
import sys
import types
import weakref

import numpy as np
import pytest

import dray

NUMBERS = np.arange(24, dtype="<i4").reshape(4, 6)


class Object:
    """A stand-in: an object with the interface."""

    def __init__(self, **fields):
        self.fields = {"shape": (3,), "typestr": "<i4", "version": 1, "syclobj": None}
        self.fields.update(fields)

    @property
    def __sycl_usm_array_interface__(self):
        return {name: value for name, value in self.fields.items()
                if value is not Ellipsis}


def over(array, **fields):
    """Such an object over memory of NumPy; strides in elements."""
    made = Object(**{"shape": array.shape, "typestr": array.dtype.str,
                     "data": (array.ctypes.data, not array.flags.writeable),
                     "strides": tuple(each // array.itemsize for each in array.strides),
                     **fields})
    made.keep = array
    return made


class Bytes(bytearray):
    """And one that has a buffer too."""


def in_buffer(array, **fields):
    made = Bytes(array.tobytes())
    made.__sycl_usm_array_interface__ = {
        "shape": array.shape, "typestr": array.dtype.str, "version": 1,
        "syclobj": None, **fields}
    return made


@pytest.fixture(params=["host", "shared", "device"])
def kind(request, monkeypatch):
    """A stand-in for dpctl, which says this kind of all memory."""
    class SyclQueue:
        waits = 0

        def wait(self):
            SyclQueue.waits += 1

    class SyclContext:
        def get_devices(self):
            return [None]

    class Usm:
        def __init__(self, obj):
            fields = obj.__sycl_usm_array_interface__
            assert isinstance(fields["syclobj"], SyclQueue)
            self.memory = (np.ctypeslib.ctypes.c_uint8 * fields["shape"][0]
                           ).from_address(fields["data"][0])

        def get_usm_type(self):
            return request.param

        def copy_to_host(self, into):
            memoryview(into)[:] = bytes(self.memory)

        def copy_from_host(self, from_):
            memoryview(self.memory).cast("B")[:] = bytes(from_)

    dpctl = types.ModuleType("dpctl")
    dpctl.SyclQueue, dpctl.SyclContext = SyclQueue, SyclContext
    dpctl.memory = types.ModuleType("dpctl.memory")
    dpctl.memory.as_usm_memory = Usm
    monkeypatch.setitem(sys.modules, "dpctl", dpctl)
    monkeypatch.setitem(sys.modules, "dpctl.memory", dpctl.memory)
    return types.SimpleNamespace(name=request.param, queue=SyclQueue())


VIEWS = {"all": np.s_[:], "rows": np.s_[1::2], "columns": np.s_[:, 2:5:2],
         "backwards": np.s_[::-1, ::-2], "one": np.s_[2], "none": np.s_[:0]}


def value(array):
    """The elements, by an explicit copy where the CPU does not read them."""
    result = np.zeros(array.shape, array.dtype)
    dray.copy_from_sycl(result, array)
    return result


@pytest.mark.parametrize("cut", VIEWS.values(), ids=VIEWS.keys())
def test_each_layout_is_read_without_a_copy(kind, cut):
    view = NUMBERS.copy()[cut]
    array = dray.from_sycl(over(view, syclobj=kind.queue))
    assert array.shape == view.shape and array.strides == view.strides
    assert dray._dray.place(array)[0] == view.ctypes.data
    assert dray.memory_kind(array) == kind.name
    assert (value(array) == view).all()
    if kind.name != "device":
        assert np.asarray(array).ctypes.data == view.ctypes.data
        assert array.tolist() == view.tolist()


@pytest.mark.parametrize("dtype", ["?", "u1", ">i2", "<f2", "<f8", "<c16", "S5", "<U3",
                                   "<M8[ns]", "V7"])
def test_each_type_is_read(kind, dtype):
    elements = np.zeros(5, dtype)
    elements.view("u1")[...] = np.arange(elements.nbytes) % 2
    array = dray.from_sycl(over(elements, syclobj=kind.queue))
    assert array.dtype == elements.dtype
    assert value(array).tobytes() == elements.tobytes()


def test_fields_come_from_the_description(kind):
    dtype = np.dtype({"names": ["x", "y"], "formats": ["<u2", "<f4"],
                      "offsets": [1, 4], "itemsize": 10})
    elements = np.array([(1, 2), (3, 4)], dtype)
    array = dray.from_sycl(over(elements, typedescr=dtype.descr, syclobj=kind.queue))
    assert array.dtype.fields["y"][1] == 4 and array.itemsize == 10
    assert value(array)["y"].tolist() == [2, 4]


def test_an_offset_counts_elements(kind):
    numbers = NUMBERS.copy()
    obj = over(numbers, shape=(3,), strides=(-6,), offset=20, syclobj=kind.queue)
    assert value(dray.from_sycl(obj)).tolist() == [20, 14, 8]


def test_bytes_may_be_counted_as_the_specification_says(kind):
    numbers = NUMBERS.copy()
    obj = over(numbers, shape=(3,), strides=(-24,), offset=80, syclobj=kind.queue)
    array = dray.from_sycl(obj, strides_in_bytes=True)
    assert value(array).tolist() == [20, 14, 8]


def test_a_queue_is_waited_for_before_memory_is_read(kind):
    obj = over(NUMBERS.copy(), syclobj=kind.queue)
    before = kind.queue.waits
    dray.from_sycl(obj)
    assert kind.queue.waits == before + 1
    dray.from_sycl(obj, wait=False)
    assert kind.queue.waits == before + 1


def test_a_context_is_asked_by_a_queue_of_it(kind, monkeypatch):
    """dpctl ends the process if a context is asked for a foreign pointer."""
    dpctl = sys.modules["dpctl"]
    monkeypatch.setattr(dpctl.SyclQueue, "__init__", lambda self, *_: None)
    array = dray.from_sycl(over(NUMBERS.copy(), syclobj=dpctl.SyclContext()))
    assert dray.memory_kind(array) == kind.name


def test_a_foreign_kind_is_that_for_other_nodes_unknown(kind):
    array = dray.from_sycl(over(NUMBERS.copy(), syclobj=kind.queue))
    assert dray.memory_kind(array, dray.open()) == "unknown"


def test_read_only_memory_stays_so(kind):
    numbers = NUMBERS.copy()
    numbers.flags.writeable = False
    array = dray.from_sycl(over(numbers, syclobj=kind.queue))
    assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        dray.copy_to_sycl(array, NUMBERS)


def test_dpctls_flag_has_the_opposite_sense(kind):
    class Memory(Object):
        __module__ = "dpctl.memory._memory"
    numbers = np.zeros(3, "<i4")
    for flag in (True, False):
        obj = Memory(data=(numbers.ctypes.data, flag), syclobj=kind.queue)
        assert dray._dray.place(dray.from_sycl(obj))[3] is flag


@pytest.mark.parametrize("cut", VIEWS.values(), ids=VIEWS.keys())
def test_explicit_copies_write_elements_and_nothing_else(kind, cut, make):
    there = np.full((4, 6), -1, "<i4")
    view, source = there[cut], make(NUMBERS)[cut]
    dray.copy_to_sycl(over(view, syclobj=kind.queue), source)
    wanted = np.full((4, 6), -1, "<i4")
    wanted[cut] = NUMBERS[cut]
    assert (there == wanted).all()
    for target in (np.zeros(view.shape, "<i4"), make(np.zeros(view.shape, "<i4"))):
        for into in (target, dray.Array(target)):
            dray.copy_from_sycl(into, over(view, syclobj=kind.queue))
            assert (target == NUMBERS[cut]).all()
            target[...] = 0


@pytest.mark.parametrize("other, error, sentence", [
    (np.zeros((4, 5), "<i4"), ValueError, r"dst has the shape \(4, 5\), src \(4, 6\)"),
    (np.zeros((4, 6), "<f4"), TypeError, "a copy converts nothing")])
def test_pairs_that_differ_are_not_copied(kind, other, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.copy_from_sycl(other, over(NUMBERS.copy(), syclobj=kind.queue))


def test_copies_that_nobody_would_see_are_refused(kind):
    class Copied:
        shape, dtype = NUMBERS.shape, NUMBERS.dtype

        def __array__(self, *_, **__):
            return NUMBERS.copy()
    there = over(NUMBERS.copy(), syclobj=kind.queue)
    for other in Copied(), NUMBERS.tolist():
        with pytest.raises(TypeError, match="^dst is a .*, not an array"):
            dray.copy_from_sycl(other, there)
        with pytest.raises(TypeError, match="^src is a .*, not an array"):
            dray.copy_to_sycl(there, other)


def test_a_long_field_is_told_in_part():
    with pytest.raises(ValueError) as caught:
        dray.from_sycl(Object(typestr="<f4" * 10**6))
    assert len(str(caught.value)) < 400


def test_an_array_keeps_its_object_and_views_do():
    obj = in_buffer(NUMBERS)
    gone = weakref.ref(obj)
    view = dray.from_sycl(obj)[1:, ::2]
    del obj
    gc.collect()
    assert view.tolist() == NUMBERS[1:, ::2].tolist()
    del view
    gc.collect()
    assert gone() is None


# Memory of which no library tells the kind.

def test_unknown_memory_is_not_read():
    array = dray.from_sycl(over(NUMBERS.copy(), syclobj=object()))
    sentence = r"unknown memory of another library: copy it by dray\.copy_from_sycl\(\)"
    assert dray.memory_kind(array) == "unknown"
    for access in (lambda: array[0, 0], array.tolist, array.copy, lambda: np.asarray(array),
                   lambda: dray.copy(np.zeros((4, 6), "<i4"), array)):
        with pytest.raises(ValueError, match=sentence):
            access()
    assert "unknown memory" in repr(array)
    with pytest.raises(ValueError, match="dpctl does not know the memory"):
        dray.copy_from_sycl(np.zeros((4, 6), "<i4"), array)
    assert array[1:, ::2].shape == (3, 3)


def test_unknown_memory_is_not_passed_on():
    array = dray.from_sycl(over(np.arange(3, dtype="<i4")))
    for offer in (lambda: array.__dlpack__(), lambda: np.from_dlpack(array),
                  lambda: array.__arrow_c_array__(), lambda: memoryview(array),
                  lambda: dray.from_dlpack(array, copy=True)):
        with pytest.raises((BufferError, ValueError)):
            offer()


def test_not_even_where_there_is_none():
    array = dray.from_sycl(Object(shape=(2**40,), typestr="<f8", data=(8, False)))
    assert array.nbytes == 2**43 and "unknown memory" in str(array)


def test_unknown_memory_with_a_buffer_is_read_by_it():
    obj = in_buffer(NUMBERS)
    address = np.frombuffer(obj, "u1").ctypes.data
    obj.__sycl_usm_array_interface__.update(data=(address + 4, True), shape=(4,),
                                            strides=(6,))
    array = dray.from_sycl(obj)
    assert array.tolist() == [1, 7, 13, 19] and not array.flags.writeable


@pytest.mark.parametrize("data", [8, -4, 100])
def test_a_buffer_elsewhere_is_not_taken_for_it(data):
    obj = in_buffer(NUMBERS)
    address = np.frombuffer(obj, "u1").ctypes.data
    obj.__sycl_usm_array_interface__["data"] = (address + data, False)
    assert "unknown memory" in repr(dray.from_sycl(obj))


def test_memory_of_dray_is_known_without_another_library(make):
    array = make(NUMBERS)
    read = dray.from_sycl(over(array))
    assert read.tolist() == NUMBERS.tolist()
    assert dray.memory_kind(read) == dray.memory_kind(array)


class Number(int):
    """An int whose operators are others."""
    def __mul__(self, other):
        return 10**6
    __rmul__ = __add__ = __radd__ = __mul__


def test_numbers_may_be_of_subclasses(kind):
    numbers = NUMBERS.copy()
    obj = over(numbers, shape=(Number(3),), strides=(Number(6),), offset=Number(2),
               data=(Number(numbers.ctypes.data), False), syclobj=kind.queue)
    assert value(dray.from_sycl(obj)).tolist() == [2, 8, 14]


# Without an address: the buffer.

@pytest.mark.parametrize("fields, wanted", [
    ({}, NUMBERS.tolist()),
    ({"data": None, "strides": None, "offset": None}, NUMBERS.tolist()),
    ({"shape": (2, 3), "strides": (6, 1), "offset": 8}, [[8, 9, 10], [14, 15, 16]]),
    ({"shape": (4,), "strides": (-1,), "offset": 3}, [3, 2, 1, 0])])
def test_the_elements_lie_in_the_buffer(fields, wanted):
    array = dray.from_sycl(in_buffer(NUMBERS, **fields))
    assert array.tolist() == wanted and array.flags.writeable


@pytest.mark.parametrize("fields", [
    {"shape": (25,)}, {"offset": 1}, {"offset": -1}, {"strides": (6, 2)},
    {"strides": (-6, 1)}, {"shape": (2**62,)}, {"shape": (2**40, 2**40)}])
def test_elements_outside_the_buffer_are_refused(fields):
    with pytest.raises((BufferError, OverflowError, ValueError)):
        dray.from_sycl(in_buffer(NUMBERS, **fields))


def test_neither_an_address_nor_a_buffer_is_refused():
    with pytest.raises(BufferError, match="has no data, and the Object has no buffer"):
        dray.from_sycl(Object())


# Numbers that a stranger has filled in.
HOSTILE = [
    ({"shape": ...}, ValueError, "has no shape"),
    ({"typestr": ...}, ValueError, "has no typestr"),
    ({"version": ...}, ValueError, "has no version"),
    ({"syclobj": ...}, ValueError, "has no syclobj"),
    ({"version": 2}, ValueError, "version is 2: from 1 to 1"),
    ({"version": 0}, ValueError, "version is 0"),
    ({"version": "1"}, TypeError, "version is '1', not an int"),
    ({"version": True}, TypeError, "version is True"),
    ({"shape": 3}, TypeError, "shape is 3, not a tuple"),
    ({"shape": (-1,)}, ValueError, r"shape\[0\] is -1: from 0"),
    ({"shape": (2**63,)}, ValueError, r"shape\[0\] is 9223372036854775808"),
    ({"shape": (1.5,)}, TypeError, "not an int"),
    ({"data": (4096, False), "shape": (2**62, 2)}, OverflowError, "63 bits"),
    ({"data": (4096, False), "shape": (1,) * 65}, ValueError,
     "shape has 65 axes, 64 are the most"),
    ({"typestr": 4}, TypeError, "typestr is 4, not a str"),
    ({"typestr": "f4"}, ValueError, "typestr is 'f4': a type as"),
    ({"typestr": "<i4,<i4"}, ValueError, "a type as"),
    ({"typestr": "(2,)f4"}, ValueError, "a type as"),
    ({"typestr": "|O8"}, ValueError, "objects have no place"),
    ({"typestr": "<q9"}, ValueError, "no type of NumPy"),
    ({"typestr": "|V9999999999"}, ValueError, "a type as"),
    ({"typestr": "<U999999999"}, (ValueError, OverflowError), "U999999999"),
    ({"typestr": "|V4", "typedescr": [("x", "<i8")]}, ValueError, "8 bytes"),
    ({"typestr": "|V4", "typedescr": [("x",)]}, ValueError, "no type of NumPy"),
    ({"typestr": "|V4", "typedescr": 5}, ValueError, "no type of NumPy"),
    ({"typestr": "|V8", "typedescr": [("x", "|O8")]}, ValueError, "objects"),
    ({"data": 4096}, ValueError, "data is 4096"),
    ({"data": (1, 2, 3)}, ValueError, "data is"),
    ({"data": (-8, False)}, ValueError, r"data\[0\] is -8"),
    ({"data": (2**64, False)}, ValueError, r"data\[0\]"),
    ({"data": (4096, 1)}, TypeError, r"data\[1\] is 1, not a bool"),
    ({"data": ("x", False)}, TypeError, r"data\[0\] is 'x'"),
    ({"data": (0, False)}, ValueError, "3 elements and no data"),
    ({"data": (2**64 - 4, False)}, OverflowError, "address space"),
    ({"data": (4096, False), "offset": 2**62}, ValueError, "bytes of offset"),
    ({"data": (4096, False), "offset": -2000}, ValueError, "address is -3904"),
    ({"data": (4096, False), "offset": "1"}, TypeError, "offset is '1'"),
    ({"data": (4096, False), "strides": (1, 1)}, ValueError, "there are 1 axes"),
    ({"data": (4096, False), "strides": (2**62,)}, ValueError, r"bytes of strides\[0\]"),
    ({"data": (4096, False), "strides": (2**60,)}, OverflowError, "63 bits|address"),
    ({"data": (4096, False), "strides": 4}, TypeError, "strides is 4, not a tuple"),
    ({"data": (4096, False), "strides": (None,)}, TypeError, "not an int"),
]


@pytest.mark.parametrize("fields, error, sentence", HOSTILE,
                         ids=[str(case[0]) for case in HOSTILE])
def test_wrong_fields_are_refused(fields, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.from_sycl(Object(**fields))


def test_what_has_no_interface_is_refused():
    with pytest.raises(TypeError, match="a list has no __sycl_usm_array_interface__"):
        dray.from_sycl([1])
    with pytest.raises(TypeError, match="is an int, not a dict"):
        dray.from_sycl(types.SimpleNamespace(__sycl_usm_array_interface__=3))


def test_an_error_of_the_object_is_its_own():
    class Broken:
        @property
        def __sycl_usm_array_interface__(self):
            raise LookupError("none today")
    with pytest.raises(LookupError, match="none today"):
        dray.from_sycl(Broken())


# Offered.

@pytest.mark.parametrize("cut", [cut for name, cut in VIEWS.items() if name != "none"])
def test_an_array_is_offered_with_all_fields(make, cut):
    array = make(NUMBERS)[cut]
    offered = dray.to_sycl(array)
    fields = offered.__sycl_usm_array_interface__
    assert fields.pop("syclobj").name == dray.open().info().name
    assert fields == {
        "shape": array.shape, "typestr": "<i4", "data": (array.ctypes.data, False),
        "strides": tuple(each // 4 for each in array.strides), "offset": 0,
        "version": 1}
    assert offered.kind == dray.memory_kind(array)
    again = dray.from_sycl(offered)
    assert again.tolist() == array.tolist() and again.strides == array.strides


def test_fields_of_a_structure_are_offered_too(make):
    dtype = np.dtype({"names": ["x", "y"], "formats": ["<u2", "<f4"],
                      "offsets": [0, 4], "itemsize": 8})
    array = make(np.array([(1, 2), (3, 4)], dtype))
    again = dray.from_sycl(dray.to_sycl(array))
    assert again.dtype["y"] == np.dtype("<f4") and again.tolist() == array.tolist()


def test_a_read_only_array_is_offered_as_one(make):
    array = make(NUMBERS)
    array.flags.writeable = False
    assert dray.to_sycl(array).__sycl_usm_array_interface__["data"][1] is True
    assert not dray.from_sycl(dray.to_sycl(array)).flags.writeable


def test_the_offer_keeps_the_array(make):
    array = make(NUMBERS)
    gone = weakref.ref(array)
    offered = dray.to_sycl(array)
    del array
    assert dray.from_sycl(offered).tolist() == NUMBERS.tolist()
    assert gone() is not None
    del offered
    gc.collect()
    assert gone() is None


def test_dray_array_itself_has_no_interface(make):
    """dpctl and dpnp would look at it first, and refuse the memory."""
    assert not hasattr(dray.Array(make(NUMBERS)), "__sycl_usm_array_interface__")


@pytest.mark.parametrize("array, error, sentence", [
    (lambda make: NUMBERS, ValueError, "not dray's"),
    (lambda make: make(NUMBERS)[:0], ValueError, "lies in no memory"),
    (lambda make: make(np.zeros(4, "V5")).view([("x", "<i4"), ("y", "u1")])["x"],
     ValueError, r"strides\[0\] is 5 bytes"),
    (lambda make: [1], TypeError, "list")])
def test_some_arrays_cannot_be_offered(make, array, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.to_sycl(array(make))


@pytest.mark.kernel
def test_memory_of_a_device_is_offered_as_such():
    array = dray.device_empty(64, "<i4", heap="carveout")
    offered = dray.to_sycl(array)
    assert offered.kind == "device"
    assert dray.memory_kind(dray.from_sycl(offered)) == "device"


@pytest.mark.parametrize("shape, strides, is_open", [
    ((2, 2), (8, 4), True), ((2, 1, 2), (8, 77, 4), True), ((2, 3, 2), (24, 8, 4), True),
    ((2, 2), (2, 1), False), ((2, 2), (4, 8), False), ((4,), (4,), False),
    ((1, 4), (16, 4), False), ((2, 2), (4, 4), False)])
def test_strides_that_fit_bytes_only_are_refused_unless_their_unit_is_given(
        shape, strides, is_open):
    made = in_buffer(np.arange(64, dtype="<i4"), shape=shape, strides=strides)
    if is_open:
        with pytest.raises(ValueError, match="strides_in_bytes=True or False"):
            dray.from_sycl(made)
    else:
        dray.from_sycl(made)
    for unit in (1, 4):
        found = dray.from_sycl(made, strides_in_bytes=unit == 1)
        assert found.strides == tuple(each * unit for each in strides)


def test_strides_that_fit_bytes_are_elements_of_dpctl(monkeypatch):
    made = in_buffer(np.arange(64, dtype="<i4"), shape=(2, 2), strides=(8, 4))
    monkeypatch.setattr(Bytes, "__module__", "dpctl.tensor")
    assert dray.from_sycl(made).tolist() == [[0, 4], [8, 12]]


def test_type_of_one_byte_has_one_unit():
    made = in_buffer(np.arange(6, dtype="u1"), shape=(2, 3), strides=(3, 1))
    assert dray.from_sycl(made).tolist() == [[0, 1, 2], [3, 4, 5]]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The C functions of DLPack 1.3: those at dray.Array, called as a consumer in C does,
and those at other classes, which from_dlpack() calls.  Both sides are played by
ctypes here; tests/interop has real libraries."""
import ctypes
import gc
import threading

import numpy as np
import pytest

import dray
import tensors
from dray import Array, from_dlpack
from test_dlpack import owned

NAME, OLD_NAME = "__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"


@pytest.fixture
def table():
    return tensors.Table.from_address(getattr(Array, OLD_NAME))


def make(array, table):
    """The tensor that the table makes of an array."""
    out = ctypes.c_void_p()
    assert table.from_object(array, ctypes.byref(out)) == 0
    return tensors.Versioned.from_address(out.value)


def drop(managed):
    tensors.Deleter(managed.deleter)(ctypes.addressof(managed))


def test_the_table_has_both_names():
    capsule = getattr(Array, NAME)
    assert tensors.name_of(capsule) == b"dlpack_exchange_api"
    address = ctypes.pythonapi.PyCapsule_GetPointer
    assert getattr(Array, OLD_NAME) == address(capsule, b"dlpack_exchange_api")
    assert getattr(Array.zeros(3), NAME) is capsule


def test_the_table_is_that_of_1_3_and_whole(table):
    assert (table.major, table.minor, table.prev_api) == (1, 3, None)
    assert table.allocator and table.from_object and table.to_object
    assert table.borrow and table.stream


def test_a_tensor_of_the_table_keeps_the_array(table):
    array, lives = owned()
    managed = make(array.reshape(3, 4), table)
    assert (managed.major, managed.minor, managed.flags) == (1, 3, 0)
    assert managed.tensor.shape[:2] == [3, 4] and managed.tensor.strides[:2] == [4, 1]
    del array
    assert lives()
    drop(managed)
    assert not lives()


def test_a_tensor_of_the_table_tells_that_it_is_read_only(table):
    managed = make(Array.zeros(3).broadcast_to((2, 3)), table)
    assert managed.flags == tensors.READ_ONLY
    drop(managed)


@pytest.mark.parametrize("x, error, sentence", [
    (Array.zeros(3, "M8[s]"), BufferError, "no code"),
    (np.zeros(3), TypeError, "a numpy.ndarray, not a dray.Array"),
    (None, TypeError, "a NoneType, not a dray.Array"),
])
def test_the_table_refuses_an_object_without_a_tensor(table, x, error, sentence):
    out = ctypes.c_void_p(7)
    with pytest.raises(error, match=sentence):
        table.from_object(x, ctypes.byref(out))
    with pytest.raises(error, match=sentence):
        table.borrow(x, ctypes.byref(tensors.Tensor()))
    assert out.value == 7


@pytest.mark.parametrize("lay", [
    lambda a: a, lambda a: a.transpose(), lambda a: a[::2, ::-1], lambda a: a[:1, 1:2].reshape(()),
    lambda a: a[:0]])
def test_a_borrowed_tensor_lives_as_long_as_its_array(table, lay):
    arrays = [lay(Array.arange(12, dtype="i4").reshape(3, 4)) for _ in range(20)]
    borrowed = []
    for array in arrays:
        borrowed.append(tensors.Tensor())
        assert table.borrow(array, ctypes.byref(borrowed[-1])) == 0
    for array, tensor in zip(arrays, borrowed):
        assert tensor.shape[:tensor.ndim] == list(array.shape)
        assert [4 * step for step in tensor.strides[:tensor.ndim]] == list(array.strides)
        if array.size:
            assert tensor.data == array.__array_interface__["data"][0]


def test_a_read_only_array_is_not_borrowed(table):
    with pytest.raises(BufferError, match="cannot say so"):
        table.borrow(Array.zeros(3).broadcast_to((2, 3)),
                     ctypes.byref(tensors.Tensor()))


def test_the_table_makes_an_array_of_a_tensor(table):
    made, out = tensors.Made(), ctypes.py_object()
    assert table.to_object(made.address, ctypes.byref(out)) == 0
    array = out.value
    ctypes.pythonapi.Py_DecRef(out)
    del out
    assert type(array) is Array and array.tolist() == made.array.tolist()
    assert array.flags.writeable
    del array
    assert made.given_back == 1


def test_a_tensor_that_the_table_refuses_stays_the_callers(table):
    made = tensors.Made()
    made.tensor.strides = None
    with pytest.raises(BufferError, match="strides"):
        table.to_object(made.address, ctypes.byref(ctypes.py_object()))
    assert made.given_back == 0


def allocate(table, prototype):
    """A tensor, or the kind and the text of the error."""
    said = []
    out = ctypes.POINTER(tensors.Versioned)()
    tell = tensors.SetError(lambda context, kind, text: said.append(
        (context, kind.decode(), text.decode())))
    if table.allocator(ctypes.byref(prototype), ctypes.byref(out), 5, tell) == 0:
        assert not said
        return out.contents
    [(context, kind, text)] = said
    assert context == 5
    return kind, text


@pytest.mark.exact
def test_the_table_allocates_in_memory_of_the_current_handler(table):
    made, before = tensors.Made(), dray.stats().blocks
    with dray.memory():
        managed = allocate(table, made.tensor)
    assert dray.stats().blocks == before + 1
    tensor = managed.tensor
    assert tensor.shape[:2] == [3, 4] and tensor.strides[:2] == [4, 1]
    assert tensor.data % 64 == 0 and managed.flags == 0
    drop(managed)
    assert dray.stats().blocks == before


@pytest.mark.parametrize("fields, kind, sentence", [
    ({"device_type": 2}, "BufferError",
     "memory of device (2, 0): only that of the CPU, (1, 0), can be had"),
    ({"bits": 128}, "BufferError", "no type has DLPack's code 2 with 128 bits"),
    ({"ndim": -1}, "BufferError", "a view has -1 axes, 0 to 64 are possible"),
    ({"ndim": 65}, "BufferError", "a view has 65 axes, 0 to 64 are possible"),
    ({"shape": None}, "BufferError", "a view has 2 axes and no shape"),
])
def test_the_table_tells_why_it_does_not_allocate(table, fields, kind, sentence):
    made = tensors.Made()
    for name, value in fields.items():
        setattr(made.tensor, name, value)
    assert allocate(table, made.tensor) == (kind, sentence)
    made = tensors.Made()
    made.shape[0] = made.shape[1] = 1 << 40
    assert allocate(table, made.tensor)[0] == "BufferError"
    made.shape[1] = 1 << 10
    assert allocate(table, made.tensor)[0] == "MemoryError"


def test_the_table_allocates_without_the_gil(table):
    """As by a consumer that has released it."""
    allocator = ctypes.CFUNCTYPE(*[tensors.Table.Allocator._restype_,
                                   *tensors.Table.Allocator._argtypes_])(
        ctypes.cast(table.allocator, ctypes.c_void_p).value)
    made, out = tensors.Made(), ctypes.POINTER(tensors.Versioned)()
    tell = tensors.SetError(lambda *_: None)
    assert allocator(ctypes.byref(made.tensor), ctypes.byref(out), None, tell) == 0
    drop(out.contents)


def test_work_on_arrays_is_on_no_stream(table):
    for device in (1, 12):
        stream = ctypes.c_void_p(7)
        assert table.stream(device, 0, ctypes.byref(stream)) == 0
        assert stream.value is None
    with pytest.raises(BufferError, match=r"device \(2, 0\)"):
        table.stream(2, 0, ctypes.byref(ctypes.c_void_p()))


def class_with(value, name=NAME, dlpack=None):
    """A class with a table; its __dlpack__() serves if the table does not."""
    def __dlpack__(self, **_):
        if dlpack is None:
            raise AssertionError("the table was to be called")
        return dlpack()
    return type("WithTable", (), {name: value, "__dlpack__": __dlpack__})


def table_of(from_object, **fields):
    table = tensors.Table()
    table.major, table.minor = 1, 3
    table.from_object = tensors.Table.FromObject(from_object)
    for field, value in fields.items():
        setattr(table, field, value)
    return table


def gives(made):
    def from_object(_, out):
        out[0] = made.address
        return 0
    return from_object


def test_a_table_is_not_asked_for_an_older_version():
    made, unwanted = tensors.Made(), tensors.Made()
    table = table_of(gives(unwanted))
    x = class_with(ctypes.addressof(table), OLD_NAME, made.capsule)()
    assert from_dlpack(x, max_version=(1, 0))[2, 3] == 11
    assert (made.given_back, unwanted.given_back) == (1, 0)


@pytest.mark.parametrize("name, value", [
    (NAME, tensors.Table.capsule), (OLD_NAME, ctypes.addressof),
    (NAME, ctypes.addressof), (OLD_NAME, tensors.Table.capsule),
])
def test_a_producer_with_a_table_is_called_by_it(name, value):
    made = tensors.Made()
    table = table_of(gives(made))
    array = from_dlpack(class_with(value(table), name)())
    assert array.tolist() == made.array.tolist() and array.flags.writeable
    del array
    assert made.given_back == 1


def test_a_subclass_has_the_table_of_its_class():
    made = tensors.Made()
    table = table_of(gives(made))
    derived = type("Derived", (class_with(table.capsule()),), {})
    assert from_dlpack(derived(), copy=True, device="cpu")[2, 3] == 11
    assert made.given_back == 1


def test_a_table_that_a_class_gets_later_is_found():
    made, other = tensors.Made(), tensors.Made()
    late = type("Late", (), {"__dlpack__": lambda self, **_: other.capsule()})
    for _ in range(3):
        from_dlpack(late())
    assert (made.given_back, other.given_back) == (0, 3)
    setattr(late, NAME, table_of(gives(made)).capsule())
    from_dlpack(late())
    assert (made.given_back, other.given_back) == (1, 3)


def test_an_older_table_is_found_behind_one_of_a_later_version():
    made = tensors.Made()
    old = table_of(gives(made))
    new = table_of(gives(made), major=2, prev_api=ctypes.addressof(old))
    assert from_dlpack(class_with(new.capsule())())[2, 3] == 11


def on_a_gpu(made):
    made.tensor.device_type = 13


# Tables that are of no use: the values, and how often their tensor is given back.
@pytest.mark.parametrize("value, given_back", [
    (lambda made: table_of(gives(made), major=2).capsule(), 0),
    (lambda made: "a table", 0),
    (lambda made: None, 0),
    (lambda made: 0, 0),
    (lambda made: -1 << 80, 0),
    # Work on a device may go on, and is waited for by __dlpack__() only.
    (lambda made: on_a_gpu(made) or table_of(gives(made)).capsule(), 1),
])
def test_a_producer_is_called_by_its_method_if_its_table_is_of_no_use(value,
                                                                      given_back):
    made, other = tensors.Made(), tensors.Made()
    held = value(made)
    array = from_dlpack(class_with(held, dlpack=other.capsule)())
    assert array[2, 3] == 11 and made.given_back == given_back
    del array
    gc.collect()
    assert other.given_back == 1 and made.given_back == given_back


def test_an_exception_of_the_table_is_the_callers(table):
    """But for a BufferError, after which __dlpack__() is called."""
    lent = class_with(table.capsule())
    with pytest.raises(TypeError, match="a WithTable, not a dray.Array"):
        from_dlpack(lent())


def test_a_bad_tensor_of_a_table_is_given_back():
    made = tensors.Made()
    made.tensor.lanes = 3
    table = table_of(gives(made))
    with pytest.raises(BufferError, match="3 lanes"):
        from_dlpack(class_with(table.capsule())())
    assert made.given_back == 1
    made.managed.major = 9
    with pytest.raises(BufferError, match="DLPack 9.3"):
        from_dlpack(class_with(table.capsule())())
    assert made.given_back == 2


def gives_nothing(_, out):
    out[0] = None
    return 0


@pytest.mark.parametrize("function", [None, lambda *_: -1, gives_nothing],
                         ids=["none", "no exception", "no tensor"])
def test_a_table_without_a_tensor_is_passed_over(function):
    table = tensors.Table(major=1, minor=3)
    if function:
        table.from_object = tensors.Table.FromObject(function)
    there = np.arange(3.)
    array = from_dlpack(class_with(table.capsule(), dlpack=there.__dlpack__)())
    assert array.tolist() == [0, 1, 2]


def test_a_class_may_change_its_bases_while_it_is_searched():
    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            if found.__bases__ == (First,):
                found.__bases__ = (Second,)
                gc.collect()
            return False
    First, Second = type("First", (), {}), type("Second", (), {})
    found = type("Found", (First,), {Name(NAME): 5})
    with pytest.raises(TypeError, match=r"does not have __dlpack__\(\)"):
        from_dlpack(found())
    assert found.__bases__ == (Second,)


def test_threads_pass_one_array_on_by_the_table(table):
    array, wrong = Array.arange(12).reshape(3, 4), []
    start = threading.Barrier(4)

    def work():
        start.wait()
        for _ in range(300):
            managed, borrowed = make(array, table), tensors.Tensor()
            table.borrow(array, ctypes.byref(borrowed))
            if managed.tensor.strides[:2] != borrowed.strides[:2]:
                wrong.append(borrowed.strides[:2])
            drop(managed)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

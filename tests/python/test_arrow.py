# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays in Arrow's capsules, both ways.  Suite interop does it with pyarrow,
nanoarrow, pandas and Polars."""
import errno
import gc
import threading
import weakref

import numpy as np
import pytest

import dray
from dray import Array
from arrow_structs import (RELEASE_ARRAY, ArrayStructure, DeviceArray, Pieces, Producer,
                           Schema, capsule, read)

ZERO_COPY = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "V3",
             "M8[s]", "M8[ns]", "m8[ms]", "m8[us]"]


def address(array):
    return np.asarray(array).__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", ZERO_COPY)
@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 1, 3), (0,), (0, 3), (3, 0)], ids=str)
def test_an_array_comes_back_without_a_copy(dtype, shape):
    there = Array(np.zeros(shape, dtype))
    here = dray.from_arrow(there, copy=False)
    assert here.shape == there.shape and here.dtype == there.dtype
    assert there.size == 0 or address(here) == address(there)
    assert here.flags.immutable and not np.asarray(here).flags.writeable


@pytest.mark.parametrize("dtype", ["?", ">i4", "M8[D]"])
def test_a_copy_is_made_where_the_layout_differs(dtype):
    there = np.arange(10).astype(dtype)
    with pytest.raises(ValueError, match="take a copy, which is not allowed"):
        Array(there).__arrow_c_array__()
    with pytest.raises(ValueError, match="take a copy"):
        dray.to_arrow(there, copy=False).__arrow_c_array__()
    here = dray.from_arrow(dray.to_arrow(there))
    np.testing.assert_array_equal(np.asarray(here), there)


def test_gaps_take_a_copy():
    there = np.arange(24).reshape(4, 6)[::2, ::-1]
    with pytest.raises(ValueError, match="one after the other"):
        dray.to_arrow(there, copy=False).__arrow_c_array__()
    np.testing.assert_array_equal(np.asarray(dray.from_arrow(dray.to_arrow(there))), there)


def test_copy_true_copies_always():
    there = np.arange(4)
    sent = dray.to_arrow(there, copy=True)
    assert address(sent.array) != address(there)
    here = dray.from_arrow(Array(there), copy=True)
    assert address(here) != address(there) and np.asarray(here).flags.writeable


def test_a_masked_array_keeps_its_mask():
    masked = np.ma.masked_where(np.arange(12) % 5 == 0, np.arange(12)).reshape(3, 4)
    sent = dray.to_arrow(masked)
    assert repr(sent) == f"<dray.ArrowArray of {masked.dtype}, shape (3, 4), with a mask>"
    assert len(sent) == 3
    with pytest.raises(ValueError, match="3 of 12 elements are null"):
        dray.from_arrow(sent)
    values, mask = dray.from_arrow(sent, mask=True)
    assert address(values) == address(masked.data)
    np.testing.assert_array_equal(np.asarray(mask), masked.mask)
    assert dray.from_arrow(dray.to_arrow(np.ma.array([1])), mask=True)[1] is None


def test_masked_fields_keep_their_masks():
    masked = np.ma.zeros(3, [("a", "<i4"), ("b", "<f8", (2,)), ("c", [("d", "?")])])
    masked["a"][1] = np.ma.masked
    masked["b"][2, 1] = np.ma.masked
    masked["c"]["d"][0] = np.ma.masked
    values, mask = dray.from_arrow(dray.to_arrow(masked), mask=True)
    np.testing.assert_array_equal(np.asarray(values), masked.data)
    np.testing.assert_array_equal(np.asarray(mask), masked.mask)


def test_a_mask_of_another_shape_or_type_is_refused():
    with pytest.raises(ValueError, match="another shape"):
        dray.to_arrow(np.arange(3), [True]).__arrow_c_array__()
    with pytest.raises(ValueError, match="a mask has bools"):
        dray.to_arrow(np.arange(3), [0, 1, 0]).__arrow_c_array__()


def test_nat_is_a_null():
    there = np.array(["2020-01-01", "NaT"], "M8[s]")
    values, mask = dray.from_arrow(Array(there), mask=True)
    assert np.asarray(mask).tolist() == [False, True]
    assert address(values) == address(there)


def test_fields_are_arrays_of_their_own_or_one():
    there = np.array([(1, [2, 3]), (4, [5, 6])], [("a", "i4"), ("b", "f8", (2,))])
    sent = dray.to_arrow(there)
    fields = dray.from_arrow(sent, fields=True, copy=False)
    assert list(fields) == ["a", "b"]
    assert fields["b"].tolist() == [[2, 3], [5, 6]]
    with pytest.raises(ValueError, match="lie apart"):
        dray.from_arrow(sent, copy=False)
    np.testing.assert_array_equal(np.asarray(dray.from_arrow(sent)), there)
    with pytest.raises(ValueError, match="not a structure"):
        dray.from_arrow(Array(np.arange(3)), fields=True)


@pytest.mark.parametrize("dtype", ["U3", "M8[h]", "m8[Y]", "S0,U2"])
def test_a_type_that_arrow_lacks_is_a_type_error(dtype):
    with pytest.raises(TypeError, match="Arrow has no fixed-size type"):
        dray.to_arrow(np.zeros(2, dtype)).__arrow_c_array__()
    with pytest.raises(TypeError, match="Arrow has no fixed-size type"):
        Array(np.zeros(2, dtype)).__arrow_c_schema__()


def test_one_element_without_an_axis_is_refused():
    with pytest.raises(ValueError, match="an array of 0 axes"):
        Array(np.zeros(())).__arrow_c_array__()


def test_the_structures_are_as_published():
    there = Array(np.arange(6, dtype="<f4").reshape(2, 3))
    schema_capsule, array_capsule = there.__arrow_c_array__()
    schema = read(schema_capsule, b"arrow_schema", Schema)
    array = read(array_capsule, b"arrow_array", ArrayStructure)
    assert (schema.format, schema.name, schema.flags, schema.n_children) == (b"+w:3", b"", 2, 1)
    assert schema.children[0].contents.format == b"f"
    assert (array.length, array.null_count, array.offset) == (2, 0, 0)
    assert (array.n_buffers, array.n_children) == (1, 1)
    child = array.children[0].contents
    assert (child.length, child.n_buffers) == (6, 2)
    assert child.buffers[0] is None and child.buffers[1] == address(there)
    _, device_capsule = there.__arrow_c_device_array__()
    device = read(device_capsule, b"arrow_device_array", DeviceArray)
    assert (device.device_type, device.device_id, device.sync_event) == (1, -1, None)
    assert list(device.reserved) == [0, 0, 0]


def test_consumers_may_ask_for_a_type_and_for_nothing_unknown():
    there = Array(np.arange(3))
    schema = there.__arrow_c_schema__()
    for one in there, dray.to_arrow(there):
        assert len(one.__arrow_c_array__(schema)) == 2
        assert len(one.__arrow_c_array__(requested_schema=None)) == 2
        assert len(one.__arrow_c_device_array__(schema)) == 2
        assert len(one.__arrow_c_device_array__(requested_schema=schema, later=None)) == 2
        with pytest.raises(NotImplementedError, match="has no argument 'later'"):
            one.__arrow_c_device_array__(later=1)
        with pytest.raises(TypeError, match='not a capsule "arrow_schema"'):
            one.__arrow_c_array__(3)


def test_a_capsule_that_nobody_takes_gives_the_array_back():
    there = np.arange(100)
    alive = weakref.ref(there)
    capsules = Array(there).__arrow_c_array__(), Array(there).__arrow_c_device_array__()
    del there
    gc.collect()
    assert alive() is not None
    del capsules
    gc.collect()
    assert alive() is None


def test_the_consumer_keeps_the_producers_array():
    there = np.arange(100)
    alive = weakref.ref(there)
    here = dray.from_arrow(dray.to_arrow(there[10:20]))
    del there
    gc.collect()
    assert here[3].item() == 13 and alive() is not None
    slice_ = here[2:]
    del here
    gc.collect()
    assert alive() is not None
    del slice_
    gc.collect()
    assert alive() is None


def test_a_capsule_is_taken_once():
    pair = Array(np.arange(3)).__arrow_c_array__()
    assert dray.from_arrow(pair).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="the array of Arrow was released"):
        dray.from_arrow(pair)


def test_another_thread_may_drop_the_last_array():
    there = np.arange(100)
    alive = weakref.ref(there)
    arrays = [dray.from_arrow(Array(there))]
    del there
    thread = threading.Thread(target=arrays.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


def test_an_array_outlives_the_pool_of_its_memory():
    with dray.memory():
        there = Array.zeros((1000,), "i4")
    here = dray.from_arrow(there)
    del there
    gc.collect()
    assert np.asarray(here).sum() == 0


def test_copies_of_an_import_lie_in_dray_memory_inside_of_a_scope(handler):
    sent = dray.to_arrow(np.array([True, False]), [False, True])
    with dray.memory():
        values, mask = dray.from_arrow(sent, mask=True)
    assert values.handler_name == mask.handler_name == handler


def test_an_export_waits_for_transfers():
    with dray.memory():
        source, target = np.ones((1000, 1000)), np.zeros((1000, 1000))
    fence = dray.copy(target, source, wait=False)
    here = dray.from_arrow(dray.to_arrow(target))
    assert fence.done and np.asarray(here).all()


def test_foreign_arrays_are_released_once():
    numbers = np.arange(5, dtype="i8")
    producer = Producer(b"l", numbers, offset=1)
    here = dray.from_arrow(producer)
    assert here.tolist() == [1, 2, 3, 4]
    assert address(here) == numbers.ctypes.data + 8
    assert producer.released == {"schema": 0, "array": 0}
    del here
    gc.collect()
    assert producer.released["array"] == 1


def test_foreign_bits_are_a_mask():
    bits = np.array([0b10110], "u1")
    producer = Producer(b"i", np.arange(5, dtype="i4"), offset=1, nulls=-1, bits=bits)
    values, mask = dray.from_arrow(producer, mask=True)
    assert values.tolist() == [1, 2, 3, 4]
    assert mask.tolist() == [False, False, True, False]


def test_foreign_lists_start_at_their_offset():
    child = Producer(b"s", np.arange(10, dtype="i2"), offset=2)
    producer = Producer(b"+w:2", None, length=2, offset=1, children=[child])
    assert dray.from_arrow(producer).tolist() == [[4, 5], [6, 7]]


@pytest.mark.parametrize("change, error, match", [
    ({"length": -1}, ValueError, "length of -1"),
    ({"offset": -1}, ValueError, "offset of -1"),
    ({"null_count": -2}, ValueError, "-2 nulls"),
    ({"null_count": 1}, ValueError, "no bits"),
    ({"length": 2**62}, ValueError, "address space"),
    ({"offset": 2**63 - 1}, ValueError, "63 bits"),
    ({"n_buffers": 1}, ValueError, "1 buffers, not 2"),
    ({"n_buffers": 3}, ValueError, "3 buffers, not 2"),
    ({"n_children": 1}, ValueError, "1 children, not 0"),
    ({"buffers": None}, ValueError, "lacks its buffers"),
    ({"release": None}, ValueError, "was released"),
], ids=str)
def test_numbers_of_a_producer_are_checked(change, error, match):
    producer = Producer(b"l", np.arange(3))
    for name, value in change.items():
        kind = dict(ArrayStructure._fields_)[name]
        setattr(producer.array, name, kind() if value is None else value)
    with pytest.raises(error, match=match):
        dray.from_arrow(producer)
    assert producer.released["array"] == 0


@pytest.mark.parametrize("format_, error", [
    (b"u", TypeError), (b"z", TypeError), (b"+l", TypeError), (b"+m", TypeError),
    (b"+ud:0,1", TypeError), (b"+r", TypeError), (b"n", TypeError), (b"d:5,2", TypeError),
    (b"tiM", TypeError), (b"vu", TypeError), (b"", ValueError), (b"ll", ValueError),
    (b"w:", ValueError), (b"w:-1", ValueError), (b"w:99999999999", ValueError),
    (b"+w:x", ValueError), (b"+", ValueError), (b"tss", ValueError), (b"\xff%s%n", ValueError),
])
def test_formats_of_a_producer_are_checked(format_, error):
    with pytest.raises(error):
        dray.from_arrow(Producer(format_, np.arange(3)))


def test_other_devices_and_events_are_refused():
    there = Array(np.arange(3))
    for name, value, match in [("device_type", 2, "type 2"), ("sync_event", 8, "sync_event")]:
        pair = there.__arrow_c_device_array__()
        setattr(read(pair[1], b"arrow_device_array", DeviceArray), name, value)
        with pytest.raises(TypeError, match=match):
            dray.from_arrow(pair)


def test_capsules_of_other_names_are_refused():
    schema, array = Array(np.arange(3)).__arrow_c_array__()
    for pair in [(array, array), (schema, schema), (1, array), (schema, None)]:
        with pytest.raises(TypeError, match="is not a capsule"):
            dray.from_arrow(pair)
    with pytest.raises(TypeError, match="a list has none of"):
        dray.from_arrow([1, 2])


def test_a_stream_in_one_piece_is_an_array():
    producer = Producer(b"l", np.arange(3))
    assert dray.from_arrow(Pieces(producer)).tolist() == [0, 1, 2]


def test_a_stream_in_pieces_or_without_any_is_refused():
    producers = [Producer(b"l", np.arange(3)) for _ in range(2)]
    with pytest.raises(ValueError, match="more than one array"):
        dray.from_arrow(Pieces(*producers))
    assert [each.released["array"] for each in producers] == [1, 1]
    with pytest.raises(ValueError, match="no array"):
        dray.from_arrow(Pieces())


def test_the_sentence_is_not_one_of_calls_that_a_producer_makes():
    def release(array):
        array.contents.release = RELEASE_ARRAY()
        with pytest.raises(ValueError, match="is not a format"):
            dray.from_arrow(Producer(b"other", np.arange(3)))
    producers = [Producer(b"l", np.arange(3)) for _ in range(2)]
    for each in producers:
        each.array.release = RELEASE_ARRAY(release)
    with pytest.raises(ValueError, match="more than one array"):
        dray.from_arrow(Pieces(*producers))


def test_the_error_of_a_stream_is_passed_on():
    with pytest.raises(OSError, match="the disk is full") as caught:
        dray.from_arrow(Pieces(error=errno.ENOSPC))
    assert caught.value.errno == errno.ENOSPC


def test_fields_of_one_name_are_refused():
    children = [Producer(b"l", np.arange(3)) for _ in range(2)]
    producer = Producer(b"+s", None, length=3, children=children)
    with pytest.raises(ValueError, match="the same name"):
        dray.from_arrow(producer, fields=True)
    gc.collect()
    assert producer.released["array"] == 1


def test_an_array_may_release_its_schema():
    children = [Producer(b"l", np.arange(3)), Producer(b"g", np.arange(3.))]
    children[0].schema.name, children[1].schema.name = b"a", b"b"
    producer = Producer(b"+s", None, length=3, children=children)

    def release(array):
        array.contents.release = RELEASE_ARRAY()
        producer.schema.children[0] = None
        producer.schema.release(producer.schema)
    producer.array.release = RELEASE_ARRAY(release)
    fields = dray.from_arrow(producer, fields=True, copy=True)
    assert list(fields) == ["a", "b"] and fields["b"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="schema of Arrow was released"):
        dray._dray.arrow_names(producer.capsules()[0])


@pytest.mark.parametrize("returned", [5, (1, 2, 3), None])
def test_a_method_that_returns_no_pair_is_named(returned):
    class Odd:
        def __arrow_c_array__(self):
            return returned
    with pytest.raises(TypeError, match=r"__arrow_c_array__\(\) of an Odd returned"):
        dray.from_arrow(Odd())


@pytest.mark.parametrize("fields", [5, "xyz", [1, 2, 3], [b"x", "y", "z"]])
def test_columns_are_named_by_a_list_of_strings(fields):
    with pytest.raises(TypeError, match="fields= is a list of names"):
        dray.to_arrow(Array(np.zeros((2, 3))), fields=fields)

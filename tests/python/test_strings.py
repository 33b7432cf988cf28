# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Strings: text and bytes of any length.  Suite interop passes them to pyarrow,
nanoarrow, pandas and Polars."""
import copy
import ctypes
import gc
import operator
import pickle
import random
import threading

import numpy as np
import pytest

import dray
from dray import Strings
from arrow_structs import ArrayStructure, Pieces, Producer, Schema, capsule, read

TEXTS = ["b", "é", None, "a\0b", "", "b", "\U0001f600", None]
BYTES = [None if text is None else text.encode() for text in TEXTS]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.mark.parametrize("items", [
    TEXTS, BYTES, [], ["", ""], [b""], [None], [None, "a"], ["a" * 100000]],
    ids=lambda items: repr(items)[:20])
def test_items_come_back(items):
    strings = Strings(items)
    assert strings.tolist() == list(strings) == items
    assert len(strings) == len(items)
    assert Strings(iter(items)).tolist() == items
    assert [strings[i] for i in range(-len(items), len(items))] == items + items
    assert strings.is_text == (bytes not in map(type, items))
    for same in strings.copy(), copy.copy(strings), pickle.loads(pickle.dumps(strings)):
        assert same.tolist() == items and same.is_text == strings.is_text


@pytest.mark.parametrize("items, error, match", [
    ("text", TypeError, "a str is a single string: pass a list with it"),
    (b"text", TypeError, "a bytes is a single string"),
    (3, TypeError, "not iterable"),
    ([1], TypeError, "string 0 is an int, not a str or None"),
    (["a", b"b"], TypeError, "string 1 is a bytes, not a str or None"),
    ([None, b"b", "a"], TypeError, "string 2 is a str, not bytes or None"),
    (["a", bytearray(b"b")], TypeError, "string 1 is a bytearray"),
    (["a", "\udc80"], UnicodeEncodeError, "surrogates not allowed"),
    (np.array([["a"]]), ValueError, "the array has 2: reshape it by ravel"),
    (np.array("a"), ValueError, "the array has 0"),
    (np.arange(3), TypeError, "not of int64"),
    (np.array([1.5], object), TypeError, "string 0 is a float"),
], ids=repr)
def test_other_items_are_refused(items, error, match):
    with pytest.raises(error, match=match):
        Strings(items)


@pytest.mark.parametrize("array", [
    np.array(["a", "bcé", ""]), np.array([b"a", b"bc", b""]), np.array(TEXTS, object),
    np.array(["a", "b", "c", "d"])[::-2], np.array([], "U3"), np.array(["a"], ">U2"),
], ids=repr)
def test_arrays_of_numpy_are_strings(array):
    strings = Strings(array)
    assert strings.tolist() == array.tolist()
    back = strings.numpy()
    assert back.dtype == object and back.tolist() == array.tolist()
    assert Strings(dray.Array(array)).tolist() == array.tolist() if array.dtype != object else True


@pytest.mark.skipif(not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"),
                    reason="this NumPy has no strings of variable length")
def test_numpys_strings_of_variable_length_pass_both_ways():
    for missing in None, np.nan, "gone":
        array = np.array(["a", missing, "b" * 50], np.dtypes.StringDType(na_object=missing))
        assert Strings(array).tolist() == ["a", None, "b" * 50]
    plain = np.array(["a", "é" * 40], np.dtypes.StringDType())
    strings = Strings(plain)
    assert strings.tolist() == plain.tolist()
    np.testing.assert_array_equal(strings.numpy(np.dtypes.StringDType()), plain)


def test_numpy_gets_the_dtype_that_it_asks_for():
    assert np.asarray(Strings(TEXTS)).tolist() == TEXTS
    array = Strings(["a", "bcd"]).numpy("U")
    assert array.dtype == "U3" and array.tolist() == ["a", "bcd"]
    assert np.array(Strings([b"a", b"bcd"]), "S").dtype == "S3"
    with pytest.raises(ValueError, match="string 2 is null, for which <U0 has no value"):
        Strings(TEXTS).numpy("U")
    with pytest.raises(ValueError, match="copy=False"):
        Strings(["a"]).__array__(copy=False)


def test_errors_say_how_text_is_encoded_and_decoded():
    strings = Strings(["\udc80", "a"], errors="surrogateescape")
    assert strings.tolist() == ["\udc80", "a"]
    assert strings[:1].tolist() == strings[[0]].tolist() == ["\udc80"]
    assert (strings == ["\udc80", "b"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="string 0 is not UTF-8"):
        strings.__arrow_c_array__()
    assert Strings(["\udc80"], errors="replace").tolist() == ["?"]
    with pytest.raises(LookupError):
        Strings(["\udc80"], errors="no such way")
    wrong = Producer(b"u", np.array([0, 1], "i4"), length=1, data=np.array([0x80], "u1"))
    strings = Strings.from_arrow(wrong)
    with pytest.raises(UnicodeDecodeError):
        strings[0]
    with pytest.raises(UnicodeDecodeError):
        strings.tolist()
    wrong = Producer(b"u", np.array([0, 1], "i4"), length=1, data=np.array([0x80], "u1"))
    assert Strings.from_arrow(wrong, errors="replace").tolist() == ["\ufffd"]


@pytest.mark.parametrize("index", [
    slice(None), slice(1, 4), slice(None, None, -1), slice(-2, None), slice(5, 1, -2), slice(9, 20),
    slice(3, 3), slice(None, None, 3), slice(-1, None, -3), slice(10**30, -10**30, -10**30),
], ids=str)
def test_slices_are_pythons(index):
    strings = Strings(TEXTS)
    assert strings[index].tolist() == TEXTS[index]
    assert strings[::-1][index].tolist() == TEXTS[::-1][index]


@pytest.mark.parametrize("index", [
    [0, 2, -1, 0], np.array([3, 1], "u1"), np.array([], "i4"), [], np.array([7, 0], ">i2"),
    np.arange(8)[::-2], [True, False] * 4, np.zeros(8, bool), np.array([1], "u8"),
], ids=repr)
def test_arrays_choose_strings(index):
    values = np.array(TEXTS, object)
    expected = values[np.asarray(index, int) if isinstance(index, list) and not index
                      else index].tolist()
    assert Strings(TEXTS)[index].tolist() == expected
    if len(index):
        assert Strings(TEXTS)[dray.Array(np.asarray(index))].tolist() == expected


@pytest.mark.parametrize("index, match", [
    (8, "index 8 is out of bounds for 8 strings"), (-9, "index -9"), ([0, 8], "index 8 is"),
    ([-9], "index -9 is"), (np.array([2**64 - 1], "u8"), "9223372036854775807 is out of bounds"),
    ([True], "1 bools are not for 8 strings"), ([1.0], "of float64"), ([[0]], "with 2 axes"),
    ("a", "by a str"), (None, "object"), ((1, 2, 3, 9), "index 9"),
], ids=repr)
def test_an_index_that_leads_nowhere_is_an_index_error(index, match):
    with pytest.raises(IndexError, match=match):
        Strings(TEXTS)[index]


def test_an_index_may_be_a_number_of_numpy():
    strings = Strings(TEXTS)
    assert strings[np.int8(-5)] == strings[np.array(3)] == TEXTS[3]
    with pytest.raises(ValueError, match="zero"):
        strings[::0]
    with pytest.raises(TypeError):
        strings["a":]
    with pytest.raises(TypeError):
        strings[0] = "a"


def order(text):
    """Bytes, and nulls behind them."""
    return (text is None, b"" if text is None else text)


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda compare: compare.__name__)
def test_comparisons_are_those_of_bytes(compare):
    strings, others = Strings(BYTES), BYTES[3:] + BYTES[:3]
    expected = [compare(order(a), order(b)) for a, b in zip(BYTES, others)]
    for other in Strings(others), others, tuple(others), np.array(others, object):
        result = compare(strings, other)
        assert type(result) is dray.Array and result.dtype == bool
        assert result.tolist() == expected
    swapped = [compare(order(b), order(a)) for a, b in zip(BYTES, others)]
    assert compare(np.array(others, object), strings).tolist() == swapped
    for one in BYTES:
        expected = [compare(order(a), order(one)) for a in BYTES]
        assert compare(strings, one).tolist() == expected
        assert compare(strings, [one]).tolist() == expected
        if one is not None:
            assert compare(Strings(TEXTS), one.decode()).tolist() == expected


def test_lengths_and_kinds_are_compared_too():
    strings = Strings(["a", "b", "c"])
    with pytest.raises(ValueError, match="3 strings are compared with 2"):
        strings == ["a", "b"]
    with pytest.raises(TypeError, match="text is not compared with bytes"):
        strings == b"a"
    with pytest.raises(TypeError, match="text is not compared with bytes"):
        strings < Strings([b"a"])
    assert (strings[:0] == "a").tolist() == (strings[:1] == []).tolist() == []
    assert strings.__eq__(3) is NotImplemented
    with pytest.raises(TypeError, match="'<' not supported"):
        strings < 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(strings)
    with pytest.raises(TypeError):
        np.add(strings, "a")
    # Nulls alone are of either kind.
    assert (Strings([b"a", None]) == [None, None]).tolist() == [False, True]
    assert (strings == None).tolist() == [False] * 3  # noqa: E711


def test_a_sort_is_stable():
    strings = Strings(TEXTS)
    expected = sorted(range(len(BYTES)), key=lambda i: order(BYTES[i]))
    assert strings.argsort().dtype == np.int64
    assert strings.argsort().tolist() == expected
    assert strings.sort().tolist() == [TEXTS[i] for i in expected]
    assert strings.tolist() == TEXTS
    assert strings[::-1].sort().tolist() == strings.sort().tolist()
    assert Strings([]).argsort().tolist() == Strings([]).sort().tolist() == []


def test_random_strings_are_sorted_as_pythons():
    dice = random.Random(4)
    items = [bytes(dice.choices(b"\0ab\xff", k=dice.randrange(5))) for _ in range(2000)]
    assert Strings(items).sort().tolist() == sorted(items)
    assert Strings(items).argsort().tolist() == sorted(range(2000), key=items.__getitem__)


def test_a_repr_is_short():
    assert repr(Strings(["a", None])) == "dray.Strings(['a', None])"
    assert repr(Strings([b"a"])) == "dray.Strings([b'a'])"
    assert repr(Strings(map(str, range(1000)))) == (
        "dray.Strings(['0', '1', '2', ..., '997', '998', '999']: 1000 strings)")


def held(make):
    """Blocks of the scope's pool that a result keeps, while it is there and afterwards."""
    with dray.memory() as pool:
        gc.collect()
        before = pool.stats().blocks
        kept = make()
        with_it = pool.stats().blocks - before
        del kept
        gc.collect()
        return with_it, pool.stats().blocks - before


@pytest.mark.exact
@pytest.mark.parametrize("make", [
    lambda: Strings(TEXTS), lambda: Strings(BYTES).copy(), lambda: Strings(TEXTS)[1:],
    lambda: Strings(TEXTS)[1:][::-1], lambda: Strings(TEXTS)[[1, 2]], lambda: Strings(TEXTS).sort(),
    lambda: Strings(TEXTS) == "a", lambda: Strings(TEXTS).argsort(),
    lambda: Strings(TEXTS).__arrow_c_array__(), lambda: Strings.from_arrow(Strings(TEXTS)),
], ids=range(10))
def test_all_lies_in_the_memory_of_the_scope(make):
    assert held(make) == (1, 0)


@pytest.mark.exact
def test_a_list_stays_pythons():
    assert held(lambda: Strings(TEXTS).tolist()) == (0, 0)
    assert held(lambda: Strings(TEXTS).numpy().tolist()) == (0, 0)


def strings_of(format_, ends, data, **more):
    width = "i8" if format_ in (b"U", b"Z") else "i4"
    return Producer(format_, np.array(ends, width), length=len(ends) - 1 - more.get("offset", 0),
                    data=np.frombuffer(data, "u1"), **more)


@pytest.mark.parametrize("format_", [b"u", b"U", b"z", b"Z"])
def test_strings_of_a_producer_stay_in_place(format_):
    bits = np.array([0b10110], "u1")
    producer = strings_of(format_, [0, 1, 3, 3, 3, 6], b"abcd\0f", offset=1, nulls=-1, bits=bits)
    strings = Strings.from_arrow(producer)
    assert strings.is_text == (format_ in b"uU")
    assert strings.tolist() == (["bc", "", None, "d\0f"] if strings.is_text
                                else [b"bc", b"", None, b"d\0f"])
    part = strings[1:]
    # Its consumer gets the same bytes.
    _, array = part.__arrow_c_array__()
    given = read(array, b"arrow_array", ArrayStructure)
    assert given.buffers[2] == producer.keep[3].ctypes.data + 3
    assert given.null_count == 1 and given.offset == 0 and given.length == 3
    del strings, part
    gc.collect()
    assert producer.released["array"] == 0
    thread = threading.Thread(target=lambda: given.release(ctypes.byref(given)))
    thread.start()
    thread.join()
    gc.collect()
    assert producer.released == {"schema": 0, "array": 1}


@pytest.mark.parametrize("ends, change, error, match", [
    ([0, 2, 1, 3], {}, ValueError, "string 1 of Arrow begins at 2 and ends at 1"),
    ([0, 4, 2, 3], {}, ValueError, "ends at 4; offsets must not decrease, the last is 3"),
    ([-1, 0, 1, 2], {}, ValueError, "from -1 to 2"),
    ([0, 1, 2, -3], {}, ValueError, "from 0 to -3"),
    ([0, 1, 2, 3], {"length": -1}, ValueError, "length of -1"),
    ([0, 1, 2, 3], {"offset": 2**63 - 1}, ValueError, "63 bits"),
    ([0, 1, 2, 3], {"length": 2**62}, ValueError, "address space"),
    ([0, 1, 2, 3], {"null_count": 1}, ValueError, "no bits"),
    ([0, 1, 2, 3], {"n_buffers": 2}, ValueError, "2 buffers, not 3"),
    ([0, 1, 2, 3], {"release": None}, ValueError, "was released"),
], ids=str)
def test_numbers_of_a_producer_are_checked(ends, change, error, match):
    producer = strings_of(b"u", ends, b"abc")
    for name, value in change.items():
        kind = dict(ArrayStructure._fields_)[name]
        setattr(producer.array, name, kind() if value is None else value)
    with pytest.raises(error, match=match):
        Strings.from_arrow(producer)
    assert producer.released["array"] == 0


def test_other_producers_are_refused():
    with pytest.raises(TypeError, match="\"l\" is not a format of strings"):
        Strings.from_arrow(dray.Array(np.arange(3)))
    with pytest.raises(TypeError, match="a list has none of"):
        Strings.from_arrow(["a"])
    schema, array = Strings(["a"]).__arrow_c_array__()
    with pytest.raises(TypeError, match="is not a capsule"):
        Strings.from_arrow((array, schema))
    assert Strings.from_arrow((schema, array)).tolist() == ["a"]
    # They are used up.
    with pytest.raises(ValueError, match="was released"):
        Strings.from_arrow((schema, array))
    pieces = [strings_of(b"u", [0, 1], b"a") for _ in range(2)]
    assert Strings.from_arrow(Pieces(pieces[0])).tolist() == ["a"]
    with pytest.raises(ValueError, match="combine its pieces"):
        Strings.from_arrow(Pieces(*pieces))
    with pytest.raises(TypeError, match="text"):
        dray.from_arrow(Strings(["a"]))


def test_a_consumer_may_ask_for_a_format():
    strings = Strings(["a", "é"])
    for asked, given in (b"U", b"U"), (b"u", b"u"), (b"z", b"z"), (b"l", b"u"), (b"vu", b"u"):
        wish = Schema(format=asked, release=Producer(b"l", np.zeros(1)).schema.release)
        schema, _ = strings.__arrow_c_array__(capsule(wish, b"arrow_schema"))
        assert read(schema, b"arrow_schema", Schema).format == given
    with pytest.raises(TypeError, match="requested_schema is an int"):
        strings.__arrow_c_array__(3)
    assert read(strings.__arrow_c_schema__(), b"arrow_schema", Schema).format == b"u"
    assert read(Strings([b"a"]).__arrow_c_schema__(), b"arrow_schema", Schema).format == b"z"


@pytest.mark.parametrize("items", [TEXTS, BYTES, [], [None, None], ["", ""]], ids=str)
@pytest.mark.parametrize("index", [slice(None), slice(1, None), slice(None, None, -1), slice(0, 0)],
                         ids=str)
def test_strings_come_back_from_arrow(items, index):
    strings = Strings(items)[index]
    back = Strings.from_arrow(strings)
    assert back.tolist() == items[index]
    assert (back == strings).tolist() == [True] * len(strings)


def test_a_released_array_is_not_released_again():
    _, array = Strings(TEXTS).__arrow_c_array__()
    given = read(array, b"arrow_array", ArrayStructure)
    given.release(ctypes.byref(given))
    assert not given.release


def test_threads_read_the_same_strings():
    strings, results = Strings([str(i % 100) for i in range(5000)]), []

    def work():
        results.append((strings.sort().tolist(), (strings == "7").tolist().count(True)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(sorted(str(i % 100) for i in range(5000)), 50)] * 4

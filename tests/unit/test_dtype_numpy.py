# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Types that NumPy makes mean the same to the library in DRAY_BUILD: their texts, their
layouts, and back."""

import ast
import ctypes
import itertools
import os
import random

import pytest

np = pytest.importorskip("numpy")
describe = np.lib.format.dtype_to_descr

library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
library.dray_last_error.restype = ctypes.c_char_p
library.dray_dtype_base.restype = ctypes.c_uint64
library.dray_dtype_field_count.restype = ctypes.c_size_t
library.dray_dtype_equal.restype = ctypes.c_bool
library.dray_dtype_alignment.restype = ctypes.c_uint32


class Object(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint32), ("type", ctypes.c_uint32),
                ("itemsize", ctypes.c_uint32), ("alignment", ctypes.c_uint32)]


class Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("title", ctypes.c_char_p),
                ("dtype", ctypes.c_uint64), ("offset", ctypes.c_uint32)]


def parse(text):
    dtype = ctypes.c_uint64()
    assert library.dray_dtype_parse(text.encode(), ctypes.byref(dtype)) == 0, (
        text, library.dray_last_error())
    return dtype


def written(function, dtype):
    length = function(dtype, None, ctypes.c_size_t(0))
    assert length >= 0, (dtype, library.dray_last_error())
    out = ctypes.create_string_buffer(length + 1)
    assert function(dtype, out, ctypes.c_size_t(length + 1)) == length
    return out.value.decode()


def text_of(dtype):
    return written(library.dray_dtype_format, dtype)


def itemsize(dtype):
    if dtype.value & 7:
        return dtype.value >> 32
    return Object.from_address(dtype.value).itemsize


def drop(dtype):
    if not dtype.value & 7:
        block = Object.from_address(dtype.value)
        if block.count == 1:
            library.dray_block_free(ctypes.c_void_p(dtype.value))
        else:
            block.count -= 1


def numpys(text):
    """NumPy's type of a text that the library wrote."""
    if text[0] not in "[{(":
        return np.dtype(text)
    return from_literal(ast.literal_eval(text))


def from_literal(value):
    if isinstance(value, dict):
        formats = [from_literal(item) for item in value["formats"]]
        return np.dtype({**value, "formats": formats})
    if isinstance(value, tuple):
        return np.dtype((from_literal(value[0]), value[1]))
    if not isinstance(value, list):
        return np.dtype(value)
    spec = {"names": [], "formats": [], "offsets": [], "titles": []}
    offset = 0
    for name, kind, *shape in value:
        kind = from_literal(kind)
        if shape:
            kind = np.dtype((kind, shape[0]))
        if name != "":
            title, name = name if isinstance(name, tuple) else (None, name)
            spec["names"].append(name)
            spec["titles"].append(title)
            spec["formats"].append(kind)
            spec["offsets"].append(offset)
        offset += kind.itemsize
    return np.dtype({**spec, "itemsize": offset})


def literal_of(dtype):
    """A literal with all that NumPy knows of the type."""
    if dtype.subdtype:
        return literal_of(dtype.base), dtype.shape
    if dtype.names is None:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    return {"names": list(dtype.names), "formats": [literal_of(field[0]) for field in fields],
            "offsets": [field[1] for field in fields], "itemsize": dtype.itemsize,
            "titles": [(*field, None)[2] for field in fields],
            "aligned": dtype.isalignedstruct}


def spelled(dtype):
    literal = literal_of(dtype)
    return literal if isinstance(literal, str) else repr(literal)


def same(dtype, wanted):
    """The layout that the library's functions tell is NumPy's."""
    assert itemsize(dtype) == wanted.itemsize, wanted
    assert library.dray_dtype_alignment(dtype) == wanted.alignment, wanted
    shape = ctypes.POINTER(ctypes.c_int64)()
    ndim = library.dray_dtype_shape(dtype, ctypes.byref(shape))
    assert tuple(shape[:ndim]) == wanted.shape, wanted
    if wanted.subdtype:
        same(ctypes.c_uint64(library.dray_dtype_base(dtype)), wanted.base)
        return
    names = wanted.names or ()
    assert library.dray_dtype_field_count(dtype) == len(names), wanted
    for number, name in enumerate(names):
        field = Field()
        assert library.dray_dtype_get_field(dtype, ctypes.c_size_t(number),
                                            ctypes.byref(field)) == 0
        kind, offset, *title = wanted.fields[name]
        assert (field.name.decode(), field.offset) == (name, offset), wanted
        assert [field.title.decode()] == title if title else not field.title, wanted
        same(ctypes.c_uint64(field.dtype), kind)


SIMPLE = ["?", "i1", "u1", "<i2", ">i2", "<u4", ">i4", "<u8", ">u8", "<f2", ">f4", "<f8",
          "g", "<c8", ">c16", "G", "S0", "S9", "<U7", ">U1", "V5", "V0", "<M8", "<M8[ns]",
          ">M8[25s]", "<m8[7D]", ">m8[as]", "<M8[4095M]"]
NAMES = ["x", "y", "é", "a b", "it's", 'a"b', "back\\slash", "[", "(", "日本", "f0", "t\tab"]


def random_type(draw, depth=0, kinds=SIMPLE):
    roll = draw.random()
    if depth > 3 or roll < 0.4:
        return np.dtype(draw.choice(kinds))
    if roll < 0.55:
        base = random_type(draw, depth + 1, kinds)
        if not base.itemsize:
            return base
        shape = tuple(draw.randrange(4) for _ in range(draw.randrange(3)))
        return np.dtype((base, shape))
    names = draw.sample(NAMES, draw.randrange(5))
    formats = [random_type(draw, depth + 1, kinds) for _ in names]
    titles = [draw.choice([None, None, f"title {name}"]) for name in names]
    spec = {"names": names, "formats": formats, "titles": titles}
    aligned = draw.random() < 0.3
    if draw.random() < 0.5:
        spec["offsets"] = [draw.randrange(6) * (kind.alignment if aligned else 1)
                           for kind in formats]
        if draw.random() < 0.5 and not aligned:
            spec["offsets"].sort()
    if not names:
        return np.dtype([])
    made = np.dtype(spec, align=aligned)
    if draw.random() < 0.3:
        spec["itemsize"] = made.itemsize + draw.randrange(3) * made.alignment
        made = np.dtype(spec, align=aligned)
    return made


def test_random_types_are_numpys():
    draw = random.Random(2207)
    forms = set()
    for _ in range(4000):
        wanted = random_type(draw)
        dtype = parse(spelled(wanted))
        same(dtype, wanted)
        back = text_of(dtype)
        forms.add(back[0])
        again = parse(back)
        same(again, wanted)
        assert library.dray_dtype_equal(dtype, again), back
        assert text_of(again) == back
        theirs = numpys(back)
        assert theirs == wanted and theirs.alignment == wanted.alignment, back
        drop(again)
        drop(dtype)
    assert set("[{(") < forms


def test_descriptions_are_numpys():
    draw = random.Random(2208)
    lists = 0
    for _ in range(3000):
        wanted = random_type(draw)
        try:
            descr = describe(wanted)
        except ValueError:
            continue  # overlapping fields have none
        if wanted.subdtype:
            continue  # a void to NumPy
        dtype = parse(repr(descr) if isinstance(descr, list) else descr)
        assert itemsize(dtype) == wanted.itemsize, descr
        theirs = np.lib.format.descr_to_dtype(descr)
        again = numpys(text_of(dtype))
        assert again == theirs, (descr, again)
        lists += isinstance(descr, list)
        drop(dtype)
    assert lists > 500


def test_orders_are_numpys():
    draw = random.Random(2209)
    for _ in range(1000):
        wanted = random_type(draw)
        dtype = parse(spelled(wanted))
        for order, numpy_order in (b"<<", b">>", b"==", b"sS"):
            swapped = ctypes.c_uint64()
            assert library.dray_dtype_with_order(
                dtype, ctypes.c_char(order), ctypes.byref(swapped)) == 0
            expected = wanted.newbyteorder(chr(numpy_order))
            same(swapped, expected)
            assert numpys(text_of(swapped)) == expected
            drop(swapped)
        drop(dtype)


# NumPy 1 gives them other meanings.
NEW = ["1f4", "i4,", "('f4', 1)"] if np.__version__ >= "2" else []


@pytest.mark.parametrize("text", SIMPLE + NEW + list("bBhHiIlLqQefdgFDGcSUVMm") + [
    "|f4", "=f4", "f04", "<?", ">b", "a5", "c8", "float32", "int", "intp", "long", "str",
    "longdouble", "complex", "datetime64[ns]", "timedelta64", "M8[generic]", "m8[us]",
    "M8[\u03bcs]", "m8[+2D]", "m8[ 2D]", "m8[D/ 24]", "m8[D/+024]",
    "2f4", "3S5", "3S", "(2,)i4", "(2,3)f4", "(2, 3,)f4", "()f4", "<(2,3)<f4",
    ">(2,)f4", "i4, f8", "i4 ,f8", "i4,(2,3)f8,S3", "M8[25s],f4", "2M8[s],>u2",
    "[('a','i4')]", "[('a','i4',2), ('', 'f8')]", "[('a',('i4',(2,)),3)]",
    "[(('t','a'),'<f4',(2,3)),]", "('f4',(2,))", "(('f4', 2), (3,))",
    "('S', 5)", "('U', 5)", "[('a', 'i4,f4')]", "[]",
    "{'names':['a','b'],'formats':['i1','f8']}",
    "{'names':('a','b'),'formats':['i1','f8'],'aligned':True}",
    "{'names':['a','b'],'formats':['i1','f8'],'offsets':[8,0],'itemsize':20}",
    "{'names':['a','b'],'formats':['i4','i4'],'offsets':[0,2],'titles':['t',None]}",
    "{'names':[],'formats':[],'itemsize':8}", "['x']"])
def test_texts_are_numpys(text):
    literal = text[0] in "[{" or text.startswith(("('", "(("))
    try:
        wanted = np.dtype(ast.literal_eval(text) if literal else text)
    except (TypeError, ValueError):
        assert library.dray_dtype_parse(text.encode(),
                                        ctypes.byref(ctypes.c_uint64())) < 0
        return
    dtype = parse(text)
    same(dtype, wanted)
    assert numpys(text_of(dtype)) == wanted
    drop(dtype)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns",
                                  "ps", "fs", "as", "generic"])
def test_parts_of_units_are_numpys(unit):
    divisors = [*range(1, 400), 720, 1000, 1440, 3600, 8760, 10080, 60000, 86400, 10**6]
    multiples = [""] if unit == "generic" else ["", "2", "35"]
    for multiple, divisor in itertools.product(multiples, divisors):
        text = f"m8[{multiple}{unit}/{divisor}]"
        dtype = ctypes.c_uint64()
        ret = library.dray_dtype_parse(text.encode(), ctypes.byref(dtype))
        try:
            wanted = np.dtype(text)
        except ValueError:
            assert ret < 0, text
            continue
        if not 1 <= np.datetime_data(wanted)[1] <= 4095:
            assert ret < 0, text  # 0 is a mistake of NumPy's: W has three parts
        else:
            assert ret == 0 and numpys(text_of(dtype)) == wanted, text


@pytest.mark.parametrize("text", [
    "", "<", "2", "O", "object", "i4,O", "[('a','O')]", "f3", "?1", "B1", "b4", "u", "M4",
    "f4;", "f4[3]", "<>f4", "<(2,)>f4", "M8[]", "M8[5]", "M8[-1s]", "m8[D/23]", "m8[D/24 ]",
    "m8[D /24]", "m8[ D/24]", "m8[D/24/2]", "m8[/2]", "m8[generic/2]", "m8[as/2]", "i4,,f4", " f4", "f4 ",
    "<float32", "float33", "T", "('f4', (-1,))", "('f4', (2**31,))", "('f4',)",
    "[('a','i4'),('a','f4')]", "[(('t','a'),'i4'),('t','f4')]", "[(('a','b'),'i4'),('a','i4')]",
    "[(('a','a'),'i4')]", "[('a',)]", "[('a','i4',2,3)]", "[(1,'i4')]", "[1]",
    "{'names':['a'],'formats':[]}", "{'names':['a'],'formats':['i4'],'itemsize':2}",
    "{'names':['a'],'formats':['i4'],'itemsize':0}",
    "{'names':['a'],'formats':['i4'],'offsets':[2],'aligned':True}",
    "{'names':['a'],'formats':['i4'],'offsets':[4],'itemsize':9,'aligned':True}",
    "{'names':['a','a'],'formats':['i4','i4']}", "{'names':['a'],'formats':['i4'],'offsets':[-1]}"])
def test_refusals_are_numpys(text):
    """NumPy refuses these too, except for objects and its own strings."""
    value = text
    try:
        value = ast.literal_eval(text) if text[:1] in "[{(" and text[1:2] != "2" else text
    except (SyntaxError, ValueError):
        pass
    if "O" not in text and text not in ("object", "T"):
        with pytest.raises((TypeError, ValueError, SyntaxError, OverflowError, AttributeError)):
            np.dtype(value)
    assert library.dray_dtype_parse(text.encode(),
                                    ctypes.byref(ctypes.c_uint64())) < 0
    assert len(library.dray_last_error()) > 10


try:
    from numpy._core._internal import _dtype_from_pep3118 as from_format
except ImportError:
    from numpy.core._internal import _dtype_from_pep3118 as from_format


def format_of(dtype):
    return written(library.dray_dtype_to_pep3118, dtype)


def parse_format(text):
    dtype = ctypes.c_uint64()
    assert library.dray_dtype_from_pep3118(text.encode(), ctypes.byref(dtype)) == 0, (
        text, library.dray_last_error())
    return dtype


def untitled(dtype):
    """All that a format tells: no titles, and sub-arrays in one."""
    if dtype.subdtype:
        base, shape = untitled(dtype.base), dtype.shape
        return np.dtype((base.base, shape + base.shape))
    if dtype.names is None:
        return dtype
    fields = [dtype.fields[name] for name in dtype.names]
    return np.dtype({"names": list(dtype.names),
                     "formats": [untitled(field[0]) for field in fields],
                     "offsets": [field[1] for field in fields],
                     "itemsize": dtype.itemsize})


def test_formats_are_numpys():
    draw = random.Random(2210)
    kinds = [kind for kind in SIMPLE if np.dtype(kind).kind not in "mM"]
    structures = refused = 0
    for _ in range(2000):
        wanted = random_type(draw, 0, kinds)
        if wanted.subdtype:  # an array of it has the base type
            wanted = np.dtype([("q", wanted)])
        dtype = parse(spelled(wanted))
        try:
            theirs = memoryview(np.zeros(1, wanted)).format
        except ValueError:
            assert library.dray_dtype_to_pep3118(dtype, None, ctypes.c_size_t(0)) < 0
            drop(dtype)
            refused += 1
            continue
        ours = format_of(dtype)
        structures += ours[0] == "T"
        wanted = untitled(wanted)
        back = parse_format(ours)
        if ours[-1] != "x":  # a void, but a structure without fields to NumPy
            assert numpys(text_of(back)) == wanted, ours
            assert from_format(ours) == wanted, ours
        drop(back)
        try:
            expected = from_format(theirs) if theirs else None
        except ValueError:
            expected = None  # NumPy writes shapes twice, and reads them once
        if expected is not None and theirs[-1] != "x":
            back = parse_format(theirs)
            same(back, expected)
            drop(back)
        drop(dtype)
    assert structures > 500 and refused > 50


@pytest.mark.parametrize("text", [
    "b", "@i", "=l", "l", "^l", "<l", "!h", "Zd", "3s", "s", "0s", "7w", ">2w", "?", "c", "e",
    "3i", "(2,3)i", "(2)3i", "0i", "bi", "=bi", "@b3x", "T{b:x:i:y:}", "T{b:x:=i:y:}",
    "T{b:x:3xi:y:}", "T{i:x:b:y:}", "^T{i:x:b:y:}", "T{b:a:T{b:b:d:c:}:n:}", "T{ii:f0:}",
    "T{i:f1:ii}", "T{}", "T{8x}", "T{3x:p:b:q:}", "i:x:", "ib:x:", "bT{d:a:b:b:}b", "g", "^Zg",
    "(2)T{b:x:}:s:", "2T{i:x:b:y:}", "T{(2,2)d:m:>h:e:}", "T{b:é:}", "xi", "i3x", "i i"])
def test_single_formats_are_numpys(text):
    if " " in text:
        text, source = text, text.replace(" ", "")
    else:
        source = text
    dtype = parse_format(text)
    same(dtype, from_format(source))
    drop(dtype)


@pytest.mark.parametrize("text", [
    "", "O", "T{", "T{i", "T{i:x", "(2", "(2,", "()i", "(a)i", "&i", "Zi", "<g", "u", "P", "i}",
    "T{i:x:i:x:}", "99999999999i", "(99999,99999)i", "4294967295s4294967295s", "T{" * 40,
    "(2)", "3", "<", "i:x"])
def test_formats_of_nothing_are_refused(text):
    assert library.dray_dtype_from_pep3118(text.encode(),
                                           ctypes.byref(ctypes.c_uint64())) < 0
    assert len(library.dray_last_error()) > 10

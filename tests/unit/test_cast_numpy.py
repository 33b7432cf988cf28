# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Casts of the library in DRAY_BUILD have the rules and the bytes of the real NumPy 2:
all pairs of types, special and random values, any layout and byte order."""

import ctypes
import functools
import itertools
import os
import random
import warnings

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2,
                                reason="NumPy 1 has other rules")

library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
library.dray_last_error.restype = ctypes.c_char_p
library.dray_can_cast.restype = ctypes.c_bool
library.dray_can_cast.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
library.dray_promote.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
library.dray_result_type.argtypes = [ctypes.c_void_p, ctypes.c_size_t,
                                     ctypes.c_uint, ctypes.c_void_p]

RULES = ["no", "equiv", "safe", "same_kind", "unsafe"]
UNITS = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
NUMBERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8",
           "g", "F", "D", "G"]
TIMES = ["M8", "M8[D]", "M8[3D]", "M8[s]", "M8[Y]", "M8[M]", "M8[W]", "M8[ns]",
         "M8[as]", "M8[25ms]", "m8", "m8[D]", "m8[s]", "m8[7s]", "m8[Y]", "m8[3M]"]
BYTES = ["S0", "S3", "S5", "S21", "S32", "S64", "U0", "U3", "U5", "U21", "U32", "U64",
         "V0", "V4", "V8", "V32"]
SWAPPED = [">i2", ">i4", ">u8", ">f2", ">f8", ">F", ">D", ">M8[s]", ">m8[D]", ">U3"]
ALL = [np.dtype(t) for t in NUMBERS + TIMES + BYTES + SWAPPED]

NATIVE = "<" if np.dtype("=i4").str[0] == "<" else ">"


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint64),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64),
                ("strides", ctypes.c_int64 * 64)]


def parsed(text):
    """The word of a type object, which is never given back."""
    out = ctypes.c_uint64()
    assert library.dray_dtype_parse(text.encode(), ctypes.byref(out)) == 0, \
        library.dray_last_error()
    return out.value


@functools.cache
def word(dtype):
    if dtype.names is not None or dtype.subdtype:
        return parsed(str(dtype))
    kind = dtype.kind if dtype.kind != "b" else "?"
    unit = 0
    if kind in "mM":
        name, multiple = np.datetime_data(dtype)
        unit = UNITS.index(name) and multiple << 4 | UNITS.index(name)
    return dtype.itemsize << 32 | unit << 16 | ord(dtype.str[0]) << 8 | ord(kind)


def view_of(array):
    return View(array.ctypes.data, word(array.dtype), array.ndim,
                3 if array.flags.writeable else 1,
                (ctypes.c_int64 * 64)(*array.shape),
                (ctypes.c_int64 * 64)(*array.strides))


def convert(to, source, rule=4):
    result = library.dray_view_convert(ctypes.byref(view_of(to)),
                                       ctypes.byref(view_of(source)), rule)
    return result, library.dray_last_error().decode()


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_all_pairs_are_allowed_by_the_same_rules():
    wrong = [(a.str, b.str, rule)
             for a, b in itertools.product(ALL, ALL)
             for i, rule in enumerate(RULES)
             if library.dray_can_cast(word(a), word(b), i) !=
             np.can_cast(a, b, rule)]
    assert not wrong


def promoted(function, *arguments):
    out = ctypes.c_uint64()
    return out.value if function(*arguments, ctypes.byref(out)) else out.value


def of_numpy(function, *arguments):
    """The word, or 0 where NumPy finds no type."""
    try:
        # a swapped duration and an int stay swapped: all others become native
        return word(function(*arguments).newbyteorder("="))
    except (TypeError, OverflowError):
        return 0


def test_all_pairs_have_the_same_type_in_common():
    wrong = [(a.str, b.str, hex(promoted(library.dray_promote, word(a), word(b))))
             for a, b in itertools.product(ALL, ALL)
             if promoted(library.dray_promote, word(a), word(b)) !=
             of_numpy(np.promote_types, a, b)]
    assert not wrong


WEAK = [(), (1,), (1.0,), (1j,), (1, 1.0), (1, 1j), (1.0, 1j)]


def weak_bits(values):
    return sum({int: 1, float: 2, complex: 4}[type(value)] for value in values)


def test_several_types_and_numbers_of_a_program_have_the_same_type():
    draw = random.Random(1)
    pool = [np.dtype(t) for t in NUMBERS]
    wrong = []
    for i in range(20000):
        types = draw.choices(pool if i % 4 else ALL, k=draw.randrange(6))
        weak = draw.choice(WEAK)
        if not types and not weak:
            continue
        words = (ctypes.c_uint64 * 8)(*map(word, types))
        mine = promoted(library.dray_result_type, words, len(types), weak_bits(weak))
        if mine != of_numpy(np.result_type, *types, *weak):
            wrong.append(([t.str for t in types], weak, hex(mine)))
    assert not wrong


def specials(dtype):
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        some = [0, 1, 2, 5, 255, 256, 2047, 2049, info.min, info.max, info.max - 1,
                info.min + 1, 2**24 + 1, 2**53 + 1, 2**31, 65519, 65520, 65504]
        return np.array([x for x in some if info.min <= x <= info.max], dtype)
    if dtype.kind == "?":
        return np.array([0, 1], dtype)
    info = np.finfo(dtype)
    some = [0, -0.0, 1, -1, 0.5, 1.5, 2.5, np.nan, np.inf, -np.inf, 127.5, -128.9, 255.9,
            256, -1e-30, 1e-45, 5e-324, 2**-24, 2**-25, 3 * 2**-25, 2**-14, 65504, 65519,
            65520, 65536, 2049, 2051, 1 + 2**-11, 1 + 3 * 2**-11, 2**31, 2**31 - 1,
            -2**31, 2**32, 3e9, 2**63, 2**64, -2**63, 1e30, -1e30, 70000, 32768,
            -32769, float(info.max), float(info.tiny), float(info.eps)]
    return np.array(some, "f8").astype(dtype)


def values(dtype, draw):
    """Special values and random ones, of all magnitudes."""
    if dtype.kind == "c":
        parts = values(np.dtype("fdg"["FDG".index(dtype.char)]), draw)
        array = np.empty(len(parts), dtype)
        array.real = parts
        array.imag = parts[::-1]
        return array
    if dtype.kind == "f" and dtype.itemsize > 8:
        more = np.array([draw.uniform(-1, 1) * 10.0**draw.randrange(-30, 30)
                         for _ in range(50)], dtype) / 3
        return np.concatenate([specials(dtype), more])
    if dtype.kind == "b":
        return np.array([draw.random() < 0.5 for _ in range(100)])
    raw = np.frombuffer(draw.randbytes(100 * dtype.itemsize), dtype)
    small = np.array([draw.uniform(-300, 300) for _ in range(100)]).astype(dtype)
    return np.concatenate([specials(dtype), raw, small])


def laid_out(array, draw, how):
    """The same values, in another layout."""
    size = array.dtype.itemsize
    if how == "unaligned":
        raw = np.zeros(array.nbytes + 1, "u1")[1:]
        raw[:] = np.frombuffer(array.tobytes(), "u1")
        return raw.view(array.dtype)
    if how == "strided":
        wide = np.zeros(3 * len(array), array.dtype)[::3]
        wide[:] = array
        return wide
    if how == "reversed":
        wide = np.zeros(len(array), array.dtype)[::-1]
        wide[:] = array
        return wide
    if how == "swapped":
        return array.astype(array.dtype.newbyteorder())
    return array


def told(array):
    """The bytes, of a long double those that count."""
    if array.dtype.char in "gG" and np.finfo("g").nmant == 63:
        native = array.astype(array.dtype.newbyteorder("="))
        raw = native.view("u1").reshape(-1, 16)[:, :10]
        return raw.reshape(len(array), -1).tolist()
    return np.frombuffer(array.tobytes(), "u1").reshape(len(array), -1).tolist()


def compare(mine, numpys, source, what):
    one, other = told(mine), told(numpys)
    wrong = [(source[i], mine[i], numpys[i])
             for i in range(len(one)) if one[i] != other[i]]
    assert not wrong, (what, wrong[:5])


HOW = ["plain", "unaligned", "strided", "reversed", "swapped"]


@pytest.mark.parametrize("to", NUMBERS)
@pytest.mark.parametrize("source", NUMBERS)
def test_numbers_have_the_same_bytes(source, to):
    draw = random.Random(source + to)
    given = values(np.dtype(source), draw)
    if source == "f2" and to in "DG":
        # NumPy keeps a signalling NaN in this pair only
        given = np.where(np.isnan(given), np.float16(np.nan), given)
    meant = given.astype(to)
    if to == "u4" and np.dtype(source).kind in "fc":
        # NumPy's vectors give other bits than its single numbers
        meant = np.array([x.astype(to) for x in given])
    for how_from in HOW:
        for how_to in HOW:
            mine = laid_out(np.zeros(len(given), to), draw, how_to)
            assert convert(mine, laid_out(given, draw, how_from))[0] == 0
            compare(mine, meant.astype(mine.dtype), given, (how_from, how_to))


@pytest.mark.parametrize("source", NUMBERS)
def test_numbers_are_written_as_the_same_text(source):
    draw = random.Random(source)
    given = values(np.dtype(source), draw)
    if np.dtype(source).kind in "fc" and source not in "gG":
        powers = np.array([2.0**k for k in range(-1074, 1024)])
        given = np.concatenate([given, powers.astype(source)])
    for how in HOW:
        array = laid_out(given, draw, how)
        for to in ["S64", "U64", ">U70", "S3", "S96"]:
            mine = np.zeros(len(given), to)
            assert convert(mine, array)[0] == 0
            compare(mine, given.astype(to), given, (how, to))


TEXTS = ["0", "1", "", "False", " 12 ", "1_000", "1__0", "_1", "1_", "12x", "0x10", "-5",
         "+7", "300", "-129", "-128", "127", "128", "99999999999999999999999",
         "18446744073709551615", "9223372036854775807", "-9223372036854775808",
         "-9223372036854775809", "1.5", "nan", "-nan", "inf", "Infinity", "-INF", "1e3",
         "1e-400", "1e400", ".5", "5.", ".", "1e", "e5", "1_0.0_1", "(1+2j)", "1+2j",
         "2j", "j", "-j", "+j", "1-j", "-1.5e3-2j", "1 +2j", "( 1+2j )", "(1+2j",
         "nan+infj", "infj", "1j2", "--1", "+", "-", " ", "1 2", "\t3\n", "3.14159",
         "0.1", "16777217", "65519.9", "1e16", "4.9e-324"]


@pytest.mark.parametrize("to", NUMBERS)
def test_texts_are_read_as_the_same_numbers(to):
    for text in TEXTS:
        if to == "g" and (set(text) & set(" _\tx") or text == "-nan"):
            continue  # NumPy has another grammar for this type only
        for source in ["S30", "U30", ">U31"]:
            given = np.array([text]).astype(source)
            mine = np.zeros(1, to)
            result, sentence = convert(mine, given)
            try:
                meant = given.astype(to)
            except (ValueError, OverflowError):
                assert result in (-22, -34), (text, mine)
                assert text[:8].strip() in sentence
            else:
                assert result == 0, (text, sentence)
                compare(mine, meant, given, text)


TO_BYTES = ["S1", "S3", "S8", "U1", "U3", ">U3", "U8", "V1", "V6", "V8", "V40"]


@pytest.mark.parametrize("to", TO_BYTES)
def test_texts_and_raw_data_have_the_same_bytes(to):
    for source in ["S3", "S5", "U2", "U5", ">U2", ">U5", "V5"]:
        given = np.array([b"abc", b"", b"a\0c", b"hello"]).astype(source)
        mine = np.zeros(len(given), to)
        result = convert(mine, given)[0]
        if source == "V5" and to[-2] != "V" and "V" not in to:
            assert result == -95
            continue
        assert result == 0
        compare(mine, given.astype(to), given, source)
    for source in NUMBERS + [">i4", ">D", "M8[s]", "m8[D]"]:
        if "V" in to and source not in "gG":
            given = np.array([0, 1, 5, 100]).astype(source)
            mine = np.zeros(len(given), to)
            assert convert(mine, given)[0] == 0
            compare(mine, given.astype(to), given, source)


NAT = -2**63
UNIT_TYPES = [f"{kind}8[{unit}]" for kind in "Mm"
              for unit in UNITS[1:] + ["7D", "3Y", "25ms", "5M", "2W", "90m", "3as"]]


# NumPy's factor wraps before it is shortened
WRAPPED = [("m8[3Y]", "m8[ns]"), ("m8[5M]", "m8[ns]")]


@pytest.mark.parametrize("source", UNIT_TYPES + ["M8", "m8"])
def test_times_have_the_same_values_in_other_units(source):
    draw = random.Random(source)
    counts = np.array([NAT, 0, 1, -1, 5, -5, 59, 60, 11, 12, -11, -13, 365, 366, -719528,
                       146097, 1000003, -1000003] +
                      [draw.randrange(-10**k, 10**k) for k in range(1, 15)], "i8")
    given = counts.view(source)
    for to in UNIT_TYPES + ["M8", "m8", ">M8[h]", ">m8[us]"]:
        mine = np.zeros(len(given), to)
        result, sentence = convert(mine, given)
        try:
            meant = given.astype(to)
        except OverflowError:
            assert result == -75, (to, mine, sentence)
        except ValueError:
            continue  # a date of no unit, of which only the bits are taken
        else:
            assert result == 0, (to, sentence)
            if (source, to) not in WRAPPED:
                compare(mine.view("i8"), meant.view("i8"), counts, to)
    for to in NUMBERS:
        mine = np.zeros(len(given), to)
        assert convert(mine, given)[0] == 0
        compare(mine, given.astype(to), counts, to)
        numbers = np.array([0, 1, 5, 100]).astype(to)
        times = np.zeros(4, source)
        assert convert(times, numbers)[0] == 0
        compare(times.view("i8"), numbers.astype("i8"), numbers, to)


@pytest.mark.parametrize("source", UNIT_TYPES + ["m8"])
def test_times_are_written_as_the_same_text(source):
    draw = random.Random(source)
    counts = [NAT, 0, 1, -1, 5, 59, 60, 12, -13, 365, -719528, -719529, 1000003] + \
        [draw.randrange(-10**k, 10**k) for k in range(1, 12)]
    given = np.array(counts, "i8").view(source)
    for to in ["S60", ">U50"]:
        mine = np.zeros(len(given), to)
        assert convert(mine, given)[0] == 0
        meant = given.astype(to)
        if source.startswith("m"):
            # NumPy has room for 21 characters of a duration
            mine, meant = mine.astype("U21"), meant.astype("U21")
        compare(mine, meant, counts, to)


DATES = ["", "\0" "2020", "2020\0" "7", "nat", "NaT", "2020", "2020-01", "2020-01-02", "2020-01-02T03",
         "2020-01-02 03:04", "2020-01-02T03:04:05", "2020-01-02T03:04:05.123456789",
         "2020-01-02T03:04:05Z", "2020-01-02T03:04:05+0100", "2020-01-02T03:04-03:30",
         "2020-02-30", "2020-02-29", "2100-02-29", "-0044-03-15", "12020", "20200102",
         " 2020", "2020-01-02T25", "2020-1-2", "2020-01-02T03:04:05.123456789123456789",
         "20200-01-02", "2020-13", "2020-00", "2020-01-", "2020-", "x", "5", "-5",
         "2020-01-02T0304", "2020-01-02T03:04:60", "2020-01-02T", "2020-01-02x",
         "1969-12-31T23:59:59.999", "0001-01-01", "2020-01-02T03:04:05.1"]


def fits(given, unit):
    """Whether 64 bits have a date in a unit; NumPy's wrap."""
    seconds = int(given.astype("M8[s]").view("i8")[0])
    parts = {"ns": 10**9, "as": 10**18}.get(unit, 1)
    return -2**63 <= seconds * parts < 2**63 - parts


@pytest.mark.parametrize("text", DATES)
def test_texts_are_read_as_the_same_dates(text):
    for unit in ["Y", "M", "W", "D", "h", "s", "ms", "ns", "as", "7D"]:
        for source in ["S45", "U45"]:
            given = np.array([text]).astype(source)
            mine = np.zeros(1, f"M8[{unit}]")
            result, sentence = convert(mine, given)
            try:
                meant = given.astype(mine.dtype)
            except ValueError:
                assert result == -22, (unit, mine)
                assert text in sentence
            else:
                if not np.isnat(meant[0]) and not fits(given, unit):
                    assert result == -34 and "does not fit 64 bits" in sentence
                    continue
                assert result == 0, sentence
                compare(mine.view("i8"), meant.view("i8"), given, unit)


def random_view(draw, shape, dtype):
    """A view of random values, with slices, reversed and swapped axes."""
    order = draw.sample(range(len(shape)), len(shape))
    steps = [draw.choice([1, 1, 2, -1, -3]) for _ in shape]
    base = np.zeros([abs(steps[i]) * shape[i] for i in order], dtype)
    base[...] = np.random.default_rng(draw.randrange(2**32)).integers(
        -100, 100, base.shape)
    view = base[tuple(slice(None, None, steps[i]) for i in order) + (Ellipsis,)]
    return view.transpose([order.index(i) for i in range(len(shape))])


def test_random_layouts_are_converted_and_broadcast():
    draw = random.Random(3)
    types = ["i1", "u2", ">i4", "i8", "f2", "f4", ">f8", "F", "D", "U6"]
    for _ in range(3000):
        shape = [draw.choice([1, 2, 3, 5, 17, 40]) for _ in range(draw.randrange(5))]
        while np.prod(shape) > 40000:
            shape.pop()
        kept = [n if draw.random() < 0.8 else 1 for n in shape]
        kept = draw.choice([kept, [1] + kept, kept[1:]])
        to, source = draw.choice(types), draw.choice(types[:-1])
        mine = random_view(draw, shape, to)
        given = random_view(draw, kept, source)
        meant = np.zeros(shape, to)
        meant[...] = given
        result, sentence = convert(mine, given)
        assert result == 0, sentence
        assert mine.tobytes() == meant.tobytes(), (shape, kept, to, source)


def test_views_that_overlap_are_converted_as_from_a_copy():
    draw = random.Random(4)
    types = ["i1", "i2", "u4", "f4", "f8", ">i4"]
    for _ in range(3000):
        memory = np.zeros(600, "u1")
        memory[:] = np.frombuffer(draw.randbytes(600), "u1") & 0x3f
        pair = []
        for _ in range(2):
            dtype = np.dtype(draw.choice(types))
            part = memory[draw.randrange(64):][:20 * dtype.itemsize].view(dtype)
            part = part[::draw.choice([1, 1, -1])]
            pair.append(part.reshape(draw.choice([[4, 5], [5, 4]])))
        to, given = pair
        if to.shape != given.shape:
            given = given.T
        meant = given.copy().astype(to.dtype)
        result, sentence = convert(to, given)
        assert result == 0, sentence
        assert np.array_equal(to, meant, equal_nan=True)


def test_large_transposes_are_converted():
    for to, source in [("f8", "f4"), ("i2", "f8"), (">f4", "f4"), ("D", "f2")]:
        given = np.arange(300 * 170).reshape(300, 170).astype(source)
        for view in [given.T, given[::-1].T, given[:, ::3].T]:
            mine = np.zeros(view.shape, to)
            assert convert(mine, view)[0] == 0
            assert mine.tobytes() == view.astype(to).tobytes()


def structures():
    placed = {"names": ["x", "y"], "formats": ["i4", "f8"]}
    lists = [[("x", "i4"), ("y", "f8")], [("x", "i4"), ("z", "f8")],
             [("x", "i8"), ("y", "f8")], [("y", "f8"), ("x", "i4")],
             [("x", ">i4"), ("y", "f8")], {**placed, "offsets": [0, 8]},
             {**placed, "offsets": [0, 4], "itemsize": 20},
             [(("t", "x"), "i4"), ("y", "f8")], [("x", "i4"), ("y", "f4")],
             [("x", "i4")], [("x", "i2")], [("x", ">i4")], [("n", [("x", "i4")])],
             [("x", "i4", (2,))], [("x", "i4", (1,))], [("x", "f8", (2,))],
             [("x", "i4", (3,))], [("x", "i4", (2, 1))], [("x", "i8", (3, 2))],
             [("n", [("x", "i2"), ("y", "S3")]), ("y", "f4")],
             [("n", [("x", "f8"), ("y", "U2")]), ("y", "i8")]]
    aligned = np.dtype([("x", "i1"), ("y", "f8")], align=True)
    return [np.dtype(fields) for fields in lists] + [aligned]


def test_structures_are_allowed_by_the_same_rules():
    plain = [np.dtype(t) for t in ["V0", "V4", "V12", "V20", "i4", "f4", "S3", "U3", "M8[s]"]]
    wrong = [(a, b, rule)
             for a, b in itertools.product(structures() + plain, repeat=2)
             for i, rule in enumerate(RULES)
             if library.dray_can_cast(word(a), word(b), i) !=
             np.can_cast(a, b, rule)]
    assert not wrong


def test_structures_have_the_same_type_in_common():
    library.dray_dtype_equal.restype = ctypes.c_bool
    library.dray_dtype_equal.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    for a, b in itertools.product(structures(), repeat=2):
        mine = promoted(library.dray_promote, word(a), word(b))
        try:
            meant = np.promote_types(a, b)
        except TypeError:
            assert mine == 0, (a, b)
        else:
            assert library.dray_dtype_equal(mine, word(meant)), (a, b, meant)


def filled(dtype, count):
    array = np.zeros(count, dtype)
    for i, name in enumerate(dtype.names):
        if dtype[name].names:
            array[name] = filled(dtype[name], count)
        else:
            part = array[name]
            part[...] = np.arange(1 + i, 1 + i + part.size).reshape(part.shape)
    return array


def leaves(array):
    if array.dtype.names is None:
        return array.tolist()
    return [leaves(array[name]) for name in array.dtype.names]


def test_structures_are_converted_by_place():
    plain = [np.dtype(t) for t in ["i4", ">f8", "S3", "U3", "?"]]
    for source, to in itertools.product(structures() + plain, repeat=2):
        given = filled(source, 5) if source.names else np.arange(5).astype(source)
        mine = np.zeros(10, to)[::2]
        result, sentence = convert(mine, given[::-1])
        try:
            meant = given[::-1].astype(to)
        except TypeError:
            assert result == -95, (source, to, sentence)
        except ValueError:
            assert result < 0
        else:
            assert result == 0, (source, to, sentence)
            assert leaves(mine) == leaves(meant), (source, to)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loops of the library in DRAY_BUILD compute what NumPy 2's do, bit for bit: every
ufunc and signature, special and random values, all strides, few and many elements,
and the same floating-point errors."""

import ctypes
import functools
import itertools
import os
import random

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0",
                                reason="earlier versions have other loops")

library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
library.dray_last_error.restype = ctypes.c_char_p
library.dray_ufunc_find.restype = ctypes.c_void_p
library.dray_ufunc_find.argtypes = [ctypes.c_char_p]
libm = ctypes.CDLL("libm.so.6")

NO_FP_ERRORS = 1
LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                        ctypes.c_int64, ctypes.c_void_p)


class Loop(ctypes.Structure):
    _fields_ = [("loop", LOOP), ("context", ctypes.c_void_p),
                ("flags", ctypes.c_uint32)]


LETTERS = "?bBhHiIqQefdFDMm"


KINDS = {"?": {1: "?"}, "M": {8: "M"}, "m": {8: "m"}, "f": {2: "e", 4: "f", 8: "d"},
         "c": {8: "F", 16: "D"}, "i": {1: "b", 2: "h", 4: "i", 8: "q"},
         "u": {1: "B", 2: "H", 4: "I", 8: "Q"}}


def letter(word):
    """NumPy's letter of a type."""
    return KINDS[chr(word & 0xff)][word >> 32]


@functools.cache
def loops_of(name):
    """Signature: loop, in the order of the table; None of an unknown name."""
    ufunc = library.dray_ufunc_find(name.encode())
    if not ufunc:
        return None
    function = getattr(np, name)
    operands = function.nin + function.nout
    assert library.dray_ufunc_inputs(ctypes.c_void_p(ufunc)) == function.nin
    assert library.dray_ufunc_outputs(ctypes.c_void_p(ufunc)) == function.nout
    found = {}
    words = (ctypes.c_uint64 * operands)()
    for index in itertools.count():
        loop = Loop()
        if library.dray_ufunc_get_loop(ctypes.c_void_p(ufunc), ctypes.c_size_t(index),
                                       words, ctypes.byref(loop)):
            return found
        letters = "".join(map(letter, words))
        found[letters[:function.nin] + "->" + letters[function.nin:]] = loop


def signatures_of_numpy(function):
    """Those of types that dray has, once each: NumPy's own by dray's."""
    found = {}
    for types in function.types:
        if not set(types) & set("gGO"):
            found.setdefault(types.replace("l", "q").replace("L", "Q"), types)
    return found


NAMES = [name for name in sorted(dir(np)) if isinstance(getattr(np, name), np.ufunc)]
SEVERAL_AXES = ["matmul", "matvec", "vecdot", "vecmat"]
# computed by approximation; tests of their own judge the distance
ELEMENTARY = """acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
    atan atan2 atanh cbrt cos cosh deg2rad degrees exp exp2 expm1 float_power hypot log log10
    log1p log2 logaddexp logaddexp2 pow power rad2deg radians sin sinh sqrt tan
    tanh""".split()
EXACT = [name for name in NAMES if name not in SEVERAL_AXES + ELEMENTARY]
CASES = [(name, types) for name in EXACT for types in signatures_of_numpy(getattr(np, name))]
CASES += [(name, types) for name in ["power", "pow"]
          for types in signatures_of_numpy(np.power) if types[0] in "bBhHiIqQ"]


@pytest.mark.parametrize("name", NAMES)
def test_a_ufunc_has_the_loops_of_numpy_in_order(name):
    if name in SEVERAL_AXES:
        pytest.skip("works on more than elements")
    if name in ELEMENTARY and loops_of(name) is None:
        pytest.skip("is not there yet")
    assert list(loops_of(name) or []) == list(signatures_of_numpy(getattr(np, name)))


def dtype_of(char):
    return np.dtype({"M": "M8[s]", "m": "m8[s]"}.get(char, char))


@functools.cache
def specials(char):
    if char == "?":
        return np.array([0, 1], "?")
    if char in "Mm":
        some = [-2**63, 2**63 - 1, -2**63 + 1, 0, 1, -1, 2, -2, 7, -7, 60, 2**53 + 1]
        return np.array(some, "i8").view(dtype_of(char))
    if char in "bBhHiIqQ":
        info = np.iinfo(char)
        some = {0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 63, 64, 100, -1, -2, -3, -7, -10, info.min,
                info.max, info.max - 1, info.min + 1, info.max // 2, info.min // 2}
        return np.array(sorted(x for x in some if info.min <= x <= info.max), char)
    if char in "FD":
        part = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 3e-39, 1e38, -7],
                        char.lower())
        pairs = np.array(list(itertools.product(part, part)), char.lower())
        return pairs.reshape(-1).view(char)
    info = np.finfo(char)
    some = [0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3, 7, -7.25, 10, 0.1, -0.1, 1e4,
            np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, -info.tiny,
            info.smallest_subnormal, -info.smallest_subnormal, info.tiny / 2, info.eps,
            info.max / 2, 2.0**10 + 0.5, 4503599627370497.5, 8388607.5]
    with np.errstate(all="ignore"):
        return np.array([np.dtype(char).type(x) for x in some], char)


def randoms(char, count, seed):
    draw = np.random.default_rng(seed)
    if char in "FD":
        parts = randoms(char.lower(), 2 * count, seed)
        return parts.view(char)
    if char in "efd":
        raw = draw.standard_normal(count) * 10.0**draw.integers(-3, 4, count)
        return raw.astype(char)
    dtype = dtype_of(char)
    if char == "?":
        return draw.integers(0, 2, count).astype("?")
    raw = np.frombuffer(draw.bytes(count * dtype.itemsize), "i%d" % dtype.itemsize).copy()
    small = draw.integers(-9, 10, count).astype(raw.dtype)
    return np.where(draw.random(count) < 0.5, raw, small).view(dtype)


def run(loop, arrays):
    """Returns the error and the flags of the processor."""
    count = len(arrays[-1])
    data = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    strides = (ctypes.c_int64 * len(arrays))(*(a.strides[0] for a in arrays))
    function, context = loop.loop, loop.context
    libm.feclearexcept(61)
    result = function(data, strides, count, context)
    raised = libm.fetestexcept(61)
    return result, raised


# NumPy's bits, of the flags of x86 and of ARM
FLAGS = [(4, 1), (8, 2), (16, 4), (1, 8)] if os.uname().machine == "x86_64" else \
    [(2, 1), (4, 2), (8, 4), (1, 8)]


def errors_of(loop, raised):
    if loop.flags & NO_FP_ERRORS:
        return 0
    return sum(bit for flag, bit in FLAGS if raised & flag)


def meant(function, types, inputs, outputs):
    """NumPy's own, into outputs; returns its error and its floating-point errors."""
    errors = 0

    def gather(_, bits):
        nonlocal errors
        errors |= bits

    given = {} if set(types) & set("Mm") else \
        {"signature": signatures_of_numpy(function)[types]}
    with np.errstate(all="call", call=gather):
        try:
            function(*inputs, out=tuple(outputs), **given)
        except ValueError:
            return -22, errors
    return 0, errors


def told(array):
    """The bytes, of a NaN always the same."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.view("u%d" % array.dtype.itemsize)


def compare(mine, numpys, inputs, what, name="", types=""):
    one, other = told(mine), told(numpys)
    if np.array_equal(one, other):
        return
    if name in ("fmax", "fmin") and types[0] in "fd":
        # which of two zeros, NumPy's vectors and single numbers have differently
        if np.array_equal(mine, numpys, equal_nan=True):
            return
    if name in ("absolute", "abs", "sign") and types[0] in "FD":
        # the length of a complex number: a unit in the last place on either side
        width = np.finfo(mine.dtype).dtype
        a, b = mine.reshape(-1).view(width), numpys.reshape(-1).view(width)
        near = np.abs(a - b) <= 2 * np.spacing(np.abs(b))
        if np.all(near | (a == b) | (np.isnan(a) & np.isnan(b))):
            return
    width = len(one) // len(mine)
    wrong = [([x[i] for x in inputs], mine[i], numpys[i])
             for i in sorted(set(np.flatnonzero(one != other) // width))]
    raise AssertionError((what, len(wrong), wrong[:5]))


def products(name, types, inputs, outputs):
    """Products of complex numbers, each rounded: NumPy's vectors may round once.
    Returns their floating-point errors, or None of other functions."""
    if name not in ("multiply", "square") or types[0] not in "FD":
        return None
    errors = []
    a, b = inputs if len(inputs) == 2 else inputs * 2
    with np.errstate(all="call", call=lambda _, bits: errors.append(bits)):
        outputs[0].real = a.real * b.real - a.imag * b.imag
        outputs[0].imag = a.real * b.imag + a.imag * b.real
    return functools.reduce(int.__or__, errors, 0)


def check(name, types, inputs, outputs, what):
    """Computes into outputs, and compares with NumPy's of copies."""
    function = getattr(np, name)
    loop = loops_of(name)[types]
    before = [x.copy() for x in inputs]
    numpys = [np.zeros(len(out), out.dtype) for out in outputs]
    arrays = [x if len(x) == len(outputs[0]) else np.broadcast_to(x, len(outputs[0]))
              for x in inputs]
    result, raised = run(loop, arrays + list(outputs))
    answer, errors = meant(function, types, before, numpys)
    assert result == answer, what
    if answer == 0:
        own = products(name, types, before, numpys)
        errors = errors if own is None else own
        before = [np.broadcast_to(x, len(outputs[0])) for x in before]
        for mine, numpy in zip(outputs, numpys):
            compare(mine, numpy, before, what, name, types)
    return errors_of(loop, raised), errors


def outputs_of(types, count, step=1):
    return [np.zeros(max(count * abs(step), 1), dtype_of(c))[::step][:count]
            for c in types.split("->")[1]]


def pairs_of(types):
    nin = len(types.split("->")[0])
    values = [specials(c) for c in types[:nin]]
    if nin == 1:
        return values
    return [np.repeat(values[0], len(values[1])), np.tile(values[1], len(values[0]))]


@pytest.mark.parametrize("name,types", CASES)
def test_special_values_have_the_bits_of_numpy(name, types):
    inputs = pairs_of(types)
    if name in ("power", "pow"):
        inputs = [x[inputs[1] >= 0] for x in inputs]
    check(name, types, inputs, outputs_of(types, len(inputs[0])), "dense")
    a = inputs[0]
    for i in range(len(inputs)):
        for value in specials(types[i]):
            if name in ("power", "pow") and i and value < 0:
                continue
            single = [x if j != i else np.array([value]) for j, x in enumerate(inputs)]
            check(name, types, single, outputs_of(types, len(a)), ("single", i, value))


HOWS = ["dense", "strided", "reversed", "apart", "single"]


def layouts_of(types):
    """Layouts of the inputs, and of the output, or the input that it is."""
    left, right = types.split("->")
    for hows in itertools.product(HOWS, repeat=len(left)):
        for how in HOWS[:3]:
            yield hows, how
    for i, char in enumerate(left):
        if right == char:
            for hows in itertools.product(HOWS[:4], repeat=len(left)):
                yield hows, i


def place(values, how):
    """The same values, in memory of their own."""
    if how == "dense":
        return values.copy()
    if how == "single":
        return values[:1].copy()
    step = {"strided": 3, "reversed": -1, "apart": -2}[how]
    wide = np.zeros(len(values) * abs(step), values.dtype)[::step][:len(values)]
    wide[:] = values
    return wide


@pytest.mark.parametrize("name,types", CASES)
def test_all_strides_and_counts_have_the_bits_of_numpy(name, types):
    draw = random.Random(name + types)
    left, right = types.split("->")
    every = list(layouts_of(types))
    for count in list(range(1, 71)) + [300, 1025]:
        for hows, how in every if count == 37 else draw.sample(every, 2):
            inputs = [place(randoms(c, count, draw.randrange(2**32)), x)
                      for c, x in zip(left, hows)]
            if name in ("power", "pow"):
                inputs[1] %= 5
            outputs = [inputs[how]] if isinstance(how, int) else \
                [place(np.zeros(count, dtype_of(c)), how) for c in right]
            check(name, types, inputs, outputs, (count, hows, how))


@pytest.mark.parametrize("name,types", CASES)
def test_values_have_the_floating_point_errors_of_numpy(name, types):
    if not set(types) & set("efdFDm") and "divi" not in name and \
            name not in ("remainder", "mod", "fmod", "reciprocal", "divmod"):
        pytest.skip("integers have none")
    wrong = []
    inputs = pairs_of(types)
    places = range(len(inputs[0]))
    if len(places) > 2000:
        places = random.Random(types).sample(places, 2000)
    for i in places:
        for count in (1, 19):
            some = [np.repeat(x[i], count) for x in inputs]
            mine, numpys = check(name, types, some, outputs_of(types, count), i)
            if is_order(name, types):
                numpys = 0  # NumPy's raise for NaN, if the numbers are complex
            if name in ("absolute", "abs") and types[0] in "FD":
                mine &= ~4  # a length less than normal, which NumPy's vectors miss
            if mine != numpys:
                wrong.append(([x[0] for x in some], count, mine, numpys))
    assert not wrong, (len(wrong), wrong[:8])


def is_order(name, types):
    return types[0] in "FD" and name.split("_")[0] in ("less", "greater")


@pytest.mark.parametrize("name", [n for n in EXACT if getattr(np, n).nin == 2 and
                                  getattr(np, n).nout == 1])
def test_an_output_with_stride_0_gathers_a_reduction(name):
    """As accumulators have it: the first input is the output."""
    function = getattr(np, name)
    for types, loop in loops_of(name).items():
        if types[0] != types[1] or types[0] != types[3] or set(types) & set("Mm"):
            continue
        for count in [1, 2, 9, 40, 200]:
            values = randoms(types[0], count, count)
            total = np.zeros(1, types[3])
            total[0] = randoms(types[0], 1, 7)[0]
            numpys = total.copy()
            with np.errstate(all="ignore"):
                for value in values:
                    now = np.zeros(1, types[3])
                    one = np.array([value])
                    function(numpys, one, out=now,
                             signature=signatures_of_numpy(function)[types])
                    products(name, types, [numpys, one], [now])
                    numpys = now
            data = np.broadcast_to(total, count)
            run(loop, [data, values, data])
            compare(total, numpys, [total], (types, count))


def test_the_table_of_the_documentation_is_up_to_date():
    import ufuncs_table

    with open(os.path.dirname(__file__) + "/../../docs/ufuncs-table.md",
              encoding="utf-8") as file:
        assert file.read() == ufuncs_table.table()


TIMES = ["M8[D]", "M8[3s]", "M8[M]", "M8[ns]", "m8[D]", "m8[7s]", "m8[M]", "m8[ns]", "m8", "i1",
         "u8", "f4", "f8", "?", "D"]
OF_TIMES = """add subtract multiply divide floor_divide remainder divmod equal less maximum fmin
    negative absolute sign isnat isfinite""".split()
UNITS = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint64),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64), ("strides", ctypes.c_int64 * 64)]


def word_of(dtype):
    unit = 0
    if dtype.kind in "mM":
        name, multiple = np.datetime_data(dtype)
        unit = UNITS.index(name) and multiple << 4 | UNITS.index(name)
    kind = "?" if dtype.kind == "b" else dtype.kind
    return dtype.itemsize << 32 | unit << 16 | ord(dtype.str[0]) << 8 | ord(kind)


def called(name, inputs):
    """The type and the elements of each output, or the error."""
    library.dray_array_view.restype = ctypes.POINTER(View)
    views = [View(x.ctypes.data, word_of(x.dtype), 1, 3, (ctypes.c_int64 * 64)(len(x)),
                  (ctypes.c_int64 * 64)(x.strides[0])) for x in inputs]
    pointers = (ctypes.POINTER(View) * len(views))(*map(ctypes.pointer, views))
    made = (ctypes.c_void_p * 2)()
    result = library.dray_ufunc_call(
        ctypes.c_void_p(library.dray_ufunc_find(name.encode())), pointers, None, None, made)
    if result:
        return result
    found = []
    for array in made[:getattr(np, name).nout]:
        view = View()
        library.dray_array_view(ctypes.c_void_p(array), ctypes.byref(view))
        size = view.dtype >> 32
        found.append((view.dtype, ctypes.string_at(view.data, size * len(inputs[0]))))
        ctypes.c_uint32.from_address(array).value = 0  # the one reference is given back
        library.dray_block_free(ctypes.c_void_p(array))
    return found


@pytest.mark.parametrize("name", OF_TIMES)
def test_units_of_times_are_those_of_numpy(name):
    function = getattr(np, name)
    wrong = []
    for types in itertools.product(TIMES, repeat=function.nin):
        if not any("8" in t and t[0] in "mM" for t in types):
            continue
        inputs = [np.array([5, -7, 3][:2 if t == "?" else 3] + [1] * (t == "?")).astype(t)
                  for t in types]
        mine = called(name, inputs)
        with np.errstate(all="ignore"):
            try:
                meant = function(*inputs)
            except (TypeError, OverflowError) as error:
                meant = -75 if isinstance(error, OverflowError) else -95
            else:
                meant = meant if isinstance(meant, tuple) else (meant,)
                meant = [(word_of(x.dtype), x.tobytes()) for x in meant]
        if mine != meant:
            wrong.append((types, mine, meant))
    assert not wrong, (len(wrong), wrong[:4])

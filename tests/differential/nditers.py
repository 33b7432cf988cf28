# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The iterators of libdray with the arguments of numpy.nditer, and random
arguments for both."""

import ctypes
import functools
import importlib.util
import pathlib
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_uint32, c_uint64, c_void_p

import numpy as np

# The build of the package that is tested.
_package = importlib.util.find_spec("dray").origin
library = ctypes.CDLL(str(pathlib.Path(_package).parents[2] / "array/libdray-array.so"))

FLAGS = ["c_index", "f_index", "multi_index", "external_loop", "reduce_ok", "ranged",
         "buffered", "growinner", "delay_bufalloc", "zerosize_ok", "copy_if_overlap",
         "keep_direction", "common_dtype"]
OPERAND_FLAGS = {"readonly": 1, "writeonly": 2, "readwrite": 3, "copy": 4, "updateifcopy": 8,
                 "nbo": 16, "aligned": 32, "contig": 64, "allocate": 128, "no_broadcast": 256,
                 "overlap_assume_elementwise": 512, "writemasked": 1024, "arraymask": 2048}
CASTING = ["no", "equiv", "safe", "same_kind", "unsafe"]
MAX_NDIM = 64


class View(ctypes.Structure):
    _fields_ = [("data", c_uint64), ("dtype", c_uint64), ("ndim", ctypes.c_int32),
                ("flags", c_uint32), ("shape", c_int64 * MAX_NDIM),
                ("strides", c_int64 * MAX_NDIM)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("flags", c_uint32), ("order", ctypes.c_char),
                ("casting", ctypes.c_uint8),
                ("ndim", ctypes.c_int16), ("operand_flags", POINTER(c_uint32)),
                ("dtypes", POINTER(c_uint64)), ("operand_axes", POINTER(POINTER(c_int))),
                ("shape", POINTER(c_int64)), ("buffer_size", c_int64)]


def function(name, result, *arguments):
    found = getattr(library, "dray_" + name)
    found.restype, found.argtypes = result, arguments
    return found


last_error = function("last_error", c_char_p)
create = function("nditer_create", c_int, c_void_p, c_int, c_void_p, c_void_p)
ask = {name: function("nditer_" + name, result, c_void_p) for name, result in (
    ("destroy", c_int), ("next", c_bool), ("size", c_int64), ("position", c_int64),
    ("index", c_int64), ("ndim", c_int), ("reset", c_int), ("remove_multi_index", c_int),
    ("enable_external_loop", c_int), ("data", POINTER(c_uint64)),
    ("strides", POINTER(c_int64)), ("count", POINTER(c_int64)))}
go_position = function("nditer_go_position", c_int, c_void_p, c_int64)
go_index = function("nditer_go_index", c_int, c_void_p, c_int64)
go = function("nditer_go", c_int, c_void_p, POINTER(c_int64))
remove_axis = function("nditer_remove_axis", c_int, c_void_p, c_int)
reset_range = function("nditer_reset_range", c_int, c_void_p, c_int64, c_int64)
get_shape = function("nditer_shape", None, c_void_p, POINTER(c_int64))
get_multi_index = function("nditer_multi_index", c_int, c_void_p, POINTER(c_int64))
get_operand = function("nditer_operand", c_int, c_void_p, c_int, POINTER(View))
get_dtype = function("nditer_dtype", c_uint64, c_void_p, c_int)


parse = function("dtype_parse", c_int, c_char_p, POINTER(c_uint64))
format_ = function("dtype_format", c_int, c_uint64, c_char_p, ctypes.c_size_t)
WORDS = {}  # of types that were used


class Refused(ValueError):
    pass


class Missing(TypeError):
    """A type that the library does not have."""


def must(result):
    if result:
        raise Refused(last_error().decode())


def text_of(dtype):
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return f"{shape}{base.str}".replace(" ", "")
    return str(dtype) if dtype.fields else dtype.str


@functools.cache
def to_word(dtype):
    """A type of the library, which is never dropped."""
    word = c_uint64()
    if parse(text_of(dtype).encode(), byref(word)):
        raise Missing(last_error().decode())
    WORDS.setdefault(word.value, dtype)
    return word.value


def from_word(word):
    if word not in WORDS:
        text = ctypes.create_string_buffer(64)
        assert format_(word, text, len(text)) >= 0
        WORDS[word] = np.dtype(text.value.decode())
    return WORDS[word]


def address(array):
    return array.__array_interface__["data"][0]


def view_of(array):
    view = View(address(array), to_word(array.dtype), array.ndim,
                3 if array.flags.writeable else 1)
    view.shape[:array.ndim] = array.shape
    view.strides[:array.ndim] = array.strides
    return view


def memory(at, dtype, count=1, stride=0):
    """An array over elements of the library."""
    if stride < 0:
        return memory(at + (count - 1) * stride, dtype, count, -stride)[::-1]
    size = max((count - 1) * stride + dtype.itemsize, 1)
    return np.ndarray((count,), dtype, (ctypes.c_char * size).from_address(at), 0, (stride,))


class Nditer:
    """An iterator of the library.  NumPy locks operands that it writes back, so
    their views are made before."""

    def __init__(self, views, flags, op_flags, op_dtypes=None, order="K", casting="safe",
                 op_axes=None, itershape=None, buffersize=0):
        count = len(views)
        options = Options(0, sum(1 << FLAGS.index(flag) for flag in flags), order.encode(),
                          CASTING.index(casting), 0)
        options.buffer_size = buffersize
        options.operand_flags = (c_uint32 * count)(*[
            sum({OPERAND_FLAGS[flag] for flag in each}) for each in op_flags])
        if op_dtypes:
            options.dtypes = (c_uint64 * count)(*[
                0 if each is None else to_word(each) for each in op_dtypes])
        if op_axes:
            options.ndim = next(len(axes) for axes in op_axes if axes is not None)
            options.operand_axes = (POINTER(c_int) * count)(*[
                None if axes is None else (c_int * MAX_NDIM)(*axes) for axes in op_axes])
        if itershape is not None:
            options.ndim = len(itershape)
            options.shape = (c_int64 * MAX_NDIM)(*itershape)
        pointers = (c_void_p * count)(*[view and ctypes.addressof(view) for view in views])
        self.iter, self.operands_count = c_void_p(), count
        must(create(pointers, count, byref(options), byref(self.iter)))

    def __getattr__(self, name):
        return ask[name](self.iter)

    def call(self, name):
        must(ask[name](self.iter))

    def close(self):
        iterator, self.iter = self.iter, None
        must(ask["destroy"](iterator))

    def numbers(self, getter):
        found = (c_int64 * MAX_NDIM)()
        getter(self.iter, found)
        return tuple(found[:self.ndim])

    @property
    def shape(self):
        return self.numbers(get_shape)

    @property
    def multi_index(self):
        return self.numbers(get_multi_index)

    @property
    def dtypes(self):
        return [from_word(get_dtype(self.iter, o)) for o in range(self.operands_count)]

    def operand(self, number):
        view = View()
        must(get_operand(self.iter, number, byref(view)))
        return view

    def loops(self):
        """The elements of the current inner loop, of each operand."""
        return [memory(self.data[o], dtype, self.count[0], self.strides[o])
                for o, dtype in enumerate(self.dtypes)]


DTYPES = [np.dtype(name) for name in ("<i4", "<i2", ">i4", "<f8", "<f4", "<i8", ">f8", "i1")]


def random_slice(rng, extent):
    """A slice that leaves @extent elements, and the length of its parent."""
    step = rng.choice([1, 1, 1, 2, -1, -1, -2])
    parent = extent * abs(step) + rng.choice([0, 0, 1])
    if extent == 0:
        return slice(0, 0), parent
    first = 0 if step > 0 else (extent - 1) * -step
    stop = first + extent * step
    return slice(first, None if stop < 0 else stop, step), max(parent, 1)


def random_window(rng, shape):
    """A view with elements that may overlap, as in a sliding window."""
    strides = [rng.choice([-2, -1, 0, 1, 1, 2, 3]) for _ in shape]
    reach = sum(abs(stride) * extent for stride, extent in zip(strides, shape))
    numbers = np.arange(2 * reach + 1, dtype=DTYPES[0])[reach:]
    return np.lib.stride_tricks.as_strided(
        numbers, shape, [4 * stride for stride in strides], writeable=False)


def random_array(rng, shape, dtype):
    if rng.random() < .1:
        return random_window(rng, shape)
    axes = list(range(len(shape)))
    if rng.random() < .5:
        rng.shuffle(axes)
    slices, parent = zip(*[random_slice(rng, shape[axis]) for axis in axes]) \
        if shape else ((), ())
    size = int(np.prod(parent))
    whole = (np.arange(1, size + 1) % 100).astype(dtype)
    if size and rng.random() < .1:  # at odd addresses
        bytes_ = np.zeros(whole.nbytes + 1, "u1")
        bytes_[1:].view(dtype)[...] = whole
        whole = bytes_[1:].view(dtype)
    return whole.reshape(parent)[(*slices, Ellipsis)].transpose(np.argsort(axes).tolist())


MODES = [[], ["multi_index"], ["c_index"], ["f_index"], ["external_loop"], ["buffered"],
         ["buffered", "external_loop"], ["buffered", "multi_index"], ["ranged"],
         ["multi_index", "c_index"], ["buffered", "ranged"]]


def random_flags(rng):
    flags = list(rng.choice(MODES))
    chances = {"zerosize_ok": .7, "reduce_ok": .4, "common_dtype": .1, "copy_if_overlap": .2}
    if "buffered" in flags:
        chances |= {"growinner": .3, "delay_bufalloc": .2}
    return flags + [flag for flag, chance in chances.items() if rng.random() < chance]


def random_operand(rng, whole, may_be_missing):
    flags = [rng.choice(["readonly", "readonly", "readwrite", "writeonly"])]
    flags += [flag for flag in ("copy", "updateifcopy", "nbo", "aligned", "contig",
                                "no_broadcast", "overlap_assume_elementwise")
              if rng.random() < .12]
    if may_be_missing and rng.random() < .12:
        return None, [rng.choice(["writeonly", "writeonly", "readwrite"]), "allocate"]
    cut = rng.choice([0, 0, 0, rng.randrange(len(whole) + 1)])
    shape = [extent if rng.random() < .8 else 1 for extent in whole[cut:]]
    if shape and rng.random() < .02:
        shape[rng.randrange(len(shape))] += 1
    return random_array(rng, shape, rng.choice(DTYPES) if rng.random() < .4 else DTYPES[0]), flags


def random_axes(rng, operands, ndim):
    rows = []
    for operand in operands:
        own = list(range(ndim if operand is None else operand.ndim))
        row = own + [-1] * ndim
        if rng.random() < .5:
            rng.shuffle(row)
        row = row[:ndim]
        if ndim and rng.random() < .15:
            row[rng.randrange(ndim)] = rng.choice([-1, 0, 1, 70])
        rows.append(None if rng.random() < .3 else row)
    return rows if any(row is not None for row in rows) else None


def random_case(rng):
    """Operands, and the other arguments of numpy.nditer."""
    whole = [rng.choice([1, 2, 2, 3, 4, 5]) for _ in range(rng.randrange(5))]
    if whole and rng.random() < .03:
        whole[rng.randrange(len(whole))] = 0
    pairs = [random_operand(rng, whole, number > 0)
             for number in range(rng.choice([1, 1, 2, 2, 3]))]
    operands, op_flags = [list(each) for each in zip(*pairs)]
    if len(operands) > 1 and rng.random() < .06:
        operands[1] = rng.choice([operands[0][...], operands[0].T])
        op_flags[1] = [flag for flag in op_flags[1] if flag != "allocate"]
    flags = random_flags(rng)
    more = {"order": rng.choice("KKKCFA"), "casting": rng.choice(CASTING)}
    dtypes = [rng.choice(DTYPES) if rng.random() < .25 else None for _ in operands]
    if any(dtypes):
        more["op_dtypes"] = dtypes
    if "buffered" in flags:
        more["buffersize"] = rng.choice([0, 1, 2, 3, 5, 7, 16, 40])
    ndim = len(whole) + rng.choice([0, 0, 1])
    axes = random_axes(rng, operands, ndim) if ndim and rng.random() < .2 else None
    if axes:
        more["op_axes"] = axes
        if rng.random() < .3:
            more["itershape"] = [rng.choice([-1, extent]) for extent in (whole + [-1])[:ndim]]
    return operands, flags, op_flags, more

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""numpy.nditer and nested_iters over the iterators of libdray, which the binding of
../differential/nditers.py calls."""
import ctypes
import operator
from ctypes import POINTER, c_int, c_int64, c_uint64, c_void_p

import nditers
import numpy
from answers import ANSWERS
from arrays import back, ndarray, plain, plain_of
from iterator_arguments import (PYTHONS_FLAGS, array_and_flags, axes_of, dtype_of, known,
                                list_of, operand_flags, raise_as_numpy)

error_of = nditers.function("nditer_error", c_int, c_void_p)
copy_of = nditers.function("nditer_copy", c_int, c_void_p, POINTER(c_void_p))
array_of = nditers.function("nditer_array", c_void_p, c_void_p, c_int)
over_block = nditers.function("array_over", c_int, POINTER(nditers.View), c_void_p,
                              POINTER(c_void_p))
axis_strides = nditers.function("nditer_axis_strides", c_int, c_void_p, c_int,
                                POINTER(c_int64))
range_of = nditers.function("nditer_range", None, c_void_p, POINTER(c_int64), POINTER(c_int64))
reset_data = nditers.function("nditer_reset_data", c_int, c_void_p, POINTER(c_uint64))


class Handle:
    """An iterator of the library, which its values and its copies keep."""

    def __init__(self, binding, keeps):
        self.binding = binding
        self.keeps = keeps

    def close(self):
        if self.binding.iter:
            self.binding.close()

    def __del__(self):
        if self.binding.iter:
            try:
                self.binding.close()
            except nditers.Refused:
                pass


def over(at, dtype, shape, strides, writeable, keeps):
    """An array of the stand-in over memory of the library."""
    low = sum(min(0, (extent - 1) * stride) for extent, stride in zip(shape, strides))
    high = sum(max(0, (extent - 1) * stride) for extent, stride in zip(shape, strides))
    size = max(high - low + dtype.itemsize, 1) if 0 not in shape else 1
    memory = (ctypes.c_char * size).from_address((at or 0) + low)
    memory.keeps = keeps
    result = numpy.ndarray(shape, dtype, memory, -low, strides)
    if not writeable:
        result.setflags(write=False)
    return plain_of(result, ndarray)


class nditer:
    def __init__(self, op, flags=(), op_flags=None, op_dtypes=None, order="K", casting="safe",
                 op_axes=None, itershape=None, buffersize=0):
        operands = list(op) if isinstance(op, (list, tuple)) else [op]
        if not operands:
            raise ValueError("no operands")
        if order not in tuple("CFAK") or casting not in nditers.CASTING:
            raise ValueError(f"order {order}, casting {casting}")
        flags = known(flags or (), nditers.FLAGS, PYTHONS_FLAGS)
        pairs = [array_and_flags(*pair) for pair in zip(
            operands, operand_flags(op_flags, operands))]
        self._given, each_flags = [list(each) for each in zip(*pairs)]
        dtypes = list_of(op_dtypes, len(operands), dtype_of)
        axes = axes_of(op_axes, itershape, len(operands))
        self._start(flags, each_flags, {
            "op_dtypes": dtypes if any(each is not None for each in dtypes) else None,
            "order": order, "casting": casting, "op_axes": axes, "itershape": itershape,
            "buffersize": buffersize})

    def _start(self, flags, each_flags, more):
        try:
            views = [each if each is None else nditers.view_of(plain(each))
                     for each in self._given]
            binding = nditers.Nditer(views, flags, each_flags, **more)
        except nditers.Missing as error:
            ANSWERS.miss("nditer", error)
            raise
        except nditers.Refused as error:
            ANSWERS.by_dray("nditer")
            raise_as_numpy(error)
        ANSWERS.by_dray("nditer")
        self._handle = Handle(binding, self._given)
        self._flags = set(flags)
        self._writes = ["readonly" not in each for each in each_flags]
        self._delayed = {"buffered", "delay_bufalloc"} <= self._flags
        self._first = None if self._delayed else list(binding.data[:self.nop])
        self._child = self._data = None
        self._rewind()
        if binding.size < 0:
            raise ValueError("the iterator is too large")

    def _rewind(self):
        self._started = False
        self._finished = self._iter.size == 0

    @property
    def _iter(self):
        if self._handle is None:
            raise ValueError("the iterator is closed")
        return self._handle.binding

    def _call(self, function, *args):
        try:
            nditers.must(function(self._iter.iter, *args))
        except nditers.Refused as error:
            raise ValueError(str(error)) from None

    def _move(self, function, *args):
        self._call(function, *args)
        self._rewind()
        self._follow()

    def _follow(self):
        """Starts the inner iterator of nested ones at the element of this one."""
        if self._child is not None and not self._finished:
            addresses = list(self._iter.data[:self.nop])
            self._child._move(reset_data, (c_uint64 * self.nop)(*addresses))
            self._child._first = addresses

    # Elements.

    def _check_element(self):
        if self._delayed:
            raise ValueError("buffers are not allocated yet")
        if self._finished:
            raise ValueError("the iterator is past its end")

    def _element(self, number):
        binding = self._iter
        if self._data is None:  # they stay where they are
            self._data, self._dtypes = binding.data, binding.dtypes
        shape = strides = ()
        if "external_loop" in self._flags:
            shape, strides = (binding.count[0],), (binding.strides[number],)
        return over(self._data[number], self._dtypes[number], shape, strides,
                    self._writes[number], self._handle)

    @property
    def value(self):
        self._check_element()
        elements = tuple(self._element(number) for number in range(self.nop))
        return elements if self.nop > 1 else elements[0]

    def __len__(self):
        return self.nop

    def __getitem__(self, key):
        self._check_element()
        numbers = range(self.nop)[key]
        if isinstance(key, slice):
            return tuple(map(self._element, numbers))
        return self._element(numbers)

    def __setitem__(self, key, value):
        self._check_element()
        numbers = range(self.nop)[key]
        if not isinstance(key, slice):
            self._element(numbers)[...] = value
            return
        for number, each in zip(numbers, value, strict=True):
            self._element(number)[...] = each

    def __delitem__(self, key):
        raise TypeError("elements cannot be deleted")

    # Steps.

    def __iter__(self):
        return self

    def __next__(self):
        if self._handle is None or self._finished or self._started and not self.iternext():
            raise StopIteration
        self._started = True
        return self.value

    def iternext(self, /):
        if not self._finished:
            self._finished = not self._iter.next
            self._check_error()
            self._follow()
        return not self._finished

    def _check_error(self):
        if self._finished and error_of(self._iter.iter):
            raise ValueError(nditers.last_error().decode())

    def reset(self, /):
        self._delayed = False
        self._move(nditers.ask["reset"])
        self._first = self._first or list(self._iter.data[:self.nop])

    def copy(self, /):
        copy = object.__new__(nditer)
        copy.__dict__ = dict(self.__dict__, _child=None, _data=None)
        binding = object.__new__(nditers.Nditer)
        binding.iter, binding.operands_count = c_void_p(), self.nop
        self._call(copy_of, ctypes.byref(binding.iter))
        copy._handle = Handle(binding, self._handle)
        return copy

    def close(self, /):
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            handle.close()
        except nditers.Refused as error:
            raise ValueError(str(error)) from None

    def __enter__(self):
        if self._handle is None:
            raise RuntimeError("the iterator is closed")
        return self

    def __exit__(self, *error):
        self.close()

    def remove_axis(self, i, /):
        self._move(nditers.remove_axis, i)
        self._first = list(self._iter.data[:self.nop])

    def remove_multi_index(self, /):
        self._move(nditers.ask["remove_multi_index"])
        self._flags.discard("multi_index")
        self._first = list(self._iter.data[:self.nop])

    def enable_external_loop(self, /):
        self._move(nditers.ask["enable_external_loop"])
        self._flags.add("external_loop")
        self._data = None

    # Places.

    @property
    def finished(self):
        return self._finished

    @property
    def multi_index(self):
        self._check_element()
        if "multi_index" not in self._flags:
            raise ValueError("no coordinates are tracked")
        return self._iter.multi_index

    @multi_index.setter
    def multi_index(self, at):
        at = [operator.index(at[axis]) for axis in range(len(at))]
        if len(at) != self.ndim:
            raise ValueError("another number of coordinates")
        self._move(nditers.go, (c_int64 * nditers.MAX_NDIM)(*at))

    @property
    def index(self):
        self._check_element()
        if not self.has_index:
            raise ValueError("no index is tracked")
        return self._iter.index

    @index.setter
    def index(self, at):
        self._move(nditers.go_index, at)

    @property
    def iterindex(self):
        self._check_element()
        return self._iter.position

    @iterindex.setter
    def iterindex(self, at):
        self._move(nditers.go_position, at)

    @property
    def iterrange(self):
        start, end = c_int64(), c_int64()
        range_of(self._iter.iter, ctypes.byref(start), ctypes.byref(end))
        return start.value, end.value

    @iterrange.setter
    def iterrange(self, ends):
        self._move(nditers.reset_range, *ends)
        self._finished = ends[0] >= ends[1]

    # Facts.

    nop = property(lambda self: self._iter.operands_count)
    ndim = property(lambda self: self._iter.ndim)
    itersize = property(lambda self: self._iter.size)
    dtypes = property(lambda self: tuple(self._iter.dtypes))
    has_index = property(lambda self: bool({"c_index", "f_index"} & self._flags))
    has_multi_index = property(lambda self: "multi_index" in self._flags)
    has_delayed_bufalloc = property(lambda self: self._delayed)
    iterationneedsapi = property(lambda self: False)

    @property
    def shape(self):
        self._check_element()
        return self._iter.shape

    @property
    def operands(self):
        return tuple(map(self._operand, range(self.nop)))

    def _operand(self, number):
        binding = self._iter
        array = array_of(binding.iter, number)
        if not array:
            return self._given[number]
        view = binding.operand(number)
        # Keeps the memory until the end: ctypes cannot drop a reference.
        nditers.must(over_block(ctypes.byref(view), array, ctypes.byref(c_void_p())))
        return over(view.data, nditers.from_word(view.dtype), tuple(view.shape[:view.ndim]),
                    tuple(view.strides[:view.ndim]), bool(view.flags & 2), None)

    @property
    def itviews(self):
        if "buffered" in self._flags:
            raise ValueError("there are no views of buffers")
        binding = self._iter
        shape, rows = binding.shape, []
        for axis in range(binding.ndim):
            row = (c_int64 * self.nop)()
            nditers.must(axis_strides(binding.iter, axis, row))
            rows.append(list(row))
        turn = slice(None) if "multi_index" in self._flags else slice(None, None, -1)
        return tuple(
            over(self._first[number], dtype, shape[turn],
                 tuple(row[number] for row in rows)[turn], self._writes[number], self._handle)
            for number, dtype in enumerate(binding.dtypes))


def nditer_too_large(arrays, axis, mode):
    """NumPy's check of iterators with more coordinates than 63 bits count."""
    views = [nditers.view_of(plain(each)) for each in arrays]
    binding = nditers.Nditer(views, ["multi_index", "ranged"], [["readonly"]] * len(views))
    ANSWERS.by_dray("nditer")
    if axis >= 0:
        nditers.must(nditers.remove_axis(binding.iter, axis))
    origin = (c_int64 * nditers.MAX_NDIM)()
    ask = [lambda: binding.size, lambda: nditers.ask["remove_multi_index"](binding.iter),
           lambda: nditers.go(binding.iter, origin),
           lambda: nditers.go_position(binding.iter, 0),
           lambda: nditers.reset_range(binding.iter, 0, 1),
           lambda: nditers.ask["reset"](binding.iter) or binding.size]
    try:
        if mode < len(ask) and ask[mode]() < 0:
            raise ValueError(nditers.last_error().decode())
    finally:
        binding.close()


def nested_iters(op, axes, flags=(), op_flags=None, op_dtypes=None, order="K", casting="safe",
                 buffersize=0):
    """Iterators over some axes each; a step of one starts the next one anew."""
    operands = list(op) if isinstance(op, (list, tuple)) else [op]
    operands = [each if isinstance(each, ndarray) else back(numpy.asarray(each))
                for each in operands]
    each_flags = operand_flags(op_flags, operands)
    flags = list(flags or ())
    last = len(axes) - 1
    ndim = max(each.ndim for each in operands)
    made = []
    for level, some in enumerate(axes):
        buffers = "buffered" in flags
        rows = [[axis - (ndim - each.ndim) if axis >= ndim - each.ndim else -1
                 for axis in some] for each in operands]
        casts = level == last if buffers else level == 0
        made.append(nditer(
            operands, flags if level == last else
            [flag for flag in flags if flag not in ("buffered", "external_loop")],
            each_flags, op_dtypes if casts else None, order, casting, rows, None,
            buffersize if level == last else 0))
        operands = list(made[level].operands)
        each_flags = [[flag for flag in each if flag not in ("copy", "updateifcopy")]
                      for each in each_flags]
    for outer, inner in zip(made, made[1:]):
        outer._child = inner
    made[0]._follow()
    return tuple(made)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Views of random arrays are those of the real NumPy: shape, strides, address, flags,
and errors."""

import ctypes
import random

import pytest

np = pytest.importorskip("numpy")
from numpy.lib.stride_tricks import as_strided, sliding_window_view  # noqa: E402

from as_numpy import (ALIGNED, C_CONTIGUOUS, F_CONTIGUOUS, ORDERS,  # noqa: E402
                      READ, WRITE, axes, dtype_of, library, must, numbers,
                      view_of)
from random_arrays import (MAX_NDIM, ROUNDS, SIZED, TYPES, memory,  # noqa: E402
                           random_array, random_shape, strided)

E2BIG, EAGAIN, EINVAL, EOVERFLOW = -7, -11, -22, -75


def random_axis(draw, ndim):
    return draw.randrange(-ndim - 1, ndim + 1) if draw.random() < 0.05 or not ndim \
        else draw.randrange(-ndim, ndim)


def random_axes(draw, ndim, most=4):
    if draw.random() < 0.08:
        return [random_axis(draw, ndim) for _ in range(draw.randrange(most))]
    chosen = draw.sample(range(ndim), draw.randrange(min(ndim, most) + 1))
    return [axis - ndim * draw.randrange(2) for axis in chosen]


def other_shape(draw, array):
    """A shape that often has as many elements."""
    if draw.random() < 0.1:
        return random_shape(draw)
    factors = []
    for extent in array.shape:
        for factor in {0: [0], 1: [], 4: [2, 2], 6: [2, 3]}.get(extent, [extent]):
            factors.append(factor)
    shape = []
    for factor in factors:
        if shape and draw.random() < 0.5:
            shape[-1] *= factor
        else:
            shape.append(factor)
    for _ in range(draw.choice([0, 0, 1, 3])):
        shape.insert(draw.randrange(len(shape) + 1), 1)
    if shape and draw.random() < 0.3:
        shape[draw.randrange(len(shape))] = -1
    if shape and draw.random() < 0.1:
        shape[draw.randrange(len(shape))] = draw.choice([-1, 0, 5, -3, 2**62])
    return shape[:MAX_NDIM]


# Each operation draws its arguments and returns the name of the library's function,
# arguments between the view and the result, and NumPy's way to the same.

def transpose(draw, array):
    order = draw.sample(range(array.ndim), array.ndim)
    if array.ndim and draw.random() < 0.1:
        order[0] = random_axis(draw, array.ndim)
    return "transpose", [axes(order)], lambda: array.transpose(order)


def swap_axes(draw, array):
    one, other = (random_axis(draw, array.ndim) for _ in range(2))
    return "swap_axes", [one, other], lambda: array.swapaxes(one, other)


def move_axes(draw, array):
    source = random_axes(draw, array.ndim)
    to = random_axes(draw, array.ndim, 9)[:len(source)]
    source = source[:len(to)]
    return ("move_axes", [axes(source), axes(to), len(to)],
            lambda: np.moveaxis(array, source, to))


def squeeze(draw, array):
    chosen = None
    if draw.random() < 0.7:
        ones = [axis for axis, extent in enumerate(array.shape) if extent == 1]
        chosen = draw.sample(ones, draw.randrange(len(ones) + 1))
        if draw.random() < 0.2:
            chosen.append(random_axis(draw, array.ndim))
    return ("squeeze", [axes(chosen), len(chosen or ())],
            lambda: array.squeeze(None if chosen is None else tuple(chosen)))


def expand(draw, array):
    count = min(draw.randrange(4), MAX_NDIM - array.ndim)
    chosen = draw.sample(range(array.ndim + count), count)
    if count and draw.random() < 0.1:
        chosen[0] = random_axis(draw, array.ndim + count)
    return ("expand", [axes(chosen), count],
            lambda: np.expand_dims(array, tuple(chosen)))


def flip(draw, array):
    chosen = draw.choice([None, random_axes(draw, array.ndim)])
    return ("flip", [axes(chosen), len(chosen or ())],
            lambda: np.flip(array, None if chosen is None else tuple(chosen)))


def diagonal(draw, array):
    offset = draw.choice([0, 0, 1, -1, 2, -2, 7, -7, 2**31 - 1, 1 - 2**31])
    one, other = (random_axis(draw, array.ndim) for _ in range(2))
    return ("diagonal", [ctypes.c_int64(offset), one, other],
            lambda: array.diagonal(offset, one, other))


def not_copied(array, result):
    """NumPy copies where the library refuses to; of no bytes, nobody sees it."""
    if result.size and not np.may_share_memory(array, result):
        raise BlockingIOError
    return result


def reshape(draw, array):
    shape = other_shape(draw, array)
    order = draw.choice("CCFA")
    return ("reshape", [len(shape), numbers(shape), ORDERS[order]],
            lambda: not_copied(array, array.reshape(shape, order=order)))


def ravel(draw, array):
    order = draw.choice("CFAK")
    return ("ravel", [ORDERS[order]],
            lambda: not_copied(array, array.ravel(order)))


def broadcast(draw, array):
    shape = [draw.choice([1, 2, 3, 0]) if extent == 1 or draw.random() < 0.03
             else extent for extent in array.shape]
    for _ in range(min(draw.randrange(3), MAX_NDIM - array.ndim)):
        shape.insert(0, draw.choice([0, 1, 2, 5]))
    if shape and draw.random() < 0.05:
        shape = shape[1:]
    return ("broadcast", [len(shape), numbers(shape)],
            lambda: np.broadcast_to(array, shape))


def real(draw, array):
    return "real", [], lambda: array.real


def imag(draw, array):
    def wanted():
        if array.dtype.kind != "c":  # zeros of NumPy's own
            raise ValueError
        return array.imag
    return "imag", [], wanted


def as_type(draw, array):
    dtype = np.dtype(draw.choice(TYPES + ["<f4", "u1", "<u2", "S0", "S1"]))
    return "as_type", [dtype_of(dtype)], lambda: array.view(dtype)


def windows(draw, array):
    chosen = None if draw.random() < 0.4 else [
        random_axis(draw, array.ndim) for _ in range(draw.randrange(3))]
    window = [draw.choice([0, 1, 1, 2, 2, 3]) for _ in (
        array.shape if chosen is None else chosen)]
    if window and draw.random() < 0.05:
        window[-1] = -1
    if array.ndim + len(window) > MAX_NDIM:
        chosen, window = [], []
    return ("windows", [len(window), numbers(window), axes(chosen)],
            lambda: sliding_window_view(
                array, window, None if chosen is None else tuple(chosen)))


def bounds(array):
    return np.byte_bounds(array) if hasattr(np, "byte_bounds") \
        else np.lib.array_utils.byte_bounds(array)


def strided_anew(draw, array):
    shape = [draw.choice([1, 2, 3, 0]) for _ in range(draw.randrange(4))]
    strides = [draw.choice([0, 1, -1, 2, 8, -8]) * draw.choice([1, 3, 4])
               for _ in shape]
    start = memory.ctypes.data
    size = draw.choice([memory.nbytes, array.ctypes.data - start + 40])

    def wanted():
        result = as_strided(array, shape, strides)
        low, high = bounds(result)
        if result.size and result.dtype.itemsize and (
                low < start or high > start + size):
            raise ValueError
        return result
    return ("as_strided", [len(shape), numbers(shape), numbers(strides),
                           ctypes.c_void_p(start), ctypes.c_uint64(size)], wanted)


OPERATIONS = [transpose, swap_axes, move_axes, squeeze, expand, flip, diagonal,
              reshape, ravel, broadcast, real, imag, as_type, windows, strided_anew]


def facts_of(array):
    flags = array.flags
    return (flags.aligned * ALIGNED | flags.c_contiguous * C_CONTIGUOUS
            | flags.f_contiguous * F_CONTIGUOUS)


def same(view, array, case):
    told = (tuple(view.shape[:view.ndim]), tuple(view.strides[:view.ndim]),
            view.data, view.dtype, bool(view.flags & WRITE))
    meant = (array.shape, array.strides, array.ctypes.data,
             dtype_of(array.dtype).value, array.flags["WRITEABLE"])
    assert told == meant, case
    # of elements without bytes NumPy tells another story each time
    if array.dtype.itemsize:
        told, meant = view.flags & ~WRITE & ~READ, facts_of(array)
        assert told == meant, case


def error_of(function):
    try:
        return 0, function()
    except BlockingIOError:
        return EAGAIN, None
    except (ValueError, IndexError, TypeError):
        return EINVAL, None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda item: item.__name__)
def test_views_are_numpys(operation):
    draw = random.Random(operation.__name__)
    results = {0: 0, EINVAL: 0, EAGAIN: 0}
    for _ in range(ROUNDS):
        array = random_array(draw, SIZED if operation in (reshape, ravel) else TYPES)
        name, arguments, wanted = operation(draw, array)
        case = (f"{name} of {array.shape}, {array.strides}, {array.dtype} by "
                f"{[list(a) if hasattr(a, '__len__') else a for a in arguments]}")
        view = view_of(array)
        result = getattr(library, "dray_view_" + name)(
            ctypes.byref(view), *arguments, ctypes.byref(view))
        error, made = error_of(wanted)
        assert result == error or (result, error) == (EOVERFLOW, EINVAL), (
            case, library.dray_last_error())
        results[error] += 1
        # of raw data without axes NumPy sometimes makes a scalar
        if isinstance(made, np.ndarray):
            same(view, made, case)
    assert results[0] > ROUNDS / 20
    assert operation in (real, ravel) or results[EINVAL]
    assert operation not in (reshape, ravel) or results[EAGAIN]


def test_shapes_are_broadcast_together_as_by_numpy():
    draw = random.Random("shapes")
    results = {0: 0, EINVAL: 0}
    for _ in range(ROUNDS):
        whole = [draw.choice([0, 1, 2, 3]) for _ in range(draw.randrange(6))]
        shapes = [[1 if draw.random() < 0.4 else draw.choice([extent] * 30 + [0, 2])
                   for extent in whole[draw.randrange(len(whole) + 1):]]
                  for _ in range(draw.randrange(6))]
        pointers = (ctypes.POINTER(ctypes.c_int64) * 6)(*map(numbers, shapes))
        ndim, shape = ctypes.c_int(), numbers([0] * 6)
        result = library.dray_broadcast_shapes(
            len(shapes), axes(list(map(len, shapes))), pointers,
            ctypes.byref(ndim), shape)
        error, wanted = error_of(lambda: np.broadcast_shapes(*map(tuple, shapes)))
        assert result == error, (shapes, library.dray_last_error())
        results[error] += 1
        if not error:
            assert tuple(shape[:ndim.value]) == wanted, shapes
    assert results[0] and results[EINVAL]


def test_facts_are_numpys():
    draw = random.Random("facts")
    for _ in range(ROUNDS):
        array = random_array(draw, SIZED)
        case = f"{array.shape}, {array.strides}, {array.dtype}"
        view = view_of(array)
        orders = [library.dray_view_is_contiguous_in(ctypes.byref(view), ORDERS[order])
                  for order in "CFAK"]
        flags = array.flags
        assert orders[:3] == [flags.c_contiguous, flags.f_contiguous,
                              flags.forc], case
        assert orders[3] == np.may_share_memory(array, array.ravel("K")) or \
            not array.size, case
        low, high = ctypes.c_int64(), ctypes.c_int64()
        library.dray_view_span(ctypes.byref(view), ctypes.byref(low),
                               ctypes.byref(high))
        if array.size:
            assert (view.data + low.value, view.data + high.value) == bounds(
                array), case
        alignment = library.dray_view_alignment(ctypes.byref(view))
        addresses = [array.ctypes.data] + [
            stride for extent, stride in zip(array.shape, array.strides) if extent > 1]
        assert not array.size or alignment == min(
            address & -address or 2**63 for address in addresses), case


@pytest.mark.parametrize("limit", [0, -1, 1])
def test_shared_memory_is_found_as_by_numpy(limit):
    draw = random.Random("shares")
    results = {True: 0, False: 0, E2BIG: 0}
    for _ in range(ROUNDS):
        one, other = (strided(draw, random_shape(draw), np.dtype(draw.choice(SIZED)))
                      for _ in range(2))
        if one.ndim + other.ndim > 12:
            continue
        shared = ctypes.c_bool()
        result = library.dray_view_shares_memory(
            ctypes.byref(view_of(one)), ctypes.byref(view_of(other)),
            ctypes.c_int64(limit), ctypes.byref(shared))
        case = [(array.shape, array.strides, array.dtype, array.ctypes.data)
                for array in (one, other)]
        if limit == 1 and result:  # steps are not NumPy's
            assert result == E2BIG, case
            results[E2BIG] += 1
            continue
        must(result)
        wanted = np.may_share_memory(one, other) if not limit \
            else np.shares_memory(one, other)
        assert shared.value == wanted, case
        results[wanted] += 1
    assert results[True] and results[False]
    assert limit != 1 or results[E2BIG]

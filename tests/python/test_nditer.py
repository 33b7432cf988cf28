# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.nditer: the C iterator from Python, compared with numpy.nditer."""
import copy
import gc
import random

import numpy as np
import pytest

import dray

A = np.arange(24.).reshape(2, 3, 4)
NUMPY2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def walk(it, limit=200):
    """All that an iteration shows."""
    seen = []
    while not it.finished and len(seen) < limit:
        values = [np.array(each) for each in (it[:] if len(it) > 1 else (it[0],))]
        seen.append((
            [(each.dtype.str, each.shape, each.tolist()) for each in values],
            it.multi_index if it.has_multi_index else None,
            it.index if it.has_index else None, it.iterindex))
        it.iternext()
    return seen


def facts(it):
    # Axes that are not kept are merged as each library likes.
    axes = (it.ndim, it.shape) if it.has_multi_index and not it.finished else None
    return (axes, it.nop, it.itersize, it.iterrange, it.has_index,
            it.has_multi_index, it.has_delayed_bufalloc, it.finished,
            [each.str for each in it.dtypes], [np.asarray(each).shape for each in it.operands])


def both(*args, **keywords):
    """The same from both libraries: facts and steps, or the word of an error."""
    results = []
    for module in (dray, np):
        try:
            it = module.nditer(*args, **keywords)
        except (ValueError, TypeError) as error:
            results.append("refused")
            results.append(error)
            continue
        results += [(facts(it), walk(it)), None]
        it.close()
    return results[0], results[2], results[1], results[3]


CASES = {
    "an array": dict(op=A),
    "F order": dict(op=A, order="F"),
    "C order of a transposed array": dict(op=A.T, order="C"),
    "the order of memory": dict(op=A.transpose(1, 2, 0)[:, ::-1]),
    "a number": dict(op=3.5),
    "a list": dict(op=[[1, 2, 3], (4, 5, 6)]),
    "two operands": dict(op=[A, A[0, 0]]),
    "an outer product": dict(op=[A[0, 0], A[0, :, 0]], op_axes=[[0, -1], [-1, 0]]),
    "coordinates": dict(op=A.T, flags=["multi_index"]),
    "an index in C order": dict(op=A.T, flags=["c_index"]),
    "an index in F order": dict(op=A, flags=["f_index", "multi_index"]),
    "an external loop": dict(op=A, flags=["external_loop"]),
    "an external loop of several lines": dict(op=A[:, ::2], flags=["external_loop"]),
    "buffers": dict(op=A[:, ::2], flags=["external_loop", "buffered"], buffersize=16),
    "another type": dict(op=A, flags=["buffered"], op_dtypes=["f4"], casting="same_kind"),
    "another type for all": dict(op=[A, A[0]], flags=["buffered"], op_dtypes="c16"),
    "the common type": dict(op=[A, np.arange(4)], flags=["common_dtype", "buffered"]),
    "the other byte order": dict(op=A.astype(">f8"), flags=["buffered"],
                                 op_flags=[["readonly", "nbo"]], casting="equiv"),
    "a copy": dict(op=A.astype(">f8"), op_flags=[["readonly", "copy"]], op_dtypes=["f8"]),
    "one list of flags": dict(op=[A, A[0]], op_flags=["readonly"]),
    "no elements": dict(op=A[:0], flags=["zerosize_ok"]),
    "a shape": dict(op=[A[0, 0]], op_axes=[[-1, 0]], itershape=(2, 4)),
    "a shape with unknown extents": dict(op=[A[0, 0]], op_axes=[[-1, 0]], itershape=(2, -1)),
    # Errors.
    "no elements, refused": dict(op=A[:0]),
    "an unknown flag": dict(op=A, flags=["no_flag"]),
    "an unknown flag of an operand": dict(op=A, op_flags=[["readonly", "no_flag"]]),
    "no access": dict(op=A, op_flags=[["nbo"]]),
    "two accesses": dict(op=A, op_flags=[["readonly", "readwrite"]]),
    "too few flags": dict(op=[A, A], op_flags=[["readonly"]]),
    "both indices": dict(op=A, flags=["c_index", "f_index"]),
    "an index of an external loop": dict(op=A, flags=["c_index", "external_loop"]),
    "coordinates of an external loop": dict(op=A, flags=["multi_index", "external_loop"]),
    "shapes that differ": dict(op=[A, np.ones(3)]),
    "an order that does not exist": dict(op=A, order="Z"),
    "a conversion without buffers": dict(op=A, op_dtypes=["f4"], casting="same_kind"),
    "a conversion that is not allowed": dict(op=A, flags=["buffered"], op_dtypes=["i4"]),
    "writes to a list": dict(op=[[1, 2]], op_flags=["readwrite"]),
    "writes to a number": dict(op=[np.float64(1)], op_flags=["readwrite"]),
    "no operands": dict(op=[]),
    "axes of another count": dict(op=[A, A], op_axes=[[0, 1, 2]]),
    "axes of other lengths": dict(op=[A, A], op_axes=[[0, 1, 2], [0, 1]]),
    "an axis that does not exist": dict(op=A, op_axes=[[0, 1, 7]]),
    "an axis twice": dict(op=A, op_axes=[[0, 0, 1]]),
    "a shape that does not fit": dict(op=[A[0, 0]], op_axes=[[-1, 0]], itershape=(2, 5)),
    "a reduction that is not allowed": dict(op=[A, np.zeros(4)], op_flags=[["readonly"],
                                                                          ["readwrite"]]),
    "None that is not allocated": dict(op=[A, None], op_flags=[["readonly"], ["writeonly"]]),
}


@pytest.mark.parametrize("name", CASES)
def test_iterations_are_numpys(name):
    ours, theirs, error, _ = both(**CASES[name])
    assert ours == theirs, error


WORDS = ["multi_index", "c_index", "f_index", "external_loop", "buffered", "ranged", "growinner",
         "zerosize_ok", "common_dtype", "copy_if_overlap", "reduce_ok", "delay_bufalloc"]


def random_case(seed):
    draw = random.Random(seed)
    shape = [draw.choice([1, 2, 3, 4]) for _ in range(draw.randint(0, 4))]
    if draw.random() < 0.08 and shape:
        shape[draw.randrange(len(shape))] = 0

    def operand():
        kept = shape[draw.randint(0, len(shape)):] if draw.random() < 0.5 else shape
        kept = [draw.choice([1, size]) if draw.random() < 0.2 else size for size in kept]
        wide = [2 * size if draw.random() < 0.3 else size for size in kept]
        a = np.arange(int(np.prod(wide)), dtype=draw.choice(["f8", "i4", "f4", ">i2", "c8"])
                      ).reshape(wide)
        a = a[tuple(slice(None, None, 2 if w != k else draw.choice([1, 1, -1]))
                    for w, k in zip(wide, kept))]
        if draw.random() < 0.3:
            a = np.asfortranarray(a)
        if draw.random() < 0.2:
            a = np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0) if a.ndim else a
        return a
    operands = [operand() for _ in range(draw.randint(1, 3))]
    flags = [word for word in WORDS[:-1] if draw.random() < 0.25]
    if {"buffered", "ranged"} & set(flags):
        # NumPy 2.4's indices stay with buffers, and skip elements with a range.
        flags = [word for word in flags if "index" not in word]
    keywords = dict(order=draw.choice("CFAK"), casting=draw.choice(
        ["no", "equiv", "safe", "same_kind", "unsafe"]))
    if draw.random() < 0.4:
        keywords["op_dtypes"] = [draw.choice([None, "f8", "c16", "f4"]) for _ in operands]
    if draw.random() < 0.5:
        keywords["op_flags"] = [
            [draw.choice(["readonly", "readonly", "readwrite"])]
            + [word for word in ("copy", "nbo", "aligned", "contig", "no_broadcast")
               if draw.random() < 0.15] for _ in operands]
    if draw.random() < 0.2:
        keywords["buffersize"] = draw.choice([16, 32, 1000])
    return operands, flags, keywords


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0",
                    reason="buffers of NumPy 2.3, and its types of numbers")
@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("seed", range(40))
def test_random_iterations_are_numpys(seed):
    for number in range(50):
        operands, flags, keywords = random_case(seed * 1000 + number)
        ours, theirs, error, other = both(operands, flags, **keywords)
        assert ours == theirs, (seed * 1000 + number, operands, flags, keywords, error, other)


def doubled(module, a, **keywords):
    with module.nditer([a, None], **keywords) as it:
        for x, y in it:
            y[...] = 2 * x
        return np.asarray(it.operands[1])


@pytest.mark.parametrize("flags", [[], ["external_loop"], ["buffered"],
                                   ["external_loop", "buffered", "growinner"]])
@pytest.mark.parametrize("a", [A, A.T, A[:, ::-1], np.asfortranarray(A), A.astype("i2")])
def test_operands_are_allocated_in_the_order_of_the_iteration(a, flags):
    ours, theirs = doubled(dray, a, flags=flags), doubled(np, a, flags=flags)
    np.testing.assert_array_equal(ours, 2 * a)
    assert ours.strides == theirs.strides and ours.dtype == theirs.dtype


def test_allocated_operands_are_of_dray_and_lie_in_the_scope():
    with dray.memory(shareable=True):
        with dray.nditer([A, None]) as it:
            result = it.operands[1]
        assert type(result) is dray.Array
        assert dray.handler_name(result) == dray.handler_name(np.zeros(1))


def test_given_operands_are_returned_themselves():
    ours = dray.Array(A)
    it = dray.nditer([A, ours])
    assert it.operands[0] is A and it.operands[1] is ours
    assert it[0].tolist() == it[1].tolist() == 0


def summed(module, flags):
    total = np.zeros((2, 1))
    with module.nditer([A.reshape(2, 12), total], ["reduce_ok", *flags],
                       [["readonly"], ["readwrite"]]) as it:
        for x, y in it:
            y[...] += x if y.ndim == 0 or y.strides != (0,) else 0
            if y.ndim and y.strides == (0,):
                y[0] += x.sum()
    return total


@pytest.mark.parametrize("flags", [[], ["external_loop"], ["buffered"]])
def test_reductions_are_numpys(flags):
    np.testing.assert_array_equal(summed(dray, flags), summed(np, flags))
    np.testing.assert_array_equal(summed(dray, flags), A.reshape(2, 12).sum(1, keepdims=True))


WRITES = {
    "in place": dict(op_flags=[["readwrite"]]),
    "by buffers": dict(flags=["buffered"], op_flags=[["readwrite"]], op_dtypes=["f8"],
                       casting="same_kind"),
    "by small buffers": dict(flags=["buffered", "external_loop"], op_flags=[["readwrite"]],
                             op_dtypes=["f8"], casting="same_kind", buffersize=16),
    "by a copy": dict(op_flags=[["readwrite", "updateifcopy"]], op_dtypes=["f8"],
                      casting="same_kind"),
}


@pytest.mark.parametrize("end", ["with", "close", "garbage"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_reach_the_operand_at_the_end(name, end):
    a = np.arange(40, dtype="f4").reshape(4, 10)[:, ::2]
    expected = a * 3
    it = dray.nditer(a, **WRITES[name])
    if end == "with":
        with it:
            for x in it:
                x[...] *= 3
    else:
        for x in it:
            x[...] *= 3
        it.close() if end == "close" else None
    del x
    if end == "garbage":
        del it
        gc.collect()
    np.testing.assert_array_equal(a, expected)


def test_a_copy_is_written_at_the_end_and_not_before():
    a = np.zeros(4, "f4")
    with dray.nditer(a, **WRITES["by a copy"]) as it:
        for x in it:
            x[...] = 1
        assert not a.any()
    assert a.all()


@pytest.mark.parametrize("name", WRITES)
def test_views_of_elements_outlive_the_end(name):
    a = np.ones(40, "f4")
    with dray.nditer(a, **WRITES[name]) as it:
        views = [x for x in it]
    del it
    gc.collect()
    for view in views:
        view[...] = 7
    assert name == "in place" or a.tolist() == [1] * 40


def test_overlaps_are_copied_aside():
    a = np.arange(10.)
    with dray.nditer([a[:-1], a[1:]], ["copy_if_overlap"], [["readonly"], ["writeonly"]]) as it:
        for x, y in it:
            y[...] = x
    np.testing.assert_array_equal(a, [0, *range(9)])


def test_elements_that_are_read_are_read_only():
    x = dray.nditer(np.ones(3)).value
    with pytest.raises(ValueError, match="read-only"):
        x[...] = 2
    it = dray.nditer(np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        it[0] = 2


def test_a_read_only_operand_is_not_written():
    a = np.ones(3)
    a.flags.writeable = False
    for module in (dray, np):
        with pytest.raises(ValueError):
            module.nditer(a, op_flags=["readwrite"])


JUMPS = {
    "index": (["c_index"], lambda it: setattr(it, "index", 7)),
    "an index beyond": (["c_index"], lambda it: setattr(it, "index", 24)),
    "no index": ([], lambda it: setattr(it, "index", 7)),
    "coordinates": (["multi_index"], lambda it: setattr(it, "multi_index", (1, 2, 3))),
    "coordinates beyond": (["multi_index"], lambda it: setattr(it, "multi_index", (1, 3, 3))),
    "too few coordinates": (["multi_index"], lambda it: setattr(it, "multi_index", (1, 2))),
    "no coordinates": ([], lambda it: setattr(it, "multi_index", (1, 2, 3))),
    "position": ([], lambda it: setattr(it, "iterindex", 5)),
    "a position beyond": ([], lambda it: setattr(it, "iterindex", 25)),
    "a position of an external loop": (["external_loop"], lambda it: setattr(it, "iterindex", 5)),
    "range": (["ranged"], lambda it: setattr(it, "iterrange", (3, 9))),
    "an empty range": (["ranged"], lambda it: setattr(it, "iterrange", (3, 3))),
    "a range with coordinates": (["ranged", "multi_index"],
                                 lambda it: setattr(it, "iterrange", (3, 9))),
    "a range backwards": (["ranged"], lambda it: setattr(it, "iterrange", (9, 3))),
    "a range beyond": (["ranged"], lambda it: setattr(it, "iterrange", (3, 25))),
    "no range": ([], lambda it: setattr(it, "iterrange", (3, 9))),
    "reset": ([], lambda it: (it.iternext(), it.reset())),
    "remove an axis": (["multi_index"], lambda it: it.remove_axis(1)),
    "remove an axis from the end": (["multi_index"], lambda it: it.remove_axis(2)),
    "an axis that is not there": (["multi_index"], lambda it: it.remove_axis(3)),
    "an axis without coordinates": ([], lambda it: it.remove_axis(1)),
    "remove coordinates": (["multi_index"], lambda it: it.remove_multi_index()),
    "external loop": (["multi_index"], lambda it: (it.remove_multi_index(),
                                                   it.enable_external_loop())),
    "an external loop of coordinates": (["multi_index"], lambda it: it.enable_external_loop()),
    "delayed buffers": (["buffered", "delay_bufalloc"], lambda it: it.reset()),
}


@pytest.mark.parametrize("name", [
    # NumPy 1 ends this call with an error that it does not report.
    name for name in JUMPS if NUMPY2 or name != "an external loop of coordinates"])
def test_jumps_are_numpys(name):
    flags, jump = JUMPS[name]
    results = []
    for module in (dray, np):
        it = module.nditer(A, flags)
        try:
            jump(it)
        except (ValueError, IndexError, RuntimeError):
            results.append("refused")
        else:
            results.append((facts(it), walk(it)))
    assert results[0] == results[1]


def test_delayed_buffers_need_a_reset():
    it = dray.nditer(A, ["buffered", "delay_bufalloc"])
    assert it.has_delayed_bufalloc
    for use in (lambda: it.value, lambda: next(it), it.iternext, lambda: it[0]):
        with pytest.raises(ValueError, match="reset"):
            use()
    it.reset()
    assert not it.has_delayed_bufalloc and [x.item() for x in it] == A.ravel().tolist()


@pytest.mark.parametrize("made", [lambda it: it.copy(), copy.copy])
def test_a_copy_stands_at_the_same_place(made):
    it = dray.nditer(A, ["multi_index", "buffered"], op_dtypes="c16")
    for _ in range(5):
        next(it)
    other = made(it)
    assert type(other) is dray.nditer and other.multi_index == it.multi_index
    assert [x.item() for x in other] == A.ravel().tolist()[5:] and it.iterindex == 4
    it.close()
    del it
    gc.collect()
    other.reset()
    assert [x.item() for x in other] == A.ravel().tolist()


USES = {
    "value": lambda it: it.value, "next": next, "iternext": lambda it: it.iternext(),
    "item": lambda it: it[0], "set": lambda it: it.__setitem__(0, 1),
    "operands": lambda it: it.operands, "itviews": lambda it: it.itviews,
    "dtypes": lambda it: it.dtypes, "shape": lambda it: it.shape, "reset": lambda it: it.reset(),
    "multi_index": lambda it: it.multi_index, "index": lambda it: it.index,
    "jump": lambda it: setattr(it, "index", 0), "copy": lambda it: it.copy(),
    "range": lambda it: it.iterrange, "remove_axis": lambda it: it.remove_axis(0),
    "remove_multi_index": lambda it: it.remove_multi_index(), "with": lambda it: it.__enter__(),
    "len": len, "first visit": lambda it: it.is_first_visit(0),
    "external loop": lambda it: it.enable_external_loop(), "print": lambda it: it.debug_print(),
}


@pytest.mark.parametrize("name", USES)
def test_use_after_the_end_is_refused(name):
    it = dray.nditer(A, ["c_index", "multi_index"], ["readwrite"])
    it.close()
    it.close()
    with pytest.raises(ValueError, match="closed"):
        USES[name](it)
    assert it.closed


@pytest.mark.parametrize("name", USES)
def test_an_iterator_that_was_not_made_is_closed(name):
    it = dray.nditer.__new__(dray.nditer)
    with pytest.raises((ValueError, AttributeError)):
        USES[name](it)


@pytest.mark.parametrize("use", [lambda it: it.value, lambda it: it[0], lambda it: it.multi_index])
def test_nothing_is_past_the_end(use):
    it = dray.nditer(A, ["multi_index"])
    assert len(list(it)) == 24 and it.finished and not it.iternext()
    with pytest.raises(ValueError, match="past the end"):
        use(it)
    with pytest.raises(StopIteration):
        next(it)


@pytest.mark.parametrize("again", [lambda it: it.__init__(A), lambda it: it[5],
                                   lambda it: it.__setitem__(slice(None), [1, 2, 3]),
                                   lambda it: it.operand(9), lambda it: it.jump(1, ("x",))])
def test_wrong_uses_are_refused(again):
    it = dray.nditer([A, A], op_flags=["readwrite"])
    with pytest.raises((ValueError, IndexError, TypeError)):
        again(it)


@pytest.mark.parametrize("keywords", [
    dict(op=np.array([object()])), dict(op=[A] * 9), dict(op=A, op_dtypes=["O"]),
    dict(op=A, casting="never"), dict(op=A, op_dtypes=["f8", "f8"]), dict(op=A, buffersize="big"),
    dict(op=A, flags=3), dict(op=A, op_axes=[[2**40]]), dict(op=A, op_axes=[["x"]]),
    dict(op=A, op_axes=[[-1] * 70]), dict(op=A, op_flags=[3]), dict(op=A, itershape=(2**70,))])
def test_wrong_arguments_are_refused(keywords):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        dray.nditer(**keywords)


def test_errors_of_conversions_are_raised_by_the_end():
    a = np.zeros(3, "f4")
    it = dray.nditer(a, ["buffered"], [["readwrite"]], op_dtypes=["f8"], casting="same_kind")
    for x in it:
        x[...] = 1e300
        break
    with dray.errstate(over="raise"), pytest.raises(FloatingPointError):
        it.close()
    it.close()


def test_slices_of_elements_are_assigned():
    it = dray.nditer([np.zeros(2), np.zeros(2)], op_flags=["readwrite"])
    it[:] = 3, 4
    assert [each.item() for each in it[:]] == [3, 4] and len(it) == 2
    it[1] = 5
    assert it[1] == 5

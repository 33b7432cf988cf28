# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Iterators of libdray make the steps of numpy.nditer: the same addresses or
values, inner loops, indices, results and refusals, for random operands, orders
and flags."""

import itertools
import random

import nditers
import numpy as np
import pytest

CASES = 1000

# NumPy has buffers of these sizes since 2.3.
pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="NumPy before 2.3")


def root_of(array):
    while array.base is not None:
        array = array.base
    return array


class Pair:
    """The iterators of both over one case; None if it cannot be compared."""

    def __init__(self, rng):
        self.operands, self.flags, self.op_flags, self.more = nditers.random_case(rng)
        self.case = (self.flags, self.op_flags, self.more, [
            None if each is None else (each.dtype.str, each.shape, each.strides)
            for each in self.operands])
        views = [each if each is None else nditers.view_of(each) for each in self.operands]
        self.numpy = self.dray = refusal = None
        try:
            self.numpy = np.nditer(self.operands, self.flags, self.op_flags, **self.more)
        except (ValueError, TypeError) as error:
            refusal = str(error)
        try:
            self.dray = nditers.Nditer(views, self.flags, self.op_flags, **self.more)
        except nditers.Refused as error:
            assert refusal, (self.case, str(error))
            for word in ("broadcast", "reduction", "zero-sized", "cast", "read-only"):
                assert word not in refusal or word in str(error), (self.case, refusal)
        assert (self.numpy is None) == (self.dray is None), (self.case, refusal)

    def has(self, *flags):
        return any(flag in self.flags for flag in flags)

    def writes(self, number):
        return "readonly" not in self.op_flags[number]

    def reads(self, number):
        return "writeonly" not in self.op_flags[number]

    def comparable(self):
        """Leaves out results that NumPy does not define: strides of the index of
        one element, elements never written, and (wrong in 2.4) reductions in
        buffers over a range that begins or ends in a core."""
        only_written = [o for o in range(len(self.operands)) if not self.reads(o)]
        roots = [id(root_of(each)) for each in self.operands if each is not None]
        return not (
            self.numpy.itersize == 0
            or self.numpy.itersize == 1 and self.has("c_index", "f_index")
            or only_written and len(set(roots)) < len(roots)
            or self.has("ranged") and self.has("buffered") and self.has("reduce_ok"))

    def is_own(self, number):
        """Whether the caller's operand is used in place."""
        operand = self.operands[number]
        return not self.has("buffered") and operand is not None and \
            self.dray.operand(number).data == nditers.address(operand)

    def numpy_loops(self):
        value = self.numpy.value
        return [each.reshape(-1) for each in (value if len(self.operands) > 1 else (value,))]

    def close(self):
        if self.dray:
            self.dray.close()
        if self.numpy:
            self.numpy.close()


def check_operands(pair):
    numpy, mine = pair.numpy, pair.dray
    assert numpy.itersize == mine.size, pair.case
    if not pair.comparable():
        return False
    assert (numpy.ndim, numpy.shape) == (mine.ndim, mine.shape), pair.case
    assert list(numpy.dtypes) == mine.dtypes, pair.case
    for number, array in enumerate(numpy.operands):
        view = mine.operand(number)
        shape, strides = view.shape[:view.ndim], view.strides[:view.ndim]
        assert (array.shape, array.strides) == (tuple(shape), tuple(strides)), pair.case
        operand = pair.operands[number]
        if operand is not None:
            assert (nditers.address(array) == nditers.address(operand)) == \
                (view.data == nditers.address(operand)), pair.case
        elif pair.reads(number):
            array[...] = 3
            np.ndarray(array.shape, array.dtype, nditers.memory(
                view.data, np.dtype("u1"), array.nbytes, 1), 0, array.strides)[...] = 3
    return True


def describe(pair, number, loop):
    """Describes one operand's inner loop."""
    return (nditers.address(loop) if pair.is_own(number) else None, len(loop),
            loop.strides[0] if len(loop) > 1 else 0,
            loop.tolist() if pair.reads(number) else None)


def walk(pair, iterator, loops_of, step, written):
    """The steps of an iterator; writes numbers to operands that allow it."""
    steps = []
    while True:
        loops = loops_of()
        seen = [describe(pair, number, loop) for number, loop in enumerate(loops)]
        if not pair.has("buffered"):
            if pair.has("c_index", "f_index"):
                seen.append(iterator.index)
            if pair.has("multi_index"):
                seen.append(iterator.multi_index)
        steps.append(seen)
        for number, loop in enumerate(loops):
            if written and pair.writes(number):
                for place in range(len(loop)):
                    loop[place] = (len(steps) * 7 + number * 3 + place) % 90 + 1
        if not step():
            return steps


@pytest.mark.parametrize("seed", range(10))
def test_random_iterators_make_the_same_steps(seed):
    rng = random.Random(seed)
    compared = 0
    for _ in range(CASES):
        pair = Pair(rng)
        if pair.numpy is None:
            continue
        roots = [root_of(each) for each in pair.operands if each is not None]
        before = [each.copy() for each in roots]
        if check_operands(pair):
            compared += 1
            compare_steps(pair, rng, roots, before)
        pair.close()
    assert compared > CASES / 4


def compare_steps(pair, rng, roots, before):
    written = rng.random() < .5
    if pair.has("ranged") and rng.random() < .6:
        start = rng.randrange(pair.numpy.itersize)
        end = rng.randrange(start, pair.numpy.itersize) + 1
        pair.numpy.iterrange = start, end
        nditers.must(nditers.reset_range(pair.dray.iter, start, end))
    elif pair.has("delay_bufalloc"):
        pair.numpy.reset()
        pair.dray.call("reset")
    wanted = walk(pair, pair.numpy, pair.numpy_loops, pair.numpy.iternext, written)
    pair.numpy.close()
    after = [each.copy() for each in roots]
    for root, content in zip(roots, before):
        root.flags.writeable = True
        root[...] = content
    found = walk(pair, pair.dray, pair.dray.loops, lambda: pair.dray.next, written)
    for number, (want, have) in enumerate(itertools.zip_longest(wanted, found)):
        assert want == have, (pair.case, f"step {number}")
    pair.dray.close()
    pair.dray = None
    if all(pair.reads(number) for number in range(len(pair.operands))):
        for root, content in zip(roots, after):
            assert root.tolist() == content.tolist(), pair.case


def jump_position(rng, pair):
    position = rng.randrange(-1, pair.numpy.itersize + 2)
    return (lambda: setattr(pair.numpy, "iterindex", position),
            lambda: nditers.go_position(pair.dray.iter, position))


def jump_index(rng, pair):
    index = rng.randrange(-1, pair.numpy.itersize + 2)
    return (lambda: setattr(pair.numpy, "index", index),
            lambda: nditers.go_index(pair.dray.iter, index))


def jump_multi_index(rng, pair):
    at = tuple(rng.randrange(-1 if rng.random() < .1 else 0, extent + (rng.random() < .1))
               for extent in pair.dray.shape)
    numbers = (nditers.c_int64 * nditers.MAX_NDIM)(*at)
    return (lambda: setattr(pair.numpy, "multi_index", at),
            lambda: nditers.go(pair.dray.iter, numbers))


def remove_axis(rng, pair):
    axis = rng.randrange(-1, pair.numpy.ndim + 1)
    return (lambda: pair.numpy.remove_axis(axis),
            lambda: nditers.remove_axis(pair.dray.iter, axis))


def remove_multi_index(rng, pair):
    if "multi_index" in pair.flags:
        pair.flags.remove("multi_index")
    return (pair.numpy.remove_multi_index, lambda: pair.dray.remove_multi_index)


def enable_external_loop(rng, pair):
    return (pair.numpy.enable_external_loop, lambda: pair.dray.enable_external_loop)


MOVES = [jump_position, jump_index, jump_multi_index, remove_axis, remove_multi_index,
         enable_external_loop]


def check_place(pair, moves):
    numpy, mine = pair.numpy, pair.dray
    assert (numpy.itersize, numpy.ndim) == (mine.size, mine.ndim), (pair.case, moves)
    assert numpy.iterindex == mine.position, (pair.case, moves)
    for number, (want, have) in enumerate(zip(pair.numpy_loops(), mine.loops())):
        if pair.operands[number] is not None:
            assert describe(pair, number, want) == describe(pair, number, have), \
                (pair.case, moves)
    if pair.has("c_index", "f_index"):
        assert numpy.index == mine.index, (pair.case, moves)
    if pair.has("multi_index"):
        assert numpy.multi_index == mine.multi_index, (pair.case, moves)


def move(rng, pair):
    """Makes one move in both; returns its name."""
    chosen = rng.choice(MOVES)
    if chosen is jump_multi_index and not pair.has("multi_index"):
        chosen = jump_index
    by_numpy, by_dray = chosen(rng, pair)
    refusal = None
    try:
        by_numpy()
    except (ValueError, IndexError, RuntimeError) as error:
        refusal = str(error)
    assert bool(by_dray()) == (refusal is not None), (pair.case, chosen, refusal)
    return chosen.__name__


@pytest.mark.parametrize("seed", range(5))
def test_random_moves_lead_to_the_same_place(seed):
    rng = random.Random(seed)
    compared = 0
    for _ in range(CASES):
        pair = Pair(rng)
        if pair.numpy is not None and check_operands(pair) and \
                not pair.has("buffered", "ranged"):
            compared += 1
            moves = []
            for _ in range(6):
                moves.append(move(rng, pair))
                check_place(pair, moves)
                assert pair.numpy.iternext() == pair.dray.next, (pair.case, moves)
                pair.numpy.reset()
                pair.dray.call("reset")
        pair.close()
    assert compared > CASES / 10

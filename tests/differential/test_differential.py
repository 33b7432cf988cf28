# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The comparison notices a difference in each fact, and its two lines of Python show
the smallest case of it."""
import subprocess
import sys
from random import Random

import numpy as np
import pytest

import arguments
import cases
import dray
import minimise
import page
from operations import OPERATIONS, operation

# An operation that differs: on the side of dray, in which fact.
DIFFERENT = {
    "values": ("a + 0", "dray.Array(a.__array__() + 1)"),
    "shape": ("a[()]", "a[None]"),
    "strides": ("a", "a.copy('F')"),
    "flags": ("a", "dray.Array(np.broadcast_to(a.__array__(), a.shape))"),
    "dtype": ("a", "dray.Array(a.__array__().astype('<f8'))"),
    "class": ("a", "a.tolist()"),
    "error": ("a[99:]", "a[99]"),
}


def with_operation(monkeypatch, numpy, here):
    monkeypatch.setitem(OPERATIONS, "planted",
                        operation("planted", numpy, arguments.basic_index, here))


def planted(given=None):
    return cases.Step("planted", given or {"i": slice(1, None)})


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_difference_is_noticed(monkeypatch, what):
    with_operation(monkeypatch, *DIFFERENT[what])
    case = cases.Case(arguments.Source("<i4", (4, 6)), (planted(),))
    found = cases.run(case)[0]
    assert found and found.what == what


def test_a_change_outside_of_the_view_is_noticed(monkeypatch):
    with_operation(monkeypatch, "a[...] = 0", "dray.Array(a.base)[...] = 0")
    case = cases.Case(
        arguments.Source("<i4", (4, 6)),
        (cases.Step("index", {"i": slice(1, None)}), planted()))
    found = cases.run(case)[0]
    assert found and found.what == "bytes outside of the view"


def test_equal_operations_do_not_differ(monkeypatch):
    with_operation(monkeypatch, "a[i]", "a[i]")
    case = cases.Case(arguments.Source("<i4", (4, 6)), (planted(),))
    assert cases.run(case)[0] is None


# Cases that differ as meant: the steps, what dray does in the last one, and what it
# must not do.
MEANT = {
    "of overlapping parts": (
        [cases.Step("set to a part", {"i": slice(None, None, 3), "j": slice(1, 5)})],
        "a[i] = a[j]", "a[i] = [1, 2, 0, 4]"),
    "to overlapping elements": (
        [cases.Step("as_strided", {"s": (2,), "t": (1,)}),
         cases.Step("set to an array", {"i": ..., "v": arguments.Source("<i2", (2,))})],
        "a[1] = v[1]; a[0] = v[0]", "a[1] = v[1]; a[0] = 2"),
}


@pytest.mark.parametrize("name", MEANT)
def test_an_accepted_assignment_leaves_what_was_assigned(monkeypatch, name):
    steps, right, wrong = MEANT[name]
    last = OPERATIONS[steps[-1].operation]
    for line, accepted in ((right, True), (wrong, False)):
        monkeypatch.setitem(OPERATIONS, last.name, operation(
            last.name, last.numpy.text, arguments.nothing, line))
        case = cases.Case(arguments.Source("<i2", (10,)), tuple(steps))
        found, state = cases.run(case)
        assert bool(state.accepted) == accepted and bool(found) != accepted


def test_the_smallest_case_reproduces_the_difference(monkeypatch):
    with_operation(monkeypatch, "a[i] = 0", "a[i] = 7")
    case = cases.Case(
        arguments.Source(">c16", (4, 6, 2), "F", -3, 1),
        (cases.Step("transpose", {"x": (2, 0, 1)}), cases.Step("T", {}),
         planted({"i": (slice(None), Ellipsis, slice(3, None, -1))}),
         cases.Step("copy", {"o": "K"})), taken_over=1)
    small = minimise.minimise(case)
    assert small == cases.Case(arguments.Source("u1", ()), (planted({"i": ()}),))
    said = subprocess.run([sys.executable, "-c", small.lines], capture_output=True,
                          text=True, check=True).stdout
    assert said == "array(0, dtype=uint8) Array(7, dtype=uint8)\n"


def evaluated(text, names):
    try:
        return cases.Outcome(eval(text, names))
    except Exception as error:
        return cases.Outcome(error=error)


def test_the_lines_of_a_case_do_what_the_case_does():
    for number in range(300):
        case, _, state = cases.draw(Random(number))
        made, numpy, _ = case.expressions
        names = {"np": np, "dray": dray}
        result = evaluated(made, names)
        if len(case.steps) > case.taken_over:
            result = evaluated(numpy, {**names, "a": result.value})
        assert cases.difference(state.last[0], result) is None, case.lines


def test_the_page_has_the_accepted_differences():
    assert page.rows() and page.differences() == []

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
import judge
import minimise
import others
import page
import ufuncs
from elements import Elements
from operations import OPERATIONS, Line, operation

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


# Calls of ufuncs that differ: on the side of dray, in which fact.
DIFFERENT_CALLS = {
    "values": "dray.add(a, *v, **k) + 1",
    "dtype": "dray.add(a, *v, dtype='f8')",
    "class": "dray.add(a, *v, **k).tolist()",
    "error": "dray.add(a, *v, 1)",
}


@pytest.mark.parametrize("what", DIFFERENT_CALLS)
def test_a_difference_of_a_ufunc_is_noticed_and_made_smaller(monkeypatch, what):
    planted = ufuncs.Ufunc("add", "")
    planted.dray = Line(DIFFERENT_CALLS[what])
    monkeypatch.setitem(ufuncs.UFUNCS, "add", planted)
    case = cases.Case(
        Elements((1, 2, 300), ">i4", (3, 4, 2), "negative"),
        (cases.Step("add", {"v": (Elements((5, 7), "<i2", (4, 1), "strided"),),
                            "k": {"order": "F"}}),))
    found = cases.run(case)[0]
    assert found and found.what == what
    small = minimise.minimise(case)
    assert small.source.shape == () and small.steps[0].arguments["k"] == {}


@pytest.mark.parametrize("name, method, numpy, here, near", [
    ("add", "", [1.0], [1.0], True),
    ("add", "", [1.0], [np.nextafter(1, 2)], False),
    ("add", "", [np.nan], [-np.nan], True),
    ("add", "", [0.0], [-0.0], False),
    ("exp", "", [2.0], [np.nextafter(2, 3)], True),
    ("exp", "", [2.0], [2 + 2e-15], False),
    ("exp", "", [np.inf], [1e308], False),
    ("add", "reduce", [1e16], [1e16 + 2], True),
    ("add", "reduce", [1e16], [1e16 + 2**10], False),
    ("multiply", "reduce", [1e150], [1e150 * (1 + 1e-15)], True),
    ("multiply", "reduce", [1e150], [1e150 * (1 + 1e-13)], False),
    ("multiply", "reduce", [1e150], [np.inf], False),
    ("maximum", "", [0.0], [-0.0], True),
    ("left_shift", "", [1], [2], False)])
def test_results_are_near_enough(name, method, numpy, here, near):
    inputs = (np.full(10, 1e15),)
    assert judge.close(name, method, inputs, np.array(numpy), np.array(here)) == near


E = float(np.exp(1.0))


@pytest.mark.parametrize("name, method, a, given, numpy, here, near", [
    # Elements in place: each step errs by its ULPs, not by more.
    ("exp", "at", [1.0], {"i": [0]}, [E], [np.nextafter(E, 3)], True),
    ("exp", "at", [1.0], {"i": [0]}, [E], [E * (1 + 3e-15)], False),
    ("exp", "at", [1.0], {"i": [0, 0]}, [np.exp(E)], [np.exp(E) * (1 + 8e-16)], True),
    # Conversions that C leaves open, and others.
    ("exp", "at", np.array([3], "i2"), {"i": [0, 0]}, np.array([2208], "i2"),
     np.array([2176], "i2"), True),
    ("exp", "at", np.array([3], "i2"), {"i": [0]}, np.array([20], "i2"), np.array([21], "i2"),
     False),
    ("fmod", "reduceat", [0.0, 0.0], {"i": [0, 0], "k": {"out": np.ones(2, "u4")}},
     np.array([0, 2**31], "u4"), np.array([0, 0], "u4"), True),
    ("fmod", "reduceat", [0.0, 0.0], {"i": [0, 0], "k": {"out": np.ones(2, "u4")}},
     np.array([0, 0], "u4"), np.array([1, 0], "u4"), False),
    # Powers make more of an error.
    ("power", "reduce", [1.1, 30.0, 40.0], {"k": {}}, (1.1**30)**40,
     (1.1**30)**40 * (1 + 1e-14), True),
    ("power", "reduce", [1.1, 30.0, 40.0], {"k": {}}, (1.1**30)**40,
     (1.1**30)**40 * (1 + 1e-13), False),
    # Halves may round after each step, or at the end.
    ("subtract", "reduceat", np.array([-65504, 1, -65504], "f2"), {"i": [0], "k": {}},
     np.array([-1], "f2"), np.array([0], "f2"), True),
    ("subtract", "reduceat", np.array([-65504, 1, -65504], "f2"), {"i": [0], "k": {}},
     np.array([-1], "f2"), np.array([64], "f2"), False),
    # Each line has a sum of its own.
    ("add", "reduce", [[1e15, 1e15], [1.0, 1.0]], {"k": {"axis": 1}}, [2e15, 2.0],
     [2e15 + 0.5, 2.0], True),
    ("add", "reduce", [[1e15, 1e15], [1.0, 1.0]], {"k": {"axis": 1}}, [2e15, 2.0],
     [2e15, 2.0 + 1e-12], False)])
def test_results_are_near_enough_by_their_steps(name, method, a, given, numpy, here, near):
    given = {each: np.array(value) if each == "i" else value for each, value in given.items()}
    assert judge.close(name, method, (np.array(a),), np.array(numpy), np.array(here),
                       given) == near


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
        names = {"np": np, "dray": dray, "others": others}
        result = evaluated(made, names)
        if len(case.steps) > case.taken_over:
            result = evaluated(numpy, {**names, "a": result.value})
        assert cases.difference(state.last[0], result) is None, case.lines


def test_the_page_has_the_accepted_differences():
    assert page.rows() and page.differences() == []

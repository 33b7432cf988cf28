# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A dray.Array as out= of NumPy's functions that are not ufuncs.  NumPy computes some of
them in steps, of which it changes the first result in place."""
import re
import types

import numpy as np
import pytest

import dray

FLOATS = np.array([[4., 1., 3.], [2., 8., 7.], [0., 6., 5.], [9., 2., 2.]])
INTEGERS = FLOATS.astype("i4")
GAPS = np.where(FLOATS == 8, np.nan, FLOATS)
BOOLS = FLOATS > 3

# Calls of each function: the inputs, and arguments by name.
ALONG = [((FLOATS,), {}), ((FLOATS,), {"axis": 0}), ((INTEGERS,), {"axis": 1}),
         ((INTEGERS,), {}), ((FLOATS,), {"axis": 0, "keepdims": True}),
         ((FLOATS.astype("f2"),), {"axis": 0}), ((FLOATS,), {"axis": 1, "where": BOOLS})]
PLAIN = [call for call in ALONG if not call[1].keys() & {"where"}]
RUNNING = [((FLOATS,), {"axis": 0}), ((INTEGERS,), {"axis": 1}), ((FLOATS,), {})]
SPREAD = PLAIN + [((FLOATS,), {"axis": 0, "ddof": 1})]
GAPPED = [((GAPS,), {}), ((GAPS,), {"axis": 0}), ((INTEGERS,), {"axis": 0}), ((GAPS,), {"axis": 1})]
RANKS = [((FLOATS, 30), {}), ((FLOATS, 30), {"axis": 0}), ((INTEGERS, 30), {"axis": 1})]
GAP_RANKS = [((GAPS, 30), {}), ((GAPS, 30), {"axis": 0})]
DAYS = np.array(["2026-01-01", "2026-01-03"], "M8[D]")
MEANS = [((FLOATS,), {"axis": 0, "dtype": "f4"}), ((FLOATS + 1j,), {"axis": 0})]
CALLS = {
    "all": PLAIN, "any": PLAIN, "argmax": PLAIN[:4], "argmin": PLAIN[:4], "max": PLAIN,
    "amax": PLAIN, "min": PLAIN, "amin": PLAIN, "prod": ALONG, "sum": ALONG,
    "mean": ALONG + MEANS, "std": SPREAD + MEANS, "var": SPREAD + MEANS, "ptp": PLAIN,
    "median": PLAIN[:5], "percentile": RANKS,
    "quantile": [((a, 0.3), k) for (a, _), k in RANKS],
    "cumsum": RUNNING, "cumprod": RUNNING, "cumulative_sum": RUNNING[:2],
    "cumulative_prod": RUNNING[:2],
    "nanargmax": GAPPED, "nanargmin": GAPPED, "nancumprod": GAPPED, "nancumsum": GAPPED,
    "nanmax": GAPPED, "nanmin": GAPPED, "nanmean": GAPPED, "nanmedian": GAPPED,
    "nanprod": GAPPED, "nansum": GAPPED, "nanstd": GAPPED, "nanvar": GAPPED,
    "nanpercentile": GAP_RANKS, "nanquantile": [((a, 0.3), k) for (a, _), k in GAP_RANKS],
    "around": [((FLOATS / 3, 2), {})], "round": [((FLOATS / 3, 2), {})],
    "clip": [((FLOATS, 2, 5), {}), ((INTEGERS, 2, 5), {}), ((FLOATS, None, 5), {})],
    "fix": [((GAPS - 4.5,), {})], "isneginf": [((GAPS,), {})], "isposinf": [((GAPS,), {})],
    "choose": [((np.array([1, 0, 1]), [FLOATS[0], FLOATS[1]]), {})],
    "compress": [((BOOLS[:, 0], FLOATS), {"axis": 0})],
    "concatenate": [(((FLOATS, FLOATS),), {}), (((FLOATS, INTEGERS),), {"axis": 1})],
    "concat": [(((FLOATS, FLOATS),), {})], "stack": [(((FLOATS, FLOATS),), {})],
    "dot": [((FLOATS, FLOATS.T), {})], "outer": [((FLOATS, FLOATS), {})],
    "einsum": [(("ij->j", FLOATS), {}), (("ij,ik->jk", FLOATS, FLOATS), {})],
    "take": [((FLOATS, [2, 0]), {"axis": 1})], "trace": [((FLOATS,), {})],
    "linalg.multi_dot": [(((FLOATS, FLOATS.T, FLOATS),), {})],
    "busday_count": [((DAYS, DAYS + 9), {})], "busday_offset": [((DAYS, 3, "forward"), {})],
    "is_busday": [((DAYS,), {})],
    "ndarray.dot": [((FLOATS, FLOATS.T), {})],
    "ndarray.round": [((FLOATS / 3, 2), {})],
}
CALLS.update({"ndarray." + name: CALLS[name] for name in (
    "all any argmax argmin choose clip cumprod cumsum max mean min prod ptp std sum take "
    "trace var").split()})
CALLS["ndarray.compress"] = [((FLOATS, BOOLS[:, 0]), {"axis": 0})]


def named(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def with_output():
    """Names of functions whose documentation has a parameter out."""
    for module, before in ((np, ""), (np.linalg, "linalg."), (np.ndarray, "ndarray.")):
        for name in dir(module):
            function = getattr(module, name)
            if (name.startswith("_") or not callable(function)
                    or isinstance(function, (np.ufunc, type, types.ModuleType))):
                continue
            parameters = (function.__doc__ or "").split("Returns\n    ---")[0]
            if re.search(r"^ *out ?: |^(a\.)?\w+\(.*\bout=", parameters.split("\nReturns\n")[0],
                         re.M):
                yield before + name


@pytest.mark.filterwarnings("ignore")
def test_each_function_with_an_output_is_tried():
    found = set(with_output())
    assert len(found) > 60 and found - CALLS.keys() == set()


EACH = [(name, number) for name in sorted(CALLS) if named(name)
        for number in range(len(CALLS[name]))]


def twin(array, order):
    """A dray.Array without the elements of @array, and an array of NumPy over it."""
    with dray.memory():
        memory = np.full(array.shape, 77, order=order).astype(array.dtype, order)
    return dray.Array(memory), memory


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("name, number", EACH)
def test_an_output_gets_what_an_array_of_numpy_gets(name, number, order):
    function, (inputs, given) = named(name), CALLS[name][number]
    wanted = np.asarray(function(*inputs, **given))
    there = np.full(wanted.shape, 77, order=order).astype(wanted.dtype)
    here, memory = twin(there, order)
    try:
        function(*inputs, out=there, **given)
    except (TypeError, ValueError):
        return  # NumPy itself does not
    try:
        result = function(*inputs, out=here, **given)
    except (TypeError, ValueError) as error:
        # Functions in C want an array of NumPy, and say so.
        assert re.search("array", str(error))
        assert memory.tobytes() == np.full_like(memory, 77).tobytes()
        return
    assert memory.tobytes() == there.tobytes()
    assert np.asarray(result).tobytes() == there.tobytes()


def test_a_scalar_is_right_as_well():
    out = dray.Array(np.zeros(()))
    assert np.median(np.array([1, 0, 2, 1]), out=out) == 1 and out == 1
    assert FLOATS.mean(out=out) == FLOATS.mean() == out


@pytest.mark.parametrize("name", ["mean", "std", "var", "sum", "max", "all"])
def test_a_reduction_of_a_dray_array_returns_its_output(name):
    there = np.asarray(getattr(np, name)(FLOATS, axis=0))
    out = dray.Array.zeros(3, there.dtype)
    assert getattr(np, name)(dray.Array(FLOATS), axis=0, out=out) is out
    assert out.tolist() == there.tolist()


def test_a_call_returns_its_output():
    out = dray.Array.zeros(3)
    assert np.add(FLOATS[0], FLOATS[1], out=out) is out
    assert np.add.accumulate(FLOATS[0], out=out) is out
    assert np.add.reduce(dray.Array(FLOATS), out=out) is out
    result = np.add.reduce(FLOATS, out=out)
    assert type(result) is np.ndarray and np.shares_memory(result, np.asarray(out))

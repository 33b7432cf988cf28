# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A dray.Array as out= of each function of NumPy that has it, and of each method of dray.Array:
the same elements, the same object returned, and the same errors as with an array of NumPy."""
import inspect
import operator
import re

import numpy as np
import pytest

import dray

OLD = np.__version__.startswith("1.")
FLOATS = np.array([[4., 1., 3.], [2., 8., 7.], [0., 6., 5.], [9., 2., 2.]])
INTEGERS = FLOATS.astype("i4")
GAPS = np.where(FLOATS == 8, np.nan, FLOATS)
BOOLS = FLOATS > 3
DAYS = np.array(["2026-01-01", "2026-01-03"], "M8[D]")
SPANS = (DAYS - DAYS[0]).reshape(2, 1)
NUMBERS = FLOATS + 1j

# Calls of each function: the inputs, and arguments by name.
FEW = [((np.zeros((1, 1)),), {"axis": 0})]
ALONG = [((FLOATS,), {}), ((FLOATS,), {"axis": 0}), ((INTEGERS,), {"axis": 1}),
         ((INTEGERS,), {}), ((FLOATS,), {"axis": 0, "keepdims": True}),
         ((FLOATS.astype("f2"),), {"axis": 0}), ((BOOLS,), {"axis": 0})]
MASKED = [*ALONG, ((FLOATS,), {"axis": 1, "where": BOOLS})]
SUMS = [*MASKED, ((SPANS,), {"axis": 0}), ((FLOATS.astype("g"),), {"axis": 0}),
        ((NUMBERS,), {"axis": 0})]
MEANS = [*SUMS, ((FLOATS,), {"axis": 0, "dtype": "f4"}), ((INTEGERS,), {"axis": 0, "dtype": "f8"}),
         ((INTEGERS.astype("u1") * 28,), {"axis": 0})]
EXTREMES = [*ALONG, ((DAYS.reshape(2, 1),), {"axis": 0}), ((SPANS,), {"axis": 0})]
SPREAD = [each for each in MEANS if each[0][0].dtype.kind != "m"] + [
    ((FLOATS,), {"axis": 0, "ddof": 1})]
RUNNING = [((FLOATS,), {"axis": 0}), ((INTEGERS,), {"axis": 1}), ((FLOATS,), {}),
           ((INTEGERS,), {"axis": 1, "dtype": "f4"}), ((BOOLS,), {"axis": 0})]
GAPPED = [((GAPS,), {}), ((GAPS,), {"axis": 0}), ((INTEGERS,), {"axis": 0}), ((GAPS,), {"axis": 1})]
RANKS = [((FLOATS, 30), {}), ((FLOATS, 30), {"axis": 0}), ((INTEGERS, 30), {"axis": 1})]
GAP_RANKS = [((GAPS, 30), {}), ((GAPS, 30), {"axis": 0})]
ROUNDED = [((FLOATS / 3, 2), {}), ((FLOATS / 3,), {}), ((INTEGERS, 1), {}), ((INTEGERS, -1), {}),
           ((NUMBERS / 3, 1), {}), ((BOOLS,), {})]
CLIPPED = [((FLOATS, 2, 5), {}), ((INTEGERS, 2, 5), {}), ((FLOATS, None, 5), {}),
           ((INTEGERS, 2.5, 5), {})]
DOTS = [((FLOATS, FLOATS.T), {}), ((FLOATS, FLOATS[0]), {}), ((FLOATS[0], FLOATS[0]), {}),
        ((INTEGERS, FLOATS.T), {})]
TAKEN = [((FLOATS, [2, 0]), {"axis": 1}), ((INTEGERS, [2, 0]), {}),
         ((FLOATS, [9, -9]), {"axis": 0, "mode": "clip"}), ((FLOATS, 1), {})]
CALLS = {
    "all": MASKED + FEW, "any": MASKED + FEW, "argmax": ALONG[:4], "argmin": ALONG[:4],
    "max": EXTREMES, "amax": EXTREMES, "min": EXTREMES, "amin": EXTREMES,
    "prod": MASKED, "sum": SUMS, "mean": MEANS, "std": SPREAD, "var": SPREAD,
    "ptp": [each for each in EXTREMES if each[0][0].dtype != bool],
    "median": ALONG[:6], "percentile": RANKS,
    "quantile": [((a, 0.3), k) for (a, _), k in RANKS],
    "cumsum": RUNNING, "cumprod": RUNNING, "cumulative_sum": RUNNING[:2],
    "cumulative_prod": RUNNING[:2],
    "nanargmax": GAPPED, "nanargmin": GAPPED, "nancumprod": GAPPED, "nancumsum": GAPPED,
    "nanmax": GAPPED, "nanmin": GAPPED, "nanmean": GAPPED, "nanmedian": GAPPED,
    "nanprod": GAPPED, "nansum": GAPPED, "nanstd": GAPPED, "nanvar": GAPPED,
    "nanpercentile": GAP_RANKS, "nanquantile": [((a, 0.3), k) for (a, _), k in GAP_RANKS],
    "around": ROUNDED, "round": ROUNDED, "round_": ROUNDED, "clip": CLIPPED,
    "fix": [((GAPS - 4.5,), {})], "isneginf": [((GAPS,), {})], "isposinf": [((GAPS,), {})],
    "choose": [((np.array([1, 0, 1]), [FLOATS[0], FLOATS[1]]), {})],
    "compress": [((BOOLS[:, 0], FLOATS), {"axis": 0})],
    "concatenate": [(((FLOATS, FLOATS),), {}), (((FLOATS, INTEGERS),), {"axis": 1})],
    "stack": [(((FLOATS, FLOATS),), {}), (((FLOATS, INTEGERS),), {"axis": 1})],
    "dot": DOTS, "outer": [((FLOATS, FLOATS), {})],
    "einsum": [(("ij->j", FLOATS), {}), (("ij,ik->jk", FLOATS, FLOATS), {}),
               (("ij,ik,il->jl", FLOATS, FLOATS, FLOATS), {"optimize": True})],
    "take": TAKEN, "trace": [((FLOATS,), {}), ((INTEGERS,), {"offset": 1})],
    "linalg.multi_dot": [(((FLOATS, FLOATS.T, FLOATS),), {}), (((FLOATS, FLOATS.T),), {})],
    "busday_count": [((DAYS, DAYS + 9), {})], "busday_offset": [((DAYS, 3, "forward"), {})],
    "is_busday": [((DAYS,), {})],
    "ndarray.compress": [((FLOATS, BOOLS[:, 0]), {"axis": 0})],
    "add.reduce": SUMS, "bitwise_or.reduce": [((INTEGERS,), {"axis": 0}), ((BOOLS,), {})],
    "add.accumulate": RUNNING[:2], "add.reduceat": [((FLOATS, [0, 2]), {}),
                                                    ((INTEGERS, [0, 2]), {"axis": 1})],
}
CALLS["concat"] = CALLS["concatenate"]
CALLS.update({"product": MASKED, "sometrue": MASKED, "alltrue": MASKED, "cumproduct": RUNNING})
CALLS.update({f"fft.{name}": [((FLOATS + (0j if "r" not in name and name != "ihfft" else 0),), {})]
              for name in ("fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft "
                           "rfft2 rfftn").split()})
for each in ("all any argmax argmin choose clip cumprod cumsum dot max mean min prod ptp round std "
             "sum take trace var").split():
    CALLS["ndarray." + each] = CALLS[each]
# Elements of any loop of a ufunc.
LOOPS = {"matmul": [FLOATS, FLOATS.T], "vecdot": [FLOATS, FLOATS], "matvec": [FLOATS, FLOATS[0]],
         "vecmat": [FLOATS[:, 0], FLOATS], "isnat": [DAYS], "ldexp": [FLOATS, INTEGERS]}

# Functions that stay as they are, and why.
IN_C = "a method of NumPy in C, which checks the class of the output; the function does not"
LEFT_OUT = {f"ndarray.{name}": IN_C for name in (
    "argmax argmin choose compress cumprod cumsum dot round take trace").split()}


def named(name):
    try:
        return operator.attrgetter(name)(np)
    except AttributeError:
        return None  # another NumPy's


def has_output(function):
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        # Functions in C: their documentation begins with a call, or has a list.
        text = (function.__doc__ or "").split("Returns\n")[0]
        return bool(re.search(r"^(a\.)?\w+\(.*\bout=|^ *out ?: ", text, re.M))


def with_output():
    """Names of all functions and methods of NumPy with an output that are no ufuncs."""
    for module, before in ((np, ""), (np.linalg, "linalg."), (np.fft, "fft."),
                           (np.ndarray, "ndarray.")):
        for name in dir(module):
            function = getattr(module, name)
            if (not name.startswith("_") and callable(function)
                    and not isinstance(function, (np.ufunc, type)) and has_output(function)):
                yield before + name


def ufuncs():
    return sorted({each.__name__ for each in vars(np).values() if isinstance(each, np.ufunc)})


def inputs_of(ufunc):
    if ufunc in LOOPS:
        return tuple(LOOPS[ufunc])
    loop = next(loop for loop in getattr(np, ufunc).types if not set(loop) & set("OgGMm"))
    return tuple(INTEGERS.astype(each) for each in loop.split("->")[0])


CALLS.update({name: [(inputs_of(name), {})] for name in ufuncs()
              if any(not set(loop) & set("OTU") for loop in getattr(np, name).types)})


@pytest.mark.filterwarnings("ignore")
def test_each_function_with_an_output_is_tried():
    found = set(with_output())
    assert len(found) > 60 and found - CALLS.keys() == set()


@pytest.mark.filterwarnings("ignore")
def test_each_method_of_an_array_with_an_output_is_tried():
    found = {name for name in vars(dray.Array)
             if not name.startswith("_") and has_output(getattr(dray.Array, name))}
    assert found - set(METHODS) == {"conj", "conjugate"}  # whose output has no name in NumPy


METHODS = sorted(name for name in CALLS if hasattr(dray.Array, name)
                 and has_output(getattr(dray.Array, name)) and "conj" not in name)
EACH = [(name, number) for name in sorted(CALLS) if named(name)
        for number in range(len(CALLS[name]))]
# Outputs of another type, of another shape, and such that may not be written.
TYPES = ["?", "i1", "u8", "f2", ">f4", "f8", "g", "c16", "M8[s]", "m8[s]"]
if not OLD:
    TYPES.append("S3")  # other texts of numbers
SHAPES = {"longer": lambda shape: (*shape[:-1], 9), "wider": lambda shape: (2, *shape),
          "narrower": lambda shape: shape[1:], "of one": lambda shape: (1,) * len(shape),
          "without elements": lambda shape: (0,) * len(shape)}


def shared_memory(each):
    """An output on another node than that of the inputs."""
    with dray.memory(shareable=True):
        out = np.empty(each.shape, each.dtype)
    out[...] = np.full((), 7).astype(each.dtype)
    return out


def outputs(wanted):
    """Kinds of outputs for results, and functions that make each."""
    for order in "CF":
        yield order, lambda each, order=order: np.full(each.shape, 7, order=order).astype(each.dtype)
    yield "strided", lambda each: np.full((*each.shape, 2), 7).astype(each.dtype)[..., 0]
    for dtype in TYPES:
        yield dtype, lambda each, dtype=dtype: np.full(each.shape, 7).astype("i1").astype(dtype)
    for name, change in SHAPES.items():
        if any(change(each.shape) != each.shape for each in wanted):
            yield name, lambda each, change=change: np.full(change(each.shape), 7).astype(each.dtype)
    yield "another node", shared_memory
    yield "read-only", lambda each: np.broadcast_to(np.full((), 7).astype(each.dtype), each.shape)


def outcome(function, inputs, given, out, form=None):
    """The error, or whether the results are the outputs, which go into a tuple or a list."""
    try:
        results = function(*inputs, out=form(out) if form else out if len(out) > 1 else out[0],
                           **given)
    except Exception as error:  # pylint: disable=broad-except
        return error
    results = results if isinstance(results, tuple) else (results,)
    return tuple(result is each for result, each in zip(results, out))


def same_error(one, other):
    return isinstance(one, type(other)) or isinstance(other, type(one))


def same_elements(one, other):
    if one.dtype.kind not in "fc":
        return one.tobytes() == other.tobytes()
    near = 1e-2 if one.dtype.itemsize == 2 else 1e-6
    return np.allclose(one, other, rtol=near, atol=0, equal_nan=True)


def kills_numpy(name, out, wanted):
    """Whether NumPy's accumulate() would read memory of others, or do nothing, since it does not
    look at the axes of an output; or write to memory that is read-only."""
    return bool(re.search("cum|accumulate|reduceat", name)) and (
        out[0].ndim != wanted[0].ndim or not out[0].size
        or OLD and not out[0].flags.writeable)


def differences(name, here, inputs, ours, given, identical=True):
    """Calls NumPy's function and another with outputs of each kind; lists where they differ.
    `ours`: the inputs of dray."""
    numpy = named(name)
    wanted = numpy(*inputs, **given)
    wanted = tuple(map(np.asarray, wanted if isinstance(wanted, tuple) else (wanted,)))
    for kind, make in outputs(wanted):
        there, memory = tuple(map(make, wanted)), tuple(map(make, wanted))
        if kills_numpy(name, there, wanted):
            continue
        out = tuple(map(dray.Array, memory))
        found, result = outcome(numpy, inputs, given, there), outcome(here, ours, given, out)
        if isinstance(found, Exception) or isinstance(result, Exception):
            if not same_error(found, result):
                yield kind, repr(found), repr(result)
        elif identical and found != result:
            yield kind, found, result
        elif not all(map(same_elements, there, memory)):
            yield kind, there, memory


def form_differences(name, here, inputs, ours, given, form):
    """As differences(), for outputs in a tuple or a list."""
    numpy = named(name)
    wanted = numpy(*inputs, **given)
    wanted = tuple(map(np.asarray, wanted if isinstance(wanted, tuple) else (wanted,)))
    there, memory = tuple(map(np.zeros_like, wanted)), tuple(map(np.zeros_like, wanted))
    found = outcome(numpy, inputs, given, there, form)
    result = outcome(here, ours, given, tuple(map(dray.Array, memory)), form)
    if isinstance(found, Exception) or isinstance(result, Exception):
        # Sentences and classes are not compared: outputs in a list are no outputs.
        if not (isinstance(found, Exception) and isinstance(result, Exception)):
            yield repr(found), repr(result)
    elif not all(map(same_elements, there, memory)):
        yield there, memory


def overlapping(wanted, array, shift):
    """A copy of an array, and an output that begins @shift bytes behind the copy."""
    memory = np.zeros(wanted.nbytes + array.nbytes + 64, "u1")
    place = max(0, -shift)
    copy = np.ndarray(array.shape, array.dtype, memory, place)
    copy[...] = array
    return copy, np.ndarray(wanted.shape, wanted.dtype, memory, place + shift)


def overlap_differences(name, here, inputs, given, convert):
    """Lists where an output that shares memory with the first input gets other elements, although
    those of NumPy are right."""
    numpy = named(name)
    wanted = numpy(*inputs, **given)
    if not isinstance(inputs[0], np.ndarray) or not isinstance(wanted, np.ndarray):
        return
    for shift in (0, wanted.itemsize, -wanted.itemsize):
        first, out = overlapping(wanted, inputs[0], shift)
        if outcome(numpy, (first, *inputs[1:]), given, (out,)) != (True,) or not same_elements(
                out, wanted):
            continue
        first, out = overlapping(wanted, inputs[0], shift)
        result = outcome(here, (convert(first), *inputs[1:]), given, (dray.Array(out),))
        if isinstance(result, Exception) or not same_elements(out, wanted):
            yield shift, result, out, wanted


def as_arrays(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(as_arrays, value))
    return dray.Array(value) if isinstance(value, np.ndarray) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, number", [each for each in EACH if each[0] not in LEFT_OUT])
def test_an_output_of_numpys_functions_is_as_numpys(name, number):
    function, (inputs, given) = named(name), CALLS[name][number]
    # NumPy's methods, and reductions, go on with an array of NumPy in place.
    identical = not name.startswith("ndarray.") and not name.endswith(".reduce")
    assert not list(differences(name, function, inputs, inputs, given, identical))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, number", [each for each in EACH if "ndarray." not in each[0]])
def test_an_output_of_numpys_functions_of_an_array_is_as_numpys(name, number):
    function, (inputs, given) = named(name), CALLS[name][number]
    assert not list(differences(name, function, inputs, as_arrays(inputs), given))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, number", [each for each in EACH if each[0] in METHODS])
def test_an_output_of_a_method_is_as_numpys(name, number):
    numpys = f"ndarray.{name}" if hasattr(np.ndarray, name) else name
    # The order of a method's arguments may differ from the function's.
    inputs, given = CALLS.get(numpys, CALLS[name])[number]
    assert not list(differences(numpys, getattr(dray.Array, name), inputs, as_arrays(inputs), given))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, number", [each for each in EACH if "ndarray." not in each[0]])
@pytest.mark.parametrize("form", [tuple, list])
def test_an_output_in_a_tuple_or_a_list_is_as_numpys(name, number, form):
    function, (inputs, given) = named(name), CALLS[name][number]
    for ours in (inputs, as_arrays(inputs)):
        assert not list(form_differences(name, function, inputs, ours, given, form))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, number", [each for each in EACH if "ndarray." not in each[0]])
def test_an_output_may_overlap_where_numpys_may(name, number):
    function, (inputs, given) = named(name), CALLS[name][number]
    for convert in (np.asarray, dray.Array):
        assert not list(overlap_differences(name, function, inputs, given, convert))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, number", [each for each in EACH if each[0] in METHODS])
def test_an_output_of_a_method_may_overlap_where_numpys_may(name, number):
    numpys = f"ndarray.{name}" if hasattr(np.ndarray, name) else name
    inputs, given = CALLS.get(numpys, CALLS[name])[number]
    assert not list(overlap_differences(numpys, getattr(dray.Array, name), inputs, given, dray.Array))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_method_in_c_refuses_an_output_and_leaves_it(name):
    inputs, given = CALLS[name][0]
    memory = np.full_like(named(name)(*inputs, **given), 7)
    error = outcome(named(name), inputs, given, (dray.Array(memory),))
    assert isinstance(error, TypeError) and "array" in str(error)
    assert (memory == 7).all()


@pytest.mark.parametrize("call", [
    lambda a, out: np.cumsum(a, 0, None, out), lambda a, out: np.dot(a, a.T, out),
    lambda a, out: np.take(a, [0, 1, 2], 0, out), lambda a, out: np.mean(a, 0, None, out),
    lambda a, out: np.concatenate((a, a), 0, out), lambda a, out: a.take([0], 0, out),
    lambda a, out: a.argmax(0, out)])
def test_an_output_may_be_given_by_its_place(call):
    wanted = np.asarray(call(FLOATS, None))
    out = dray.Array(np.zeros_like(wanted))
    assert call(dray.Array(FLOATS), out) is out
    assert out.tolist() == wanted.tolist()


class Ruler:
    """Another package's array, with rules of its own."""

    def __array_function__(self, function, types, args, kwargs):
        return function.__name__, set(types)


def test_another_package_decides_if_it_is_there():
    assert np.concatenate([dray.Array(FLOATS), Ruler()]) == ("concatenate", {dray.Array, Ruler})


MAKERS = {
    "zeros-like": lambda a: np.zeros_like(a), "empty-like": lambda a: np.empty_like(a)[:0],
    "ones-like": lambda a: np.ones_like(a, shape=(2, 5)), "full-like": lambda a: np.full_like(a, 7),
    "copy": np.copy, "append": lambda a: np.append(a, a), "block": lambda a: np.block([[a, a], [a, a]]),
    "concatenate": lambda a: np.concatenate([a, np.asarray(a)], 1), "stack": lambda a: np.stack([a, a]),
    "vstack": lambda a: np.vstack([a, a]), "hstack": lambda a: np.hstack([a, a]),
    "dstack": lambda a: np.dstack([a, a]), "column-stack": lambda a: np.column_stack([a, a]),
    "zeros": lambda a: np.zeros(3, like=a), "ones": lambda a: np.ones((2, 3), "i2", like=a),
    "empty": lambda a: np.empty(0, like=a), "full": lambda a: np.full(3, 2.5, like=a),
    "array": lambda a: np.array([1, 2], like=a), "asarray": lambda a: np.asarray([1, 2], like=a),
    "arange": lambda a: np.arange(2, 9, 3, like=a), "eye": lambda a: np.eye(3, 4, like=a),
    "identity": lambda a: np.identity(3, like=a),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_new_and_joined_arrays_are_ours_with_numpys_elements(make):
    ours, theirs = make(dray.Array(FLOATS)), make(FLOATS)
    assert type(ours) is dray.Array
    assert (ours.tolist(), ours.dtype, ours.shape) == (theirs.tolist(), theirs.dtype, theirs.shape)


def test_joined_arrays_in_an_output_of_numpys_are_that_output():
    out = np.zeros((2 * len(FLOATS), FLOATS.shape[1]))
    assert np.concatenate([dray.Array(FLOATS)] * 2, out=out) is out
    assert np.concatenate([dray.Array(FLOATS)] * 2, 0, out) is out


def test_a_type_that_we_lack_stays_numpys():
    assert type(np.array([None], like=dray.Array(FLOATS))) is np.ndarray


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

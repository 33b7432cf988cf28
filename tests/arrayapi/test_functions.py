# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each function of the standard: its arguments, and its results beside array-api-strict's."""
import inspect
import operator

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import dray
import dray.xp as xp
from arguments import CALLS

# Names of the oracle that are not the standard's.
OWN = {"ArrayAPIStrictFlags", "Device", "get_array_api_strict_flags", "reset_array_api_strict_flags",
       "set_array_api_strict_flags", "__version__"}
NAMES = sorted({*strict.__all__} - OWN | {"linalg." + name for name in strict.linalg.__all__}
               | {"fft." + name for name in strict.fft.__all__} | {"linalg.eig", "linalg.eigvals"})
FUNCTIONS = [name for name in NAMES if inspect.isfunction(operator.attrgetter(name)(strict))
             and name != "__array_namespace_info__"]


def parameters(function):
    return [(each.name, each.kind, each.default) for each in
            inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", NAMES)
def test_the_namespace_has_each_name(name):
    assert operator.attrgetter(name)(xp) is not None or name == "newaxis"
    module, _, last = name.rpartition(".")
    assert last in (operator.attrgetter(module)(xp) if module else xp).__all__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_parameters_of_the_standard(name):
    theirs = parameters(operator.attrgetter(name)(strict))
    # The oracle tells "no device" from None.
    theirs = [(*each[:2], None) if "UNDEF" in repr(each[2]) else each for each in theirs]
    assert parameters(operator.attrgetter(name)(xp)) == theirs


def to_strict(value):
    if isinstance(value, dray.Array):
        return strict.asarray(np.asarray(value).copy())
    if isinstance(value, np.dtype):
        return getattr(strict, value.name)
    if isinstance(value, (list, tuple)):
        return type(value)(map(to_strict, value))
    return value


def like_numpy(value):
    """Tuples of arrays of NumPy, of either library's result."""
    if isinstance(value, strict._array_object.Array):
        return np.asarray(value._array)
    if isinstance(value, strict._dtypes.DType):
        return value._np_dtype
    if isinstance(value, dray.Array):
        # An operand's memory may be NumPy's.
        assert (dray.handler_name(value) or "dray host").startswith("dray host")
        return np.asarray(value)
    if hasattr(value, "__dataclass_fields__"):
        return tuple(getattr(like_numpy(value.dtype) if name == "dtype" else value, name, None)
                     for name in value.__dataclass_fields__ if name != "dtype")
    if isinstance(value, (list, tuple)):
        return tuple(map(like_numpy, value))
    return value


def compare(name, ours, theirs):
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple) and len(ours) == len(theirs)
        for pair in zip(ours, theirs):
            compare(name, *pair)
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        if not name.startswith("empty"):
            close(ours, theirs)
    else:
        assert type(ours) is type(theirs) and ours == theirs


def close(ours, theirs):
    if theirs.dtype.kind in "biu":
        assert np.array_equal(ours, theirs)
        return
    # The oracle's functions are NumPy's, whose last digits differ.
    eps = np.finfo(theirs.dtype).eps
    scale = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=1)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ours, theirs, rtol=16 * eps, atol=64 * eps * min(scale, 1e30),
                                   equal_nan=True)


def checked(name, found, args):
    """What tells eigenvectors and other factors that are not unique: their product."""
    x = np.asarray(args[0]).astype("c16" if np.asarray(args[0]).dtype.kind == "c" else "f8")
    if name in ("linalg.eig", "linalg.eigh"):
        values, vectors = found
        return values, [x @ vectors, vectors * values[..., None, :]]
    if name == "linalg.svd":
        u, s, vh = found
        k = s.shape[-1]
        return s, [x, (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]]
    q, r = found
    return np.abs(np.diagonal(r, 0, -2, -1)), [x, q @ r]


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_a_function_computes_as_the_standard_says(name, data):
    args, named = CALLS[name](data.draw)
    note(f"{name}(*{args!r}, **{named!r})")
    with np.errstate(all="ignore"):
        theirs = operator.attrgetter(name)(strict)(
            *map(to_strict, args), **{key: to_strict(value) for key, value in named.items()})
        ours = operator.attrgetter(name)(xp)(*args, **named)
        if hasattr(theirs, "_fields"):
            assert ours._fields == theirs._fields
        if name in ("finfo", "iinfo"):
            for field in theirs.__dataclass_fields__:
                compare(name, getattr(ours, field), like_numpy(getattr(theirs, field)))
            return
        ours, theirs = like_numpy(ours), like_numpy(theirs)
        if name in ("linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr"):
            compare("empty", ours, theirs)
            (ours, (left, right)), (theirs, _) = checked(name, ours, args), checked(name, theirs, args)
            eps = np.finfo(np.asarray(args[0]).dtype).eps
            np.testing.assert_allclose(left, right, rtol=0, atol=2000 * eps)
            if name == "linalg.eig":
                ours, theirs = np.sort_complex(ours), np.sort_complex(theirs)
                return
            np.testing.assert_allclose(ours, theirs, rtol=100 * eps, atol=100 * eps)
            return
    compare(name, ours, theirs)

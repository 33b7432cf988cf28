# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How near the result of a ufunc has to be to NumPy's.

Integers, comparisons, +, -, *, / and sqrt of floats have equal bits.  Elementary functions
may differ by units in the last place (ULP), from NumPy's result or from that of a wider
type, rounded.  Reductions may differ by n * eps * sum(abs(x)).
"""
from typing import Any

import numpy as np

# ULPs of elementary functions: 4 for SLEEF's variants u35, 1.5 for u10 and u05.
ULPS = {name: 1.5 for name in (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos",
    "cosh", "deg2rad", "degrees", "exp", "exp2", "expm1", "float_power", "hypot", "log",
    "log10", "log1p", "log2", "logaddexp", "logaddexp2", "power", "rad2deg", "radians", "sin",
    "sinh", "tan", "tanh", "ldexp")}
ULPS.update(logaddexp=4.0, logaddexp2=4.0, arctan2=2.0)
# Complex products, by the distance in the plane: NumPy fuses them.  Other functions of complex
# numbers are the C library's on both sides, and equal.
COMPLEX_ULPS = {"multiply": 2.0, "square": 2.0}
# Complex numbers that are computed part by part.
PARTS = {"add", "subtract", "negative", "positive", "conjugate", "sign"}
# Of equal numbers, 0 and -0 for instance, any may be the result.
ANY_ZERO = {"maximum", "minimum", "fmax", "fmin"}


def real_of(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def plain(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.astype(values.dtype.newbyteorder("=")))


def same_bits(one: np.ndarray, other: np.ndarray, signs: bool) -> np.ndarray:
    """Where numbers are equal; any NaN equals any, and 0 differs from -0 if `signs`."""
    if one.dtype.kind == "c":
        return same_bits(one.real, other.real, signs) & same_bits(one.imag, other.imag, signs)
    if one.dtype.kind != "f":
        return (one == other) | (np.isnat(one) & np.isnat(other)) if one.dtype.kind in "mM" \
            else one == other
    equal = (one == other) & ((np.signbit(one) == np.signbit(other)) | (not signs))
    return equal | (np.isnan(one) & np.isnan(other))


def near(one: np.ndarray, other: np.ndarray, ulps: float, least: Any = 0) -> np.ndarray:
    """Where `one`, of a narrow type, is within ULPs of `other`, of any; those of `least`
    where that is larger."""
    real = real_of(one.dtype)
    limits = np.finfo(real)
    wide = np.result_type(other.dtype, one.dtype)
    size = np.maximum(np.abs(other), least).astype(real_of(wide))
    spacing = np.maximum(np.exp2(np.floor(np.log2(np.where(size > 0, size, 1)))) * limits.eps,
                         limits.smallest_subnormal)
    spacing = np.where(size > 0, spacing, limits.smallest_subnormal)
    return np.isfinite(other) & (np.abs(one.astype(wide) - other) <= ulps * spacing)


def wider(dtype: np.dtype) -> np.dtype:
    return np.dtype({"f": np.longdouble, "c": np.clongdouble}[dtype.kind])


def tolerance(name: str, inputs: Any, dtype: np.dtype) -> float:
    if name == "absolute" and np.asarray(inputs[0]).dtype.kind == "c":
        return ULPS["hypot"]
    if dtype.kind == "c" and narrower(inputs, np.dtype("c32")).kind == "c":
        return COMPLEX_ULPS.get(name, 0)
    return ULPS.get(name, 0) if dtype.kind in "fc" else 0


def in_wide(name: str, inputs: Any, dtype: np.dtype) -> Any:
    """The function of a wider type, or None."""
    try:
        return np.atleast_1d(getattr(np, name)(*(
            np.asarray(each).astype(wider(dtype)) if np.asarray(each).dtype.kind in "fcbiu"
            else each for each in inputs)))
    except (TypeError, ValueError):
        return None


def narrower(inputs: Any, dtype: np.dtype) -> np.dtype:
    """The type of the function, if an output of a wider one was given."""
    try:
        made = np.result_type(*(np.asarray(each).dtype if not isinstance(each, (int, float))
                                else each for each in inputs), np.float16)
    except TypeError:
        return dtype
    return made if made.kind in "fc" and made.itemsize < dtype.itemsize else dtype


def largest(name: str, method: str, inputs: Any, result: np.ndarray) -> np.ndarray:
    """The size of arguments if the logarithm of their sum may cancel, else 0."""
    least = np.zeros(result.shape)
    if name.startswith("logaddexp") and method in ("", "outer"):
        one, other = (np.nan_to_num(np.abs(np.asarray(each, "f8")), posinf=0) for each in inputs[:2])
        both = np.maximum.outer(one, other) if method else np.maximum(one, other)
        if both.size <= result.size:
            least[...] = both
    elif name.startswith("logaddexp"):
        sizes = np.abs(np.asarray(inputs[0], "f8"))
        least[...] = sizes[np.isfinite(sizes)].max(initial=0)
    return least


def close(name: str, method: str, inputs: Any, numpy: np.ndarray, here: np.ndarray) -> bool:
    """Whether results of the same type and shape agree."""
    one, other = np.atleast_1d(plain(here)), np.atleast_1d(plain(numpy))
    with np.errstate(all="ignore"):
        wrong = ~same_bits(one, other, name not in ANY_ZERO and method in ("", "outer"))
        if name in ANY_ZERO and one.dtype.kind == "c":
            wrong &= ~(np.isnan(one) & np.isnan(other))
        ulps = tolerance(name, inputs, one.dtype)
        if one.dtype == np.float16 and name in ("subtract", "divide") and "reduce" in method:
            ulps = 1.0  # of each step: NumPy rounds the last one only
        if not wrong.any():
            return True
        if one.dtype.kind in "iu" and method == "at" and name in ULPS:
            one, other = one.astype("f8"), other.astype("f8")  # the function was of floats
            return bool((np.abs(one - other) <= 1 + 1000 * ULPS[name] * np.spacing(
                np.abs(other))).all())
        if one.dtype.kind not in "fc":
            return False
        if (one.dtype.kind == "c" and name not in PARTS) or one.dtype == np.float16:
            # Ways to an infinity or a NaN differ: of products, and of halves that are reduced.
            if one.dtype.kind == "c" or "reduce" in method:
                wrong &= np.isfinite(one) & np.isfinite(other)
        if name in ("add", "multiply") and method == "reduce" or (method == "reduceat" and name in ("add", "multiply")):
            return reduced(name, inputs[0], one[wrong], other[wrong])
        if not ulps:
            return False
        if method == "":
            kept = narrower(inputs, one.dtype)
            if name == "absolute" and one.dtype.kind == "f":
                kept = real_of(narrower(inputs, np.dtype("c16")))
            one, other = ((each.real if kept.kind == "f" else each).astype(kept)
                          for each in (one, other))
        if method in ("accumulate", "reduceat", "reduce", "at"):
            # Of each step; a function of its own result, as at() makes it, is steeper.
            ulps *= (4 if method != "at" else 1000) * np.asarray(inputs[0]).size
        elif method:
            ulps += 4  # NumPy's own
        least = largest(name, method, inputs, one)
        wrong[wrong] = ~near(one[wrong], other[wrong], ulps, least[wrong])
        if wrong.any() and method == "":
            wide = in_wide(name, inputs, one.dtype)
            if wide is None or wide.shape != one.shape:
                return False
            rounded = wide.astype(one.dtype)
            wrong &= ~(same_bits(one, rounded, False) | near(one, wide, ulps, least))
        return not wrong.any()


def reduced(name: str, values: Any, one: np.ndarray, other: np.ndarray) -> bool:
    """Sums by n * eps * sum(abs(x)), products by the same of the result."""
    eps = float(np.finfo(one.dtype).eps)
    if np.asarray(values).dtype.kind in "fc":
        eps = max(eps, float(np.finfo(np.asarray(values).dtype).eps))
    finite = np.abs(np.asarray(values)).astype(np.longdouble)
    if name == "multiply":
        large = np.log2(finite[np.isfinite(finite) & (finite > 1)])
        if large.sum() > np.finfo(real_of(one.dtype)).maxexp:
            return True  # in some order
    if not np.isfinite(finite).all() or not np.isfinite(other).all():
        return bool((np.isfinite(one) == np.isfinite(other)).all())
    if name == "add":
        return bool((np.abs(one - other) <= finite.size * eps * finite.sum()).all())
    return bool((np.abs(one - other) <= 4 * finite.size * eps * np.abs(other)
                 + np.finfo(one.dtype).tiny).all())


def strides(array: Any, method: str, inputs: Any) -> Any:
    """Strides of a call's result that mean something: of axes with several elements.  Axes
    that an input repeats have no order."""
    if method in ("reduce", "accumulate", "reduceat") or not array.size or any(0 in np.asarray(each).strides for each in inputs):
        return ()
    return tuple(stride for extent, stride in zip(array.shape, array.strides) if extent > 1)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How near the result of a ufunc has to be to NumPy's.

Integers, comparisons, +, -, *, / and sqrt of floats have equal bits.  Elementary functions
may differ by units in the last place (ULP), from NumPy's result or from that of a wider
type, rounded.  Reductions may differ by n * eps * sum(abs(x)).
"""
from typing import Any, Optional

import numpy as np

import steps

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


def in_wide(name: str, method: str, inputs: Any, given: dict[str, Any], dtype: np.dtype) -> Any:
    """The function of a wider type, or None."""
    ufunc = getattr(np, name)
    kinds = [np.asarray(each).dtype.kind for each in inputs]
    wide = [np.asarray(each).astype(np.clongdouble if kind == "c" else wider(dtype))
            if kind in "fcbiu" else each for each, kind in zip(inputs, kinds)]
    try:
        if method == "overlap":
            after = wide[0].copy()
            after[given["o"]] = ufunc(*(wide[0][given[each]] for each in "ij"[:ufunc.nin]))
            return after
        return np.atleast_1d((ufunc.outer if method else ufunc)(*wide))
    except (KeyError, TypeError, ValueError):
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


def loop_type(name: str, method: str, inputs: Any, given: dict[str, Any]) -> Any:
    """The type of the loop's first input."""
    keywords, types = given.get("k", {}), [np.asarray(inputs[0]).dtype]
    if method == "at":
        types += [each.dtype if hasattr(each, "dtype") else type(each) for each in inputs[1:]]
    elif keywords.get("dtype"):
        return np.dtype(keywords["dtype"]).newbyteorder("=")
    else:
        types = [np.result_type(*types, *(each.dtype for each in [keywords.get("out")]
                                          if each is not None))] * 2
    try:
        return getattr(np, name).resolve_dtypes((*types, None))[0]
    except (TypeError, ValueError):
        return None


METHODS = ("accumulate", "reduceat", "reduce")
# Halves that gather as floats: rounded after each step, or at the end.
GATHERED = ("subtract", "divide")


# Functions whose order counts.
ORDERED = ("power", "arctan2")


def turned_mask(given: dict[str, Any]) -> dict[str, Any]:
    keywords = given.get("k", {})
    if "where" not in keywords:
        return given
    return {**given, "k": {**keywords, "where": np.flip(keywords["where"])}}


def in_steps(name: str, method: str, inputs: Any, given: dict[str, Any], values: np.ndarray,
             more: float = 0) -> Optional[bool]:
    """Whether results lie in the ranges of their steps, of `more` ULPs; None if that is not
    known."""
    dtype = loop_type(name, method, inputs, given)
    if dtype is None or dtype.kind != "f" or dtype.itemsize > 8:
        return None
    halves = name in GATHERED
    if halves and (dtype != np.float16 or method == "accumulate"):
        return None
    if not halves and name not in ULPS:
        return None
    # A float that rounds to a half: half a unit, and its own error.
    ulps = 0.501 if halves else ULPS[name] + more
    if values.dtype.kind == "c":
        if values.imag.any():
            return False
        values = values.real
    for turned in (False, True):  # lines of others may go either way
        if turned and (name in ORDERED or halves or method != "reduce"):
            return False
        a = np.asarray(inputs[0])
        found = steps.results(name, method, (np.flip(a) if turned else a, *inputs[1:]),
                              turned_mask(given) if turned else given, dtype, ulps, not halves)
        if found is None:
            return None
        if turned:
            found = steps.Range(*map(np.flip, (found.low, found.high, found.open)))
        found = found.converted(values.dtype)
        if found.open.shape == values.shape and found.holds(values).all():
            return True
    return False


def left_open(name: str, method: str, inputs: Any, given: dict[str, Any],
              numpy: np.ndarray) -> Any:
    """Where the result, before it is converted to an output, is no integer of its type."""
    keywords = dict(given.get("k", {}))
    if numpy.dtype.kind not in "iu" or "out" not in keywords:
        return False
    del keywords["out"]
    wanted = loop_type(name, method, inputs, given) if method else None
    if wanted is not None:
        keywords["dtype"] = wanted
    call = getattr(np, name)
    try:
        values = (getattr(call, method) if method else call)(
            *(inputs if not method else inputs[:1]), *([given["i"]] if "i" in given else []),
            **keywords)
    except (TypeError, ValueError):
        return False
    values = np.asarray(values)
    return steps.left_open(values, numpy.dtype) if values.shape == numpy.shape and \
        values.dtype.kind in "fc" else False


def close(name: str, method: str, inputs: Any, numpy: np.ndarray, here: np.ndarray,
          given: Optional[dict[str, Any]] = None) -> bool:
    """Whether results of the same type and shape agree."""
    one, other = np.atleast_1d(plain(here)), np.atleast_1d(plain(numpy))
    given = given or {}
    with np.errstate(all="ignore"):
        wrong = ~same_bits(one, other, name not in ANY_ZERO and method in ("", "outer"))
        if name in ANY_ZERO and one.dtype.kind == "c":
            wrong &= ~(np.isnan(one) & np.isnan(other))
        if wrong.any() and given:
            wrong &= ~np.atleast_1d(left_open(name, method, inputs, given, np.asarray(numpy)))
        if not wrong.any():
            return True
        if given and method in (*METHODS, "at"):
            found = in_steps(name, method, inputs, given, plain(here))
            if found is not None:
                return found and bool(in_steps(name, method, inputs, given, plain(numpy), 4))
        return near_enough(name, method, inputs, given, one, other, wrong)


def near_enough(name: str, method: str, inputs: Any, given: dict[str, Any], one: np.ndarray,
                other: np.ndarray, wrong: np.ndarray) -> bool:
    """Whether results that differ where `wrong` is true lie within the ULPs, or the errors of
    a sum."""
    ulps = tolerance(name, inputs, one.dtype)
    if one.dtype.kind not in "fc":
        return False
    if one.dtype.kind == "c" and name not in PARTS:
        wrong &= np.isfinite(one) & np.isfinite(other)  # ways of products to them differ
    if name in ("add", "multiply") and method in ("reduce", "reduceat"):
        near_by = reduced(name, method, inputs, given, one, other)
        return near_by.shape == wrong.shape and bool(near_by[wrong].all())
    if not ulps:
        return False
    if method == "":
        kept = narrower(inputs, one.dtype)
        if name == "absolute" and one.dtype.kind == "f":
            kept = real_of(narrower(inputs, np.dtype("c16")))
        one, other = ((each.real if kept.kind == "f" else each).astype(kept)
                      for each in (one, other))
    if method in (*METHODS, "at"):
        # Of each step, and NumPy's.
        ulps *= 4 * -(-np.asarray(inputs[0]).size // max(one.size if "reduce" in method else 1, 1))
        kept = loop_type(name, method, inputs, given)
        if kept is not None and kept.kind == "f":
            one, other = (each.real.astype(kept) for each in (one, other))
    least = largest(name, method, inputs, one)
    wrong[wrong] = ~near(one[wrong], other[wrong], ulps, least[wrong])
    if wrong.any() and method in ("", "outer", "overlap"):
        wide = in_wide(name, method, inputs, given, one.dtype)
        if wide is None or np.broadcast_shapes(wide.shape, one.shape) != one.shape:
            return False
        wide = np.broadcast_to(wide, one.shape)
        rounded = wide.astype(one.dtype)
        wrong &= ~(same_bits(one, rounded, False) | near(one, wide, ulps, least))
    return not wrong.any()


def reduced(name: str, method: str, inputs: Any, given: dict[str, Any], one: np.ndarray,
            other: np.ndarray) -> np.ndarray:
    """Where sums are within n * eps * sum(abs(x)), and products within the same of the
    result."""
    keywords = {key: each for key, each in given.get("k", {}).items()
                if key in ("axis", "keepdims", "where")}
    initial = given.get("k", {}).get("initial")
    if name == "add" and one.dtype.kind == "c":
        values, of_imag = np.asarray(inputs[0]), given
        if initial is not None:
            of_imag = {**given, "k": {**given["k"], "initial": 0}}
        return reduced(name, method, (values.real,), given, one.real, other.real) & \
            reduced(name, method, (values.imag,), of_imag, one.imag, other.imag)
    sizes = np.abs(np.asarray(inputs[0])).astype(np.longdouble)

    def of_each(values: Any, first: Any, ufunc: Any = np.add) -> np.ndarray:
        found = getattr(ufunc, method)(values, *([given["i"]] if "i" in given else []), **keywords)
        return np.atleast_1d(found if initial is None else ufunc(found, first))
    loop = loop_type(name, method, inputs, given)
    loop = real_of(loop if loop is not None and loop.kind in "fc" else one.dtype)
    count = of_each(np.ones(sizes.shape), 1)
    here, there = one.astype(wider(one.dtype)), other.astype(wider(one.dtype))
    limits = np.finfo(loop)
    wild = of_each((~np.isfinite(sizes)).astype(int), 0) > 0
    # The last conversion, to an output.
    converted = np.finfo(real_of(one.dtype)).eps * np.abs(there)
    if name == "add":
        total = of_each(sizes, abs(initial or 0))
        near_sum = np.abs(here - there) <= (count + 1) * limits.eps * total + converted
        # Where a partial sum may overflow, it does in some order.
        over = (total >= limits.max) & ~(np.isfinite(one) & np.isfinite(other))
        return np.where(wild, np.isfinite(one) == np.isfinite(other),
                        same_infinity(one, other) | near_sum | over)
    logs = np.log2(np.where((sizes > 0) & np.isfinite(sizes), sizes, 1))
    of_first = np.log2(np.longdouble(abs(initial or 1)))
    largest_part = of_each(np.maximum(logs, 0), max(of_first, 0))
    values = np.asarray(inputs[0])
    exact = of_each(values.astype(np.clongdouble if values.dtype.kind == "c" else np.longdouble),
                    initial, np.multiply)
    room = 4 * (count + 1) * limits.eps * np.abs(exact) + converted \
        + count * limits.smallest_subnormal * np.exp2(largest_part)
    exact = exact if one.dtype.kind == "c" else exact.real
    # Where a partial product may overflow, it does in some order.
    over = largest_part >= limits.maxexp - 1
    finite = np.isfinite(one)
    near_product = np.isfinite(exact) & (np.abs(here - exact) <= room)
    return np.where(wild, finite == np.isfinite(other),
                    same_infinity(one, other) | np.where(finite, near_product, over))


def same_infinity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return ~np.isfinite(one) & same_bits(one, other, False)


def strides(array: Any, method: str, inputs: Any) -> Any:
    """Strides of a call's result that mean something: of axes with several elements.  Axes
    that an input repeats have no order."""
    if method in ("reduce", "accumulate", "reduceat") or not array.size or any(0 in np.asarray(each).strides for each in inputs):
        return ()
    return tuple(stride for extent, stride in zip(array.shape, array.strides) if extent > 1)

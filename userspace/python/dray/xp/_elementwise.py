# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The elementwise functions of the standard: dray's ufuncs by the standard's names."""
from __future__ import annotations

from typing import Any, Callable, Protocol

from .. import _ufuncs
from .._dray import Array
from ._base import array, in_scope, is_array, makes, result

NAMES = {
    1: ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "conj",
        "cos", "cosh", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10",
        "log1p", "log2", "logical_not", "negative", "positive", "reciprocal", "sign", "signbit",
        "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc"),
    2: ("add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
        "bitwise_xor", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal",
        "hypot", "less", "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor",
        "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow", "remainder",
        "subtract"),
}


def _named(function: Callable[..., Array], name: str) -> Callable[..., Array]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "dray.xp"
    function.__doc__ = getattr(_ufuncs, name).__doc__
    return function


def _unary(name: str) -> Callable[[Any], Array]:
    ufunc = getattr(_ufuncs, name)

    def call(x: Any, /) -> Array:
        with in_scope():
            return result(ufunc(x if type(x) is Array else array(x)))  # type: ignore[no-any-return]
    return _named(call, name)


def _operand(name: str, x: Any) -> Any:
    if not is_array(x) and type(x) not in (int, float, complex, bool):
        raise TypeError(f"{name}() takes arrays and numbers of Python, not {x!r} of type "
                        f"{type(x).__name__}")
    return x


def _binary(name: str) -> Callable[[Any, Any], Array]:
    ufunc = getattr(_ufuncs, name)

    def call(x1: Any, x2: Any, /) -> Array:
        if not (type(x1) is Array and type(x2) is Array):
            if not (is_array(_operand(name, x1)) or is_array(_operand(name, x2))):
                raise TypeError(f"{name}() needs an array, not two numbers of Python")
            _operand(name, x2)
        with in_scope():
            return result(ufunc(x1, x2))  # type: ignore[no-any-return]
    return _named(call, name)


_made: dict[str, Any] = {name: make(name) for count, make in ((1, _unary), (2, _binary)) for name in NAMES[count]}


class Function(Protocol):
    """The type of each function, as far as arguments are counted when it is called."""

    def __call__(self, *operands: Any) -> Array:
        """Computes an array."""
        ...


def __getattr__(name: str) -> Function:
    try:
        return _made[name]  # type: ignore[no-any-return]
    except KeyError:
        raise AttributeError(f"{__name__} has no function {name!r}") from None


@makes
def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """The elements between bounds, of the type of x; a bound that is NaN makes NaN."""
    found = array(x)
    for name, bound in ("min", min), ("max", max):
        if bound is None:
            continue
        if is_array(bound):
            _check_bound(name, found, array(bound).dtype.kind)
            bound = array(bound).astype(found.dtype, copy=False)
        else:
            _check_bound(name, found, {bool: "b", int: "i", float: "f"}.get(type(bound), ""))
        found = getattr(_ufuncs, "maximum" if name == "min" else "minimum")(found, bound)
        found = array(found)
    return found.copy() if found is x else found


def _check_bound(name: str, x: Array, kind: str) -> None:
    if x.dtype.kind not in "iuf" or not kind or kind not in ("iu" if x.dtype.kind in "iu" else "iuf"):
        raise TypeError(f"clip() takes numbers that are not complex, and a bound of the kind of x: "
                        f"{name} is not for {x.dtype}")


@makes
def real(x: Any, /) -> Array:
    """The real parts, a view."""
    return array(x).real


@makes
def imag(x: Any, /) -> Array:
    """The imaginary parts, a view."""
    return array(x).imag


@makes
def round(x: Any, /) -> Array:
    """The elements, rounded to even."""
    return array(x).round()  # type: ignore[no-any-return]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The extension fft of the standard, by NumPy's functions over the same memory."""
from __future__ import annotations

from typing import Any, Callable

import numpy

from ._base import check_device, makes, over

_ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_MORE_AXES = ("fftn", "ifftn", "rfftn", "irfftn")

__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfftn", "rfft", "rfftfreq", "rfftn"]


def _transformed(name: str, x: Any, *args: Any) -> Any:
    """NumPy's result, of the precision of the operand."""
    given = over(x)
    if given.dtype.kind not in ("f" if name in ("rfft", "rfftn", "ihfft") else "fc"):
        raise TypeError(f"{name}() does not transform {given.dtype}")
    found = getattr(numpy.fft, name)(given, *args)
    single = given.dtype in (numpy.float32, numpy.complex64)
    return found.astype("c8" if found.dtype.kind == "c" else "f4", copy=False) if single else found


def _one_axis(name: str) -> Callable[..., Any]:
    def call(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        return _transformed(name, x, n, axis, norm)
    return _named(call, name)


def _more_axes(name: str) -> Callable[..., Any]:
    def call(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return _transformed(name, x, s, axes, norm)
    return _named(call, name)


def _named(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"As numpy.fft.{name}(); single precision stays single."
    return makes(call)


fft, ifft, rfft, irfft, hfft, ihfft = map(_one_axis, _ONE_AXIS)
fftn, ifftn, rfftn, irfftn = map(_more_axes, _MORE_AXES)


def _frequencies(name: str, n: int, d: float, dtype: Any, device: Any) -> Any:
    check_device(device)
    if dtype is not None and numpy.dtype(dtype).kind != "f":
        raise ValueError(f"frequencies are floating-point numbers, not {numpy.dtype(dtype)}")
    return getattr(numpy.fft, name)(n, d).astype(numpy.dtype(dtype), copy=False)


@makes
def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the elements of fft()."""
    return _frequencies("fftfreq", n, d, dtype, device)


@makes
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the elements of rfft()."""
    return _frequencies("rfftfreq", n, d, dtype, device)


@makes
def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Moves the zero frequency to the middle."""
    return numpy.fft.fftshift(over(x), axes)


@makes
def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Undoes fftshift()."""
    return numpy.fft.ifftshift(over(x), axes)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What others make: files in NumPy's format, and arrays of other packages, if they are
installed."""
import array
import importlib
import importlib.util
import os
import tempfile
from typing import Any, Callable

import numpy as np

import dray


class Interface:
    """Shows an array by __array_interface__ alone."""

    def __init__(self, a: np.ndarray):
        self.array = a
        self.__array_interface__ = a.__array_interface__


class Method:
    """Shows an array by __array__() alone."""

    def __init__(self, a: np.ndarray):
        self.array = a

    def __array__(self, *given: Any, **named: Any) -> np.ndarray:
        return np.array(self.array, *given, **named)


def jax(a: np.ndarray) -> Any:
    module = importlib.import_module("jax")
    module.config.update("jax_enable_x64", True)
    return module.numpy.asarray(a)


def maker(module: str, name: str) -> Callable[[np.ndarray], Any]:
    return lambda a: getattr(importlib.import_module(module), name)(a)


BUILT_IN: dict[str, Callable[[np.ndarray], Any]] = {
    "list": np.ndarray.tolist, "memoryview": memoryview,
    "array": lambda a: array.array(a.dtype.char, a.tolist()),
    "interface": Interface, "method": Method}
PACKAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "jax": jax, "pandas": maker("pandas", "Series"), "polars": maker("polars", "Series"),
    "pyarrow": maker("pyarrow", "array"), "tvm_ffi": maker("tvm_ffi", "from_dlpack")}
INSTALLED = [*BUILT_IN, *filter(importlib.util.find_spec, PACKAGES)]


def of(a: Any, partner: str) -> Any:
    """The array of a partner with these elements; `a` if it has none such, or structures,
    whose fields are lost on the way."""
    if a.dtype.kind == "V":
        return a
    try:
        made = {**BUILT_IN, **PACKAGES}[partner](a)
        return a if np.asarray(made).dtype.hasobject else made
    except Exception:  # pylint: disable=broad-except
        return a


def seen(a: Any, partner: str) -> Any:
    """The same as NumPy reads it, whose functions may return arrays of the partner."""
    made = of(a, partner)
    return made if isinstance(made, (list, bool, int, float, complex)) else np.asarray(made)


def loaded(a: Any, version: tuple[int, int], load: Callable[[str], Any]) -> Any:
    """The array of a file that NumPy wrote."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "a.npy")
        with open(name, "wb") as file:
            np.lib.format.write_array(file, np.asarray(a), version, allow_pickle=False)
        return load(name)


def side(a: Any, ours: bool) -> Any:
    """A dray.Array, or NumPy's array over it."""
    return a if ours else a.__array__()


def into(out: Any, function: Callable[..., Any], *given: Any, **named: Any) -> tuple[Any, bool]:
    """The output of a function of NumPy, and whether it was returned."""
    return out, function(*given, out=out, **named) is out


def saved(a: dray.Array) -> np.ndarray:
    """The array of a file that dray wrote."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "a.npy")
        a.save(name)
        return read(name)


def read(name: str) -> np.ndarray:
    """Reads a file by NumPy, whose stride along the only axis is 0 without elements."""
    a = np.load(name)
    return a if a.shape != (0,) else np.lib.stride_tricks.as_strided(a, strides=(a.itemsize,))

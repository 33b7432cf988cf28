# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The builtin ufuncs by their names, and by NumPy's other names for them."""
from ._dray import ufunc, ufuncs

OTHER_NAMES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin",
    "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder",
    "pow": "power", "true_divide": "divide"}


def __getattr__(name: str) -> ufunc:
    try:
        return ufuncs[OTHER_NAMES.get(name, name)]
    except KeyError:
        raise AttributeError(f"{__name__} has no ufunc {name!r}") from None

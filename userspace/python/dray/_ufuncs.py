# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The builtin ufuncs by their names, and by NumPy's other names for them."""
from . import _dray

_OTHER_NAMES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin",
    "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder",
    "pow": "power", "true_divide": "divide"}

globals().update(_dray.ufuncs)
globals().update({name: _dray.ufuncs[of] for name, of in _OTHER_NAMES.items()
                  if of in _dray.ufuncs})
__all__ = sorted(name for name, value in globals().items() if isinstance(value, _dray.ufunc))

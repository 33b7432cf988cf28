# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The array-API standard 2025.12 for dray.Array.

    xp = a.__array_namespace__()        # dray.xp, for a dray.Array
    b = xp.linalg.solve(xp.asarray([[2., 0.], [0., 4.]]), xp.ones(2))

Functions return a dray.Array, also without axes, and so do indices and operators of such arrays,
which return numbers of NumPy for other arrays.  New arrays lie in the memory of `with
dray.memory():`, or outside of any such scope in that of dray.empty().  Where dray lacks a
function of its own, NumPy computes it over the same memory.

Arrays and numbers of NumPy are operands, too.
https://data-apis.org/array-api/2025.12/ describes each function.
"""
import numpy as _numpy

from . import fft as fft, linalg as linalg
from ._base import DTYPES as _DTYPES
from ._elementwise import abs as abs, pow as pow, round as round
from ._elementwise import (acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and,
                           bitwise_invert, bitwise_left_shift, bitwise_or, bitwise_right_shift,
                           bitwise_xor, ceil, clip, conj, copysign, cos, cosh, divide, equal, exp,
                           expm1, floor, floor_divide, greater, greater_equal, hypot, imag,
                           isfinite, isinf, isnan, less, less_equal, log, log10, log1p, log2,
                           logaddexp, logical_and, logical_not, logical_or, logical_xor, maximum,
                           minimum, multiply, negative, nextafter, not_equal, positive, real,
                           reciprocal, remainder, sign, signbit, sin, sinh, sqrt, square, subtract,
                           tan, tanh, trunc)
from ._functions import Information as __array_namespace_info__
from ._functions import all as all, any as any, max as max, min as min, sum as sum
from ._functions import (arange, argmax, argmin, argsort, asarray, astype, broadcast_arrays,
                         broadcast_shapes, broadcast_to, can_cast, concat, count_nonzero,
                         cumulative_prod, cumulative_sum, diff, empty, empty_like, expand_dims, eye,
                         finfo, flip, from_dlpack, full, full_like, iinfo, isdtype, isin, linspace,
                         matmul, matrix_transpose, mean, meshgrid, moveaxis, nonzero, ones,
                         ones_like, permute_dims, prod, repeat, reshape, result_type, roll,
                         searchsorted, sort, squeeze, stack, std, take, take_along_axis, tensordot,
                         tile, tril, triu, unique_all, unique_counts, unique_inverse, unique_values,
                         unstack, var, vecdot, where, zeros, zeros_like)

__array_api_version__ = "2025.12"

(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64,
 complex128) = _DTYPES.values()
e, inf, nan, newaxis, pi = _numpy.e, _numpy.inf, _numpy.nan, None, _numpy.pi

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "abs", "acos", "acosh", "add", "all",
    "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype", "atan",
    "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays", "broadcast_shapes",
    "broadcast_to", "can_cast", "ceil", "clip", "complex128", "complex64", "concat", "conj",
    "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "divide", "e", "empty", "empty_like", "equal", "exp", "expand_dims", "expm1", "eye", "fft",
    "finfo", "flip", "float32", "float64", "floor", "floor_divide", "from_dlpack", "full",
    "full_like", "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int16", "int32",
    "int64", "int8", "isdtype", "isfinite", "isin", "isinf", "isnan", "less", "less_equal",
    "linalg", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum",
    "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis",
    "nextafter", "nonzero", "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive",
    "pow", "prod", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll",
    "round", "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze",
    "stack", "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot",
    "tile", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
    "zeros", "zeros_like",
]

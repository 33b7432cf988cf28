# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Random arguments of each function of the standard, by hypothesis's strategies for arrays.

CALLS has a function for each name; it draws the arguments by place, and those by name.
"""
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import array_api

import dray.xp as xp

XPS = array_api.make_strategies_namespace(xp)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
CATEGORIES = {
    "all": ["bool", *INTEGERS, *FLOATS, *COMPLEX], "numeric": [*INTEGERS, *FLOATS, *COMPLEX],
    "real": [*INTEGERS, *FLOATS], "floating": [*FLOATS, *COMPLEX], "float": FLOATS,
    "complex": COMPLEX, "integer": INTEGERS, "bits": ["bool", *INTEGERS], "bool": ["bool"],
    "signed": ["int32", "int64", *FLOATS],
}
# Types that are promoted with each other.
FAMILIES = [["bool"], INTEGERS[:4], INTEGERS[4:], INTEGERS[:7], [*FLOATS, *COMPLEX]]
UNARY = {
    "abs": "numeric", "acos": "floating", "acosh": "floating", "asin": "floating",
    "asinh": "floating", "atan": "floating", "atanh": "floating", "bitwise_invert": "bits",
    "ceil": "real", "conj": "numeric", "cos": "floating", "cosh": "floating", "exp": "floating",
    "expm1": "floating", "floor": "real", "imag": "complex", "isfinite": "numeric",
    "isinf": "numeric", "isnan": "numeric", "log": "floating", "log10": "floating",
    "log1p": "floating", "log2": "floating", "logical_not": "bool", "negative": "numeric",
    "positive": "numeric", "real": "numeric", "reciprocal": "floating", "round": "numeric",
    "sign": "numeric", "signbit": "float", "sin": "floating", "sinh": "floating",
    "sqrt": "floating", "square": "numeric", "tan": "floating", "tanh": "floating",
    "trunc": "real"}
BINARY = {
    "add": "numeric", "atan2": "float", "bitwise_and": "bits", "bitwise_left_shift": "shift",
    "bitwise_or": "bits", "bitwise_right_shift": "shift", "bitwise_xor": "bits",
    "copysign": "float", "divide": "floating", "equal": "all", "floor_divide": "real",
    "greater": "real", "greater_equal": "real", "hypot": "float", "less": "real",
    "less_equal": "real", "logaddexp": "float", "logical_and": "bool", "logical_or": "bool",
    "logical_xor": "bool", "maximum": "real", "minimum": "real", "multiply": "numeric",
    "nextafter": "float", "not_equal": "all", "pow": "power", "remainder": "real",
    "subtract": "numeric"}
SHAPES = XPS.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
MATRICES = XPS.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=4)


def shapes(low=0, high=3, least=0):
    return XPS.array_shapes(min_dims=low, max_dims=high, min_side=least, max_side=4)


def elements(dtype, extent=None):
    """Numbers of a type; complex numbers are finite, and not at a border of a function."""
    kind = np.dtype(dtype).kind
    if kind == "c":
        width = np.dtype(dtype).itemsize * 8
        return st.complex_numbers(min_magnitude=0.125, max_magnitude=extent or 8, width=width,
                                  allow_nan=False, allow_infinity=False)
    if kind == "f":
        bounds = {"min_value": -extent, "max_value": extent} if extent else {}
        return XPS.from_dtype(getattr(xp, dtype), allow_subnormal=False, **bounds)
    if kind in "iu" and extent:
        return st.integers(-extent if kind == "i" else 0, extent)
    return XPS.from_dtype(getattr(xp, dtype))


def arrays(draw, dtypes, shape=SHAPES, extent=None, **keywords):
    dtype = draw(st.sampled_from(CATEGORIES[dtypes] if isinstance(dtypes, str) else dtypes))
    made = draw(XPS.arrays(getattr(xp, dtype), shape, elements=elements(dtype, extent), **keywords))
    # Strides of each kind.
    if made.ndim and draw(st.booleans()):
        made = xp.flip(made)
    if made.ndim > 1 and isinstance(shape, st.SearchStrategy) and draw(st.booleans()):
        made = xp.matrix_transpose(made)
    return made


def axis_of(draw, x, least=1):
    return draw(st.integers(-x.ndim, x.ndim - 1)) if x.ndim >= least else None


def axes_of(draw, x):
    """None, an axis or a tuple."""
    return draw(st.none() | XPS.valid_tuple_axes(x.ndim)
                | (st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.none()))


def pair(draw, category, shape=SHAPES, numbers=True):
    """Two operands that are promoted and broadcast; either may be a number of Python."""
    names = {"shift": INTEGERS, "power": CATEGORIES["numeric"]}.get(category) or CATEGORIES[category]
    family = draw(st.sampled_from([found for found in ([name for name in each if name in names]
                                                       for each in FAMILIES) if found]))
    both = draw(XPS.mutually_broadcastable_shapes(2, max_dims=3, max_side=4, min_side=0))
    small = {"shift": 7, "power": 3}.get(category)
    first = arrays(draw, family, both.input_shapes[0], small)
    second = arrays(draw, family, both.input_shapes[1], small)
    if category in ("shift", "power") and first.dtype.kind in "iu":
        second = xp.astype(xp.abs(second), second.dtype)
    if numbers and category != "shift" and draw(st.integers(0, 4)) == 0:
        kind = first.dtype.kind
        number = {"b": True, "i": 2, "u": 3, "f": 1.5, "c": 2 + 1j}[kind]
        # The standard lacks a number on both sides, and types of numbers beyond those of arrays.
        return (first, number) if draw(st.booleans()) or category == "power" else (number, first)
    return first, second


def unary(category):
    return lambda draw: ((arrays(draw, category),), {})


def binary(category):
    return lambda draw: (pair(draw, category), {})


def made(draw):
    shape = draw(SHAPES | st.integers(0, 5))
    dtype = draw(st.none() | st.sampled_from(CATEGORIES["all"]))
    return (shape,), ({} if dtype is None else {"dtype": getattr(xp, dtype)})


def made_like(draw):
    (_, named), x = made(draw), arrays(draw, "all")
    return (x,), named


def full(draw):
    (shape,), _ = made(draw)
    value = draw(st.sampled_from([True, -3, 2, 2.5, float("nan"), 1 + 2j]))
    return (shape, value), {}


def full_like(draw):
    x = arrays(draw, "all")
    return (x, {"b": True, "i": -3, "u": 3, "f": 2.5, "c": 1 + 2j}[x.dtype.kind]), {}


def asarray(draw):
    x = arrays(draw, "all")
    if draw(st.booleans()):
        return (x,), draw(st.sampled_from([{}, {"copy": True}, {"copy": False}, {"copy": None}]))
    return (np.asarray(x).tolist(),), {}


def arange(draw):
    numbers = draw(st.lists(st.integers(-5, 5) | st.floats(-4, 4, width=32), min_size=1, max_size=3))
    if len(numbers) == 3 and abs(numbers[2]) < 0.25:
        numbers[2] = 1.5
    return tuple(numbers), {}


def linspace(draw):
    ends = draw(st.lists(st.integers(-5, 5) | st.floats(-4, 4, width=32), min_size=2, max_size=2))
    named = draw(st.sampled_from([{}, {"endpoint": False}, {"dtype": xp.float32}]))
    return (*map(float, ends), draw(st.integers(0, 6))), named


def eye(draw):
    return ((draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))),
            {"k": draw(st.integers(-4, 4))})


def meshgrid(draw):
    dtype = draw(st.sampled_from(CATEGORIES["all"]))
    x = [arrays(draw, [dtype], (draw(st.integers(0, 3)),)) for _ in range(draw(st.integers(1, 3)))]
    return tuple(x), {"indexing": draw(st.sampled_from(["xy", "ij"]))}


def triangle(draw):
    return (arrays(draw, "all", shapes(2)),), {"k": draw(st.integers(-4, 4))}


def astype(draw):
    x = arrays(draw, "all", extent=100)
    if x.dtype.kind == "f":
        x = xp.where(xp.isfinite(x), x, xp.zeros_like(x))
    names = CATEGORIES["complex" if x.dtype.kind == "c" else "all"]
    if x.dtype.kind in "if":
        names = [name for name in names if not name.startswith("u")]  # not defined below 0
    return (x, getattr(xp, draw(st.sampled_from(names)))), {"copy": draw(st.booleans())}


def can_cast(draw):
    names = st.sampled_from(CATEGORIES["all"])
    first = getattr(xp, draw(names))
    return (draw(st.sampled_from([first, xp.zeros(2, dtype=first)])), getattr(xp, draw(names))), {}


def isdtype(draw):
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating",
             "complex floating", "numeric"]
    kind = st.sampled_from(kinds + [getattr(xp, name) for name in CATEGORIES["all"]])
    return ((getattr(xp, draw(st.sampled_from(CATEGORIES["all"]))),
             draw(kind | st.lists(kind, max_size=3).map(tuple))), {})


def result_type(draw):
    family = draw(st.sampled_from(FAMILIES))
    names = draw(st.lists(st.sampled_from(family), min_size=1, max_size=3))
    given = [draw(st.sampled_from([getattr(xp, name), xp.zeros(1, dtype=getattr(xp, name))]))
             for name in names]
    kind = xp.result_type(*given).kind
    return tuple(given) + draw(st.sampled_from([(), ({"b": True, "f": 1.5, "c": 2.5}.get(kind, 3),)])), {}


def joined(draw):
    x = arrays(draw, "numeric", shapes(1))
    others = [name for name in CATEGORIES["numeric"] for family in FAMILIES
              if x.dtype.name in family and name in family and family is not FAMILIES[3]]
    parts = [x, *(arrays(draw, others, x.shape) for _ in range(draw(st.integers(0, 2))))]
    return parts, axis_of(draw, x)


def concat(draw):
    parts, axis = joined(draw)
    return (parts,), {"axis": draw(st.sampled_from([axis, None]))}


def stack(draw):
    parts, axis = joined(draw)
    return (tuple(parts),), {"axis": axis}


def with_axis(category, low=1, **choices):
    def arguments(draw):
        x = arrays(draw, category, shapes(low, 3))
        named = {name: draw(st.sampled_from(values)) for name, values in choices.items()}
        return (x,), {"axis": axis_of(draw, x), **named}
    return arguments


def reduction(category, least=0, **choices):
    def arguments(draw):
        x = arrays(draw, category, shapes(0, 3, least), extent=50)
        named = {name: draw(st.sampled_from(values)) for name, values in choices.items()}
        if named.get("dtype") is None:
            named.pop("dtype", None)
        elif x.dtype.kind in "fc":
            named["dtype"] = x.dtype
        return (x,), {"axis": axes_of(draw, x), "keepdims": draw(st.booleans()), **named}
    return arguments


def search(draw):
    x = arrays(draw, "real", shapes(1, 3, 1))
    return (x,), {"axis": draw(st.sampled_from([axis_of(draw, x), None])),
                  "keepdims": draw(st.booleans())}


def running(draw):
    x = arrays(draw, "numeric", shapes(1), extent=4)
    axis = axis_of(draw, x)
    return (x,), {"axis": draw(st.sampled_from([axis, None] if x.ndim == 1 else [axis])),
                  "include_initial": draw(st.booleans())}


def diff(draw):
    x = arrays(draw, "numeric", shapes(1, 3, 1), extent=50)
    axis = axis_of(draw, x)
    named = {"prepend": x} if draw(st.booleans()) else {}
    return (x,), {"axis": axis, "n": draw(st.integers(0, 2)), **named}


def expand_dims(draw):
    x = arrays(draw, "all", shapes(0))
    return (x, draw(st.integers(-x.ndim - 1, x.ndim))), {}


def flip(draw):
    x = arrays(draw, "all")
    return (x,), {"axis": axes_of(draw, x)}


def moveaxis(draw):
    x = arrays(draw, "all", shapes(1))
    if draw(st.booleans()):
        return (x, axis_of(draw, x), axis_of(draw, x)), {}
    order = draw(st.permutations(range(x.ndim)))
    return (x, tuple(range(x.ndim)), tuple(order)), {}


def permute_dims(draw):
    x = arrays(draw, "all")
    return (x, tuple(draw(st.permutations(range(x.ndim))))), {}


def repeat(draw):
    x = arrays(draw, "all", shapes(1))
    axis = axis_of(draw, x)
    if draw(st.booleans()):
        return (x, draw(st.integers(0, 3))), {"axis": draw(st.sampled_from([axis, None]))}
    return (x, xp.remainder(arrays(draw, "integer", (x.shape[axis],), 3), 4)), {"axis": axis}


def reshape(draw):
    x = arrays(draw, "all", shapes(1, 3, 1))
    order = draw(st.permutations(x.shape))
    shape = draw(st.sampled_from([tuple(order), (-1,), (-1, 1), (1, *order)]))
    return (x, shape), draw(st.sampled_from([{}, {"copy": True}, {"copy": None}]))


def roll(draw):
    x = arrays(draw, "all", shapes(1))
    axis = draw(st.sampled_from([axis_of(draw, x), None]))
    return (x, draw(st.integers(-5, 5))), {"axis": axis}


def squeeze(draw):
    x = xp.expand_dims(arrays(draw, "all"), 0)
    return (x, 0), {}


def tile(draw):
    return (arrays(draw, "all"), tuple(draw(st.lists(st.integers(0, 2), max_size=3)))), {}


def unstack(draw):
    x = arrays(draw, "all", shapes(1))
    return (x,), {"axis": axis_of(draw, x)}


def broadcast_to(draw):
    x = arrays(draw, "all")
    return (x, (2, *x.shape)), {}


def broadcast_arrays(draw):
    return pair(draw, "numeric", numbers=False), {}


def broadcast_shapes(draw):
    found = draw(XPS.mutually_broadcastable_shapes(draw(st.integers(1, 3)), max_dims=3))
    return found.input_shapes, {}


def searchsorted(draw):
    name = draw(st.sampled_from(["int32", "int64", "uint8", *FLOATS]))
    numbers = st.floats(-50, 50, width=32) if name in FLOATS else st.integers(0, 50)
    x1 = draw(XPS.arrays(getattr(xp, name), st.integers(0, 6).map(lambda n: (n,)), elements=numbers))
    x2 = draw(XPS.arrays(getattr(xp, name), SHAPES, elements=numbers))
    if x2.ndim == 0 and draw(st.booleans()):
        x2 = x2.item()
    order = xp.argsort(x1)
    if draw(st.booleans()):
        return (x1, x2), {"sorter": order, "side": draw(st.sampled_from(["left", "right"]))}
    return (xp.sort(x1), x2), {"side": draw(st.sampled_from(["left", "right"]))}


def where(draw):
    x1, x2 = pair(draw, "numeric")
    shape = np.broadcast_shapes(*[getattr(x, "shape", ()) for x in (x1, x2)])
    return (arrays(draw, "bool", draw(st.sampled_from([shape, ()]))), x1, x2), {}


def take(draw):
    x = arrays(draw, "all", shapes(1, 3, 1))
    axis = axis_of(draw, x)
    numbers = draw(st.lists(st.integers(0, x.shape[axis] - 1), max_size=4))
    return (x, xp.asarray(numbers, dtype=xp.int64)), (
        {} if x.ndim == 1 and draw(st.booleans()) else {"axis": axis})


def take_along_axis(draw):
    x = arrays(draw, "all", shapes(1, 3, 1))
    axis = axis_of(draw, x)
    return (x, xp.argsort(xp.astype(xp.real(x) if x.dtype.kind == "c" else x, xp.float64), axis=axis)), {
        "axis": axis}


def sorting(draw):
    x = arrays(draw, "real", shapes(1))
    if x.dtype.kind == "f":
        # The order of NaN and of signed zeros is open.
        x = xp.where(xp.isnan(x), xp.ones_like(x), x) + 0
    return (x,), {"axis": axis_of(draw, x), "descending": draw(st.booleans())}


def products(draw):
    n = draw(st.integers(1, 4))
    family = draw(st.sampled_from([FAMILIES[1], FAMILIES[4]]))
    first = draw(st.sampled_from([(n,), (3, n), (2, 3, n)]))
    second = draw(st.sampled_from([(n,), (n, 2), (2, n, 2)]))
    return (arrays(draw, family, first, 4), arrays(draw, family, second, 4)), {}


def vecdot(draw):
    x1, x2 = (arrays(draw, "floating", (3, 2), 4) for _ in range(2))
    return (x1, x2), {"axis": draw(st.sampled_from([-1, -2]))}


def tensordot(draw):
    family = draw(st.sampled_from([FAMILIES[1], FAMILIES[4]]))
    x1, x2 = arrays(draw, family, (2, 3), 4), arrays(draw, family, (2, 3), 4)
    return (x1, x2), {"axes": draw(st.sampled_from([0, ((1,), (1,)), ((0, 1), (0, 1))]))}


def matrix(draw, shape=None, category="floating"):
    """A matrix far from singular: its diagonal is greater than the rest."""
    shape = shape or draw(st.sampled_from([(3, 3), (2, 2), (2, 3, 3), (1, 1)]))
    x = arrays(draw, category, shape, 1)
    return xp.add(x, xp.astype(xp.multiply(6, xp.eye(*shape[-2:])), x.dtype))


def square(draw):
    return (matrix(draw),), {}


def oblong(draw):
    return matrix(draw, draw(st.sampled_from([(3, 2), (2, 3), (2, 3, 2), (3, 3)])))


def hermitian(draw):
    x = matrix(draw)
    return xp.add(x, xp.conj(xp.matrix_transpose(x)))


def norms(draw):
    x = oblong(draw)
    return (x,), {"keepdims": draw(st.booleans()),
                  "ord": draw(st.sampled_from(["fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")]))}


def vector_norms(draw):
    x = arrays(draw, "floating", shapes(1, 3, 1), 8)
    return (x,), {"axis": axes_of(draw, x), "keepdims": draw(st.booleans()),
                  "ord": draw(st.sampled_from([0, 1, 2, 3, -1, float("inf"), -float("inf")]))}


def solve(draw):
    x1 = matrix(draw, category=draw(st.sampled_from([["float32"], ["float64"], ["complex128"]])))
    shapes_of = [(x1.shape[-1],), (x1.shape[-1], 2), (2, x1.shape[-1], 3)]
    return (x1, arrays(draw, [x1.dtype.name], draw(st.sampled_from(shapes_of)), 4)), {}


def cross(draw):
    x1, x2 = (arrays(draw, "signed", (2, 3), 5) for _ in range(2))
    x2 = xp.astype(x2, x1.dtype) if x1.dtype.kind != x2.dtype.kind else x2
    return (x1, x2), {"axis": -1}


def outer(draw):
    family = draw(st.sampled_from([FAMILIES[1], FAMILIES[4]]))
    return (arrays(draw, family, (3,), 5), arrays(draw, family, (2,), 5)), {}


def transform(category, inverse=False):
    def arguments(draw):
        x = arrays(draw, category, shapes(1, 3, 2), 8)
        return (x,), {"n": draw(st.none() | st.integers(2, 5)), "axis": axis_of(draw, x),
                      "norm": draw(st.sampled_from(["backward", "ortho", "forward"]))}
    return arguments


def transforms(category):
    def arguments(draw):
        x = arrays(draw, category, shapes(1, 3, 2), 8)
        axes = draw(st.none() | st.just(tuple(range(x.ndim))))
        return (x,), {"axes": axes, "norm": draw(st.sampled_from(["backward", "ortho", "forward"])),
                      "s": None if axes is None else draw(st.none() | st.just(tuple(x.shape)))}
    return arguments


def shifted(draw):
    x = arrays(draw, "floating", shapes(1))
    return (x,), {"axes": draw(st.sampled_from([None, axis_of(draw, x)]))}


def frequencies(draw):
    return (draw(st.integers(1, 6)),), draw(st.sampled_from([{}, {"d": 0.5}, {"dtype": xp.float32}]))


def isin(draw):
    family = draw(st.sampled_from([INTEGERS[:4], INTEGERS[4:]]))
    return (arrays(draw, family, extent=5), arrays(draw, family, extent=5)), {}


def argument(make):
    return lambda draw: ((make(draw),), {})


SUMS = {"dtype": [None, xp.int64, xp.float64]}
CALLS = {
    **{name: unary(category) for name, category in UNARY.items()},
    **{name: binary(category) for name, category in BINARY.items()},
    "all": reduction("all"), "any": reduction("all"), "arange": arange, "argmax": search,
    "argmin": search, "argsort": sorting, "asarray": asarray, "astype": astype,
    "broadcast_arrays": broadcast_arrays, "broadcast_shapes": broadcast_shapes,
    "broadcast_to": broadcast_to, "can_cast": can_cast, "concat": concat,
    "clip": lambda draw: ((arrays(draw, "real", extent=50), *draw(
        st.sampled_from([(2, 30), (None, 9), (3, None), (None, None)]))), {}),
    "count_nonzero": reduction("all"), "cumulative_prod": running, "cumulative_sum": running,
    "diff": diff, "empty": made, "empty_like": made_like, "expand_dims": expand_dims, "eye": eye,
    "finfo": lambda draw: ((getattr(xp, draw(st.sampled_from(CATEGORIES["floating"]))),), {}),
    "iinfo": lambda draw: ((arrays(draw, "integer"),), {}), "flip": flip,
    "from_dlpack": lambda draw: ((arrays(draw, "numeric", shapes(1, 3, 1)),), {}),
    "full": full, "full_like": full_like, "isdtype": isdtype, "isin": isin, "linspace": linspace,
    "matmul": products, "matrix_transpose": lambda draw: ((arrays(draw, "all", shapes(2)),), {}),
    "max": reduction("real", 1), "min": reduction("real", 1), "mean": reduction("floating", 1),
    "meshgrid": meshgrid, "moveaxis": moveaxis,
    "nonzero": lambda draw: ((arrays(draw, "all", shapes(1)),), {}), "ones": made,
    "ones_like": made_like, "permute_dims": permute_dims, "prod": reduction("numeric", **SUMS),
    "repeat": repeat, "reshape": reshape, "result_type": result_type, "roll": roll,
    "searchsorted": searchsorted, "sort": sorting, "squeeze": squeeze, "stack": stack,
    "std": reduction("float", 2, correction=[0, 1.0, 0.5]), "sum": reduction("numeric", **SUMS),
    "take": take, "take_along_axis": take_along_axis, "tensordot": tensordot, "tile": tile,
    "tril": triangle, "triu": triangle, "unique_all": unary("all"), "unique_counts": unary("all"),
    "unique_inverse": unary("all"), "unique_values": unary("all"), "unstack": unstack,
    "var": reduction("float", 2, correction=[0, 1.0, 0.5]), "vecdot": vecdot, "where": where,
    "zeros": made, "zeros_like": made_like,
    "linalg.cholesky": lambda draw: ((hermitian(draw),), {"upper": draw(st.booleans())}),
    "linalg.cross": cross, "linalg.det": square,
    "linalg.diagonal": lambda draw: ((oblong(draw),), {"offset": draw(st.integers(-2, 2))}),
    "linalg.eig": square, "linalg.eigvals": square, "linalg.eigh": argument(hermitian),
    "linalg.eigvalsh": argument(hermitian), "linalg.inv": square, "linalg.matmul": products,
    "linalg.matrix_norm": norms,
    "linalg.matrix_power": lambda draw: ((matrix(draw), draw(st.integers(-2, 3))), {}),
    "linalg.matrix_rank": lambda draw: ((oblong(draw),), draw(st.sampled_from([{}, {"rtol": 0.25}]))),
    "linalg.matrix_transpose": argument(oblong), "linalg.outer": outer,
    "linalg.pinv": lambda draw: ((oblong(draw),), draw(st.sampled_from([{}, {"rtol": 0.0625}]))),
    "linalg.qr": lambda draw: ((oblong(draw),), {"mode": draw(st.sampled_from(["reduced", "complete"]))}),
    "linalg.slogdet": square, "linalg.solve": solve,
    "linalg.svd": lambda draw: ((oblong(draw),), {"full_matrices": draw(st.booleans())}),
    "linalg.svdvals": argument(oblong), "linalg.tensordot": tensordot,
    "linalg.trace": lambda draw: ((oblong(draw),), {"offset": draw(st.integers(-1, 1))}),
    "linalg.vecdot": vecdot, "linalg.vector_norm": vector_norms,
    "fft.fft": transform("floating"), "fft.ifft": transform("complex"), "fft.rfft": transform("float"),
    "fft.irfft": transform("complex"), "fft.hfft": transform("complex"),
    "fft.ihfft": transform("float"), "fft.fftn": transforms("complex"),
    "fft.ifftn": transforms("complex"), "fft.rfftn": transforms("float"),
    "fft.irfftn": transforms("complex"), "fft.fftfreq": frequencies, "fft.rfftfreq": frequencies,
    "fft.fftshift": shifted, "fft.ifftshift": shifted,
}
CALLS["fft.fft"] = transform("complex")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of operations.

An operation is a line of Python with `a`, an array of NumPy or a dray.Array, and
arguments by name, one letter each.  An assignment, or a line that ends with ";",
changes `a`.  A new one is a line in OPERATIONS, and a function in
arguments.py if none there makes its arguments.  If dray spells it differently,
`dray` is its line there.
"""
import dataclasses
import re
from types import CodeType
from typing import Any, Callable, Optional

import numpy as np

import arguments as make
import dray
import others

NAMES = {"np": np, "dray": dray, "others": others}


class Line:
    """A line of Python: an expression, or a statement that changes `a`."""

    def __init__(self, text: str):
        self.text = text
        self.changes = " = " in text or text.endswith(";")
        self.code: CodeType = compile(text, text, "exec" if self.changes else "eval")

    def run(self, a: Any, arguments: dict[str, Any]) -> Any:
        """Returns the result, or `a` after the statement."""
        given = {"a": a, **arguments}
        result = eval(self.code, NAMES, given)  # pylint: disable=eval-used
        return a if self.changes else result

    def expression(self, array: str, arguments: dict[str, Any]) -> str:
        """The line as an expression, with values instead of names."""
        if not self.changes:
            if len(re.findall(r"\ba\b", self.text)) < 2:
                return with_values(self.text, array, arguments)
            return f"(lambda b: {with_values(self.text, 'b', arguments)})({array})"
        if " = " not in self.text:
            return f"(lambda b: {with_values(self.text[:-1], 'b', arguments)} or b)({array})"
        target, value = with_values(self.text, "b", arguments).split(" = ")
        inside, index = target.removesuffix("]").split("[", maxsplit=1)
        return f"(lambda b: {inside}.__setitem__({index}, {value}) or b)({array})"


def with_values(line: str, array: str, arguments: dict[str, Any]) -> str:
    texts = {"a": array, **{name: make.text(value) for name, value in arguments.items()}}
    return re.sub(r"\b[a-z]\b(?!['\"=(])",
                  lambda found: texts.get(found[0], found[0]), line)


@dataclasses.dataclass
class Operation:
    name: str
    numpy: Line
    dray: Line
    arguments: Callable[..., Optional[dict[str, Any]]]
    weight: int


def operation(name: str, numpy: str, arguments: Callable[..., Optional[dict[str, Any]]],
              dray: Optional[str] = None, weight: int = 2) -> Operation:
    return Operation(name, Line(numpy), Line(dray or numpy), arguments, weight)


# Functions of NumPy with an output: the other arguments, and the function that makes them.
INTO = {
    **dict.fromkeys(
        ("all any argmax argmin max min prod sum mean ptp median nansum nanprod nanmax nanmin "
         "nanmean nanmedian nanargmax nanargmin cumsum cumprod nancumsum nancumprod std var "
         "nanstd nanvar").split(), ("a, axis=x", make.axis_or_none)),
    **dict.fromkeys(("sum", "prod", "cumsum", "cumprod", "mean"),
                    ("a, x, d", make.axis_and_type)),
    "percentile": ("a, 30, x", make.axis_or_none), "quantile": ("a, 0.3, x", make.axis_or_none),
    "take": ("a, n, x, mode=m", make.numbers_along_an_axis),
    "compress": ("[True, False, True], a, x", make.axis_or_none),
    "concatenate": ("(a, a), x", make.axis_or_none), "stack": ("(a, a), x", make.axis_or_none),
    "round": ("a, k", make.decimals), "clip": ("a, 1, 5", make.nothing),
    "dot": ("a, a", make.nothing), "trace": ("a, k, x, y", make.diagonal),
    "outer": ("a, a", make.nothing), "einsum": ("'...i->...', a", make.nothing),
}


def into_an_array(name: str, given: str, arguments: Callable[..., Optional[dict[str, Any]]]
                  ) -> Operation:
    """A function writes to an output; both inputs of dray are drawn."""
    # Of each `a` in what is given: dray.Array, or NumPy's array over it.
    line = f"others.into(OUT, np.{name}, {given})"
    return operation(
        f"{name} into an Array", line.replace("OUT", "o"),
        make.with_output(Line(f"np.{name}({given})"), arguments),
        re.sub(r"\ba\b", "others.side(a, p)", line.replace("OUT", "dray.Array(o)")), 1)


OPERATIONS = {each.name: each for each in [
    # name, line for NumPy, arguments(pick, a), line for dray, how often
    operation("index", "a[i]", make.basic_index, weight=12),
    operation("slice", "a[i]", make.slices, weight=6),
    operation("index by arrays", "a[i]", make.array_index, weight=8),
    operation("index by an Array", "a[i]", make.one_array_index, "a[dray.Array(i)]", 2),
    operation("sum", "a.sum(x, d).copy()", make.reduction),
    *(into_an_array(name, *call) for name, call in INTO.items()),
    operation("set by arrays", "a[i] = v", make.array_index_and_array, weight=4),
    operation("set by arrays to an Array", "a[i] = v", make.array_index_and_array,
              "a[i] = dray.Array(v)", weight=2),
    operation("set to a value", "a[i] = v", make.index_and_value, weight=3),
    operation("set to an array", "a[i] = v", make.index_and_array, "a[i] = dray.Array(v)", 3),
    operation("set to a part", "a[i] = a[j]", make.two_parts, weight=3),
    operation("set to its transpose", "a[...] = a.T", make.nothing, weight=1),
    operation("index by a partner", "a[others.of(i, k)]", make.index_of_partner),
    operation("set to a partner", "a[i] = others.of(v, k)", make.index_and_partner),
    operation("add a partner", "np.add(a, others.seen(v, k))", make.a_partner,
              "dray.add(a, others.of(v, k))"),
    operation("load", "others.loaded(a, v, others.read)", make.version,
              "others.loaded(a, v, dray.Array.load)"),
    operation("save", "others.loaded(a, v, others.read)", make.version,
              "dray.Array(others.saved(a))", weight=1),
    operation("transpose", "a.transpose(x)", make.axes, weight=4),
    operation("T", "a.T", make.nothing),
    operation("broadcast_to", "np.broadcast_to(a, s)", make.wider_shape,
              "a.broadcast_to(s)"),
    operation("swapaxes", "a.swapaxes(x, y)", make.two_axes),
    operation("moveaxis", "np.moveaxis(a, f, t)", make.moves, "a.moveaxis(f, t)"),
    operation("squeeze", "a.squeeze(x)", make.axes_of_one),
    operation("expand_dims", "np.expand_dims(a, x)", make.new_axes, "a.expand_dims(x)"),
    operation("flip", "np.flip(a, x)", make.some_axes, "a.flip(x)"),
    operation("diagonal", "a.diagonal(k, x, y)", make.diagonal),
    operation("reshape", "a.reshape(s, order=o)", make.other_shape, weight=5),
    operation("ravel", "a.ravel(o)", make.order, weight=3),
    operation("real", "a.real", make.nothing, weight=1),
    operation("imag", "a.imag", make.of_complex, weight=1),
    operation("view", "a.view(d)", make.other_type, weight=3),
    operation("field", "a.view(d)[f]", make.a_field, weight=2),
    operation("sliding_window_view", "np.lib.stride_tricks.sliding_window_view(a, s, x)",
              make.window, "a.sliding_window_view(s, x)"),
    operation("as_strided", "np.lib.stride_tricks.as_strided(a, s, t)", make.within,
              "a.as_strided(s, t)"),
    operation("shares_memory", "np.shares_memory(a[i], a[j])", make.two_slices,
              "dray.Array(a[i]).shares_memory(dray.Array(a[j]))"),
    operation("copy", "a.copy(o)", make.order),
    operation("astype", "a.astype(d, o, casting=r)", make.cast, weight=4),
    operation("astype without a copy", "a.astype(d, o, copy=False)", make.cast, weight=1),
    operation("take", "a.take(n, x, mode=m)", make.numbers_along_an_axis),
    operation("put", "a.put(n, v, m);", make.numbers_and_values),
    operation("sort", "a.sort(x, kind='stable');", make.axis_to_sort, "a.sort(x);", 1),
    operation("argsort", "a.argsort(x, kind='stable')", make.axis_or_none, "a.argsort(x)", 1),
    operation("argmax", "a.argmax(x)", make.axis_or_none, weight=1),
    operation("argmin", "a.argmin(x)", make.axis_or_none, weight=1),
    operation("nonzero", "a.nonzero()[k].copy()", make.axis, "a.nonzero()[k]", 1),
    operation("fill", "a.fill(v);", make.value, weight=1),
    operation("empty", "np.empty(s, a.dtype, o).strides", make.shape_and_order,
              "dray.Array.empty(s, a.dtype, o).strides", 1),
    operation("zeros", "np.zeros(s, a.dtype, o)", make.shape_and_order,
              "dray.Array.zeros(s, a.dtype, o)", 1),
    operation("arange", "np.arange(f, s, t, d)", make.steps,
              "dray.Array.arange(f, s, t, d)"),
    operation("tolist", "a.tolist()", make.nothing, weight=1),
    operation("len", "len(a)", make.nothing, weight=1),
    operation("size", "(a.size, a.nbytes, a.ndim, a.itemsize)", make.nothing, weight=1),
    operation("list", "len(list(a))", make.nothing, weight=1),
    operation("array", "a", make.nothing, "dray.Array(a.__array__())", 1),
]}

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What type checkers and help() are told is what is there."""
import ast
import builtins
import contextlib
import inspect
import pathlib
import typing

import numpy as np
import pytest

import dray
import stubs
from dray import _dray, _ufuncs

STUB = pathlib.Path(dray.__file__).with_name("_dray.pyi")
STUBS = ast.parse(STUB.read_text(encoding="utf-8"))
CLASSES = [node for node in STUBS.body if isinstance(node, ast.ClassDef)]
FUNCTIONS = [node for node in STUBS.body if isinstance(node, ast.FunctionDef)]
SPECIAL = {"__enter__", "__exit__", "__call__", "__await__", "__iter__", "__next__",
           "__aiter__", "__anext__", "__new__", "__len__", "__getitem__",
           "__bool__", "__int__", "__float__", "__index__",
           "__setitem__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__",
           "__gt__", "__ge__", "__format__", "__copy__", "__deepcopy__",
            "__dlpack__", "__dlpack_device__",
           "__arrow_c_schema__", "__arrow_c_array__", "__arrow_c_device_array__",
           *(f"__{kind}{name}__" for kind in ("", "r", "i") for name in (
               "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul",
               "and", "or", "xor", "lshift", "rshift")),
           "__neg__", "__pos__", "__abs__", "__invert__", "__array_ufunc__", "__array_function__", "__name__",
           "__reduce__", "__array__", "__array_interface__", "__array_struct__"}
FACADE = [name for name in dray.__all__
          if inspect.isfunction(getattr(dray, name))]


def imports_of(tree):
    """The imports that type checkers and Python follow, without those of checkers alone."""
    return [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]


def test_what_the_stubs_import_never_imports_the_package():
    """Such a module and all others would form a circle, in which mypy loses types (ufunc?)."""
    seen, left = set(), [STUB]
    while left:
        path = left.pop()
        for node in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            assert node.module, f"{path.name} imports the package: name what it needs of _dray"
            if node.module != "_dray" and node.module not in seen:
                seen.add(node.module)
                left.append(STUB.with_name(f"{node.module}.py"))
    assert {"_node", "_stream", "_registers"} <= seen


def test_the_stubs_name_all_of_the_extension():
    told = {node.name for node in CLASSES + FUNCTIONS} | {
        node.target.id for node in STUBS.body
        if isinstance(node, ast.AnnAssign)}
    there = {name for name in vars(_dray) if not name.startswith("__")}
    assert told == there


@pytest.mark.parametrize("node", CLASSES, ids=lambda node: node.name)
def test_a_class_has_the_methods_of_its_stub(node):
    class_ = getattr(_dray, node.name)
    told = {method.name for method in node.body
            if isinstance(method, ast.FunctionDef)}
    there = {name for name, value in vars(class_).items()
             if not name.startswith("_") or name in SPECIAL | told}
    assert told == there
    assert class_.__doc__


def told_parameters(function):
    """As inspect names them: what the stub says, without types and defaults."""
    arguments = function.args
    return ([argument.arg for argument in arguments.posonlyargs],
            [argument.arg for argument in arguments.args],
            [argument.arg for argument in arguments.kwonlyargs])


def real_parameters(function):
    kinds = {inspect.Parameter.POSITIONAL_ONLY: [],
             inspect.Parameter.POSITIONAL_OR_KEYWORD: [],
             inspect.Parameter.KEYWORD_ONLY: []}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL,
                              inspect.Parameter.VAR_KEYWORD):
            continue
        kinds[parameter.kind].append(parameter.name)
    return tuple(kinds.values())


@pytest.mark.parametrize("node", FUNCTIONS, ids=lambda node: node.name)
def test_a_function_has_the_parameters_of_its_stub(node):
    assert real_parameters(getattr(_dray, node.name)) == told_parameters(node)


@pytest.mark.parametrize("class_, node", [
    (class_, node) for class_ in CLASSES for node in class_.body
    if isinstance(node, ast.FunctionDef) and not node.decorator_list
    and node.name not in ("__call__", "__await__", "__new__")],
    ids=lambda node: node.name)
def test_a_method_has_the_parameters_of_its_stub(class_, node):
    function = getattr(getattr(_dray, class_.name), node.name)
    real, told = real_parameters(function), told_parameters(node)
    both = [sorted(kind[0] + kind[1]) for kind in (real, told)]
    assert both[0] == both[1] and real[2] == told[2]


def made_records():
    node = dray.open()
    with dray.memory():
        array = np.zeros(3)
    yield "PoolStats", dray.stats()
    yield "NodeInfo", node.info()
    yield "HeapInfo", node.heaps()[0]
    yield "ArrayFlags", dray.Array(array).flags
    yield "Explanation", dray.explain(array, array[::-1])
    with dray.Sequence() as sequence:
        sequence.output(-sequence.input(array))
    yield "SequencePlan", sequence.plan
    for channel in node.channels():
        yield "ChannelInfo", channel
    with contextlib.suppress(ValueError), dray.stream("rx0") as stream:
        yield "StreamCounts", stream.counts()
        yield "RingCounts", stream.frames(3).counts()
    if node.info().addresses:
        yield "Segment", dray.segments(array)[0]


def test_records_are_the_named_tuples_that_they_are_told_to_be():
    for name, record in made_records():
        class_ = getattr(dray, name)
        assert type(record) is class_
        assert record._asdict() == dict(zip(class_._fields, record))
        types = typing.get_type_hints(class_)
        assert {field: type(value) for field, value in
                record._asdict().items()} == types
        first = class_._fields[0]
        assert record._replace(**{first: 7})[0] == 7
        assert f"{first}:" in class_.__doc__


@pytest.mark.parametrize("name", FACADE)
def test_a_function_is_documented_and_typed(name):
    function = getattr(dray, name)
    signature = inspect.signature(function)
    assert inspect.getdoc(function)
    assert signature.return_annotation is not signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter


def test_all_names_what_is_public():
    """So dray.os, which an import would leave, does not exist."""
    public = {name for name in dir(dray) if not name.startswith("_")} - {"dask", "mpi", "numba"}
    assert public - set(vars(builtins)) == set(dray.__all__)


def test_all_ufuncs_are_imported():
    ufuncs = {name for name, value in vars(dray).items() if isinstance(value, dray.ufunc)}
    assert ufuncs == set(_dray.ufuncs) | set(_ufuncs.OTHER_NAMES)
    with pytest.raises(ImportError, match="nothing"):
        from dray._ufuncs import nothing  # pylint: disable=unused-import


def test_the_stubs_have_the_docstrings_of_the_extension():
    """tests/python/stubs.py writes them."""
    source = STUB.read_text("utf-8")
    assert source == stubs.documented(source)
    assert ast.get_docstring(CLASSES[0]) == dray.Pool.__doc__


def test_a_star_import_takes_no_builtin_away():
    assert not set(dray.__all__) & set(vars(builtins))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What type checkers and help() are told is what is there."""
import ast
import inspect
import pathlib

import pytest

import dray
from dray import _dray

STUBS = ast.parse(pathlib.Path(dray.__file__).with_name(
    "_dray.pyi").read_text(encoding="utf-8"))
CLASSES = [node for node in STUBS.body if isinstance(node, ast.ClassDef)]
FUNCTIONS = [node for node in STUBS.body if isinstance(node, ast.FunctionDef)]
FACADE = [name for name in dray.__all__
          if inspect.isfunction(getattr(dray, name))]


def test_the_stubs_name_all_of_the_extension():
    told = {node.name for node in CLASSES + FUNCTIONS} | {
        node.target.id for node in STUBS.body
        if isinstance(node, ast.AnnAssign)}
    there = {name for name in vars(_dray) if not name.startswith("__")}
    assert told == there


@pytest.mark.parametrize("node", CLASSES, ids=lambda node: node.name)
def test_a_class_has_the_fields_and_methods_of_its_stub(node):
    class_ = getattr(dray, node.name)
    told = [field.target.id for field in node.body
            if isinstance(field, ast.AnnAssign)]
    assert list(getattr(class_, "__match_args__", ())) == told
    if not told:
        methods = {method.name for method in node.body
                   if isinstance(method, ast.FunctionDef)}
        assert methods - {"__enter__", "__exit__"} == {
            name for name in vars(class_) if not name.startswith("_")}
    assert class_.__doc__


@pytest.mark.parametrize("name", FACADE)
def test_a_function_is_documented_and_typed(name):
    function = getattr(dray, name)
    signature = inspect.signature(function)
    assert inspect.getdoc(function)
    assert signature.return_annotation is not signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter


def test_all_names_what_is_public():
    public = {name for name, value in vars(dray).items()
              if not name.startswith("_")
              and getattr(value, "__module__", "").startswith("dray")}
    assert public == set(dray.__all__)

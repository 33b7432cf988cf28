#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the docstrings of the extension into its stub, where editors look for them.

    PYTHONPATH=build/userspace/python python3 tests/python/stubs.py \\
        userspace/python/dray/_dray.pyi

test_stubs.py fails if they differ."""
import ast
import inspect
import pathlib
import sys
import textwrap
import types

from dray import _dray

def definitions(tree):
    """Each class, function and method of a stub, with the object that it describes."""
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node, getattr(_dray, node.name)
        if isinstance(node, ast.ClassDef):
            class_ = vars(getattr(_dray, node.name))
            yield from ((method, class_[method.name]) for method in node.body
                        if isinstance(method, ast.FunctionDef) and method.name in class_)


def docstring(node, real):
    """The text for a definition; None for operators, whose text is Python's."""
    if isinstance(real, types.WrapperDescriptorType) or node.name == "__new__" or any(
            isinstance(each, ast.Attribute) for each in node.decorator_list):
        return None
    return inspect.cleandoc(real.__doc__ or "") or None


def quoted(text, indent):
    mark = "r" if "\\" in text else ""
    assert '"""' not in text and not text.endswith('"')
    return textwrap.indent(f'{mark}"""{text}"""', indent,
                           lambda line: line.strip() != "")


def documented(source):
    """The text of _dray.pyi with the extension's docstrings."""
    lines = source.splitlines()
    # From the end, so that the numbers of lines above stay.
    for node, real in sorted(definitions(ast.parse(source)), key=lambda pair: -pair[0].lineno):
        text = docstring(node, real)
        first = node.body[0]
        indent = " " * (node.col_offset + 4)
        if ast.get_docstring(node) is not None:
            lines[first.lineno - 1:first.end_lineno] = [] if text is None else [quoted(text, indent)]
        elif text is not None and isinstance(node, ast.ClassDef):
            start = min([first.lineno] + [each.lineno for each in getattr(
                first, "decorator_list", [])])
            lines.insert(start - 1, quoted(text, indent))
        elif text is not None:
            line = lines[first.lineno - 1]
            lines[first.lineno - 1] = line.replace(": ...", ":") + "\n" + quoted(text, indent)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    stub = pathlib.Path(sys.argv[1])
    stub.write_text(documented(stub.read_text("utf-8")), "utf-8")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of docs/sycl.md work as they stand there, one after the other."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "sycl.md").read_text(encoding="utf-8")


def test_the_programs_copy_what_they_say(output, root):
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    blocks = re.findall("^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    said = output("env", f"PYTHONPATH={found[0].parents[1]}", "/usr/bin/python3", "-",
                  input="\n".join(blocks))
    assert said == ("True [[0, 1, 2], [12, 13, 14]]\n"
                    "[[1.0, 2.0], [4.0, 5.0]] unknown\n"
                    "32\n")

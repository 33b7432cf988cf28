# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of docs/arrays.md work as they stand there."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "arrays.md").read_text(encoding="utf-8")


def block(language):
    return re.search(f"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_c_program_makes_a_view_that_keeps_the_memory(output, build_c, tmp_path):
    build_c(block("c"), tmp_path / "program")
    assert output(tmp_path / "program") == "2 rows, -48 bytes apart\n"


SAID = {
    "python": "(2, 6) (-48, 4) [18, 7, 7, 21, 22, 23]\n"
              "149 True\n",
    "python user type": "Array([2.25, 4.0, 0.0625, 9.0], dtype=fixed) [0.75, -1.0, 0.125, 1.5]\n"
                        "-2.0 3 2.75\n"
                        "fixed 4 0\n",
}


@pytest.mark.parametrize("language", SAID)
def test_the_python_program_prints_its_results(output, root, language):
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    said = output("env", f"PYTHONPATH={found[0].parents[1]}", "/usr/bin/python3", "-",
                  input=block(language))
    assert said == SAID[language]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The README's programs work as the README says: each code block is taken from the
text as it stands, built against an installed copy of the library in DRAY_BUILD
as its reader would, and run on the host back end."""

import re
import shutil
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
VERSION = r"""
#include <stdio.h>
#include <dray/dray.h>

int main(void)
{
	return puts(dray_version()) < 0;
}
"""


def block(language):
    """The fenced blocks of that language, as one text."""
    return "".join(re.findall(f"^```{language}\n(.*?)^```$", README,
                              re.MULTILINE | re.DOTALL))


@pytest.fixture
def run_c(output, build_c, tmp_path):
    """run_c(TEXT): output of a C program."""
    def run(text):
        build_c(text, tmp_path / "program")
        return output(tmp_path / "program")
    return run


@pytest.fixture
def package(root):
    """The folder of the Python package."""
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    return found[0].parents[1]


def test_a_program_has_the_version_of_the_package(output, run_c):
    assert run_c(VERSION) == output("pkg-config", "--modversion", "dray")


def test_the_c_example_builds_and_allocates_through_the_handle(run_c):
    assert re.search("^dray host: 8294464 bytes at offset [0-9]* of buffer [1-9]",
                     run_c(block("c")), re.MULTILINE)


def test_the_python_examples_run(output, package):
    said = output("env", f"PYTHONPATH={package}", "/usr/bin/python3", "-",
                  input=block("python"))
    assert re.search("^dray host", said, re.MULTILINE)
    assert re.search("^196608 elements$", said, re.MULTILINE)


def test_the_python_package_goes_where_python3_looks(output, root, package):
    folders = output("/usr/bin/python3", "-c",
                     "import site; print(*site.getsitepackages())").split()
    assert f"/{package.relative_to(root)}" in folders


@pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc")
def test_the_device_tree_example_compiles(output):
    tree = ("/dts-v1/; / { #address-cells = <2>; #size-cells = <2>;"
            "fpd_dma_chan1: a { #dma-cells = <1>; };"
            f"fpd_dma_chan2: b {{ #dma-cells = <1>; }};\n{block('dts')}}};")
    output("dtc", "-q", "-O", "dtb", "-o", "/dev/null", input=tree)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Python blocks of docs/pynq.md and docs/banks.md run, in the order of the page, with
the installed package on the host.  No package has PYNQ, pyxrt or an .xclbin file: the
first two are mocks here with PYNQ's way to keep a BO, and the file is made."""

import re
import shutil
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
sys.path.insert(0, str(TREE / "tests" / "python"))
from xclbin_file import BANKS, xclbin  # noqa: E402

MOCKS = {
    "pyxrt": """
class bo:
    def __init__(self, size):
        self.memory = memoryview(bytearray(size))
    def map(self):
        return self.memory
    def size(self):
        return len(self.memory)
""",
    "pynq": """
import numpy, pyxrt
class PynqBuffer(numpy.ndarray):
    def flush(self):
        print("flush of", int(self.sum()))
def allocate(shape, dtype="u4", target=None):
    bo = pyxrt.bo(int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize)
    buffer = PynqBuffer(shape, dtype, buffer=bo.map())
    buffer.bo = bo
    return buffer
"""}


def blocks(page, language):
    text = (TREE / "docs" / page).read_text(encoding="utf-8")
    return re.findall(f"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def run(root, output, tmp_path):
    """run(PAGE): output of the page's Python blocks, one after the other."""
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    for name, text in MOCKS.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "design.xclbin").write_bytes(xclbin(BANKS))

    def run_page(page):
        return output("env", f"PYTHONPATH={found[0].parents[1]}:{tmp_path}",
                      "/usr/bin/python3", "-B", "-", cwd=tmp_path,
                      input="".join(blocks(page, "python")))
    return run_page


def test_the_blocks_for_users_of_pynq_run(run):
    # The sum of all numbers of 16 bits, as many times as they come in the picture.
    total = sum(number % 65536 for number in range(480 * 640))
    assert len(blocks("pynq.md", "python")) >= 6
    assert re.fullmatch("153600 elements\n[0-9]+ bytes lead to it\n"
                        f"flush of {total}\n", run("pynq.md"))


def test_the_banks_of_a_design_are_printed(run):
    assert run("banks.md") == ("1 HP0 DDR4 0x0 2048 MiB\n"
                               "2 stream0 stream 0x0 0 MiB\n"
                               "3 HBM[0] HBM 0x4000000000 256 MiB\n"
                               "4 0123456789abcdef host 0x100000 0 MiB\n")


@pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc")
def test_the_device_tree_of_banks_compiles(output):
    tree = ("/dts-v1/; / { #address-cells = <2>; #size-cells = <2>;"
            f"\n{blocks('banks.md', 'dts')[0]}}};")
    output("dtc", "-q", "-O", "dtb", "-o", "/dev/null", input=tree)


@pytest.mark.parametrize("page", ["pynq.md", "banks.md", "interop.md", "sycl.md"])
def test_each_link_leads_to_a_file(page):
    text = (TREE / "docs" / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https:)([^)#]+)(?:#[^)]*)?\)", text)
    assert links
    assert [link for link in links if not (TREE / "docs" / link).exists()] == []

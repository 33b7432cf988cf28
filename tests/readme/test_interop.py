# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs of docs/interop.md work as they stand there, and so does each public header
in a program that includes nothing else."""

import re
import shutil
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
PAGE = (TREE / "docs" / "interop.md").read_text(encoding="utf-8")
HEADERS = sorted(path.name for path in (TREE / "include" / "dray").glob("*.h")
                 if path.name not in ("mpi.h", "ucx.h"))  # suites mpi and rdma do that

# The page's lines use an array, and a kernel's run of XRT.
XRT = """
#include <dray/array/xrt_array.h>

int xrtRunSetArg(void *run, int index, ...);
void passes(struct dray_array *frame, void *run);

void passes(struct dray_array *frame, void *run)
{
	LINES
}
"""


def block(language):
    return re.search(f"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_python_program_shares_memory_with_numpy(output, root):
    found = list(root.rglob("dray/__init__.py"))
    if not found:
        pytest.skip("the Python package is not built")
    assert output("env", f"PYTHONPATH={found[0].parents[1]}", "/usr/bin/python3", "-",
                  input=block("python")) == "1.0 (2, 3)\n"


def test_the_lines_about_xrt_compile(build, tmp_path):
    build(tmp_path / "object", "-c", "-x", "c", "-", input=XRT.replace("LINES", block("c")))


@pytest.mark.parametrize("language, standard", [
    ("c", "c11"), ("c++", "c++11"), ("c++", "c++17")])
def test_each_header_alone_compiles_without_a_warning(output, tmp_path, language, standard):
    if language == "c++" and not shutil.which("g++"):
        pytest.skip("there is no C++ compiler")
    flags = output("pkg-config", "--cflags", "dray").split()
    sources = [tmp_path / f"{name}.source" for name in HEADERS]
    for name, source in zip(HEADERS, sources, strict=True):
        # Twice: it has a guard.
        source.write_text(2 * f"#include <dray/{name}>\n" + "int done;\n", encoding="utf-8")
    output("cc", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
           "-Werror", "-fsyntax-only", *flags, *sources)

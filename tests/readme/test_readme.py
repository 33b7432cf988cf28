# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The README's programs work as the README says: each code block is taken from the
text as it stands, built against an installed copy of the library in DRAY_BUILD
as its reader would, and run on the host back end."""

import re
import shutil
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CONTROL = (Path(__file__).parents[2] / "debian/control").read_text(encoding="utf-8")
VERSION = r"""
#include <stdio.h>
#include <dray/dray.h>

int main(void)
{
	return puts(dray_version()) < 0;
}
"""


# A picture from a camera, which has a 7 in its first row.
ARRAYS = """
#include <dray/dray.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static unsigned char pixels[480 * 640] = { 7 };
	struct dray_view camera, view;
	struct dray_array *picture;
	struct dray_node *node;
	struct dray_pool *pool;
	const float *first;

	dray_node_open("host", &node);
	dray_pool_create(node, NULL, &pool);
	dray_view_init(&camera, pixels, DRAY_UINT8, 2, (int64_t[]){ 480, 640 }, NULL);
	LINES
	first = picture->data;
	printf("%g %g\\n", first[479 * 640], first[0]);
	return unlink("picture.npy");
}
"""


def blocks(language):
    """The fenced blocks of that language."""
    return re.findall(f"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def run_c(output, build_c, tmp_path):
    """run_c(TEXT): output of a C program."""
    def run(text):
        build_c(text, tmp_path / "program")
        return output(tmp_path / "program")
    return run


def test_a_program_has_the_version_of_the_package(output, run_c):
    assert run_c(VERSION) == output("pkg-config", "--modversion", "dray")


def test_the_c_example_builds_and_allocates_through_the_handle(run_c):
    assert re.search("^dray host: 8294464 bytes at offset [0-9]* of buffer [1-9]",
                     run_c(blocks("c")[0]), re.MULTILINE)


def test_the_lines_about_arrays_work(run_c):
    assert run_c(ARRAYS.replace("LINES", blocks("c")[1])) == "7 0\n"


def test_the_python_examples_run(output, package):
    said = output("env", f"PYTHONPATH={package}", "/usr/bin/python3", "-",
                  input="".join(blocks("python")))
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
            f"fpd_dma_chan2: b {{ #dma-cells = <1>; }};\n{blocks('dts')[0]}}};")
    output("dtc", "-q", "-O", "dtb", "-o", "/dev/null", input=tree)


def test_the_packages_to_install_are_those_of_the_debian_package():
    needed = set(re.findall(r"[a-z0-9-]+-(?:dev|numpy)\b|meson|pkg-config",
                            CONTROL.split("Build-Depends:")[1].split("Standards-")[0]))
    command = re.search(r"apt-get install ((?:.*\\\n)*.*)", README)[1]
    assert len(needed) >= 12
    assert needed <= set(re.findall(r"[^\s\\]+", command))

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs and commands of README.md and of the pages behind its doors, taken from
their text as it stands, built against an installed copy of the library in DRAY_BUILD as
their readers would, and run on the host back end.

tests/install has the commands that need root, a fresh Debian or a board, and
tests/dmactl/with-calls.sh those of memory-is-gone.md with the module."""

import re
import shutil

import pytest

from pages import TREE, anchors, blocks, commands, links, program, text

PAGES = ["README.md", *(f"docs/{name}.md" for name in (
    "README", "board", "laptop", "stream", "memory-is-gone", "c", "from-u-dma-buf"))]
VERSION = r"""
#include <stdio.h>
#include <dray/array.h>

int main(void)
{
	return puts(dray_version()) < 0;
}
"""


# A picture from a camera, which has a 7 in its first row.
ARRAYS = """
#include <dray/array.h>
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

# Stands in for the reader's IP.
RUN_IP = """
void run_ip(unsigned long long address, size_t size)
{
	printf("%zu bytes at %llu: ", size, address);
}
"""

# A board's tree, with the labels that docs/board.md uses.
BOARD = """/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	memory@0 { device_type = "memory"; reg = <0 0 0 0x80000000>; };
	zynqmp_clk: clock { #clock-cells = <1>; };
	fpga_full: fpga-region {
		compatible = "fpga-region";
		#address-cells = <2>;
		#size-cells = <2>;
		ranges;
	};
	axi {
		compatible = "simple-bus";
		#address-cells = <2>;
		#size-cells = <2>;
		ranges;
		gic: interrupt-controller@f9010000 {
			reg = <0 0xf9010000 0 0x10000>;
			#interrupt-cells = <3>;
			interrupt-controller;
		};
		fpd_dma_chan1: dma-controller@fd500000 {
			compatible = "xlnx,zynqmp-dma-1.0";
			reg = <0 0xfd500000 0 0x1000>;
			interrupt-parent = <&gic>;
			interrupts = <0 124 4>;
			clock-names = "clk_main", "clk_apb";
			clocks = <&zynqmp_clk 19>, <&zynqmp_clk 31>;
			xlnx,bus-width = <128>;
			#dma-cells = <1>;
		};
		fpd_dma_chan2: dma-controller@fd510000 {
			compatible = "xlnx,zynqmp-dma-1.0";
			reg = <0 0xfd510000 0 0x1000>;
			interrupt-parent = <&gic>;
			interrupts = <0 125 4>;
			clock-names = "clk_main", "clk_apb";
			clocks = <&zynqmp_clk 19>, <&zynqmp_clk 31>;
			xlnx,bus-width = <128>;
			#dma-cells = <1>;
		};
	};
};
"""


@pytest.fixture
def run_c(output, build_c, tmp_path):
    """run_c(TEXT): output of a C program."""
    def run(source):
        build_c(source, tmp_path / "program")
        return output(tmp_path / "program")
    return run


@pytest.fixture
def run_python(output, package, tmp_path):
    """run_python(PAGE, NAME): output of the program that the page saves under that name."""
    def run(page, name):
        (tmp_path / name).write_text(program(page, name), encoding="utf-8")
        return output("env", f"PYTHONPATH={package}", "/usr/bin/python3", "-B", name,
                      cwd=tmp_path)
    return run


@pytest.fixture
def shell(root, output, tmp_path):
    """shell(LINE...): output of the lines in a shell that finds the installed dmactl."""
    found = list(root.rglob("bin/dmactl"))
    if not found:
        pytest.skip("dmactl is not built")

    def run(*lines):
        return output("env", f"PATH={found[0].parent}:/usr/sbin:/usr/bin:/sbin:/bin",
                      "sh", "-eu", "-c", "\n".join(lines), cwd=tmp_path)
    return run


def test_a_program_has_the_version_of_the_package(output, run_c):
    assert run_c(VERSION) == output("pkg-config", "--modversion", "dray")


def test_the_c_example_builds_and_allocates_through_the_handle(run_c):
    assert re.search("^dray host: 8294464 bytes at offset [0-9]* of buffer [1-9]",
                     run_c(blocks("docs/c.md", "c")[0]), re.MULTILINE)


def test_the_lines_about_arrays_work(run_c):
    assert run_c(ARRAYS.replace("LINES", blocks("docs/c.md", "c")[1])) == "7 0\n"


def test_the_first_program_prints_what_the_page_says(run_python):
    assert run_python("docs/laptop.md", "first.py") == blocks("docs/laptop.md", "text")[0]


def test_the_workers_change_the_rows_of_their_parent(run_python):
    said = run_python("docs/laptop.md", "share.py")
    assert said == "800000.0\n" and f"`{said.strip()}`" in text("docs/laptop.md")


def test_a_packet_passes_the_loop(run_python):
    said = run_python("docs/stream.md", "packet.py")
    assert said == "32 elements, the first is 0\n"
    assert f"`{said.strip()}`" in text("docs/stream.md")


def test_the_python_package_goes_where_python3_looks(output, root, package):
    folders = output("/usr/bin/python3", "-c",
                     "import site; print(*site.getsitepackages())").split()
    assert f"/{package.relative_to(root)}" in folders


@pytest.mark.parametrize("which", [0, 1], ids=["before", "after"])
def test_programs_of_u_dma_buf_and_of_dray_build(build_c, output, tmp_path, which):
    build_c(blocks("docs/from-u-dma-buf.md", "c")[which] + RUN_IP, tmp_path / "program")
    if which:
        assert output(tmp_path / "program") == "65536 bytes at 0: 7\n"


def test_the_python_lines_for_users_of_u_dma_buf_run(output, package):
    assert output("env", f"PYTHONPATH={package}", "/usr/bin/python3", "-",
                  input=blocks("docs/from-u-dma-buf.md", "python")[0]) == ""


needs_dtc = pytest.mark.skipif(not shutil.which("dtc"), reason="there is no dtc")


@needs_dtc
def test_the_nodes_of_a_device_tree_compile(output):
    page = "docs/from-u-dma-buf.md"
    tree = ("/dts-v1/; / { #address-cells = <1>; #size-cells = <1>;"
            "fpd_dma_chan1: a { #dma-cells = <1>; };"
            f"fpd_dma_chan2: b {{ #dma-cells = <1>; }};\n{blocks(page, 'dts')[0]}}};")
    output("dtc", "-q", "-O", "dtb", "-o", "/dev/null", input=tree)


@needs_dtc
def test_overlays_of_the_boot_loader_and_of_a_bitstream_fit_a_board(shell, output, tmp_path):
    if "dt" not in shell("dmactl help --complete").split():
        pytest.skip("dmactl was built without libfdt")
    output("dtc", "-q", "-@", "-O", "dtb", "-o", tmp_path / "board.dtb", input=BOARD)
    for name, block in zip(("dray.dts", "design.dts"), (
            block for block in blocks("docs/board.md", "dts") if "/plugin/" in block)):
        (tmp_path / name).write_text(block, encoding="utf-8")
    for names in (("dray.dtbo", "board-dray.dtb"), ("design.dtbo", "merged.dtb")):
        said = shell(*(line for line in commands("docs/board.md")
                       if line.startswith(("dtc -@ -I dts -O dtb", "fdtoverlay", "dmactl dt check"))
                       and (names[0] in line or line.endswith(f"check {names[1]}"))))
        assert said.splitlines()[-1].startswith("0 errors, 0 warnings, ")
    shown = shell("dmactl dt show merged.dtb")
    assert re.search(r"^/dray-design +reserved +tx0:\S+,rx0:", shown, re.MULTILINE)
    assert re.search(r"^/dray +reserved +mem0:\S+,mem1:", shown, re.MULTILINE)
    assert re.search(r"128\.0M +region +reserved .* /dray-design,/dray$", shown, re.MULTILINE)


def test_dmactl_lists_dma_bufs_without_the_module(shell):
    lines = [commands("docs/memory-is-gone.md", words)[0] for words in ("awk", "dmactl")]
    assert re.search("^total: [0-9]* dma-bufs?, ", shell(*lines), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_each_link_leads_to_a_file_and_a_heading(page):
    found = links(page)
    assert found
    assert [str(path) for path, _ in found if not path.exists()] == []
    assert [(str(path), part) for path, part in found
            if part and part not in anchors(path)] == []


def test_each_page_is_in_the_index():
    listed = {path.resolve() for path, _ in links("docs/README.md")}
    pages = {path.resolve() for path in (TREE / "docs").glob("*.md")}
    assert pages - listed == {(TREE / "docs/README.md").resolve()}


def test_the_readme_has_at_most_150_lines():
    assert len(text("README.md").splitlines()) <= 150


@pytest.mark.parametrize("page", ["README.md", "debian/control", "userspace/python/pypi.md"])
def test_packages_say_for_which_debian_they_are(page):
    assert "Debian 12 and 13" in re.sub(r"\s+", " ", text(page))


def test_the_packages_to_install_are_those_of_the_debian_package():
    control = (TREE / "debian/control").read_text(encoding="utf-8")
    needed = set(re.findall(r"[a-z0-9-]+-(?:dev|numpy)\b|meson|pkg-config",
                            control.split("Build-Depends:")[1].split("Standards-")[0]))
    command, = commands("README.md", "sudo apt-get install")
    assert len(needed) >= 12
    assert needed <= set(command.split())

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl dt: checks, shows, writes and merges device trees."""

import json
import os
import struct
import subprocess

import libfdt
import pytest

import schema
from broken_trees import BROKEN, DEDICATED, DMAS, GOOD, source
from conftest import DMACTL, TREE, misused, run

pytestmark = pytest.mark.skipif(
    run(DMACTL, "help", "dt", "check").code != 0, reason="dmactl was built without libfdt")

OVERLAYS = TREE / "dts/overlays"
BASE = GOOD.replace(GOOD[GOOD.index("\tdray {"):], "};\n")


def compile_tree(folder, text, name="tree.dtb", symbols=True):
    """Makes a blob; dtc's own complaints about the mistakes are ignored."""
    blob = folder / name
    subprocess.run(["dtc", "-q", "-f", *(["-@"] if symbols else []), "-I", "dts", "-O",
                    "dtb", "-o", blob], input=text, text=True, check=True,
                   capture_output=True)
    blob.write_bytes(blob.read_bytes().replace(b"PHANDLE\0", b"phandle\0"))
    return blob


def findings(blob, *options, code=None):
    result = run(DMACTL, "dt", "check", "--json", *options, blob)
    document = json.loads(result.out)
    schema.check("dt-check", document)
    assert result.error == ""
    assert result.code == (3 if document["errors"] else 0)
    assert code in (None, result.code)
    count = {"error": 0, "warning": 0, "note": 0}
    for one in document["findings"]:
        count[one["severity"]] += 1
    assert list(count.values()) == [document["errors"], document["warnings"],
                                    document["notes"]]
    return document["findings"]


def sentences(result):
    return [line.removeprefix("dmactl: ") for line in result.error.splitlines()]


def test_a_good_tree_has_no_finding(tmp_path):
    blob = compile_tree(tmp_path, GOOD)
    assert findings(blob, code=0) == []
    assert run(DMACTL, "dt", "check", blob) == (0, "0 errors, 0 warnings, 0 notes\n", "")


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_tree_has_its_one_finding(tmp_path, name):
    broken = BROKEN[name]
    blob = compile_tree(tmp_path, source(broken))
    found = findings(blob, *broken.options)
    if broken.severity != "note":
        found = [one for one in found if one["severity"] != "note"]
    assert [(one["severity"], one["rule"], one["path"], one["sentence"])
            for one in found] == [
                (broken.severity, broken.rule, broken.path, broken.sentence)]
    assert broken.severity == "note" or found[0]["mend"]
    shown = run(DMACTL, "dt", "check", *broken.options, blob).out
    assert "\x1b" not in shown
    assert (f"{broken.severity}: {broken.path}: {broken.sentence} [{broken.rule}]\n"
            .replace("\x1b", "\\x1b")) in shown


@pytest.mark.parametrize("address", [1, 2])
@pytest.mark.parametrize("size", [1, 2])
def test_regions_are_read_with_any_number_of_cells(tmp_path, address, size):
    def cells(start, length):
        return "<" + " ".join(["0"] * (address - 1) + [hex(start)] +
                              ["0"] * (size - 1) + [hex(length)]) + ">"

    heads = f"#address-cells = <{address}>; #size-cells = <{size}>;"
    text = f"""/dts-v1/; / {{ {heads}
        memory@80000000 {{ device_type = "memory";
            reg = {cells(0x80000000, 0x10000000)}, {cells(0x90000000, 0x10000000)}; }};
        reserved-memory {{ {heads} ranges;
            r: r {{ reg = {cells(0x8fc00000, 0x800000)}; }}; }};
        dray {{ compatible = "dray,node"; memory-region = <&r>; }}; }};"""
    assert findings(compile_tree(tmp_path, text)) == []
    moved = text.replace(cells(0x8fc00000, 0x800000), cells(0x9fc00000, 0x800000))
    assert [one["sentence"] for one in findings(compile_tree(tmp_path, moved))] == [
        "0x9fc00000 to 0xa03fffff is only partly memory"]


def bytes_at(blob, offset, value):
    data = bytearray(blob)
    data[offset:offset + 4] = struct.pack(">I", value)
    return bytes(data)


@pytest.mark.parametrize("make, sentence", [
    (lambda blob: b"", "is empty"),
    (lambda blob: b"\xd0\x0d", "is not a device-tree blob: it has 2 bytes, and a header "
     "has 28"),
    (lambda blob: b"\x7fELF" + blob[4:], "is not a device-tree blob: it begins with "
     "0x7f454c46, not with 0xd00dfeed"),
    (lambda blob: GOOD.encode(), "is a source, not a blob: compile it with dtc -@ -I dts "
     "-O dtb"),
    (lambda blob: blob[:-40], "is truncated: its header says {size} bytes, but there are "
     "{less}"),
    (lambda blob: bytes_at(bytes_at(blob, 20, 99), 24, 98), "has version 99, compatible "
     "with 98; versions 2 to 17 can be read"),
    (lambda blob: bytes_at(blob, 8, len(blob) - 2), "is damaged: libfdt says "
     "FDT_ERR_TRUNCATED"),
    (lambda blob: bytes_at(blob, struct.unpack_from(">I", blob, 8)[0], 3),
     "is damaged: libfdt says FDT_ERR_BADSTRUCTURE"),
])
@pytest.mark.parametrize("command", ["check", "show"])
def test_a_broken_blob_is_refused_with_a_sentence(tmp_path, command, make, sentence):
    blob = compile_tree(tmp_path, GOOD)
    whole = blob.read_bytes()
    blob.write_bytes(make(whole))
    sentence = sentence.format(size=len(whole), less=len(whole) - 40)
    result = run(DMACTL, "dt", command, blob)
    assert (result.code, result.out) == (1, "")
    # the library's words for a bad structure vary
    if "libfdt" in sentence:
        sentence = sentence.rsplit(" ", 1)[0]
        assert sentences(result)[0].startswith(f"{blob} {sentence}")
    else:
        assert sentences(result) == [f"{blob} {sentence}"]


MASK = ("is not a mask: the highest address, as 0xffffffff, or a number of bits from "
        "1 to 64")
# A command line that lacks nothing; later options are wrong.
WHOLE = "generate --board zynq --size 8M"


@pytest.mark.parametrize("command, sentence", [
    ("check", "dt check: FILE|live is missing"),
    ("check x --mask 65", f"'65' {MASK}"),
    ("check x --mask 3x", f"'3x' {MASK}"),
    ("apply x", "dt apply: BASE OVERLAY... is missing"),
    ("apply x y", "dt apply: -o FILE is missing"),
    ("apply x y -o - --json",
     "dt apply: the tree and --json cannot both go to standard output"),
    ("generate --size 1M", "dt generate: --board BOARD is missing"),
    ("generate --board zynq", "dt generate: --size SIZE is missing"),
    (f"{WHOLE} --size 0", "--size is 0: a page is the least"),
    (f"{WHOLE} --size 5K", "--size of a reserved region is not a multiple of 4.0K"),
    (f"{WHOLE} --size 6M --heap cma",
     "--size of a cma region is not a multiple of 4.0M"),
    (f"{WHOLE} --heap cma --at 0x200000",
     "--at of a cma region is not a multiple of 4.0M"),
    (f"{WHOLE} --heap pages", "--heap: 'pages' is not reserved, cma or carveout"),
    (f"{WHOLE} --at 0x10g", "--at: '0x10g' is not an address, as 0x60000000"),
    (f"{WHOLE} --at 100", "--at: 100 is not a multiple of a page, 0x1000"),
    (f"{WHOLE} --dma mem0",
     "--dma: 'mem0' is not NAME=PROVIDER,CELL..., as mem0=dma0,0"),
    (f"{WHOLE} --dma copy=dma0,0",
     "--dma: the name 'copy' does not begin with mem, tx, rx or display"),
    (f"{WHOLE} --dma mem0=0dma,0", "--dma: '0dma' is neither a label nor a path"),
    (f"{WHOLE} --dma mem0=dma,0x1ffffffff",
     "--dma: 'mem0=dma,0x1ffffffff' has a cell that is not a number of 32 bits"),
    (f"{WHOLE} --dma mem0=/a\"b,0",
     "--dma: 'mem0=/a\"b,0' has a character that no name has"),
    (f"{WHOLE} --dma mem0=dma,0 --dma mem0=dma,1",
     "--dma: two channels have the name 'mem0': number them, as mem0 and mem1"),
    (f"{WHOLE} --json",
     "dt generate: --json needs -o FILE: the source goes to standard output"),
])
def test_a_wrong_command_line_is_a_sentence(command, sentence):
    assert run(DMACTL, "dt", *command.split()) == misused(sentence)


def test_a_missing_file_is_a_sentence(tmp_path):
    result = run(DMACTL, "dt", "check", tmp_path / "none.dtb")
    assert result == (1, "", f"dmactl: cannot read {tmp_path}/none.dtb: No such file or "
                      "directory\n")


def write_folder(fdt, at, folder):
    """Writes a node in the form of /proc/device-tree."""
    folder.mkdir()
    (folder / "name").write_bytes(b"x\0")
    entry = fdt.first_property_offset(at, libfdt.QUIET_NOTFOUND)
    while entry >= 0:
        found = fdt.get_property_by_offset(entry)
        (folder / found.name).write_bytes(bytes(found))
        entry = fdt.next_property_offset(entry, libfdt.QUIET_NOTFOUND)
    child = fdt.first_subnode(at, libfdt.QUIET_NOTFOUND)
    while child >= 0:
        write_folder(fdt, child, folder / fdt.get_name(child))
        child = fdt.next_subnode(child, libfdt.QUIET_NOTFOUND)


@pytest.mark.parametrize("name", ["overlap", "engine-of-32-bits", "cells-too-few"])
def test_a_directory_of_nodes_is_a_tree(tmp_path, name):
    blob = compile_tree(tmp_path, source(BROKEN[name]))
    write_folder(libfdt.Fdt(blob.read_bytes()), 0, tmp_path / "device-tree")

    def sort(found):
        return sorted(tuple(one.values()) for one in found)

    assert sort(findings(tmp_path / "device-tree")) == sort(findings(blob))


def test_files_that_are_no_properties_are_left_out(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "name").write_bytes(b"\0")
    os.mkfifo(tmp_path / "memory/fifo")
    (tmp_path / "null").symlink_to("/dev/null")
    # a FIFO without a writer would not return
    assert run(DMACTL, "dt", "show", str(tmp_path)).error == ""


def test_another_directory_is_a_sentence(tmp_path):
    for folder in (tmp_path, "/"):
        assert run(DMACTL, "dt", "check", folder) == (
            1, "", f"dmactl: {folder} is a directory, but none of a device tree: "
            "it has no file 'name'\n")


def test_the_map_has_banks_regions_users_and_gaps(tmp_path):
    blob = compile_tree(tmp_path, "/memreserve/ 0x1000 0x1000;".join(
        ["/dts-v1/;\n", GOOD.split(";\n", 1)[1]]))
    document = json.loads(run(DMACTL, "dt", "show", "--json", blob).out)
    schema.check("dt-show", document)
    assert [(row["kind"], row["start"], row["last"], row["heap"], row["users"])
            for row in document["map"]] == [
        ("memory", "0x0", "0x7fffffff", None, []),
        ("free", "0x0", "0xfff", None, []),
        ("memreserve", "0x1000", "0x1fff", None, []),
        ("free", "0x2000", "0x1fffffff", None, []),
        ("region", "0x20000000", "0x3fffffff", "cma", ["/dray"]),
        ("region", "0x40000000", "0x43ffffff", "reserved", ["/dray"]),
        ("free", "0x44000000", "0x4fffffff", None, []),
        ("region", "0x50000000", "0x50ffffff", "carveout", ["/dray"]),
        ("free", "0x51000000", "0x7fffffff", None, []),
        ("memory", "0x800000000", "0x87fffffff", None, []),
        ("free", "0x800000000", "0x87fffffff", None, [])]
    assert document["nodes"] == [{
        "path": "/dray", "enabled": True, "coherent": False, "iommu": False,
        "heaps": [{"name": "reserved", "path": "/reserved-memory/buffers@40000000"},
                  {"name": "cma", "path": "/reserved-memory/cma@20000000"},
                  {"name": "carveout", "path": "/reserved-memory/carveout@50000000"}],
        "channels": [{"name": "mem0", "engine": "/axi/dma@100000"},
                     {"name": "rx0", "engine": "/axi/dma@200000"}]}]


def test_the_map_is_a_table(tmp_path):
    blob = compile_tree(tmp_path, GOOD)
    result = run(DMACTL, "dt", "show", "--no-header", blob)
    assert (result.code, result.error) == (0, "")
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0] == ["0x0", "0x7fffffff", "2.0G", "memory", "-", "memory@0", "-"]
    assert ["0x40000000", "0x43ffffff", "64.0M", "region", "reserved",
            "buffers@40000000", "/dray"] in lines
    assert lines[-1] == ["/dray", "reserved,cma,carveout",
                         "mem0:dma@100000,rx0:dma@200000", "-"]


def generate(*arguments):
    result = run(DMACTL, "dt", "generate", *arguments)
    assert result.error == ""
    assert result.code == 0
    return result.out


def merge(folder, base, overlay):
    """By fdtoverlay and by dmactl: both make the same tree."""
    subprocess.run(["fdtoverlay", "-i", base, "-o", folder / "other.dtb", overlay],
                   check=True, capture_output=True)
    result = run(DMACTL, "dt", "apply", base, overlay, "-o", folder / "merged.dtb")
    assert (result.code, result.error) == (0, "")
    assert result.out.endswith("0 errors, 0 warnings, 0 notes\n") or "note" in result.out
    one, other = (subprocess.run(["dtc", "-q", "-s", "-I", "dtb", "-O", "dts", folder /
                                  name], check=True, capture_output=True).stdout
                  for name in ("merged.dtb", "other.dtb"))
    assert one == other
    return folder / "merged.dtb"


@pytest.mark.parametrize("symbols", [True, False])
@pytest.mark.parametrize("phandles", [True, False])
@pytest.mark.parametrize("heap", ["reserved", "cma", "carveout"])
@pytest.mark.parametrize("form", ["dtbo", "dts"])
def test_a_generated_overlay_passes_the_check(tmp_path, symbols, phandles, heap, form):
    text = BASE
    if phandles:  # a reference gives a phandle to its target
        text = text.replace("uart: serial", "uart: serial@1 { dmas = <&dma0 0>; "
                            "memory-region = <&dedicated>; iommus = <&smmu 1>; };\n"
                            "serial")
    base = compile_tree(tmp_path, text, "base.dtb", symbols)
    made = tmp_path / f"dray.{form}"
    generate("--board", base, "--size", "64M", "--heap", heap, "-o", made,
             "--dma", "mem0=/axi/dma@100000,0", "--dma", "rx0=/axi/dma@200000,1",
             "--dma", "mem1=/axi/dma@100000,0", "--iommu", "/axi/iommu@300000,0x14e8")
    if form == "dts":
        overlay = tmp_path / "dray.dtbo"
        subprocess.run(["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, made],
                       check=True, capture_output=True)
        made = overlay
    merged = merge(tmp_path, base, made)
    assert not [one for one in findings(merged, code=0) if one["severity"] != "note"]
    document = json.loads(run(DMACTL, "dt", "show", "--json", merged).out)
    assert document["nodes"] == [{
        "path": "/dray", "enabled": True, "coherent": False, "iommu": True,
        "heaps": [{"name": heap, "path": "/reserved-memory/dray-buffers@78000000"}],
        "channels": [{"name": "mem0", "engine": "/axi/dma@100000"},
                     {"name": "rx0", "engine": "/axi/dma@200000"},
                     {"name": "mem1", "engine": "/axi/dma@100000"}]}]
    assert [row["heap"] for row in document["map"] if row["users"] == ["/dray"]] == [heap]


def test_labels_a_place_and_coherence_are_taken(tmp_path):
    base = compile_tree(tmp_path, BASE.replace("#dma-cells = <1>;",
                                               "#dma-cells = <1>; dma-coherent;"))
    made = tmp_path / "dray.dtbo"
    document = json.loads(generate(
        "--board", base, "--size", "16M", "--at", "0x60000000", "--dma", "mem0=dma0,0",
        "--coherent", "-o", made, "--json"))
    schema.check("dt-generate", document)
    assert document == {
        "written": str(made), "board": str(base), "heap": "reserved", "size": 16 << 20,
        "start": "0x60000000", "node": "dray", "region": "dray-buffers@60000000",
        "channels": 1}
    tree = libfdt.Fdt(merge(tmp_path, base, made).read_bytes())
    node = tree.path_offset("/dray")
    assert tree.getprop(node, "dma-coherent") == b""
    assert tree.getprop(node, "memory-region").as_uint32() == tree.get_phandle(
        tree.path_offset("/reserved-memory/dray-buffers@60000000"))


@pytest.mark.parametrize("board, labels, place", [
    ("zynq", "dmac_s", "reg = <0x10000000 0x1000000>"),
    ("zynqmp", "fpd_dma_chan1", "reg = <0 0x10000000 0 0x1000000>"),
    ("versal", "dma0", "reg = <0 0x10000000 0 0x1000000>"),
    ("rpi4", "dma", "reg = <0 0x10000000 0x1000000>"),
    ("rpi5", "dma32", "reg = <0 0x10000000 0 0x1000000>"),
    ("generic", "engine", "reg = <0 0x10000000 0 0x1000000>"),
])
def test_each_board_has_an_overlay(tmp_path, board, labels, place):
    arguments = ["--board", board, "--size", "16M", "--dma", f"mem0={labels},0"]
    text = generate(*arguments, "--at", "0x10000000")
    assert place in text and f"<&{labels} 0>" in text
    floating = generate(*arguments)
    assert "alloc-ranges = " in floating and "reg = " not in floating
    # as a source and as a blob, the same tree
    generate(*arguments, "-o", tmp_path / "one.dtbo")
    subprocess.run(["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o",
                    tmp_path / "two.dtbo"], input=floating, text=True, check=True)
    cells = place.count(" ") - 2
    heads = ("#address-cells = <1>; #size-cells = <1>;" if cells == 1 else
             f"#address-cells = <2>; #size-cells = <{cells - 1}>;")
    bank = "<0 0x40000000>" if cells == 1 else f"<0 0 {'0 ' * (cells - 2)}0x40000000>"
    base = compile_tree(tmp_path, f"""/dts-v1/; / {{ {heads}
        memory@0 {{ device_type = "memory"; reg = {bank}; }};
        {labels}: dma {{ compatible = "x"; #dma-cells = <1>; }}; }};""", "base.dtb")
    for overlay in ("one.dtbo", "two.dtbo"):
        assert findings(merge(tmp_path, base, tmp_path / overlay), code=0) == []


@pytest.mark.parametrize("arguments, sentence", [
    (["--size", "8G"], "{base} has no room for 8.0G: the largest free part is 2.0G, see "
     "dmactl dt show"),
    (["--size", "3G", "--dma", "rx0=dma1,0"], "{base} has no room for 3.0G below "
     "0xffffffff, which the engines reach: the largest free part is 2.0G, see dmactl dt "
     "show"),
    (["--size", "1M", "--dma", "mem0=nope,0"], "{base} has no label nope"),
    (["--size", "1M", "--dma", "mem0=/axi/nope,0"], "{base} has no node /axi/nope"),
    (["--size", "1M", "--dma", "mem0=dma0"],
     "dma0 takes 1 cell (#dma-cells), and 0 are given"),
    (["--size", "1M", "--dma", "mem0=uart,0"],
     "uart is not such a device: it has no #dma-cells"),
    (["--size", "1M", "--at", "0x90000000"],
     "nothing is written: {base} with this overlay has errors"),
    (["--size", "1M", "--at", "0x40000000"],
     "nothing is written: {base} with this overlay has errors"),
    (["--size", "1M", "--at", "0xfffffffffffff000"],
     "--at 0xfffffffffffff000: the end of the region exceeds 64 bits"),
])
def test_an_overlay_that_cannot_be_is_refused(tmp_path, arguments, sentence):
    base = compile_tree(tmp_path, BASE)
    made = tmp_path / "dray.dtbo"
    result = run(DMACTL, "dt", "generate", "--board", base, *arguments, "-o", made)
    assert (result.code, result.out) == (1, "")
    assert sentences(result)[-1] == sentence.format(base=base)
    assert sorted(tmp_path.iterdir()) == [base]


def test_a_second_overlay_leaves_the_first_alone(tmp_path):
    base = compile_tree(tmp_path, GOOD)
    made = tmp_path / "dray.dtbo"
    document = json.loads(generate("--board", base, "--size", "16M", "-o", made, "--json"))
    assert (document["node"], document["region"]) == ("dray1", "dray1-buffers@7b000000")
    nodes = json.loads(run(DMACTL, "dt", "show", "--json",
                           merge(tmp_path, base, made)).out)["nodes"]
    assert sorted(node["path"] for node in nodes) == ["/dray", "/dray1"]


OVERLAY = """/dts-v1/; /plugin/;
&{TARGET} { dray { compatible = "dray,node"; dmas = <&LABEL 0>; dma-names = "mem0"; }; };
"""


@pytest.mark.parametrize("base, overlay, sentence", [
    (BASE, OVERLAY.replace("TARGET", "/").replace("LABEL", "nope"),
     "{base} has no label nope, which {overlay} needs"),
    (BASE, OVERLAY.replace("TARGET", "/nowhere").replace("LABEL", "dma0"),
     "{overlay}: fragment@0 has the target-path /nowhere, which {base} lacks"),
    (BASE, GOOD, "{overlay} is not an overlay: it lacks a fragment with a node "
     "__overlay__"),
    (None, OVERLAY.replace("TARGET", "/").replace("LABEL", "dma0"),
     "{base} has no labels (/__symbols__), which {overlay} needs: compile the base with "
     "dtc -@"),
    (BASE, "/dts-v1/; / { fragment@0 { __overlay__ { }; }; };",
     "{overlay}: fragment@0 has neither target nor target-path"),
    (BASE, "/dts-v1/; / { fragment@0 { target = <0x7777>; __overlay__ { }; }; };",
     "{overlay}: fragment@0 has the target 0x7777, a phandle that no node of {base} has"),
    (BASE, OVERLAY.replace("TARGET", "/").replace("LABEL", "uart"),
     "{merged} is not written: the merged tree has errors"),
])
def test_an_overlay_that_does_not_fit_leaves_no_file(tmp_path, base, overlay, sentence):
    symbols = base is not None
    base = compile_tree(tmp_path, base or BASE, "base.dtb", symbols)
    overlay = compile_tree(tmp_path, overlay, "overlay.dtbo")
    before = base.read_bytes()
    merged = tmp_path / "merged.dtb"
    result = run(DMACTL, "dt", "apply", base, overlay, "-o", merged)
    assert result.code == 1
    assert sentences(result) == [sentence.format(base=base, overlay=overlay,
                                                 merged=merged)]
    assert sorted(tmp_path.iterdir()) == [base, overlay]
    assert base.read_bytes() == before


def test_overlays_are_merged_in_their_order(tmp_path):
    base = compile_tree(tmp_path, BASE, "base.dtb")
    first = compile_tree(tmp_path, """/dts-v1/; /plugin/;
        &dma1 { more: more { value = <1>; }; };""", "first.dtbo")
    second = compile_tree(tmp_path, """/dts-v1/; /plugin/;
        &more { value = <2>; };""", "second.dtbo")
    merged = tmp_path / "merged.dtb"
    result = run(DMACTL, "dt", "apply", base, second, first, "-o", merged)
    assert (result.code, sentences(result)) == (
        1, [f"{base} has no label more, which {second} needs"])
    result = run(DMACTL, "dt", "apply", "--json", base, first, second, "-o", merged)
    assert (result.code, result.error) == (0, "")
    schema.check("dt-check", json.loads(result.out))
    tree = libfdt.Fdt(merged.read_bytes())
    assert tree.getprop(tree.path_offset("/axi/dma@200000/more"), "value").as_uint32() == 2
    piped = subprocess.run([DMACTL, "dt", "apply", base, first, second, "-o", "-"],
                           capture_output=True, check=True)
    assert piped.stdout == merged.read_bytes()
    assert piped.stderr.endswith(b"\n0 errors, 0 warnings, 1 note\n")


def test_output_that_cannot_be_written_is_a_sentence(tmp_path):
    base = compile_tree(tmp_path, BASE, "base.dtb")
    result = run(DMACTL, "dt", "generate", "--board", base, "--size", "1M", "-o",
                 tmp_path / "none/dray.dtbo")
    assert (result.code, result.out, sentences(result)) == (
        1, "", [f"cannot write '{tmp_path}/none/dray.dtbo': No such file or directory"])
    result = run(DMACTL, "dt", "generate", "--board", base, "--size", "1M", "-o",
                 "/dev/full")
    assert (result.code, sentences(result)) == (
        1, ["cannot write '/dev/full': No space left on device"])


@pytest.mark.parametrize("base", ["zcu102-emulated", "zynq-emulated", "virt-emulated"])
def test_the_trees_of_the_project_have_no_error(tmp_path, base):
    text = (TREE / f"dts/{base}.dts").read_text(encoding="utf-8")
    assert not [one for one in findings(compile_tree(tmp_path, text), code=0)
                if one["severity"] == "error"]


@pytest.mark.parametrize("overlay", ["zcu102-display", "zcu102-fpga"])
def test_the_overlays_of_the_project_can_be_merged(tmp_path, overlay):
    base = compile_tree(tmp_path, (TREE / "dts/zcu102-emulated.dts").read_text(
        encoding="utf-8"), "base.dtb")
    made = compile_tree(tmp_path, (OVERLAYS / f"{overlay}.dtso").read_text(
        encoding="utf-8"), "overlay.dtbo")
    merge(tmp_path, base, made)


def test_live_is_the_tree_of_this_system():
    result = run(DMACTL, "dt", "show", "live")
    if any(os.path.exists(path) for path in ("/sys/firmware/fdt", "/proc/device-tree")):
        assert (result.code, result.error) == (0, "")
    else:
        assert sentences(result) == [
            "this system has no device tree: there is neither /sys/firmware/fdt nor "
            "/proc/device-tree"]
        assert result.code == 1


def test_a_source_has_the_labels_of_the_base(tmp_path):
    base = compile_tree(tmp_path, BASE)
    text = generate("--board", base, "--size", "64M", "--dma", "mem0=/axi/dma@100000,0")
    assert "dmas = <&dma0 0>;" in text
    assert DEDICATED not in text and DMAS not in text

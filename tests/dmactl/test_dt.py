# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl dt: checks and shows device trees."""

import json
import os
import struct
import subprocess

import libfdt
import pytest

import schema
from broken_trees import BROKEN, GOOD, source
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


@pytest.mark.parametrize("command, sentence", [
    ("check", "dt check: FILE|live is missing"),
    ("check x --mask 65", f"'65' {MASK}"),
    ("check x --mask 3x", f"'3x' {MASK}"),
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


def merge(folder, base, overlay):
    merged = folder / "merged.dtb"
    subprocess.run(["fdtoverlay", "-i", base, "-o", merged, overlay], check=True,
                   capture_output=True)
    return merged


KINDS = {"reserved": "", "carveout": "no-map;",
         "cma": 'compatible = "shared-dma-pool"; reusable;'}


@pytest.mark.parametrize("kind", KINDS)
def test_a_merged_overlay_passes_the_check(tmp_path, kind):
    base = compile_tree(tmp_path, BASE, "base.dtb")
    overlay = compile_tree(tmp_path, f"""/dts-v1/; /plugin/; &{{/}} {{
        #address-cells = <2>; #size-cells = <2>;
        reserved-memory {{ #address-cells = <2>; #size-cells = <2>; ranges;
            part: part@78000000 {{ reg = <0 0x78000000 0 0x4000000>; {KINDS[kind]} }}; }};
        dray {{ compatible = "dray,node"; memory-region = <&part>; dma-names = "mem0";
            memory-region-names = "{kind}"; dmas = <&dma0 0>; }}; }};""", "overlay.dtbo")
    merged = merge(tmp_path, base, overlay)
    assert not [one for one in findings(merged, code=0) if one["severity"] != "note"]
    document = json.loads(run(DMACTL, "dt", "show", "--json", merged).out)
    assert document["nodes"] == [{
        "path": "/dray", "enabled": True, "coherent": False, "iommu": False,
        "heaps": [{"name": kind, "path": "/reserved-memory/part@78000000"}],
        "channels": [{"name": "mem0", "engine": "/axi/dma@100000"}]}]
    assert [row["heap"] for row in document["map"] if row["users"] == ["/dray"]] == [kind]


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
    assert not [one for one in findings(merge(tmp_path, base, made), code=0)
                if one["severity"] == "error"]


def test_live_is_the_tree_of_this_system():
    result = run(DMACTL, "dt", "show", "live")
    if any(os.path.exists(path) for path in ("/sys/firmware/fdt", "/proc/device-tree")):
        assert (result.code, result.error) == (0, "")
    else:
        assert sentences(result) == [
            "this system has no device tree: there is neither /sys/firmware/fdt nor "
            "/proc/device-tree"]
        assert result.code == 1

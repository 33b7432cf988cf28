# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl list --all over recorded /proc and /sys; with-dmabufs.sh has real ones."""

import json
import os
import random

import pytest

from conftest import DMACTL, SCRIPTED, document, run, shown
from machine import Machine, bufinfo
from schema import check


@pytest.fixture(name="machine")
def make_machine(tmp_path):
    return Machine(tmp_path / "root")


def everything(machine):
    """A machine with dma-bufs of three exporters, and each source."""
    machine.process(10, "python3")
    machine.process(20, "weston", uid=65534)
    machine.process(30, "idle")
    machine.dmabuf(10, 3, inode=7, size=8192, name="frame", count=3)
    machine.dmabuf(10, 4, inode=7, size=8192, name="frame", count=3)
    machine.descriptor(10, 5, "/dev/dray0", "pos:\t0\nino:\t99\n")
    machine.descriptor(10, 6, "/tmp/dmabuf:x", "pos:\t0\nexp_name:\tx\n")
    machine.dmabuf(20, 9, inode=7, size=8192, name="frame", count=3)
    machine.dmabuf(20, 10, inode=12, size=1 << 20, exporter="system")
    machine.mapping(10, inode=7, name="frame")
    machine.mapping(10, inode=7, name="frame")
    machine.mapping(30, inode=15)
    machine.mapping(30, inode=77, name="a file", device="08:01")
    machine.sysfs(15, 4096, "udmabuf")
    machine.sysfs(16, 65536, "vgem")
    machine.bufinfo(bufinfo(
        (8192, 3, "dray", 7, "frame", ["soc:dray", "soc:vcu"]),
        (4096, 1, "udmabuf", 15, "<none>", []),
        (65536, 1, "vgem", 16, "<none>", ["vgem"])))
    return machine


def listed(machine, *arguments, **more):
    return document("list", "--all", *arguments,
                    environment=machine.environment, **more)


EVERYTHING = """\
INODE   SIZE  EXPORTER  ID  REFS  HOLDERS                 DEVICES           NAME
    7   8.0K  dray       -     3  python3(10),weston(20)  soc:dray,soc:vcu  frame
   12   1.0M  system     -     2  weston(20)              -                 -
   15   4.0K  udmabuf    -     1  idle(30)                -                 -
   16  64.0K  vgem       -     1  -                       vgem              -
total: 4 dma-bufs, 1.0M
"""


def test_the_sources_are_merged_by_inode(machine):
    assert shown("list", "--all",
                 environment=everything(machine).environment) == EVERYTHING


def test_json_has_each_fact(machine):
    everything(machine)
    found = listed(machine)
    check("list-all", found)
    assert found["total"] == {"dma_bufs": 4, "size": 8192 + (1 << 20) + 69632}
    assert (found["unread"], found["hidden_processes"]) == ([], 0)
    assert found["dma_bufs"][0] == {
        "inode": 7, "size": 8192, "exporter": "dray", "id": None,
        "references": 3, "devices": ["soc:dray", "soc:vcu"], "name": "frame",
        "holders": [
            {"pid": 10, "comm": "python3", "uid": 0, "user": "root",
             "descriptors": 2, "mappings": 2},
            {"pid": 20, "comm": "weston", "uid": 65534, "user": "nobody",
             "descriptors": 1, "mappings": 0}]}
    check("list-all", listed(machine, "--columns", "name,holders"))


@pytest.mark.parametrize("arguments, inodes", [
    (["--pid", "10"], [7]), (["--pid", "20"], [7, 12]), (["--pid", "9"], []),
    (["--user", "nobody"], [7, 12]), (["--user", "root"], [7, 15]),
    (["--user", "root", "--pid", "20"], []),
    (["--heap", "vgem"], [16]), (["--heap", "dray", "--heap", "vgem"], [7, 16]),
    (["--name", "fr*"], [7]), (["--name", ""], [12, 15, 16]),
    (["--min-size", "64K"], [12, 16]),
    (["--sort", "size"], [15, 7, 16, 12]), (["--sort", "-size"], [12, 16, 7, 15]),
    (["--sort", "-exporter"], [16, 15, 12, 7]),
    (["--sort", "-refs"], [7, 12, 15, 16]),
    (["--sort", "-devices"], [16, 7, 12, 15]),
    (["--sort", "holders"], [16, 15, 7, 12]),
    (["--sort", "-inode"], [16, 15, 12, 7]),
], ids=lambda value: " ".join(map(str, value)) or "none")
def test_filters_and_order(machine, arguments, inodes):
    assert [entry["inode"] for entry
            in listed(everything(machine), *arguments)["dma_bufs"]] == inodes


def test_what_cannot_be_read_is_told(machine):
    machine.process(10)
    machine.dmabuf(10, 3, inode=7)
    root = machine.root
    assert shown("list", "--all", environment=machine.environment
                 ).splitlines()[-3:] == [
        "total: 1 dma-buf, 4.0K",
        f"not shown: attached devices; cannot read {root}/sys/kernel/debug/"
        "dma_buf/bufinfo: No such file or directory",
        "not shown: dma-bufs that no process shown has open; cannot read "
        f"{root}/sys/kernel/dmabuf/buffers: No such file or directory"]
    found = listed(machine)
    check("list-all", found)
    assert [unread["lost"] for unread in found["unread"]] == [
        "attached devices", "dma-bufs that no process shown has open"]
    assert found["dma_bufs"][0]["devices"] is None
    machine.sysfs(7, 4096, "dray")
    assert [unread["lost"] for unread in listed(machine)["unread"]] == [
        "attached devices"]
    assert "holders" in [unread["lost"] for unread in document(
        "list", "--all", environment={"DRAY_ROOT": f"{root}/nowhere"})["unread"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can drop its rights")
def test_processes_that_may_not_be_inspected_are_counted(machine):
    everything(machine)
    for path in ("proc/10/fd", "proc/20/maps", "sys/kernel/debug"):
        (machine.root / path).chmod(0)
    # root without the right to read what its mode forbids
    result = run("setpriv", "--bounding-set=-dac_override,-dac_read_search",
                 SCRIPTED, "list", "--all", "--json",
                 environment=machine.environment)
    assert (result.code, result.error) == (0, "")
    found = json.loads(result.out)
    check("list-all", found)
    assert found["hidden_processes"] == 2
    assert [(unread["reason"], unread["lost"]) for unread in found["unread"]
            ] == [("Permission denied", "attached devices")]
    # its mappings of 7 can be read, and those of 20 cannot
    assert [[holder["pid"] for holder in entry["holders"]]
            for entry in found["dma_bufs"]] == [[10, 20], [20], [30], []]


def test_a_name_cannot_play_other_rows(machine):
    machine.process(10, "a\nb")
    forged = "x\nino:\t99\nsize:\t1\nexp_name:\tfake"[:31]
    machine.dmabuf(10, 3, inode=7, name=forged)
    row = "00001000\t2\t7\t1\tfake\t99\t\n"
    names = ["\n" + row, "\nTotal 0 devices attached\n\n" + "0000",
             "\n\tAttached Devices:\n\tfake\nx"]
    machine.bufinfo(bufinfo(*(
        (4096, 1, "dray", 20 + i, name, ["real"])
        for i, name in enumerate(names)), (4096, 1, "dray", 30, "last", ["d"])))
    found = listed(machine)["dma_bufs"]
    assert [entry["inode"] for entry in found] == [7, 20, 21, 22, 30]
    assert {entry["exporter"] for entry in found} == {"dray"}
    assert (found[0]["size"], found[0]["name"]) == (4096, forged)
    assert found[-1]["devices"] == ["d"]
    out = shown("list", "--all", environment=machine.environment)
    assert out.splitlines()[1].split()[5] == "a\\x0ab(10)"
    assert len(out.splitlines()) == 7


@pytest.mark.parametrize("text", [
    b"", b"\n", b"size\n", b"size\n\n", b"size\n1\t2\t3\n",
    b"size\nx\t2\t7\t1\tdray\t9\tname\n", b"size\n1\t2\t7\t1\tdray\t-9\tname\n",
    b"size\n99999999999999999999999\t2\t7\t1\tdray\t9\tname\n",
    b"size\n1\t2\t7\t1\tdray\t9", b"\0" * 9000, b"\xff" * 9000, b"\t" * 9000])
def test_a_broken_bufinfo_has_no_rows(machine, text):
    machine.process(10)
    machine.dmabuf(10, 3, inode=7)
    machine.bufinfo(text)
    assert [entry["inode"] for entry in listed(machine)["dma_bufs"]] == [7]


def test_truncated_files_are_read_as_far_as_they_go(machine):
    everything(machine)
    files = [path for path in machine.root.rglob("*")
             if path.is_file() and not path.is_symlink()]
    chance = random.Random(24)
    for _ in range(200):
        path = chance.choice(files)
        whole = path.read_bytes()
        cut = bytearray(whole[:chance.randrange(len(whole) + 1)])
        for _ in range(chance.randrange(4)):
            if cut:
                cut[chance.randrange(len(cut))] = chance.randrange(256)
        path.write_bytes(cut)
        check("list-all", listed(machine))
        path.write_bytes(whole)


def test_vanishing_processes_are_no_error(machine):
    everything(machine)
    (machine.root / "proc/10/fdinfo/3").unlink()
    (machine.root / "proc/10/maps").unlink()
    (machine.root / "proc/20/comm").unlink()
    found = listed(machine)["dma_bufs"]
    assert [holder["descriptors"] for holder in found[0]["holders"]] == [1, 1]
    assert found[0]["holders"][1]["comm"] == ""


def test_this_machine_can_be_read():
    result = run(DMACTL, "list", "--all")
    assert (result.code, result.error) == (0, "")
    assert result.out.startswith("INODE")
    assert run(SCRIPTED, "list", "--all").code == 0


def contiguous(machine):
    """The files of a kernel that tells all of CMA, and of a board's drivers."""
    machine.write("proc/meminfo", "MemTotal: 4 kB\nCmaTotal:  65536 kB\nCmaFree:  8192 kB\n")
    page = os.sysconf("SC_PAGE_SIZE")
    folder = "sys/kernel/mm/cma/reserved"
    machine.write(f"{folder}/alloc_pages_success", f"{(1 << 20) // page * 3}\n")
    machine.write(f"{folder}/alloc_pages_fail", f"{(1 << 20) // page * 24}\n")
    folder = "sys/kernel/debug/cma/cma-reserved"
    for name, number in {"count": (64 << 20) // page, "used": (56 << 20) // page,
                         "maxchunk": (4 << 20) // page, "order_per_bit": 0}.items():
        machine.write(f"{folder}/{name}", f"{number}\n")
    machine.write("dev/kmsg", "".join(
        f"4,{i},{i}500000,-;cma: cma_alloc: reserved: alloc failed, req-size: {i} pages, "
        "ret: -12\n SUBSYSTEM=x\n6,9,9,-;other\n" for i in range(1, 8)))
    machine.process(10, "weston")
    machine.dmabuf(10, 3, inode=7, size=1 << 20, exporter="drm")
    machine.dmabuf(10, 4, inode=8, size=2 << 20, exporter="zocl")
    machine.dmabuf(10, 5, inode=9, size=3 << 20, exporter="drm")


def test_cma_is_shown_without_the_module(machine):
    contiguous(machine)
    machine.write("unloaded", "")
    found = document("cma", environment=machine.environment)
    check("cma", found)
    assert (found["total"], found["free"]) == (64 << 20, 8 << 20)
    assert found["areas"] == [{
        "name": "reserved", "total": 64 << 20, "used": 56 << 20, "largest_free": 4 << 20,
        "allocated": 3 << 20, "failed": 24 << 20}]
    assert found["exporters"] == [{"exporter": "drm", "count": 2, "size": 4 << 20},
                                  {"exporter": "zocl", "count": 1, "size": 2 << 20}]
    assert [line["microseconds"] for line in found["failures"]] == [
        number * 1000000 + 500000 for number in range(3, 8)]
    text = shown("cma", environment=machine.environment)
    assert text.startswith("CMA: 64.0M, 8.0M free\n\nAREA ")
    assert "reserved  64.0M  56.0M" in text and "24.0M\n" in text
    assert "     7.500000 s  cma: cma_alloc: reserved: alloc failed, req-size: 7 pages" in text
    assert "no counters" not in text and "no sizes" not in text


def test_cma_says_which_numbers_the_kernel_keeps_back(machine):
    machine.write("proc/meminfo", "CmaTotal: 1024 kB\nCmaFree: 0 kB\n")
    machine.write("sys/kernel/mm/cma/linux,cma/alloc_pages_fail", "0\n")
    found = document("cma", environment=machine.environment)
    check("cma", found)
    assert found["areas"][0]["total"] is None and not found["log_read"]
    text = shown("cma", environment=machine.environment)
    assert "no sizes of areas: they need Linux 6.10" in text
    assert "the kernel's log cannot be read (No such file or directory)" in text


def test_a_kernel_without_cma_is_a_sentence(machine):
    machine.write("proc/meminfo", "MemTotal: 4 kB\n")
    assert run(SCRIPTED, "cma", environment=machine.environment) == (
        1, "", "dmactl: this kernel is without CMA: /proc/meminfo lacks CmaTotal; "
        "'dmactl list --all' shows dma-bufs\n")

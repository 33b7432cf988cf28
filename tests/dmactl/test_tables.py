# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tables and lines that dmactl prints for people."""

import pytest

from conftest import SCRIPTED, document, on_terminal, run, shown
from machine import Machine, bufinfo

LIST = """\
ID  SIZE  HEAP      MODE             PID  COMM     USER  MAPPED  ATTACHED  BUSY    AGE  NAME
 1  1.0M  reserved  cached           101  python3  root       1         2     0     5s  frame
 2  2.0M  reserved  write-combined  gone  python3  root       1         2     1  3m12s  frame
 3  3.0M  other     coherent           -  python3  root       1         2     0  2h05m  -
total: 3 buffers, 6.0M
"""

HEAPS = """\
NODE   HEAP      TYPE      BUFFERS  TOTAL   USED   FREE  QUARANTINE  LARGEST  REQUEST  FRAG  HELD  FLAGS
dray0  reserved  reserved        3  64.0M  32.0M  16.0M       16.0M     4.0M    64.0M   75%    0B  pinnable,default
dray0  other     cma             3  64.0M  32.0M     0B        8.0M       0B    64.0M     -  1.0M  shared
dray0  pages     pages           3  64.0M  32.0M  16.0M        8.0M     4.0M     5.0M   20%    0B  shared
dray0  new       77              3  64.0M  32.0M  16.0M        8.0M    17.0M    64.0M    0%    0B  shared
dray1  reserved  reserved        3  64.0M  32.0M  16.0M       16.0M     4.0M    64.0M   75%    0B  pinnable,default
"""

NODES = """\
NODE   DEVICE    MODULE                MASK  LINE  ALIGN  HEAPS                     CHANNELS  FLAGS
dray0  soc:dray  0.1.0           0xffffffff    64    128  reserved,other,pages,new         2  submit,0x100000
dray1  soc:dray  0.1.0   0xffffffffffffffff    64    128  reserved                         0  virtual

NODE   CHANNEL   ENGINE     ALIGN  SEGMENT  SUBMITTED  BYTES  FAILED  STATE
dray0  channel0  -              1        -          7   8.0M       0  closed
dray0  channel1  dma0chan1      1     1.0G          7   8.0M       1  dead
"""

SHOW_2 = """\
id:          2
name:        frame
size:        2.0M (2097152 bytes)
heap:        reserved, number 0 of dray0
mode:        write-combined
owner:       python3, pid 102, gone
user:        root, uid 0
mapped:      1
attached:    2
busy:        1 transfer in flight
age:         3m12s
synced:      1.5M (1572864 bytes)
sync time:   2ms
held by:     -
mapped by:   processes that were not found, 1 mapping
device:      not visible: /nonexistent/sys/kernel/debug/dma_buf/bufinfo: No such file or directory
"""

ATTACHED = """\
ID  SIZE  HEAP      MODE             PID  COMM     USER  MAPPED  ATTACHED  BUSY     AGE  NAME
 1  1.0M  reserved  cached           101  python3  root       1         2     0      5s  frame
 2  2.0M  reserved  write-combined  gone  python3  root       1         2     1   3m12s  frame
 3  3.0M  other     coherent           -  python3  root       1         2     0   2h05m  -
 4  4.0M  -         pinned          held  python3  root       -         -     0  40d00h  -
 5  5.0M  vivid     dma-buf          105  python3  root       -         -     1      5s  video
 6  6.0M  -         77               106  python3  root       -         -     0   3m12s  -
total: 3 buffers, 6.0M; 3 attachments, 15.0M
"""

SHOW_4 = """\
id:          4
name:        -
size:        4.0M (4194304 bytes)
memory:      pinned pages of a process
attached to: dray1, which may write it
owner:       python3, pid 104, gone
user:        root, uid 0
held:        a device may still write it; if none does: dmactl reclaim 4
busy:        0 transfers in flight
age:         40d00h
held by:     -
"""


@pytest.mark.parametrize("command, table", [
    ("list", LIST), ("heaps", HEAPS), ("nodes", NODES)],
    ids=["list", "heaps", "nodes"])
def test_tables_are_aligned(command, table):
    assert shown(command) == table


STREAMS = """\
NODE   STREAM  KIND     PACKETS  BYTES  FAILED  LOST  HELD-BACK  READY  STATE
dray0  tx0     send        1000   8.0M       0     0          0      -  open
dray0  rx0     receive     1001   8.0M       1    12          3    8/8  open
"""


def test_streams_have_a_table_of_their_own():
    assert shown("nodes", scene="streams").split("\n\n")[2] == STREAMS
    assert "STREAM" not in shown("nodes")


def test_show_has_a_line_for_each_fact():
    assert shown("show", "2") == SHOW_2


def test_attachments_are_rows_with_a_total_of_their_own():
    assert shown("list", scene="attached") == ATTACHED
    assert shown("list", "--bytes", scene="attached").splitlines()[-1] == \
        "total: 3 buffers, 6291456 bytes; 3 attachments, 15728640 bytes"


def test_show_of_an_attachment_tells_its_memory_and_how_to_end_it():
    assert shown("show", "4", scene="attached") == SHOW_4
    for number, memory in (("5", "dma-buf of vivid"), ("6", "77")):
        assert shown("show", number, scene="attached").splitlines()[3:5] == [
            f"memory:      {memory}",
            "attached to: dray1, which only reads it"]


def column(number, *arguments, **more):
    """Words of that column."""
    return [line.split()[number]
            for line in shown(*arguments, **more).splitlines()]


@pytest.mark.parametrize("name, ids", [
    ("dray0", ["1", "2", "3"]), ("dray1", ["1", "2", "4", "5", "6"])])
def test_a_node_lists_its_attachments(name, ids):
    assert column(0, "list", "--no-header", "-n", name, scene="attached") == ids


def test_no_header_leaves_out_header_and_total():
    assert column(0, "--no-header", "list") == ["1", "2", "3"]
    assert [line.split()[:1] for line
            in shown("nodes", "--no-header").splitlines()] == [
        ["dray0"], ["dray1"], [], ["dray0"], ["dray0"]]


def test_bytes_prints_exact_sizes():
    assert column(1, "list", "--bytes") == [
        "SIZE", "1048576", "2097152", "3145728", "3"]
    assert shown("list", "--bytes").splitlines()[-1] == \
        "total: 3 buffers, 6291456 bytes"
    heap = shown("heaps", "--bytes", "--no-header").splitlines()[0]
    assert heap.split()[4:10] == ["67108864", "33554432", "16777216", "16777216",
                                  "4194304", "67108864"]
    assert shown("show", "1", "--bytes").splitlines()[2] == \
        "size:        1048576"


def test_a_node_limits_the_list_and_may_be_a_path():
    for name in ("dray1", "/dev/dray1"):
        assert column(0, "list", "--no-header", "-n", name) == ["1", "2"]
    assert run(SCRIPTED, "show", "3", "-n", "dray1") == (
        1, "", "dmactl: no buffer or attachment 3; visible on dray1: 1, 2\n")


def test_an_empty_list_is_fine():
    assert shown("list", scene="empty") == (
        "ID  SIZE  HEAP  MODE  PID  COMM  USER  MAPPED  ATTACHED  BUSY  "
        "AGE  NAME\ntotal: 0 buffers, 0B\n")
    assert shown("list", "--no-header", scene="empty") == ""
    assert document("list", scene="empty") == {
        "buffers": [], "attachments": [],
        "total": {"buffers": 0, "size": 0, "attachments": 0, "attached": 0}}


def test_reclaim_tells_what_it_freed():
    assert shown("reclaim", "2") == "reclaimed: 1 buffer, 2.0M\n"
    assert shown("reclaim", "--all", "--bytes") == \
        "reclaimed: 2 buffers, 5242880 bytes\n"
    assert document("reclaim", "--all") == {
        "buffers": 2, "attachments": 0, "size": 5242880}
    assert shown("reclaim", "4", scene="attached") == \
        "reclaimed: 1 attachment, 2.0M\n"
    assert shown("reclaim", "--all", scene="attached") == \
        "reclaimed: 1 buffer and 1 attachment, 5.0M\n"
    assert document("reclaim", "--all", scene="attached") == {
        "buffers": 1, "attachments": 1, "size": 5242880}


def test_held_memory_is_marked():
    assert column(4, "list", "--no-header", scene="held")[1] == "held"
    assert shown("show", "2", scene="held").splitlines()[7] == (
        "held:        a device may still write it; if none does: "
        "dmactl reclaim 2")
    assert [buffer["held"] for buffer
            in document("list", scene="held")["buffers"]] == [
        False, True, False]


def test_small_numbers_have_small_units():
    assert shown("show", "1").splitlines()[-6:-3] == [
        "age:         5s", "synced:      512 bytes", "sync time:   7us"]


def test_colours_are_for_terminals_that_want_them():
    assert "\033[31mgone\033[0m" in on_terminal("list")
    assert "\033[31m" in on_terminal("heaps"), "a full heap"
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for command in (["list"], ["heaps"], ["nodes"], ["show", "2"]):
            assert "\033" not in on_terminal(*command, **environment)


def test_a_terminal_gets_a_bar():
    lines = on_terminal("heaps", NO_COLOR="1").splitlines()
    assert [line.split()[-1] for line in lines] == [
        "FILL", "[##########!!!!!.....]", "[##########!!oooooooo]",
        *2 * ["[##########!!ooo.....]"], "[##########!!!!!.....]"]


def test_a_narrow_terminal_cuts_names():
    longest = max(map(len, LIST.splitlines()))
    for width in (200, longest, 0):  # 0: it is unknown
        assert on_terminal("list", width=width, NO_COLOR="1") == LIST
    assert "reserve+" in on_terminal("nodes", width=70, NO_COLOR="1")


def test_show_has_the_command_line_of_its_owner(tmp_path):
    machine = Machine(tmp_path / "root")
    machine.process(101, "python3")
    for written, read in ((b"python3\0a b\0--c\0", "python3 a b --c"),
                          (b"one\0\033[2J\n\0", "one \033[2J\n"),
                          (b"title without an end", "title without an end"),
                          (b"", None)):
        machine.write("proc/101/cmdline", written)
        known = document("show", "1", environment=machine.environment)
        assert known["command"] == read
        text = shown("show", "1", environment=machine.environment)
        assert ("command:" in text) == (read is not None)
        assert "\033" not in text
    # one that has ended: another process may have its number by now
    machine.process(102)
    machine.write("proc/102/cmdline", b"other\0")
    assert document("show", "2", environment=machine.environment)["command"] is None


def test_show_says_why_there_are_no_addresses():
    known = document("show", "1", "--segments")
    assert known["segments"] is None
    assert known["segments_hidden"] == "No such device"
    assert shown("show", "1", "--segments").splitlines()[-1] == \
        "segment:     not visible: No such device"


def test_show_knows_that_no_device_is_attached(tmp_path):
    machine = Machine(tmp_path / "root")
    machine.bufinfo(bufinfo())
    assert document("show", "1",
                    environment=machine.environment)["devices"] == []
    assert "device:" not in shown("show", "1", environment=machine.environment)

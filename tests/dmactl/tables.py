#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl: tables and lines for people, of what the stand-in shows."""

import sys

from harness import (SCRIPTED, check, main, on_terminal, read_json, run, same,
                     test)

LIST = """\
ID  SIZE  HEAP      MODE             PID  COMM     USER  MAPPED  ATTACHED  BUSY    AGE  NAME
 1  1.0M  reserved  cached           101  python3  root       1         2     0     5s  frame
 2  2.0M  reserved  write-combined  gone  python3  root       1         2     1  3m12s  frame
 3  3.0M  other     coherent           -  python3  root       1         2     0  2h05m  -
total: 3 buffers, 6.0M
"""

HEAPS = """\
NODE   HEAP      TYPE      BUFFERS  TOTAL   USED   FREE  QUARANTINE  LARGEST  REQUEST  FRAG  HELD  FLAGS
dray0  reserved  reserved        3  64.0M  32.0M  16.0M        8.0M     4.0M    64.0M   75%    0B  pinnable,default
dray0  other     cma             3  64.0M  32.0M     0B        8.0M       0B    64.0M     -  1.0M  shared
dray0  pages     pages           3  64.0M  32.0M  16.0M        8.0M     4.0M     5.0M   20%    0B  shared
dray0  new       77              3  64.0M  32.0M  16.0M        8.0M    17.0M    64.0M    0%    0B  shared
dray1  reserved  reserved        3  64.0M  32.0M  16.0M        8.0M     4.0M    64.0M   75%    0B  pinnable,default
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
memory:      pages of a process, pinned
attached to: dray1, which may write it
owner:       python3, pid 104, gone
user:        root, uid 0
held:        a device may still write it; when it does not: dmactl reclaim 4
busy:        0 transfers in flight
age:         40d00h
held by:     -
"""


@test
def list_is_aligned_and_has_a_total():
    check(run(SCRIPTED, "list"), 0, LIST)


@test
def heaps_are_aligned():
    check(run(SCRIPTED, "heaps"), 0, HEAPS)


@test
def nodes_and_channels_are_aligned():
    check(run(SCRIPTED, "nodes"), 0, NODES)


@test
def show_has_a_line_for_each_fact():
    check(run(SCRIPTED, "show", "2"), 0, SHOW_2)


@test
def attachments_are_rows_with_a_total_of_their_own():
    check(run(SCRIPTED, "list", scene="attached"), 0, ATTACHED)
    text = run(SCRIPTED, "list", "--bytes", scene="attached").stdout.decode()
    same("total", text.splitlines()[-1],
         "total: 3 buffers, 6291456 bytes; 3 attachments, 15728640 bytes")


@test
def show_of_an_attachment_tells_what_it_is_and_how_to_end_it():
    check(run(SCRIPTED, "show", "4", scene="attached"), 0, SHOW_4)
    for number, memory in (("5", "dma-buf of vivid"), ("6", "77")):
        text = run(SCRIPTED, "show", number, scene="attached").stdout.decode()
        same("memory", text.splitlines()[3:5], [
            f"memory:      {memory}",
            "attached to: dray1, which only reads it"])


@test
def a_node_has_what_is_attached_for_it():
    for name, ids in (("dray0", ["1", "2", "3"]),
                      ("dray1", ["1", "2", "4", "5", "6"])):
        text = run(SCRIPTED, "list", "--no-header", "-n", name,
                   scene="attached").stdout.decode()
        same(name, [line.split()[0] for line in text.splitlines()], ids)


@test
def no_header_leaves_out_header_and_total():
    lines = run(SCRIPTED, "--no-header", "list").stdout.decode().splitlines()
    same("first words", [line.split()[0] for line in lines], ["1", "2", "3"])
    text = run(SCRIPTED, "nodes", "--no-header").stdout.decode()
    same("nodes", [line.split()[:1] for line in text.splitlines()],
         [["dray0"], ["dray1"], [], ["dray0"], ["dray0"]])


@test
def bytes_prints_exact_sizes():
    text = run(SCRIPTED, "list", "--bytes").stdout.decode()
    same("sizes", [line.split()[1] for line in text.splitlines()],
         ["SIZE", "1048576", "2097152", "3145728", "3"])
    same("total", text.splitlines()[-1], "total: 3 buffers, 6291456 bytes")
    text = run(SCRIPTED, "heaps", "--bytes", "--no-header").stdout.decode()
    same("heap", text.splitlines()[0].split()[4:10],
         ["67108864", "33554432", "16777216", "8388608", "4194304",
          "67108864"])
    text = run(SCRIPTED, "show", "1", "--bytes").stdout.decode()
    same("size", text.splitlines()[2], "size:        1048576")


@test
def a_node_limits_what_is_listed_and_may_be_a_path():
    for name in ("dray1", "/dev/dray1"):
        result = run(SCRIPTED, "list", "--no-header", "-n", name)
        check(result, 0)
        same("ids", [line.split()[0]
                     for line in result.stdout.decode().splitlines()],
             ["1", "2"])
    check(run(SCRIPTED, "show", "3", "-n", "dray1"), 1, "",
          "dmactl: no buffer or attachment 3: there are 2 on dray1 that you may see "
          "(1, 2)\n")


@test
def nothing_to_list_is_fine():
    check(run(SCRIPTED, "list", scene="empty"), 0,
          "ID  SIZE  HEAP  MODE  PID  COMM  USER  MAPPED  ATTACHED  BUSY  "
          "AGE  NAME\ntotal: 0 buffers, 0B\n")
    check(run(SCRIPTED, "list", "--no-header", scene="empty"), 0, "")
    same("json", read_json(run(SCRIPTED, "list", "--json", scene="empty")),
         {"buffers": [], "attachments": [],
          "total": {"buffers": 0, "size": 0, "attachments": 0,
                    "attached": 0}})


@test
def reclaim_tells_what_it_freed():
    check(run(SCRIPTED, "reclaim", "2"), 0, "reclaimed: 1 buffer, 2.0M\n")
    check(run(SCRIPTED, "reclaim", "--all", "--bytes"), 0,
          "reclaimed: 2 buffers, 5242880 bytes\n")
    same("json", read_json(run(SCRIPTED, "reclaim", "--all", "--json")),
         {"buffers": 2, "attachments": 0, "size": 5242880})
    check(run(SCRIPTED, "reclaim", "4", scene="attached"), 0,
          "reclaimed: 1 attachment, 2.0M\n")
    check(run(SCRIPTED, "reclaim", "--all", scene="attached"), 0,
          "reclaimed: 1 buffer and 1 attachment, 5.0M\n")
    same("json of both", read_json(run(SCRIPTED, "reclaim", "--all", "--json",
                                       scene="attached")),
         {"buffers": 1, "attachments": 1, "size": 5242880})


@test
def what_is_held_is_seen_in_the_list():
    rows = run(SCRIPTED, "list", "--no-header", scene="held").stdout.decode()
    same("owner", rows.splitlines()[1].split()[4], "held")
    text = run(SCRIPTED, "show", "2", scene="held").stdout.decode()
    same("show", text.splitlines()[7],
         "held:        a device may still write it; when it does not: "
         "dmactl reclaim 2")
    listed = read_json(run(SCRIPTED, "list", "--json", scene="held"))
    same("held", [buffer["held"] for buffer in listed["buffers"]],
         [False, True, False])


@test
def small_numbers_have_small_units():
    lines = run(SCRIPTED, "show", "1").stdout.decode().splitlines()
    same("lines", lines[-4:-1], ["age:         5s", "synced:      512 bytes",
                                 "sync time:   7us"])


@test
def colours_are_for_terminals_that_want_them():
    if "\033[31mgone\033[0m" not in on_terminal("list"):
        raise AssertionError("no colour on a terminal")
    if "\033[31m" not in on_terminal("heaps"):
        raise AssertionError("no colour for a full heap")
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for command in (["list"], ["heaps"], ["nodes"], ["show", "2"]):
            if "\033" in on_terminal(*command, **environment):
                raise AssertionError(f"{command} has colours")


@test
def a_terminal_gets_a_bar():
    lines = on_terminal("heaps", NO_COLOR="1").splitlines()
    same("title", lines[0].split()[-1], "FILL")
    same("bars", [line.split()[-1] for line in lines[1:]],
         ["[##########!!ooo.....]", "[##########!!oooooooo]"]
         + 3 * ["[##########!!ooo.....]"])


@test
def a_narrow_terminal_cuts_names():
    wide = on_terminal("list", NO_COLOR="1").splitlines()
    same("wide", wide, LIST.splitlines())
    longest = max(len(line) for line in wide)
    narrow = on_terminal("nodes", width=70, NO_COLOR="1")
    if "reserve+" not in narrow:
        raise AssertionError(f"nothing is cut: {narrow!r}")
    same("unknown width", on_terminal("list", width=0,
                                      NO_COLOR="1").splitlines(), wide)
    same("still aligned", on_terminal("list", width=longest,
                                      NO_COLOR="1").splitlines(), wide)


if __name__ == "__main__":
    sys.exit(main())

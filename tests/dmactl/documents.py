#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl --json: exact values, of what the stand-in shows."""

import sys

from harness import SCRIPTED, main, read_json, run, same, test


@test
def json_has_attachments_apart_from_buffers():
    listed = read_json(run(SCRIPTED, "list", "--json", scene="attached"))
    same("buffers", [buffer["id"] for buffer in listed["buffers"]], [1, 2, 3])
    same("kinds", [attachment["kind"] for attachment
                   in listed["attachments"]], ["pinned", "dma-buf", "77"])
    same("total", listed["total"], {
        "buffers": 3, "size": 6291456, "attachments": 3, "attached": 15728640})
    same("attachment", listed["attachments"][0], {
        "id": 4, "kind": "pinned", "name": "", "size": 4194304,
        "exporter": "", "node": "dray1", "device_reads_only": False,
        "pid": 104, "comm": "python3", "owner_gone": True,
        "address_given": True, "held": True, "uid": 0, "user": "root",
        "transfers": 0, "age_ns": 3456000000000000})


@test
def json_has_exact_values():
    listed = read_json(run(SCRIPTED, "list", "--json"))
    same("total", listed["total"], {
        "buffers": 3, "size": 6291456, "attachments": 0, "attached": 0})
    buffer = {"id": 2, "kind": "buffer", "name": "frame", "size": 2097152, "heap": "reserved",
              "node": "dray0", "mode": "write-combined", "pid": 102,
              "comm": "python3", "owner_gone": True,
              "address_given": True, "held": False, "uid": 0,
              "user": "root", "mapped": 1, "attachments": 2, "transfers": 1,
              "age_ns": 192000000000, "sync_bytes": 1572864,
              "sync_ns": 2500000}
    same("buffer", listed["buffers"][1], buffer)
    buffer.update(holders=[], hidden_processes=0)
    same("show", read_json(run(SCRIPTED, "show", "--json", "2")), buffer)
    same("pid", listed["buffers"][2]["pid"], None)
    only = read_json(run(SCRIPTED, "heaps", "--json", "-n", "dray1"))
    same("heaps", only, {"heaps": [{
        "node": "dray1", "index": 0, "heap": "reserved", "type": "reserved",
        "flags": ["pinnable", "default"], "buffers": 3, "total": 67108864,
        "used": 33554432, "free": 16777216, "quarantined": 8388608,
        "held": 0, "limit": 0, "user_limit": 50331648, "user_used": 4096,
        "largest_free": 4194304, "largest_request": 67108864,
        "fragmented_percent": 75}]})
    heaps = read_json(run(SCRIPTED, "heaps", "--json"))["heaps"]
    same("full heap", heaps[1]["fragmented_percent"], None)
    nodes = read_json(run(SCRIPTED, "nodes", "--json"))["nodes"]
    same("mask", nodes[1]["dma_mask"], "0xffffffffffffffff")
    same("heaps", nodes[0]["heaps"], ["reserved", "other", "pages", "new"])
    same("flags", nodes[0]["flags"], ["submit", "0x100000"])
    same("channel", nodes[0]["channels"][1], {
        "index": 1, "name": "channel1", "engine": "dma0chan1",
        "state": "dead", "flags": ["copy", "open", "dead"], "alignment": 1,
        "max_segment": 1 << 30, "submitted": 7, "bytes": 8388608,
        "failed": 1})
    same("no channels", nodes[1]["channels"], [])


@test
def huge_numbers_lose_nothing():
    buffer = read_json(run(SCRIPTED, "show", "1", "--json", scene="huge"))
    same("synced", buffer["sync_bytes"], "18446744073709551615")
    same("size", buffer["size"], (1 << 62) + 1)
    same("uid", buffer["uid"], (1 << 32) - 2)
    text = run(SCRIPTED, "show", "3", scene="huge").stdout.decode()
    for line in ("size:        4.0E (4611686018427387905 bytes)",
                 "heap:        other",
                 "owner:       python3, a process of another namespace",
                 "synced:      15.9E (18446744073709551615 bytes)",
                 "age:         213503d23h"):
        if line not in text.splitlines():
            raise AssertionError(f"{line!r} is not in {text!r}")


@test
def hostile_names_survive_json():
    names = [buffer["name"] for buffer in read_json(
        run(SCRIPTED, "list", "--json", scene="hostile"))["buffers"]]
    same("names", names, ["\033[2Jgone\\\b\177\r\n", "café \ufffd\ufffd",
                          "rtl \u202e 宽"])


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Exact values of dmactl --json."""

import pytest

from conftest import document, shown
from schema import check


def test_json_has_attachments_apart_from_buffers():
    listed = document("list", scene="attached")
    assert [buffer["id"] for buffer in listed["buffers"]] == [1, 2, 3]
    assert [attachment["kind"] for attachment in listed["attachments"]] == [
        "pinned", "dma-buf", "77"]
    assert listed["total"] == {
        "buffers": 3, "size": 6291456, "attachments": 3, "attached": 15728640}
    assert listed["attachments"][0] == {
        "id": 4, "kind": "pinned", "name": "", "size": 4194304,
        "exporter": "", "node": "dray1", "device_reads_only": False,
        "pid": 104, "comm": "python3", "owner_gone": True,
        "address_given": True, "held": True, "uid": 0, "user": "root",
        "transfers": 0, "age_ns": 3456000000000000}


def test_json_of_buffers_has_exact_values():
    listed = document("list")
    assert listed["total"] == {
        "buffers": 3, "size": 6291456, "attachments": 0, "attached": 0}
    buffer = {"id": 2, "kind": "buffer", "name": "frame", "size": 2097152, "heap": "reserved",
              "node": "dray0", "mode": "write-combined", "pid": 102,
              "comm": "python3", "owner_gone": True,
              "address_given": True, "held": False, "uid": 0,
              "user": "root", "mapped": 1, "attachments": 2, "transfers": 1,
              "age_ns": 192000000000, "sync_bytes": 1572864,
              "sync_ns": 2500000}
    assert listed["buffers"][1] == buffer
    assert document("show", "2") == {
        **buffer, "command": None, "mappings": [], "devices": None,
        "segments": None, "segments_hidden": None, "holders": [],
        "hidden_processes": 0}
    assert listed["buffers"][2]["pid"] is None


def test_json_of_heaps_has_exact_values():
    assert document("heaps", "-n", "dray1") == {"heaps": [{
        "node": "dray1", "index": 0, "heap": "reserved", "type": "reserved",
        "flags": ["pinnable", "default"], "buffers": 3, "total": 67108864,
        "used": 33554432, "free": 16777216, "quarantined": 16777216,
        "held": 0, "limit": 0, "user_limit": 50331648, "user_used": 4096,
        "largest_free": 4194304, "largest_request": 67108864,
        "fragmented_percent": 75}]}
    full = document("heaps")["heaps"][1]
    assert full["fragmented_percent"] is None


def test_json_of_nodes_has_exact_values():
    nodes = document("nodes")["nodes"]
    assert nodes[1]["dma_mask"] == "0xffffffffffffffff"
    assert nodes[0]["heaps"] == ["reserved", "other", "pages", "new"]
    assert nodes[0]["flags"] == ["submit", "0x100000"]
    assert nodes[0]["channels"][1] == {
        "index": 1, "name": "channel1", "engine": "dma0chan1",
        "state": "dead", "flags": ["copy", "open", "dead"], "alignment": 1,
        "max_segment": 1 << 30, "submitted": 7, "bytes": 8388608,
        "failed": 1, "packets": 0, "lost": 0, "held_back": 0,
        "ring_frames": 0, "ring_ready": 0}
    assert nodes[1]["channels"] == []


def test_json_of_streams_has_their_counts():
    channels = document("nodes", scene="streams")["nodes"][0]["channels"]
    assert [[channel[key] for key in ("packets", "lost", "held_back",
                                      "ring_frames", "ring_ready")]
            for channel in channels] == [[1000, 0, 0, 0, 0],
                                         [1001, 12, 3, 8, 8]]


@pytest.mark.parametrize("command, scenes", [
    ("nodes", ["plain", "hostile", "streams"]),
    ("heaps", ["plain", "hostile"]),
    ("show 1", ["plain", "huge", "hostile", "held"]),
    ("show 1 --segments", ["plain"]),
    ("show 3", ["plain"]),
    ("show 4", ["attached"]),
    ("show 5", ["attached"]),
    ("reclaim --all", ["plain", "attached"])])
def test_documents_keep_their_schemas(command, scenes):
    for scene in scenes:
        check(command.split()[0], document(*command.split(), scene=scene))


def test_huge_numbers_lose_nothing():
    buffer = document("show", "1", scene="huge")
    assert buffer["sync_bytes"] == "18446744073709551615"
    assert buffer["size"] == (1 << 62) + 1
    assert buffer["uid"] == (1 << 32) - 2
    lines = shown("show", "3", scene="huge").splitlines()
    assert {"size:        4.0E (4611686018427387905 bytes)",
            "heap:        other",
            "owner:       python3, a process in another namespace",
            "synced:      15.9E (18446744073709551615 bytes)",
            "age:         213503d23h"} <= set(lines)


def test_hostile_names_survive_json():
    assert [buffer["name"] for buffer
            in document("list", scene="hostile")["buffers"]] == [
        "\033[2Jgone\\\b\177\r\n", "café \ufffd\ufffd", "rtl \u202e 宽"]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares a map with what list and heaps say, and its text with its JSON.

usage: map_agrees.py DMACTL HEAP SCHEMA [ID]...

The memory of the heap rests meanwhile.  Its buffers are those of these ids.
"""

import json
import subprocess
import sys

import map_model


def output(*arguments):
    return subprocess.check_output([sys.argv[1], *arguments], text=True)


def document(*arguments):
    return json.loads(output(*arguments, "--json"))


def check_members(found, schema):
    """A guest has no jsonschema: members that are required, and no others."""
    known = set(schema["properties"])
    assert set(schema["required"]) <= set(found) <= known, found


def check_schema(heap):
    with open(sys.argv[3], encoding="utf-8") as file:
        schema = json.load(file)["properties"]["heaps"]["items"]
    check_members(heap, schema)
    for part in heap["parts"]:
        check_members(part, schema["properties"]["parts"]["items"])


def check_parts(heap, listed, totals):
    end = used = free = longest = 0
    for part in heap["parts"]:
        assert part["offset"] == end, part
        assert part["length"] > 0, part
        end += part["length"]
        if part["state"] == "free":
            free += part["length"]
            longest = max(longest, part["length"])
        if part["state"] != "buffer":
            continue
        used += part["length"]
        buffer = listed.pop(part["id"])
        # whole pages, and gaps that alignment left belong to nobody
        assert part["length"] >= buffer["size"], part
        assert part["length"] - buffer["size"] < 65536, part
        for key in ("pid", "comm", "uid", "user", "name", "owner_gone"):
            assert part[key] == buffer[key], (part, buffer)
    assert not listed, "no part: %s" % listed
    assert end == heap["size"] == totals["total"], (end, totals)
    assert used == totals["used"] == heap["used"], (used, totals)
    if totals["type"] != "cma":
        assert free == totals["free"], (free, totals)
        assert longest == heap["longest_run"] == totals["largest_free"]
        assert heap["fragmented_percent"] == totals["fragmented_percent"]


def check_text(heap):
    text = output("map", heap["heap"], "--bytes")
    cell, cells = map_model.check_rows(text, heap["size"])
    assert cells == map_model.letters_of(heap["size"], heap["parts"], cell), (
        text)
    sizes = {}
    for part in heap["parts"]:
        if "pid" in part:
            key = "%s %s %s" % (part["comm"], part["pid"], part["user"])
            sizes[key] = sizes.get(key, 0) + part["length"]
    legend = {}
    for line in text.split("KEY")[1].splitlines()[1:]:
        mark, size, _, label = line.split(None, 3)
        if mark in map_model.LETTERS:
            legend[label] = int(size)
    assert legend == sizes, text


def main():
    name = sys.argv[2]
    heap, = document("map", name)["heaps"]
    check_schema(heap)
    listed = {buffer["id"]: buffer for buffer in document("list")["buffers"]
              if buffer["heap"] == name}
    ids = [int(word) for word in sys.argv[4:]]
    assert sorted(listed) == sorted(ids), (listed, ids)
    totals = next(totals for totals in document("heaps")["heaps"]
                  if totals["heap"] == name)
    check_parts(heap, listed, totals)
    check_text(heap)


main()

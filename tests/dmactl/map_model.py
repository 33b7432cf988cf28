# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A model of dmactl map: cells of a heap, computed from its JSON."""

import re

# the characters of kinds, and the words that JSON has for them
LETTERS = "ABCDEFGH"
MARKS = {"held": "#", "quarantined": "!", "condemned": "x"}
BLOCKS = " ▁▂▃▄▅▆▇█"
HUES = ["36", "32", "35", "34", "96", "92", "95", "94"]
COLOURS = {"+": "90", "o": "", "-": "90", "#": "31", "!": "33", "x": "31",
           "~": "90"}


def owners_of(parts):
    """The letters of owners: the one with most bytes first."""
    sizes = {}
    for part in parts:
        if "pid" in part:
            key = owner_of(part)
            sizes[key] = sizes.get(key, 0) + part["length"]
    return sorted(sizes, key=lambda key: (-sizes[key], key))


def owner_of(part):
    return (part["pid"] or 0, part["owner_gone"], part["comm"], part["uid"])


def mark_of(part, owners):
    if part["state"] != "buffer":
        return MARKS[part["state"]]
    if not part["id"]:
        return "o"
    if "pid" not in part:
        return "-"
    rank = owners.index(owner_of(part))
    return LETTERS[rank] if rank < len(LETTERS) else "+"


def cells_of(size, parts, cell):
    """(mark, several, eighths) of each cell."""
    owners = owners_of(parts)
    cells = []
    first = 0
    for start in range(0, size, cell):
        end = min(start + cell, size)
        while parts[first]["offset"] + parts[first]["length"] <= start:
            first += 1
        inside = []
        system = False
        for part in parts[first:]:
            if part["offset"] >= end:
                break
            length = (min(part["offset"] + part["length"], end)
                      - max(part["offset"], start))
            if part["state"] == "system":
                system = True
            elif part["state"] != "free":
                inside.append((length, part))
        if not inside:
            cells.append(("~" if system else ".", False, 0))
            continue
        largest = max(inside, key=lambda item: item[0])
        used = sum(length for length, _ in inside)
        cells.append((mark_of(largest[1], owners), len(inside) > 1,
                      max(1, used * 8 // cell)))
    return cells


def rows_of(text):
    """Offset and cells of each row."""
    return re.findall(r"^ *(\d+) ([^ ].*)$", text.split("one character")[0],
                      re.MULTILINE)


def letters_of(size, parts, cell):
    """The characters of cells without colours."""
    return "".join(
        mark.lower() if several and mark in LETTERS else mark
        for mark, several, _ in cells_of(size, parts, cell))


def check_rows(text, size):
    """Checks the offsets; returns the bytes of a cell and all cells."""
    cell = int(re.search(r"^one character: (\d+)", text, re.MULTILINE)[1])
    rows = rows_of(text)
    assert 1 <= len(rows) <= 8
    width = len(plain(rows[0][1]))
    assert [int(offset) for offset, _ in rows] == list(
        range(0, size, cell * width))
    return cell, "".join(cells for _, cells in rows)


def plain(text):
    return re.sub(r"\033\[[0-9]*m", "", text)

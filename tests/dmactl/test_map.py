# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl map in the terminal and as JSON, compared with a model of cells."""

import pytest

from conftest import DMACTL, SCRIPTED, document, misused, on_terminal, run, shown
from map_model import (BLOCKS, COLOURS, HUES, LETTERS, cells_of, check_rows,
                       letters_of, plain)
from schema import check

PLAIN = """\
reserved of dray0: 64.0M
   0B BBBBBBBB................................AAAAAAAAAAAAAAAA........
 8.0M ........................!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!
16.0M !!!!!!!!!!!!!!!!!!!!!!!!................................oooooooo
24.0M oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
32.0M oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
40.0M oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
48.0M oooooooooooooooooooooooooooooooo................................
56.0M xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
one character: 128.0K
32.0M used by 3 buffers; 16.0M free in 4 runs; longest run 4.0M at 1.0M; 75%
fragmented; 'others' are buffers of other users: their owners are shown to
CAP_SYS_ADMIN only
KEY   SIZE  BUFFERS  OWNER
A     2.0M        1  python3 gone root
B     1.0M        1  python3 101 root
o    29.0M        -  others
!     8.0M        -  quarantine
x     8.0M        -  condemned
.    16.0M        -  free
"""

PAGES = """\
pages of dray0: 64.0M
32.0M used by 3 buffers; at most 16.0M free; this heap has no range of its own:
the system's pages come from anywhere
"""

SCENES = ["plain", "held", "vanishing", "hostile", "many"]


def parts_of(scene, heap="reserved"):
    heap, = document("map", heap, scene=scene)["heaps"]
    return heap["size"], heap["parts"]


def test_a_map_is_rows_facts_and_a_legend():
    assert shown("map", "reserved") == PLAIN
    assert shown("map", "reserved", "-n", "dray1").replace(
        "dray1", "dray0") == PLAIN


def test_a_heap_without_a_range_has_totals_only():
    assert shown("map", "pages") == PAGES
    heap, = document("map", "pages")["heaps"]
    check("map", {"heaps": [heap]})
    assert (heap["size"], heap["parts"], heap["longest_run_offset"]) == (
        0, [], None)


def test_all_heaps_with_a_range_are_shown_once():
    heaps = document("map")["heaps"]
    assert [(heap["node"], heap["heap"]) for heap in heaps] == [
        ("dray0", "reserved"), ("dray0", "other")]
    titles = [line for line in shown("map").splitlines() if " of dray" in line]
    assert titles == ["reserved of dray0: 64.0M", "other of dray0: 64.0M"]


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("scene", SCENES)
def test_letters_are_the_cells_of_the_model(scene, width):
    text = on_terminal("map", "reserved", "--bytes", width=width,
                       DRAY_SCENE=scene, NO_COLOR="1")
    assert max(map(len, text.splitlines())) <= width
    size, parts = parts_of(scene)
    cell, cells = check_rows(text, size)
    assert cells == letters_of(size, parts, cell)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("scene", SCENES)
def test_blocks_are_the_cells_of_the_model(scene, width):
    text = on_terminal("map", "reserved", "--bytes", width=width,
                       DRAY_SCENE=scene)
    assert max(map(len, plain(text).splitlines())) <= width
    size, parts = parts_of(scene)
    cell, cells = check_rows(text, size)
    expected = ""
    for mark, several, eighths in cells_of(size, parts, cell):
        if mark == ".":
            expected += "."
            continue
        colour = HUES[LETTERS.index(mark)] if mark in LETTERS else COLOURS[mark]
        shape = BLOCKS[eighths]
        if several:
            shape = f"\033[4m{shape}\033[24m"
        expected += f"\033[{colour}m{shape}\033[0m" if colour else shape
    assert cells == expected


@pytest.mark.parametrize("width", [40, 80, 200])
def test_without_utf_8_colours_are_letters(width):
    text = on_terminal("map", "reserved", width=width, LC_ALL="C")
    assert text.isascii()
    assert "\033[36mA" in text
    assert plain(text) == on_terminal("map", "reserved", width=width,
                                      LC_ALL="C", NO_COLOR="1")


def test_a_shared_heap_shows_the_systems_memory():
    text = shown("map", "other")
    assert text.splitlines()[2] == " 8.0M " + 24 * "A" + 40 * "~"
    assert "~    61.0M        -  system, or free" in text
    assert "at most 0B free" in text


def test_an_empty_heap_is_free():
    lines = shown("map", "reserved", scene="empty").splitlines()
    assert set("".join(lines[1:9])) <= set("0123456789.BM ")
    assert lines[-1] == ".    64.0M        -  free"


def test_held_memory_is_not_its_owners():
    text = shown("map", "reserved", scene="held")
    assert "#     2.0M        1  held\n" in text
    assert "A     1.0M        1  python3 101 root\n" in text


def test_hidden_owners_are_told_of_once_and_only_if_there_are_any():
    assert document("map", "reserved")["heaps"][0]["others_hidden"] is True
    assert shown("map", "reserved").count("CAP_SYS_ADMIN") == 1
    assert document("map", "other")["heaps"][0]["others_hidden"] is False
    assert "CAP_SYS_ADMIN" not in shown("map", "other")


@pytest.mark.parametrize("scene", [*SCENES, "empty", "swelling"])
def test_json_has_all_parts_and_fits_its_schema(scene):
    found = document("map", scene=scene)
    check("map", found)
    for heap in found["heaps"]:
        end = 0
        for part in heap["parts"]:
            assert part["offset"] == end and part["length"] > 0
            end += part["length"]
        assert end == heap["size"]
        runs = [part for part in heap["parts"] if part["state"] == "free"]
        assert heap["free_runs"] == len(runs)
        longest = max(runs, key=lambda part: part["length"], default=None)
        if longest:
            assert (heap["longest_run"], heap["longest_run_offset"]) == (
                longest["length"], longest["offset"])
            free = sum(part["length"] for part in runs)
            assert heap["fragmented_percent"] == int(
                100 * (free - longest["length"]) / free)


def test_json_names_the_owner_of_each_buffer():
    _, parts = parts_of("plain")
    assert parts[2] == {
        "offset": 5 << 20, "length": 2 << 20, "state": "buffer", "id": 2,
        "name": "frame", "pid": 102, "comm": "python3", "owner_gone": True,
        "uid": 0, "user": "root", "age_ns": 192000000000}
    assert parts[6] == {"offset": 23 << 20, "length": 29 << 20,
                        "state": "buffer", "id": None}
    _, parts = parts_of("many")
    assert [part["id"] for part in parts if part["id"]] == list(
        range(1, 10001))


def test_a_heap_that_changes_is_read_whole():
    _, parts = parts_of("swelling")
    ids = [part["id"] for part in parts if part["id"]]
    assert ids == list(range(1, len(ids) + 1))
    assert len(ids) > 1000


@pytest.mark.parametrize("word, legend", [
    ("user", ["A    28.7M     6180  root", "B    17.6M     3820  nobody"]),
    ("state", ["A    46.3M    10000  buffers"]),
    ("age", ["A    17.0M     2500  1s to 1m", "B     9.7M     2500  1m to 1h",
             "C     9.7M     2500  1h to 1d",
             "D     9.7M     2500  older than 1d"]),
])
def test_by_chooses_the_meaning_of_letters(word, legend):
    lines = shown("map", "reserved", "--by", word, scene="many").splitlines()
    assert lines[lines.index("KEY   SIZE  BUFFERS  OWNER") + 1:-1] == legend
    assert shown("map", "reserved", "--by", "owner") == PLAIN


def test_names_cannot_control_the_terminal():
    text = on_terminal("map", NO_COLOR="1", DRAY_SCENE="hostile")
    assert [char for char in text if char < " " and char != "\n"] == []
    assert "a\\x20b\\x0a9\\x209\\x20root" in text


@pytest.mark.parametrize("arguments, sentence", [
    (["--by", "size"], "--by: 'size' is none of owner, user, state and age"),
    (["a", "b"], "map: unexpected operand 'b'"),
])
def test_wrong_command_lines_are_named_and_exit_2(arguments, sentence):
    assert run(SCRIPTED, "map", *arguments) == misused(sentence)


@pytest.mark.parametrize("fail, sentence", [
    ("map:19:0", "dray0 disappeared while dmactl was reading it"),
    ("map:25", "dray0: cannot read the map of a heap: scripted map: "
     "Inappropriate ioctl for device"),
    ("buffer:5:0", "dray0: cannot read a buffer: scripted buffer: "
     "Input/output error"),
    ("heap:5:0", "dray0: cannot read a heap: scripted heap: "
     "Input/output error"),
])
def test_failures_are_sentences_and_exit_1(fail, sentence):
    result = run(SCRIPTED, "map", fail=fail)
    assert result.code == 1
    assert result.error.splitlines()[0] == f"dmactl: {sentence}"


def test_a_missing_heap_names_the_others():
    assert run(SCRIPTED, "map", "x") == (
        1, "", "dmactl: no heap 'x': there are reserved, other, pages, new\n")
    assert run(SCRIPTED, "map", "pages", "-n", "dray1") == (
        1, "", "dmactl: no heap 'pages': there is only reserved\n")


def test_without_the_module_it_says_how_to_load_it():
    result = run(DMACTL, "map")
    assert (result.code, result.out) == (1, "")
    assert result.error.startswith("dmactl: the dray module is not loaded")

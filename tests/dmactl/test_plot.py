# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tools/plot draws what dmactl map --json and dmactl trace --json print."""

import json
import subprocess
import sys
import xml.etree.ElementTree as xml
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from conftest import SCRIPTED, TREE, Result, document, run, shown
from events import MIB, a_trace, event, write

PLOT = TREE / "tools/plot"
SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}

spec = spec_from_loader("plot", SourceFileLoader("plot", str(PLOT)))
plot = module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(plot)


def draw(text, output, **more):
    done = subprocess.run([PLOT, "-o", output], input=text, text=True, capture_output=True,
                          check=False, **more)
    return Result(done.returncode, done.stdout, done.stderr)


def texts_of(text, folder):
    assert draw(text, folder / "a.svg") == (0, "", "")
    return [part.text for part in xml.parse(folder / "a.svg").iter()
            if part.tag.endswith("}text")]


@pytest.mark.parametrize("form", SIGNATURES)
def test_a_name_chooses_the_form(form, tmp_path):
    assert draw(shown("map", "reserved", "--json"), tmp_path / f"a.{form}") == (0, "", "")
    assert (tmp_path / f"a.{form}").read_bytes().startswith(SIGNATURES[form])


def test_a_map_has_each_heap_with_its_owners(tmp_path):
    found = texts_of(shown("map", "--json"), tmp_path)
    for text in ("reserved of dray0: 64.0M, 3 buffers, longest free run 4.0M",
                 "other of dray0: 64.0M, 3 buffers, longest free run 0B",
                 "2.0M python3 gone root", "1.0M python3 101 root", "29.0M others",
                 "8.0M quarantined", "8.0M condemned", "16.0M free", "60.0M", "+2.0M"):
        assert text in found


@pytest.mark.parametrize("scene", ["plain", "held", "hostile", "many", "empty", "swelling"])
def test_pieces_cover_the_range_once(scene):
    for heap in document("map", scene=scene)["heaps"]:
        row = -(-heap["size"] // plot.ROWS)
        end = 0
        for line, start, width, _ in plot.pieces_of(heap):
            assert line * row + start == end and width > 0 and start + width <= row
            end += width
        assert end == heap["size"]
        assert sum(plot.totals_of(heap["parts"]).values()) == heap["size"]


def test_many_owners_share_a_colour():
    colours = plot.colours_of(plot.totals_of(
        [{"state": "buffer", "comm": "a", "pid": i, "owner_gone": False, "user": "root",
          "length": 100 - i} for i in range(20)]))
    assert [colours[f"a {i} root"] for i in range(20)] == [*plot.HUES, *[plot.REST] * 12]


def test_a_trace_has_the_memory_of_each_owner():
    course = plot.Course(a_trace())
    assert course.peaks == {"python3:812": 4 * MIB, "camera:90": 4 * MIB}
    assert max(sum(held.values()) for held in course.held) == 6 * MIB
    assert course.held[-1] == {"python3:812": 2 * MIB, "camera:90": 0}
    assert {word: sum(steps.values()) for word, steps in course.work.items()} == {
        "synced": MIB, "moved": 2 * MIB}
    assert len(course.failures) == 2


@pytest.mark.skipif("\ncommand\ttrace\t" not in run(SCRIPTED, "help", "--complete").out,
                    reason="this dmactl has no trace")
def test_a_trace_is_drawn(tmp_path):
    lines = write(tmp_path / "events", a_trace())
    found = texts_of(shown("trace", "--json", "--for", "0",
                           environment={"DRAY_EVENTS": str(lines)}), tmp_path)
    for text in ("python3:812, at most 4.0M", "camera:90, at most 4.0M", "2 failed calls",
                 "6.0M", "bytes synced in each 0.001 seconds", "seconds"):
        assert text in found


@pytest.mark.parametrize("lines", [
    [event("sync")], [event("free")], [event("alloc", i, pid=i, id=i) for i in range(1, 30)],
    [event("alloc", id=str(2**64 - 1), size=str(2**63)), event("free", id=str(2**64 - 1))]])
def test_odd_traces_are_drawn(lines, tmp_path):
    assert "seconds" in texts_of("".join(json.dumps(line) + "\n" for line in lines), tmp_path)


@pytest.mark.parametrize("text", [
    "", "x", "1", "[]", "{}", '{"heaps": []}', '{"a": 1}\n{"b": 2}\n', '[{"event": "x"}, 1]'])
def test_another_document_is_a_sentence(text, tmp_path):
    assert draw(text, tmp_path / "a.svg") == (
        1, "", "plot: <stdin>: nothing to draw: give the output of dmactl map --json, "
        "dmactl trace --json or tools/bench --json\n")


def test_a_picture_that_cannot_be_written_is_a_sentence(tmp_path):
    text = shown("map", "reserved", "--json")
    assert draw(text, tmp_path / "none/a.svg") == (
        1, "", f"plot: cannot write '{tmp_path}/none/a.svg': No such file or directory\n")
    assert draw(text, tmp_path / "a.gif").error.startswith(
        f"plot: cannot write '{tmp_path}/a.gif': Format 'gif' is not supported")


def test_without_matplotlib_it_names_the_package(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('no matplotlib')")
    assert draw(shown("map", "--json"), tmp_path / "a.svg",
                env={"PYTHONPATH": str(tmp_path)}) == (
        1, "", "plot: no matplotlib: apt install python3-matplotlib\n")
    assert not (tmp_path / "a.svg").exists()

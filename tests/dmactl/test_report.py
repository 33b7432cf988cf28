# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl report: tables, JSON and the picture of a recording; damaged files."""

import json
import random
import re

import pytest

import schema
from conftest import SCRIPTED, TREE, run
from recorded import BEGIN, FIRST, MIB, a_run, end, event, sample, write

REFERENCE = TREE / "tests/dmactl/report.svg"

TEXT = """\
recorded:   40ms, 14 events, 0 lost
most taken: 8.0M after 30ms
left:       4.0M in 3 buffers
synced:     1.0M in 1 calls
moved:      2.0M in 2 transfers, 50.0M a second; 1 failed

memory by owner:
OWNER        PEAK  LEFT  BUFFERS  ALLOCS  FREES  ALLOCATED
camera:90    6.0M  2.0M        1       1      1       4.0M
python3:812  4.0M  2.0M        2       4      2       4.0M

failed calls:
COUNT  CALL   HEAP      LARGEST  REASON
    2  ALLOC  reserved    64.0M  the heap is full, 8192 bytes are free

lived longest:
ID  SIZE  HEAP      OWNER         AGE  END    NAME
 1  2.0M  reserved  camera:90      1s  left   old
12  1.0M  reserved  python3:812  30ms  left   frame
14  1.0M  reserved  python3:812  20ms  left   frame
11  1.0M  reserved  python3:812  16ms  freed  frame
13  1.0M  reserved  python3:812   8ms  freed  frame
20  4.0M  reserved  camera:90     5ms  freed  frame

left at the end, the largest first:
ID  SIZE  HEAP      OWNER         AGE  END   NAME
 1  2.0M  reserved  camera:90      1s  left  old
12  1.0M  reserved  python3:812  30ms  left  frame
14  1.0M  reserved  python3:812  20ms  left  frame
"""


def report(path, lines, *arguments):
    write(path / "recording", lines)
    return run(SCRIPTED, "report", path / "recording", *arguments)


def document(path, lines):
    result = report(path, lines, "--json")
    assert (result.code, result.error) == (0, "")
    found = json.loads(result.out)
    schema.check("report", found)
    return found


def test_a_recording_is_summed_up(tmp_path):
    assert report(tmp_path, a_run()) == (0, TEXT, "")


def test_json_has_the_same_numbers(tmp_path):
    found = document(tmp_path, a_run())
    assert {key: found[key] for key in (
        "complete", "events", "lost", "peak", "left", "syncs", "synced",
        "transfers", "transfers_failed", "moved", "failed")} == {
        "complete": True, "events": 14, "lost": 0, "peak": 8 * MIB,
        "left": 4 * MIB, "syncs": 1, "synced": MIB, "transfers": 2,
        "transfers_failed": 1, "moved": 2 * MIB, "failed": 2}
    assert [(o["comm"], o["peak"]) for o in found["owners"]] == [
        ("camera", 6 * MIB), ("python3", 4 * MIB)]
    assert [b["id"] for b in found["buffers_left"]] == [1, 12, 14]
    assert max(sum(s["taken"]) for s in found["steps"]) == 8 * MIB
    assert sum(s["moved"] for s in found["steps"]) == 2 * MIB
    assert sum(s["synced"] for s in found["steps"]) == MIB
    assert [h["largest_free"] for s in found["steps"] for h in s["heaps"]] == [
        62 * MIB, 29 * MIB, 15 * MIB]


def numbers_and_rest(svg):
    """The text without numbers, and the numbers."""
    number = r"(?<![\w#])-?\d+(?:\.\d+)?"
    return (re.sub(number, "N", svg), [float(n) for n in
                                       re.findall(number, svg)])


def test_the_picture_is_the_reference(tmp_path):
    result = report(tmp_path, a_run(), "-o", "-")
    assert (result.code, result.error) == (0, "")
    rest, numbers = numbers_and_rest(result.out)
    expected, wanted = numbers_and_rest(REFERENCE.read_text(encoding="utf-8"))
    assert rest == expected
    assert numbers == pytest.approx(wanted, abs=0.5)


def test_a_picture_may_be_a_file_beside_the_text(tmp_path):
    for name, begin in (("a.svg", b"<"), ("a.png", b"\x89PNG")):
        result = report(tmp_path, a_run(), "-o", tmp_path / name)
        if name == "a.png" and result.code:  # a build without cairo
            continue
        assert result == (0, TEXT, "")
        assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_long_recording_keeps_sums_and_peak(tmp_path):
    """Steps are joined again and again."""
    lines = [FIRST]
    for i in range(3000):
        lines += [event("alloc", 7 * i, id=i + 1, size=MIB + i),
                  event("sync", 7 * i + 1, id=i + 1, bytes=i),
                  event("free", 7 * i + 2, id=i + 1)]
    found = document(tmp_path, [*lines, end(21000)])
    assert len(found["steps"]) <= 512
    assert found["peak"] == MIB + 2999
    assert max(s["taken"][0] for s in found["steps"]) == MIB + 2999
    assert min(s["taken"][0] for s in found["steps"][:-2]) >= MIB
    assert sum(s["synced"] for s in found["steps"]) == sum(range(3000))
    assert found["owners"][0]["allocations"] == 3000
    assert found["left"] == 0


def test_many_owners_are_summed_up(tmp_path):
    lines = [FIRST, *(event("alloc", i, id=i + 1, pid=i + 1, size=MIB)
                      for i in range(100)), end(100)]
    found = document(tmp_path, lines)
    assert len(found["owners"]) == 65
    assert (found["owners"][-1]["comm"], found["owners"][-1]["left"]) == (
        None, 36 * MIB)
    assert sum(found["steps"][-1]["taken"]) == 100 * MIB
    assert report(tmp_path, lines, "-o", tmp_path / "a.svg").code == 0


def test_a_recording_of_nothing_is_a_report(tmp_path):
    found = report(tmp_path, [FIRST, end(0)])
    assert found.code == 0
    assert found.out.startswith("recorded:   0us, 0 events, 0 lost\n")
    assert report(tmp_path, [FIRST, end(0)], "-o", tmp_path / "a.svg").code == 0


@pytest.mark.parametrize("lines, sentence", [
    ([], "FILE: the file is empty"),
    (["\n"], "FILE:1: no JSON: '[' or '{' expected near end of file"),
    (["{}\n"], "FILE:1: not a recording of dmactl record"),
    (["[]\n"], "FILE:1: this is not an object"),
    ([{**FIRST, "version": 2}],
     "FILE: the recording has version 2, and this dmactl reads version 1"),
    ([{**FIRST, "format": "x"}],
     "FILE:1: not a recording of dmactl record"),
    ([FIRST, {"event": "new"}, end(0)],
     'FILE:2: "event" is of no known kind'),
    ([FIRST, {"x": 1}], 'FILE:2: "event" is not a text'),
    ([FIRST, {"event": "alloc"}], 'FILE:2: "time_ns" is missing'),
    ([FIRST, event("alloc", id="x")],
     'FILE:2: "id" is not a number of this field'),
    ([FIRST, event("alloc", size=-1)],
     'FILE:2: "size" is not a number of this field'),
    ([FIRST, event("alloc", name=1)], 'FILE:2: "name" is not a text'),
    ([FIRST, {**sample(1, 1, 1), "free": None}],
     "FILE:2: a member of the sample of a heap is missing, or wrong"),
    ([FIRST, {"event": "end", "time_ns": 1}],
     "FILE:2: a member of the end is missing, or wrong"),
    ([FIRST, end(1), event("free")],
     "FILE:3: there is something behind the end"),
    ([FIRST, "x" * 70000 + "\n"], "FILE:2: the line is too long"),
    ([FIRST, "{\0}\n", end(0)], "FILE:2: a zero byte"),
    ([FIRST, '{"event":"a","event":"b"}\n'],
     "FILE:2: no JSON: duplicate object key near '\"event\"'"),
])
def test_a_wrong_file_is_a_sentence(tmp_path, lines, sentence):
    result = report(tmp_path, lines)
    assert (result.code, result.out) == (1, "")
    assert result.error.startswith("dmactl: " + sentence.replace(
        "FILE", str(tmp_path / "recording")).split("\n")[0])


@pytest.mark.parametrize("keep", [0, 3])
def test_a_cut_file_is_reported_as_far_as_it_goes(tmp_path, keep):
    lines = [json.dumps(line) + "\n" for line in a_run()]
    last = lines[-2][:-20] if keep else ""
    result = report(tmp_path, [*lines[:-2], last])
    assert result.code == 1
    assert result.out.startswith("recorded:   35ms, 14 events, 0 lost\n") or \
        result.out.startswith("recorded:   35ms, ")
    assert "the recording was cut in or behind line" in result.error


def test_a_missing_file_is_a_sentence(tmp_path):
    assert run(SCRIPTED, "report", tmp_path / "none") == (
        1, "", f"dmactl: {tmp_path}/none: No such file or directory\n")


def test_other_files_are_usage_errors(tmp_path):
    write(tmp_path / "recording", a_run())
    for arguments in (["-o", "a.txt"], ["--json", "-o", "-"],
                      ["-o", str(tmp_path / "a.svg"), "--width", "100"]):
        assert run(SCRIPTED, "report", tmp_path / "recording",
                   *arguments)[:2] == (2, "")


def test_too_many_buffers_at_one_time_are_refused(tmp_path):
    with (tmp_path / "recording").open("w", encoding="ascii") as file:
        file.write(json.dumps(FIRST) + "\n")
        line = json.dumps(event("alloc", id=0))
        for i in range(200001):
            file.write(line.replace('"id": 0', f'"id": {i + 1}') + "\n")
    result = run(SCRIPTED, "report", tmp_path / "recording")
    assert (result.code, result.out) == (1, "")
    assert "more than 200000 buffers live at one time" in result.error


def test_damaged_files_never_hurt(tmp_path):
    """Changed numbers, words and bytes, from one seed."""
    chance = random.Random(24)
    good = [json.dumps(line) + "\n" for line in a_run()]
    values = ["0", "-1", str(2**63 - 1), str(-2**63), f'"{2**64 - 1}"',
              "1e300", "null", '"' + "x" * 500 + '"', "[]", "{}", "true"]
    codes = set()
    for _ in range(300):
        lines = list(good)
        for _ in range(chance.randrange(1, 6)):
            i = chance.randrange(len(lines))
            if chance.random() < 0.8:
                members = list(re.finditer(r": ([^,}]+)", lines[i]))
                if members:
                    place = chance.choice(members)
                    lines[i] = (lines[i][:place.start(1)]
                                + chance.choice(values)
                                + lines[i][place.end(1):])
            elif chance.random() < 0.5:
                lines[i] = lines[i][:chance.randrange(len(lines[i]))]
            else:
                lines.insert(i, chance.choice(lines))
        result = report(tmp_path, lines, "-o", tmp_path / "a.svg")
        assert result.code in (0, 1), (result, lines)
        assert result.code == 0 or result.error.startswith("dmactl: ")
        codes.add(result.code)
    assert codes == {0, 1}


def test_times_far_away_are_no_trouble(tmp_path):
    lines = [FIRST, event("alloc", 1), {**event("free"),
                                        "time_ns": 2**63 - 1},
             {**event("alloc", 1, id=8), "time_ns": 0},
             {**end(0), "time_ns": str(2**64 - 1)}]
    found = document(tmp_path, lines)
    assert found["end_ns"] == str(2**64 - 1)
    assert len(found["steps"]) <= 512
    assert found["begin_ns"] == BEGIN
    assert report(tmp_path, lines, "-o", tmp_path / "a.svg").code == 0

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl leaks over scripted memory, and processes of a recorded machine."""

import json

import pytest

import schema
from conftest import SCRIPTED, run, shown
from machine import Machine

MIB = 1 << 20

LEAKS = """\
WHY         ID  SIZE  HEAP      PID  COMM       AGE  NAME   FREED
quarantine   -  8.0M  reserved    -  -            -  -      when the I/O ends that has its pages
quarantine   -  8.0M  other       -  -            -  -      when the I/O ends that has its pages
quarantine   -  8.0M  pages       -  -            -  -      when the I/O ends that has its pages
quarantine   -  8.0M  new         -  -            -  -      when the I/O ends that has its pages
condemned    -  8.0M  reserved    -  -            -  -      by a restart: it is broken, or a device may write it
held         4  4.0M  -         104  python3  40d00h  -      by dmactl reclaim 4, if no device writes it
orphan       2  2.0M  reserved  102  python3   3m12s  frame  when 1 transfer in flight has ended
total: 7 leaks, 46.0M
not seen: buffers of other users, 29.0M: ask root
"""


def found(*words, **more):
    document = json.loads(shown("leaks", *words, "--json", **more))
    schema.check("leaks", document)
    sizes = [leak["size"] for leak in document["leaks"]]
    assert sizes == sorted(sizes, reverse=True)
    assert document["total"] == {"leaks": len(sizes), "size": sum(sizes)}
    return document


def buffers(document):
    return {leak["memory"]["id"]: leak["why"] for leak in document["leaks"]
            if leak["memory"]}


def test_each_leak_is_a_row_with_the_way_to_free_it():
    text = shown("leaks", scene="attached")
    assert [line.split() for line in text.splitlines()] == [
        line.split() for line in LEAKS.splitlines()]
    assert shown("leaks", "--no-header", scene="attached").split() == \
        " ".join(LEAKS.splitlines()[1:-2]).split()


@pytest.mark.parametrize("scene, words, leaks", [
    ("plain", [], {2: "orphan"}),
    ("held", [], {2: "held"}),
    ("attached", [], {2: "orphan", 4: "held"}),
    ("plain", ["--idle", "1h", "--for", "1ms"], {2: "orphan", 3: "idle"}),
    ("plain", ["--idle", "0", "--for", "1ms"],
     {1: "idle", 2: "orphan", 3: "idle"}),
    # 5 has a transfer in flight
    ("attached", ["--idle", "0", "--for", "1ms"],
     {1: "idle", 2: "orphan", 3: "idle", 4: "held", 6: "idle"}),
    # it was not there at the first look
    ("growing", ["--idle", "0", "--for", "1ms", "-n", "dray1"], None),
    ("empty", [], {})])
def test_held_orphaned_and_idle_memory_is_told_apart(scene, words, leaks):
    seen = buffers(found(*words, scene=scene))
    assert leaks is None or seen == leaks


def test_bytes_of_heaps_are_leaks_once_though_nodes_share_them():
    leaks = [(leak["heap"], leak["why"], leak["size"] // MIB)
             for leak in found()["leaks"] if not leak["memory"]]
    assert sorted(leaks) == [
        ("new", "quarantine", 8), ("other", "quarantine", 8),
        ("pages", "quarantine", 8), ("reserved", "condemned", 8),
        ("reserved", "quarantine", 8)]
    assert [(leak["heap"], leak["why"]) for leak
            in found("-n", "dray1")["leaks"] if not leak["memory"]] == [
        ("reserved", "quarantine"), ("reserved", "condemned")]
    # a module without maps tells only their sum
    assert [(leak["why"], leak["size"] // MIB) for leak
            in found(scene="empty", fail="map:25")["leaks"]] == [
        ("quarantine", 16), *3 * [("quarantine", 8)]]


def keepers(tmp_path, *bufs):
    machine = Machine(tmp_path / "machine")
    machine.process(205, comm="viewer")
    for inode, size, name in bufs:
        machine.mapping(205, inode, name)
        machine.sysfs(inode, size, "dray")
    document = found(environment=machine.environment)
    return [leak for leak in document["leaks"] if leak["why"] == "orphan"][0]


def test_a_mapping_of_that_size_and_name_is_a_guess(tmp_path):
    leak = keepers(tmp_path, (71, 2 * MIB, "frame"))
    assert leak["keepers"] == [{"pid": 205, "comm": "viewer",
                                "descriptors": 0, "mappings": 1}]
    assert leak["keepers_guessed"] is True
    assert leak["freed"] == ("when process 205 (viewer) unmaps 1 mapping, to "
                             "judge by size and name")


@pytest.mark.parametrize("size, name", [(3 * MIB, "frame"), (2 * MIB, "x")])
def test_another_size_or_name_is_no_guess(tmp_path, size, name):
    leak = keepers(tmp_path, (71, size, name))
    assert (leak["keepers"], leak["keepers_guessed"]) == ([], False)
    assert leak["freed"] == "when 1 transfer in flight has ended"


@pytest.mark.parametrize("words, scene, code", [
    ([], "plain", 0), (["--check"], "plain", 3), (["--check"], "empty", 3)])
def test_leaks_are_an_answer_of_no_only_if_checked(words, scene, code):
    result = run(SCRIPTED, "leaks", *words, scene=scene)
    assert (result.code, result.error) == (code, "")


@pytest.mark.parametrize("words, error", [
    (["--for", "1s"], "dmactl: leaks: --for needs --idle\n"),
    (["--idle", "long"], "dmactl: 'long' is not a time"),
    (["--idle", "1s", "--for", "-"], "dmactl: '-' is not a time")])
def test_a_wrong_command_line_exits_2(words, error):
    result = run(SCRIPTED, "leaks", *words)
    assert (result.code, result.out) == (2, "")
    assert result.error.startswith(error)


@pytest.mark.parametrize("fail, error", [
    ("heap:5:1", "dray1: cannot read a heap: scripted heap: Input/output "
     "error"),
    ("map:19:0", "dray0 disappeared while dmactl was reading it"),
    ("list:19:1", "dray1 disappeared while dmactl was reading it"),
    ("open:5:1", "cannot open dray1: scripted open: Input/output error")])
def test_the_other_node_is_shown_if_one_fails(fail, error):
    result = run(SCRIPTED, "leaks", fail=fail)
    assert result.code == 1
    assert f"dmactl: {error}\n" in result.error
    assert "orphan" in result.out

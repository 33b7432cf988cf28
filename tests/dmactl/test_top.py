# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The model of dmactl top: samples and rates, without a terminal."""

import json

import pytest

from conftest import SCRIPTED, misused, run, shown
from machine import Machine
from schema import check

MIB = 1 << 20
QUICK = ("--interval", "10ms")  # the clock of the scene goes on by a second
NAMES = ["pid", "user", "buffers", "memory", "alloc", "sync", "transfers",
         "moved", "busy", "comm"]


def samples(*arguments, scene="busy", code=0, **more):
    result = run(SCRIPTED, "top", "--json", *QUICK, *arguments, scene=scene,
                 **more)
    assert result.code == code
    found = [json.loads(line) for line in result.out.splitlines()]
    for sample in found:
        check("top", sample)
    return found


def rates(process):
    return [process[f"{name}_per_second"]
            for name in ("allocated", "synced", "transfers", "moved")]


def of_pid(sample, pid):
    return next(process for process in sample["processes"]
                if process["pid"] == pid)


def test_rates_come_of_two_samples():
    found = samples("--count", "3")
    assert [sample["time_ns"] for sample in found] == [
        1001 * 10**9, 1002 * 10**9, 1003 * 10**9]
    for number, sample in enumerate(found, start=2):
        assert sample["interval_ns"] == 10**9
        process = of_pid(sample, 101)
        assert (process["buffers"], process["memory"]) == (
            number + 1, (number + 1) * MIB)
        # one buffer more, 3 MiB of maintenance; no opener is seen
        assert rates(process) == [MIB, 3 * MIB, None, None]
        gone = of_pid(sample, 102)
        assert (gone["state"], rates(gone)) == ("gone", [0, 0, None, None])
        assert [(stream["channel"], stream["transfers_per_second"],
                 stream["bytes_per_second"], stream["failed_per_second"])
                for stream in sample["streams"]] == [
            ("channel0", 10, 4 * MIB, 0), ("channel1", 10, 4 * MIB, 1)]
        stream = sample["streams"][1]
        assert [stream[f"{name}_per_second"]
                for name in ("packets", "lost", "stalls")] == [8, 2, 3]
        assert (stream["packets"], stream["lost"], stream["stalls"]) == (
            8 * number, 2 * number, 3 * number)
        assert (stream["ring_ready"], stream["ring_frames"]) == (5, 16)


@pytest.fixture(name="opened")
def make_opened(tmp_path):
    """Two samples: 101 works, 303 has a copy of its node, 202 only opened one,
    404 opens one between them."""
    for number in (1, 2):
        machine = Machine(tmp_path / str(number))
        machine.process(101, "worker")
        machine.opener(101, 5, client=1, allocated=5 * MIB * number,
                       sync_bytes=MIB * number, transfers=7 + 25 * number,
                       transfer_bytes=100 * MIB * number, memory=1,
                       streams=["other", "channel1"])
        machine.opener(101, 6, client=1)  # a copy, within the process
        machine.process(303, "child")
        machine.opener(303, 5, client=1, transfers=10**6 * number)
        machine.process(202, "idle", uid=65534)
        machine.opener(202, 3, client=1, node="dray1", transfers=4)
        machine.process(505, "other")
        machine.descriptor(505, 3, "/dev/null", "pos:\t0\n")
        machine.process(606, "odd")
        machine.descriptor(606, 3, "/dev/dray0", "pos:\t0\ndray-node:\t\n")
        if number == 2:
            machine.process(404, "new")
            machine.opener(404, 3, client=9, transfers=3, transfer_bytes=4096)
    return {"DRAY_ROOT": str(tmp_path)}


def test_openers_count_what_the_list_cannot_show(opened):
    sample, = samples("--once", environment=opened)
    worker = of_pid(sample, 101)
    # what it allocated and freed again; CPU accesses, which no opener counts
    assert rates(worker) == [5 * MIB, 3 * MIB, 25, 100 * MIB]
    assert worker["comm"] == "worker"
    assert rates(of_pid(sample, 202)) == [0, 0, 0, 0]
    assert of_pid(sample, 202)["user"] == "nobody"
    assert rates(of_pid(sample, 404)) == [0, 0, 3, 4096]
    assert {process["pid"] for process in sample["processes"]} == {
        101, 102, 202, 404}
    assert [stream["pid"] for stream in sample["streams"]] == [None, 101]


def test_counters_that_began_again_give_no_huge_rate(opened, tmp_path):
    (tmp_path / "1").rename(tmp_path / "3")
    (tmp_path / "2").rename(tmp_path / "1")
    (tmp_path / "3").rename(tmp_path / "2")
    sample, = samples("--once", environment=opened)
    assert rates(of_pid(sample, 101)) == [5 * MIB, 3 * MIB, 32, 100 * MIB]


TEXT = """\
NODE   HEAP      TOTAL   USED  HELD  QUARANTINE   FREE  BUFFERS  FILL
dray0  reserved  64.0M  32.0M    0B       16.0M  16.0M        3  [##########!!!!!.....]
dray0  other     64.0M  32.0M  1.0M        8.0M     0B        3  [##########!!oooooooo]
dray0  pages     64.0M  32.0M    0B        8.0M  16.0M        3  [##########!!ooo.....]
dray0  new       64.0M  32.0M    0B        8.0M  16.0M        3  [##########!!ooo.....]
dray1  reserved  64.0M  32.0M    0B       16.0M  16.0M        3  [##########!!!!!.....]

NODE   CHANNEL   STATE   PID  BYTES/s  PACKETS/s  RING  LOST/s  STALLS/s  FAILED  TRANSFERS/s
dray0  channel0  closed    -     4.0M          0     -       0         0       0           10
dray0  channel1  dead    101     4.0M        8.0  5/16     2.0       3.0       2           10

 PID  USER    BUFFERS  MEMORY  ALLOC/s  SYNC/s  TRANSFERS/s  MOVED/s  BUSY  COMM
 101  root          3    3.0M     5.0M    3.0M           25   100.0M     0  worker
gone  root          1    1.0M        0       0            -        -     1  python3
 202  nobody        0      0B        0       0            0        0     0  idle
 404  root          0      0B        0       0          3.0     4.0K     0  new
"""


def test_once_prints_three_tables(opened):
    assert shown("top", "--once", *QUICK, scene="busy",
                 environment=opened) == TEXT
    narrowed = shown("top", "--once", *QUICK, "--no-header", "--columns",
                     "comm,alloc", "--sort", "comm", "--bytes", scene="busy",
                     environment=opened).split("\n\n")[2]
    assert [line.split() for line in narrowed.splitlines()] == [
        ["idle", "0"], ["new", "0"], ["python3", "0"], ["worker", "5242880"]]


def test_batch_prints_sample_after_sample(opened):
    text = shown("top", "--batch", "--count", "3", *QUICK, scene="busy",
                 environment=opened)
    assert text.startswith(TEXT)
    assert text.count("NODE   HEAP") == text.count(" PID  USER") == 3


@pytest.mark.parametrize("sort, pids", [
    ("pid", [101, 102, 202, 404]), ("-pid", [404, 202, 102, 101]),
    ("comm", [202, 404, 102, 101]), ("-transfers", [101, 404, 102, 202]),
    ("-moved", [101, 404, 102, 202]), ("user", [202, 101, 102, 404]),
    ("-alloc", [101, 102, 202, 404]), ("sync", [102, 202, 404, 101]),
    ("busy", [101, 202, 404, 102]), ("buffers", [202, 404, 102, 101])])
def test_processes_are_sorted(opened, sort, pids):
    sample, = samples("--once", "--sort", sort, environment=opened)
    assert [process["pid"] for process in sample["processes"]] == pids


def test_columns_choose_members(opened):
    sample, = samples("--once", "--columns", "comm,moved", environment=opened)
    assert list(sample["processes"][0]) == ["comm", "moved_per_second"]


def test_attachments_and_held_memory_have_owners():
    sample, = samples("--once", scene="attached")
    held = of_pid(sample, 104)
    assert (held["state"], held["attachments"], held["memory"]) == (
        "held", 1, 4 * MIB)
    assert of_pid(sample, 105)["busy"] == 1


@pytest.mark.parametrize("scene, fail, sentence", [
    ("unloaded", None, "the dray module is not loaded"),
    ("plain", "open:19:0", "cannot open dray0: scripted open: No such device"),
    ("plain", "list:19:1", "dray1 disappeared while dmactl was reading it"),
    ("plain", "heap:5:0",
     "dray0: cannot read a heap: scripted heap: Input/output error"),
    ("plain", "channel:5:0",
     "dray0: cannot read a channel: scripted channel: Input/output error")])
def test_a_trouble_is_told_and_sampling_goes_on(scene, fail, sentence):
    result = run(SCRIPTED, "top", "--batch", "--count", "2", *QUICK,
                 scene=scene, fail=fail)
    assert (result.code, result.error) == (1, f"dmactl: {sentence}\n" * 2)
    found = samples("--count", "2", scene=scene, fail=fail, code=1)
    assert [sample["trouble"] for sample in found] == [sentence] * 2


def test_a_lasting_trouble_hides_no_rates():
    sample, = samples("--once", fail="open:13:1", code=1)
    assert rates(of_pid(sample, 101))[:2] == [MIB, 3 * MIB]


def test_hostile_names_are_escaped():
    text = shown("top", "--once", *QUICK, scene="hostile")
    assert "\033" not in text
    assert "  a b\\x0a9 9 root\n" in text
    samples("--once", scene="hostile")
    samples("--once", scene="huge")
    samples("--once", scene="empty")


@pytest.mark.parametrize("arguments, sentence", [
    (["--interval", "1"], None),
    (["--interval", "9ms"], "an interval of 9ms is not between 10ms and 1h"),
    (["--interval", "2h"], "an interval of 2h is not between 10ms and 1h"),
    (["--interval", "x"], "'x' is not a time: a number of seconds, or one with "
     "us, ms, s, m, h or d, as 5m"),
    (["--count", "0"], "'0' is not a count of samples: a number from 1 on"),
    (["--once", "--count", "2"], "top: give --once or --count, not both"),
    (["--count", "x"], "'x' is not a count of samples: a number from 1 on"),
    (["--sort", "age"], f"top: no column 'age': there are {', '.join(NAMES)}"),
])
def test_wrong_values_are_named(arguments, sentence):
    result = run(SCRIPTED, "top", *arguments)
    if sentence is None:
        assert result == (1, "", "dmactl: top needs a terminal; use --once\n")
    else:
        assert result == misused(sentence)


def test_output_that_does_not_arrive_ends_it():
    with open("/dev/full", "wb") as full:
        assert run(SCRIPTED, "top", "--batch", *QUICK, stdout=full) == (
            1, "", "dmactl: cannot write all of the output: No space left on "
            "device\n")

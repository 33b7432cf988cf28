# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl trace over scripted events: text, CSV, JSON, selections."""

import json
import os
import signal
import subprocess

import pytest

import schema
from conftest import BUILD, DMACTL, SCRIPTED, misused, run
from events import FIELDS, MIB, event, write

pytestmark = pytest.mark.skipif(
    "\ncommand\ttrace\t" not in run(SCRIPTED, "help", "--complete").out,
    reason="this dmactl has no trace")

REPLAY = BUILD / "tools/replay/dray-replay"

SENTENCES = [
    ("alloc", {}, 'buffer 7: 1.0M in reserved at offset 65536, "frame"'),
    ("alloc", {"offset": -1, "name": ""}, "buffer 7: 1.0M in reserved"),
    ("alloc", {"name": "a\x1b[31m"},
     'buffer 7: 1.0M in reserved at offset 65536, "a\\x1b[31m"'),
    ("free", {}, "buffer 7: 1.0M back to reserved"),
    ("free", {"condemned": 1}, "buffer 7: 1.0M back to reserved, out of use: "
     "a device may write it"),
    ("fail", {}, "dray0: ALLOC of 64.0M in reserved failed: the heap is full, "
     "4096 bytes are free"),
    ("fail", {"call": 6, "size": 0, "heap": "", "reason": 0, "error": -22},
     "dray0: SUBMIT failed: Invalid argument"),
    ("fail", {"call": 77, "size": 0, "reason": 999},
     "dray0: call 77 failed: Cannot allocate memory"),
    ("map", {}, "buffer 7: mapped for soc:dray"),
    ("mmap", {}, "buffer 7: a program maps 1.0M from offset 0"),
    ("sync", {}, "memory 7: 512B for the CPU, 7us, by soc:dray"),
    ("attach", {}, "pinned 8: attached to soc:dray"),
    ("detach", {"kind": 2}, "dma-buf 8: detached from soc:dray"),
    ("submit", {}, "mem0: job 31:1 of 2 transfers, 1.0M in 3 runs"),
    ("complete", {}, "mem0: job 31:1 done, 1.0M"),
    ("complete", {"error": -110}, "mem0: job 31:1 failed: Connection timed out"),
    ("frame_submit", {}, "rx0: frame 3 of ring 32, 4.0K"),
    ("frame_complete", {}, "rx0: frame 3 of ring 32, point 17 done, 4.0K"),
]


def trace(path, lines, *arguments, **variables):
    """Runs the command on these events, until they end."""
    write(path / "events", lines)
    return run(SCRIPTED, "trace", "--for", "0", *arguments,
               environment={"DRAY_EVENTS": str(path / "events"), "TZ": "UTC",
                            **variables})


def traced(*arguments, **more):
    result = trace(*arguments, **more)
    assert (result.code, result.error) == (0, "")
    return result.out


def kinds(out):
    return [json.loads(line)["event"] for line in out.splitlines()]


@pytest.mark.parametrize("kind, fields, sentence", SENTENCES)
def test_an_event_is_a_sentence(tmp_path, kind, fields, sentence):
    out = traced(tmp_path, [event(kind, 1.234567, **fields)], "--no-header")
    assert out.split() == ["22:13:20.001234", "python3:812", kind,
                           *sentence.split()]
    assert out.endswith("  " + sentence + "\n")


def test_the_sentences_are_of_all_kinds():
    assert {kind for kind, *_ in SENTENCES} == set(FIELDS)


def test_the_columns_have_titles(tmp_path):
    assert traced(tmp_path, []).split() == ["TIME", "PROCESS", "EVENT", "DETAILS"]


def test_sizes_may_be_exact(tmp_path):
    assert "buffer 7: 1048576 in reserved at" in traced(
        tmp_path, [event("alloc")], "--bytes")


def test_json_has_every_field_unchanged(tmp_path):
    lines = [event(kind, i) for i, kind in enumerate(FIELDS)]
    lines.append(event("alloc", 99, id=str(2**64 - 1), size=str(2**63)))
    out = traced(tmp_path, lines, "--json").splitlines()
    assert [json.loads(line) for line in out] == lines
    for line in out:
        schema.check("trace", json.loads(line))


def test_csv_has_rmms_columns_and_is_replayed(tmp_path):
    lines = [event("alloc", 1), event("sync", 2), event("alloc", 3, id=255),
             event("fail", 4), event("fail", 5, call=6), event("free", 6),
             event("fail", 7, size=str(2**64 - 1)),
             event("free", 8, id=255, thread=5)]
    out = traced(tmp_path, lines, "--csv")
    assert out.splitlines() == [
        "Thread,Time,Action,Pointer,Size,Stream",
        "812,22:13:20.001000,allocate,0x7,1048576,0",
        "812,22:13:20.003000,allocate,0xff,1048576,0",
        "812,22:13:20.004000,allocate failure,(nil),67108864,0",
        "812,22:13:20.006000,free,0x7,1048576,0",
        "812,22:13:20.007000,allocate failure,(nil),9223372036854775807,0",
        "5,22:13:20.008000,free,0xff,1048576,0"]
    (tmp_path / "log").write_text(out, encoding="ascii")
    result = run(REPLAY, "--rounds", "1", "--node", "host", tmp_path / "log")
    assert (result.code, result.error) == (0, "")


@pytest.mark.parametrize("arguments, found", [
    (["--event", "sync"], ["sync"]),
    (["--event", "free", "--event", "map"], ["map", "free"]),
    (["--pid", "90"], ["alloc"]),
    # a sync by another process is of the buffer's owner, too
    (["--pid", "812"], ["alloc", "map", "sync", "free"]),
    (["--heap", "reserved"], ["alloc", "map", "sync", "free"]),
    (["--heap", "pages"], ["alloc"]),
    # the scripted module's buffer 1 is of pid 101 and in "reserved"
    (["--pid", "101"], ["mmap"]),
    (["--pid", "812", "--event", "sync"], ["sync"]),
    (["--pid", "812", "--pid", "90", "--event", "alloc"], ["alloc", "alloc"]),
    (["--count", "2"], ["alloc", "map"]),
    (["--pid", "812", "--count", "3"], ["alloc", "map", "sync"]),
])
def test_events_are_selected(tmp_path, arguments, found):
    lines = [event("alloc", 1), event("map", 2), event("sync", 3, pid=5),
             event("alloc", 4, id=9, pid=90, heap="pages"),
             event("free", 5), event("mmap", 6, id=1, pid=0)]
    if arguments == ["--heap", "reserved"]:
        found = [*found, "mmap"]
    assert kinds(traced(tmp_path, lines, "--json", *arguments)) == found


def test_an_id_is_forgotten_with_its_buffer(tmp_path):
    lines = [event("alloc", 1), event("free", 2), event("sync", 3, pid=5)]
    assert kinds(traced(tmp_path, lines, "--json", "--pid", "812")) == [
        "alloc", "free"]


def test_lost_events_are_told_and_a_failure(tmp_path):
    result = trace(tmp_path, [event("alloc")], DRAY_LOST="12")
    assert result.code == 1 and "buffer 7" in result.out
    assert result.error == (
        "dmactl: 12 events or more were lost, since the kernel's buffer was "
        "full: --buffer-size makes it larger\n")


@pytest.mark.parametrize("arguments, sentence", [
    (["trace", "--event", "x"], "no event 'x': there are alloc|free|fail|map|"
     "mmap|sync|attach|detach|submit|complete|frame_submit|frame_complete"),
    (["trace", "--csv", "--event", "sync"], "event 'sync' is not one of an "
     "allocation, as --csv needs: alloc, free or fail"),
    (["trace", "--csv", "--json"], "trace: give --csv or --json, not both"),
    (["trace", "--latency", "--csv"],
     "trace: --latency takes only --json and --for"),
    (["trace", "--latency", "--pid", "1"],
     "trace: --latency takes only --json and --for"),
    (["trace", "--count", "0"], "'0' is not a number of events, from 1 on"),
    (["trace", "--count", "1x"], "'1x' is not a number of events, from 1 on"),
    (["trace", "--pid", "x"], "'x' is not a process id"),
    (["trace", "--buffer-size", "x"], "'x' is not a size: a number of bytes, or one "
     "with K, M, G or T, as 8M"),
])
def test_usage_errors_are_sentences(arguments, sentence):
    assert run(SCRIPTED, *arguments, environment={"DRAY_EVENTS": "none"}) \
        == misused(sentence)


def test_without_tracing_it_fails():
    result = run(SCRIPTED, "trace", environment={"DRAY_EVENTS": "none"})
    assert (result.code, result.out) == (1, "")


@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_a_signal_ends_it_with_all_events(tmp_path, number, status):
    events = write(tmp_path / "events", [event("alloc", i, id=i + 1)
                                         for i in range(50)])
    with subprocess.Popen(
            [SCRIPTED, "trace"], stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, DRAY_EVENTS=str(events))) as child:
        assert child.stdout.readline().startswith("TIME")
        child.send_signal(number)
        assert len(child.stdout.readlines()) == 50
    assert child.returncode == status


@pytest.mark.parametrize("later", [2000, 0])
def test_a_closed_pipe_ends_it_silently(tmp_path, later):
    events = write(tmp_path / "events", [event("alloc")])
    lines = (json.dumps(event("alloc")) + "\n") * later
    # The stand-in must wait for the rest of a line.
    events.open("a", encoding="utf-8").write(lines[:20])
    with subprocess.Popen(
            [SCRIPTED, "trace", "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, DRAY_EVENTS=str(events))) as child:
        child.stdout.readline()
        child.stdout.close()
        events.open("a", encoding="utf-8").write(lines[20:])
        child.wait(60)
        assert child.stderr.read() == ""
    assert child.returncode == -signal.SIGPIPE


HIST = """\
# event histogram
#
# trigger info: hist:keys=channel,latency.log2:vals=hitcount:size=2048 [active]
#

{ channel: mem0                                              , latency: ~ 2^17 } hitcount:         88
{ channel: mem0                                              , latency: ~ 2^18 } hitcount:         12
{ channel: mem1                                              , latency: ~ 2^9  } hitcount:          1

Totals:
    Hits: 101
    Entries: 3
    Dropped: 0
"""


def latency(path, text, *arguments):
    (path / "hist").write_text(text, encoding="ascii")
    return run(SCRIPTED, "trace", "--latency", *arguments,
               environment={"DRAY_HIST": str(path / "hist")})


def test_a_histogram_is_drawn_for_each_channel(tmp_path):
    assert latency(tmp_path, HIST) == (0, f"""\
mem0: 100 transfers, half of them within 131us, 99% within 262us
   131us          88  {"#" * 40}
   262us          12  {"#" * 5}

mem1: 1 transfer, half of them within 512ns, 99% within 512ns
   512ns           1  {"#" * 40}
""", "")


def test_a_histogram_is_json(tmp_path):
    document = json.loads(latency(tmp_path, HIST, "--json").out)
    schema.check("latency", document)
    assert document == {"lost": 0, "histograms": [
        {"kind": "transfer", "channel": "mem0", "count": 100, "steps": [
            {"up_to_ns": 1 << 17, "count": 88},
            {"up_to_ns": 1 << 18, "count": 12}]},
        {"kind": "transfer", "channel": "mem1", "count": 1, "steps": [
            {"up_to_ns": 512, "count": 1}]}]}


def test_no_transfer_is_a_sentence(tmp_path):
    assert latency(tmp_path, "# event histogram\n").out == (
        "no transfer began and ended meanwhile\n")


def test_dropped_times_are_a_failure(tmp_path):
    result = latency(tmp_path, HIST.replace("Dropped: 0", "Dropped: 5"))
    assert result.code == 1
    assert result.error.startswith("dmactl: 5 transfers or more are missing")


@pytest.mark.parametrize("command", [
    ["trace"], ["trace", "--json"]])
def test_output_that_does_not_arrive_is_told(tmp_path, command):
    events = write(tmp_path / "events", [event("alloc")])
    with open("/dev/full", "wb") as full:
        assert run(SCRIPTED, *command, "--for", "0", stdout=full,
                   environment={"DRAY_EVENTS": str(events)}) == (
            1, "", "dmactl: cannot write all of the output: No space left on "
            "device\n")


def test_the_program_itself_says_why_it_cannot_trace():
    result = run(DMACTL, "trace", "--for", "0")
    assert result.code == 1
    assert any(word in result.error for word in (
        "the dray module is not loaded", "no tracefs", "no permission"))

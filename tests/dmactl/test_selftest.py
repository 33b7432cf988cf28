# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl test, on memory of the host with faults that the stand-in makes.

with-selftest.sh has the engines.
"""

import json
import os
import pty
import re
import resource
import signal

import pytest

import schema
from conftest import SCRIPTED, run

PATTERNS = ["address", "inverted address", "walking ones", "walking zeros",
            "random", "inverted random"]


def report(*arguments, code=0, **more):
    """The document; on the second node, which has no channel."""
    result = run(SCRIPTED, "test", "-n", "dray1", "--size", "1M", "--json",
                 *arguments, **more)
    assert (result.code, result.error) == (code, "")
    document = json.loads(result.out)
    schema.check("test", document)
    return document


def find(document, name):
    return next(test for test in document["tests"] if test["test"] == name)


def test_good_memory_passes():
    document = report("--seed", "5")
    memory = find(document, "memory")
    assert memory["outcome"] == "PASS"
    assert memory["values"] == {"bytes": 1 << 20, "buffers": 1, "seed": 5,
                                "faults": 0, "first_faults": []}
    assert document["failed"] == 0
    assert len(document["tests"]) == sum(
        document[key] for key in ("passed", "failed", "skipped"))


@pytest.mark.parametrize("offset, mask", [
    (0, 1), (7, 0x80), (4104, 0x10), ((1 << 20) - 1, 0xff)])
def test_a_fault_is_found_with_its_place_and_bits(offset, mask):
    document = report("--seed", "5", code=1,
                      environment={"DRAY_FAULT": f"{offset}:{mask:x}"})
    memory = find(document, "memory")
    assert (memory["outcome"], memory["values"]["faults"]) == ("FAIL", 6)
    assert [fault["pattern"] for fault in memory["values"]["first_faults"]] \
        == PATTERNS
    bits = mask << offset % 8 * 8
    for fault in memory["values"]["first_faults"]:
        assert fault["offset"] == offset & ~7
        assert int(fault["expected"], 16) ^ int(fault["found"], 16) == bits
    expected = [int(fault["expected"], 16)
                for fault in memory["values"]["first_faults"]]
    word = offset // 8
    assert expected[0] == word * 8
    assert expected[2] == 1 << word % 64
    for plain, inverted in zip(expected[::2], expected[1::2]):
        assert plain ^ inverted == (1 << 64) - 1
    assert f"found {memory['values']['first_faults'][0]['found']}" \
        in memory["sentence"]


def test_the_seed_chooses_the_random_words():
    def words(seed):
        document = report("--seed", seed, code=1,
                          environment={"DRAY_FAULT": "8:1"})
        return [fault["expected"] for fault in
                find(document, "memory")["values"]["first_faults"]]

    first, again, other = words("1"), words("1"), words("2")
    assert first == again
    assert first[:4] == other[:4] and first[4] != other[4]


@pytest.mark.parametrize("fail, name, words", [
    ("alloc:12", "memory", "no memory to test: scripted alloc"),
    ("sync:5", "memory", "cannot sync: scripted sync"),
])
def test_an_error_fails_its_test_and_the_rest_goes_on(fail, name, words):
    document = report(code=1, fail=fail)
    found = find(document, name)
    assert found["outcome"] == "FAIL"
    assert found["sentence"].startswith(words)
    assert len(document["tests"]) >= 5


def test_a_dead_channel_and_one_that_fails_are_found():
    result = run(SCRIPTED, "test", "-n", "dray0", "--size", "1M")
    assert (result.code, result.error) == (1, "")
    assert ("\nFAIL  channel 1: is dead: it did not answer once, and is not "
            "used any more\n") in result.out
    assert re.search(r"^FAIL  copy channel0: copies no \d+ bytes: the engine "
                     r"cannot: ", result.out, re.MULTILINE)


@pytest.mark.parametrize("caches, outcome, sentence, counts", [
    ("maintained", "PASS", "not coherent, as the node says: without syncs the "
     "engine read old bytes in 16 of 16 rounds, and the CPU in 16", (0, 16, 16)),
    ("unmaintained", "FAIL", "not coherent, although the node says so: without "
     "syncs the engine read old bytes in 16 of 16 rounds, and the CPU in 0",
     (32, 16, 0)),
    ("none", "PASS", "coherent, as the node says", (0, 0, 0)),
])
def test_caches_are_found(caches, outcome, sentence, counts):
    result = run(SCRIPTED, "test", "-n", "dray0", "--size", "1M", "--json",
                 environment={"DRAY_CACHES": caches})
    document = json.loads(result.out)
    schema.check("test", document)
    found = find(document, "coherence")
    assert (found["outcome"], found["sentence"]) == (outcome, sentence)
    values = found["values"]
    assert counts == (values["wrong_with_syncs"], values["engine_read_old"],
                      values["cpu_read_old"])
    assert values["claims_coherent"] == (caches != "maintained")


def test_a_report_tells_machine_node_heap_and_channels(tmp_path):
    path = tmp_path / "report"
    result = run(SCRIPTED, "test", "--quick", "-n", "dray0", "-o", path)
    text = path.read_text(encoding="utf-8")
    assert result == (1, text.splitlines()[-1] + "\n", "")
    assert re.match(r"\d+ passed, \d+ failed, \d+ skipped\n", result.out)
    assert re.match(rf"kernel:    {re.escape(os.uname().release)} ", text)
    for line in (
            "module:    0.1.0; dmactl 0.1.0, libdray scripted",
            "node:      dray0, soc:dray, mask 0xffffffff, line 64, alignment "
            "128, flags submit,0x100000",
            "heap:      reserved, reserved, 64.0M, 16.0M free",
            "channel:   channel1, dma0chan1, copy,open,dead, alignment 1, 1 "
            "failed"):
        assert f"\n{line}\n" in text
    assert "\x1b" not in text


def test_names_cannot_control_a_terminal():
    result = run(SCRIPTED, "test", "--quick", scene="hostile")
    assert "\x1b" not in result.out
    assert "dev\\x1b]0;title\\x07" in result.out


def test_a_heap_is_chosen_by_its_name():
    assert report("--heap", "reserved")["heap"] == "reserved"
    result = run(SCRIPTED, "test", "-n", "dray1", "--heap", "none")
    assert result == (1, "", "dmactl: dray1 has no heap 'none'; 'dmactl heaps' "
                             "lists them\n")


def test_a_report_that_cannot_be_written_fails():
    result = run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o",
                 "/nowhere/report")
    assert result == (1, "", "dmactl: cannot write '/nowhere/report': No such "
                             "file or directory\n")


def test_a_report_takes_the_place_of_an_older_one(tmp_path):
    path = tmp_path / "report"
    path.write_text("older\n" * 9999)
    run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o", path)
    assert path.read_text().startswith("kernel: ")
    assert "older" not in path.read_text()


def test_a_report_has_the_mode_that_umask_gives(tmp_path):
    old = os.umask(0o027)
    try:
        run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o", tmp_path / "report")
    finally:
        os.umask(old)
    assert (tmp_path / "report").stat().st_mode & 0o7777 == 0o640


def test_a_report_keeps_the_attributes_of_an_older_one(tmp_path):
    path = tmp_path / "report"
    path.write_text("older\n" * 9999)
    try:
        os.setxattr(path, "user.dray.test", b"1")
    except OSError as error:
        pytest.skip(f"no attributes in {tmp_path}: {error}")
    run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o", path)
    assert path.read_text().startswith("kernel: ")
    assert "older" not in path.read_text()
    assert os.getxattr(path, "user.dray.test") == b"1"


def test_a_report_that_is_too_large_leaves_the_old_one(tmp_path):
    path = tmp_path / "report"
    path.write_text("old")

    def no_large_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    assert run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o", path,
               preexec_fn=no_large_files) == (
        1, "", f"dmactl: cannot write '{path}': File too large\n")
    assert [(path, "old")] == [
        (entry, entry.read_text()) for entry in tmp_path.iterdir()]


def test_a_full_disk_fails_the_report():
    result = run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o", "/dev/full")
    assert result == (1, "", "dmactl: cannot write '/dev/full': No space left on "
                             "device\n")


def test_a_dash_is_standard_output(tmp_path):
    plain = run(SCRIPTED, "test", "-n", "dray1", "--quick")
    dash = run(SCRIPTED, "test", "-n", "dray1", "--quick", "-o", "-", cwd=tmp_path)
    assert dash.out.splitlines()[0] == plain.out.splitlines()[0]
    assert dash.out.splitlines()[-1] == plain.out.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_terminal_shows_the_progress():
    ours, theirs = pty.openpty()
    variables = dict(os.environ, DRAY_SCENE="plain")
    words = [SCRIPTED, "test", "-n", "dray1", "--size", "256M"]
    pid = os.posix_spawn(SCRIPTED, words, variables, file_actions=[
        (os.POSIX_SPAWN_DUP2, theirs, 2),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
    except OSError:  # EIO: the other end is closed and all is read
        pass
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    lines = text.decode().split("\r")
    assert re.fullmatch(r"memory \[#* *\] +\d+% \S+/s, \S+ left\x1b\[K",
                        lines[1])
    assert lines[-1] == "\x1b[K"

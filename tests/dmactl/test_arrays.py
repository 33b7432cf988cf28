# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl arrays: contents of pools of real processes, and what a process may send
that means harm.  There is no module: with-arrays.sh runs where it is loaded."""

import array
import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
from contextlib import contextmanager

import pytest

import schema
from conftest import BUILD, DMACTL, SANITIZED, misused, run

PUBLISHER = BUILD / "tests/dmactl/dmactl-publisher"
MAGIC = b"draypub1"
SEALS = (fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
         | fcntl.F_SEAL_WRITE)
MOST = 64 << 20
ME = str(os.getpid())


@contextmanager
def process(*command, **environment):
    """A process that says "ready" and ends with its input."""
    environment = {**os.environ, "DRAY_TEST_NODE": "host", **environment}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "ready\n"
        yield running
        running.stdin.close()
        assert running.wait(600) == 0


def shown(pid, *options):
    result = run(DMACTL, "arrays", str(pid), *options)
    assert (result.code, result.error) == (0, "")
    return result.out


def document(pid, *options):
    """Whole, and as its schema says."""
    read = json.loads(shown(pid, "--json", *options))
    schema.check("arrays", read)
    for pool in read["processes"][0]["pools"]:
        for buffer in pool["buffers"]:
            check_buffer(buffer, pool["granule"])
    return read


def check_buffer(buffer, granule):
    sums = dict.fromkeys(("used", "parked", "cached"), 0)
    end = free = longest = runs = 0
    for block in buffer["blocks"]:
        if "offset" not in block or "state" not in block:
            return
        assert block["offset"] >= end
        assert block["offset"] % granule == 0 == block["size"] % granule
        if block["offset"] > end:
            runs += 1
            free += block["offset"] - end
            longest = max(longest, block["offset"] - end)
        end = block["offset"] + block["size"]
        sums[block["state"]] += block["size"]
    assert end <= buffer["size"]
    if buffer["size"] > end:
        runs += 1
        free += buffer["size"] - end
        longest = max(longest, buffer["size"] - end)
    assert {state: buffer[state] for state in sums} == sums
    assert (buffer["free"], buffer["free_runs"], buffer["longest_free"]) == (
        free, runs, longest)
    assert sum(sums.values()) + free == buffer["size"]


def test_a_program_in_c_is_shown_with_its_arrays():
    with process(PUBLISHER) as running:
        read, = document(running.pid)["processes"]
        assert read["pid"] == running.pid
        assert read["comm"] == "dmactl-publishe"
        pool, = read["pools"]
        assert (pool["name"], pool["backend"], pool["closed"]) == (
            "known pool", "host", False)
        buffer, = pool["buffers"]
        used = [block for block in buffer["blocks"]
                if block["state"] == "used"]
        facts = sorted((block["kind"], block["shape"], block["type"],
                        block["asked"], block["size"]) for block in used
                       if block["kind"] == "array")
        assert facts == [
            ("array", [3, 4], "<f8", 96, 128),
            ("array", [7], "[('f0', '<i4'), ('f1', '<f8')]", 84, 128)]
        blocks = sorted((block["size"], block["asked"]) for block in used
                        if block["kind"] == "block")
        assert blocks == [(1024, 1000), (5056, None)]
        tracked, = (block for block in used if block["asked"] == 1000)
        assert re.fullmatch(r"\S+ in dmactl-publisher", tracked["site"])
        assert buffer["used_blocks"] == 4
        assert buffer["arrays"] == 2
        assert any(block["size"] == 320 for block in buffer["blocks"]
                   if block["state"] == "cached")


def test_the_table_has_used_blocks_and_sums():
    with process(PUBLISHER) as running:
        lines = shown(running.pid).splitlines()
        assert lines[0].split() == [
            "BUFFER", "OFFSET", "SIZE", "ASKED", "STATE", "KIND", "SHAPE",
            "TYPE", "SITE"]
        assert [line.split()[4:7] for line in lines[1:5]].count(
            ["used", "block", "-"]) == 2
        assert re.fullmatch(
            r"buffer 1 of pool 'known pool' on host, process "
            rf"{running.pid} \(dmactl-publishe\): \d+\.\dM", lines[5])
        assert re.fullmatch(
            r"  used 6\.1K in 4 blocks \(2 arrays\), cached \S+, parked 0B",
            lines[6])
        assert re.fullmatch(r"  free \S+ in \d+ runs?, the longest \S+, "
                            r"fragmented \d+%", lines[7])
        assert re.fullmatch(r"  \[\+\.{63}\]", lines[8])
        assert len(lines) == 9


def test_a_node_narrows_the_pools_of_a_process():
    with process(PUBLISHER) as running:
        assert shown(running.pid, "-n", "host") == shown(running.pid)
        assert shown(running.pid, "-n", "dray7", "--columns", "kind") == (
            f"KIND\nprocess {running.pid} has no buffer on dray7\n")
        assert document(running.pid, "-n", "dray7")["processes"][0][
            "pools"] == []


def test_rows_are_sorted_limited_and_chosen():
    with process(PUBLISHER) as running:
        assert shown(running.pid, "--sort", "-size", "--limit", "2",
                     "--columns", "asked,size,kind", "--bytes",
                     "--no-header").split() == [
            "-", "5056", "block", "1000", "1024", "block"]
        lines = shown(running.pid, "--limit", "1").splitlines()
        assert lines[2] == "... and 3 more"
        every = [line.split() for line in shown(
            running.pid, "--all", "--no-header", "--bytes", "--columns",
            "offset,size,state").splitlines()]
        end = 0
        for offset, size, _ in every:
            assert int(offset) == end
            end += int(size)
        assert {"used", "cached", "free"} == {row[2] for row in every}
        block = document(running.pid, "--columns", "kind")["processes"][0][
            "pools"][0]["buffers"][0]["blocks"][0]
        assert list(block) == ["kind"]


PROGRAM = """
import sys

import numpy as np
import dray

class Thing:
    pass

def hold():
    local = np.ones((7, 5))
    kept = [np.zeros((3, 3), "c16")]
    thing = Thing()
    thing.view = np.arange(1000, dtype="i8")[10:20]
    mine = dray.Array.zeros((2, 3), "i4")
    rows = np.zeros(5, [("a", "i4"), ("b", "f8")])
    print("ready", flush=True)
    sys.stdin.read()
    assert local.sum() == 35 and thing.view[0] == 10

with dray.memory():
    hold()
"""


needs_python = pytest.mark.skipif(
    SANITIZED, reason="Python cannot load a library with sanitizers")


@contextmanager
def python(*arguments, **environment):
    """Debian's Python, with the package of this build."""
    with process("/usr/bin/python3", "-c", PROGRAM, *arguments,
                 PYTHONPATH=str(BUILD / "userspace/python"),
                 DRAY_BACKEND="host", **environment) as running:
        yield running


def arrays_of(read):
    return [block for process in read["processes"]
            for pool in process["pools"] for buffer in pool["buffers"]
            for block in buffer["blocks"] if block["kind"] == "array"]


ARRAYS = [
    ([2, 3], "<i4", 24),
    ([3, 3], "<c16", 144),
    ([5], "[('a', '<i4'), ('b', '<f8')]", 60),
    ([7, 5], "<f8", 280),
    ([1000], "<i8", 8000),
]


@needs_python
def test_arrays_of_numpy_have_shape_and_type():
    with python(DRAY_PUBLISH="1") as running:
        found = arrays_of(document(running.pid))
        assert sorted((block["shape"], block["type"], block["asked"])
                      for block in found) == sorted(ARRAYS)
        assert {block["site"] for block in found} == {None}


@needs_python
def test_the_checking_handler_adds_the_line_of_the_program():
    with python(DRAY_PUBLISH="1", DRAY_HANDLER="check") as running:
        found = arrays_of(document(running.pid))
        assert sorted((block["shape"], block["type"], block["asked"])
                      for block in found) == sorted(ARRAYS)
        lines = sorted(int(re.fullmatch(r"<string>:(\d+) in hold",
                                        block["site"])[1]) for block in found)
        assert lines == [
            number for number, line in enumerate(PROGRAM.splitlines(), 1)
            if re.match(r"    .*(np|Array)\.", line)]


@needs_python
def test_looking_at_variables_leaves_them_alone():
    program = PROGRAM.replace("hold()\n", "hold()\n", 1).replace(
        'print("ready"', 'names = locals(); print("ready"').replace(
        "    assert local", "    assert names['mine'] is mine\n"
        "    del rows, names\n    assert local")
    with process("/usr/bin/python3", "-c", program, DRAY_PUBLISH="1",
                 PYTHONPATH=str(BUILD / "userspace/python"),
                 DRAY_BACKEND="host") as running:
        assert len(arrays_of(document(running.pid))) == len(ARRAYS)


@needs_python
def test_a_process_that_does_not_publish_is_told_how_to():
    with python() as running:
        assert run(DMACTL, "arrays", str(running.pid)) == (
            1, "", f"dmactl: process {running.pid} does not publish its "
            "pools: start it with DRAY_PUBLISH=1 in its environment, or let "
            "it call dray_publish_start(); a process with a network of its own, as "
            "in a container, is asked from there\n")


def test_a_process_that_is_not_there_is_named():
    with process(PUBLISHER) as running:
        pid = running.pid
    assert run(DMACTL, "arrays", str(pid)) == (
        1, "", f"dmactl: there is no process {pid}\n")
    assert run(DMACTL, "arrays", str(1 << 40)).error == (
        f"dmactl: there is no process {1 << 40}\n")


@pytest.mark.parametrize("arguments", [
    [], ["x"], ["0"], ["1", "2"], ["1", "--limit", "x"], ["1", "--sort", "x"],
    ["1", "--columns", "x"]])
def test_a_wrong_command_line_is_refused(arguments):
    result = run(DMACTL, "arrays", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.error.startswith("dmactl: ")
    assert result.error.endswith("\nTry 'dmactl --help'.\n")


@pytest.mark.parametrize("word", ["x", "0", "1x", ""])
def test_a_word_is_neither_an_id_nor_a_process(word):
    assert run(DMACTL, "arrays", word) == misused(
        f"'{word}' is neither the id of a buffer, which 'dmactl list' shows, nor of a process: both are numbers from 1 on")


def test_many_blocks_are_shown():
    with process(PUBLISHER, "--many") as running:
        read = document(running.pid)
        assert read["processes"][0]["pools"][0]["buffers"][0][
            "used_blocks"] == 100004


def test_each_snapshot_of_a_busy_process_is_whole():
    with process(PUBLISHER, "--churn") as running:
        for _ in range(20):
            assert len(arrays_of(document(running.pid))) == 2


def test_another_user_is_refused():
    if os.geteuid():
        pytest.skip("only root can become another user")
    with process(PUBLISHER) as running:
        result = run("setpriv", "--reuid=65534", "--regid=65534",
                     "--clear-groups", "/usr/bin/python3", "-c", ASK_AS_NOBODY,
                     str(running.pid))
        assert (result.code, result.out, result.error) == (0, "-13 0\n", "")


# Whoever may not read the build's folders asks without dmactl.
ASK_AS_NOBODY = """
import socket, struct, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
    asking.connect("\\0dray-publish-" + sys.argv[1])
    answer, files, *_ = asking.recvmsg(64, socket.CMSG_SPACE(4))
print(struct.unpack("<QIi", answer)[2], len(files))
"""


# What follows is a publisher of the test's own, this process.

def padded(data):
    return data + bytes(-len(data) % 8)


def item(kind, data, size=None):
    data = padded(data)
    return struct.pack("<II", kind, size or len(data) + 8) + data


def pool(name=b"p", node=b"dray0", backend=b"kernel"):
    return item(1, struct.pack("<II32s32s16s", 64, 0, name, node, backend))


def region(size=1 << 20, buffer=5):
    return item(2, struct.pack("<QQQ", buffer, size, 7))


def block(offset=0, size=64, state=0, flags=0, shape=(), ndim=None,
          type_=b"", type_length=None, site=b""):
    return item(3, struct.pack(
        "<QQQIIIIII", offset, size, 0, state, flags, 0,
        len(shape) if ndim is None else ndim,
        len(type_) if type_length is None else type_length, len(site))
        + struct.pack(f"<{len(shape)}q", *shape) + type_ + site)


def snapshot(*items, version=1, flags=0, magic=MAGIC, size=None):
    data = b"".join(items)
    return struct.pack("<8sIIQiI", magic, version, flags,
                       size or len(data) + 32, 1, 0) + data


def answer(error=0, version=1, magic=MAGIC):
    return struct.pack("<8sIi", magic, version, error)


def sealed(data, seals=SEALS):
    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.truncate(fd, len(data))
    os.pwrite(fd, data, 0)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def ask(respond, *options, program=DMACTL):
    """dmactl asks this process, which answers as `respond` does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind("\0dray-publish-" + ME)
        listener.listen()

        def serve():
            peer, _ = listener.accept()
            with peer:
                respond(peer)

        server = threading.Thread(target=serve)
        server.start()
        result = run(program, "arrays", ME, *options)
        server.join()
    return result


def send(message, *fds):
    def respond(peer):
        peer.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                  array.array("i", fds))] if fds else [])
        for fd in fds:
            os.close(fd)
    return respond


def ask_about(data, *options):
    return ask(send(answer(), sealed(data)), *options)


GOOD = (pool(), block(64, 128), block(256, 64, flags=1, shape=(2, 2),
                                      type_=b"<f4", site=b"here"), region())


def test_a_snapshot_of_another_library_is_read():
    result = ask_about(snapshot(*GOOD, item(99, b"of a later version")),
                       "--no-header")
    assert (result.code, result.error) == (0, "")
    assert [line.split() for line in result.out.splitlines()] == [
        ["5", "64", "128B", "-", "used", "block", "-", "-", "-"],
        ["5", "256", "64B", "-", "used", "array", "(2,2)", "<f4", "here"]]


def loan(to=b"mpi"):
    return item(4, struct.pack("<32s", to))


def test_a_block_that_is_lent_names_the_engine():
    data = snapshot(pool(), block(64, 128), loan(b"m\x1bi"), block(256), loan(b"x" * 32),
                    block(512), region())
    result = ask_about(data, "--no-header", "--columns", "offset,lent")
    assert [line.split() for line in result.out.splitlines()] == [
        ["64", "m\\x1bi"], ["256", "x" * 32], ["512", "-"]]
    read = json.loads(ask_about(data, "--json").out)
    schema.check("arrays", read)
    assert [each["lent_to"] for each in
            read["processes"][0]["pools"][0]["buffers"][0]["blocks"]] == [
        "m\x1bi", "x" * 32, None]


def test_a_snapshot_that_was_full_is_a_failure_with_rows():
    result = ask_about(snapshot(*GOOD, flags=1), "--no-header")
    assert result.code == 1
    assert len(result.out.splitlines()) == 2
    assert result.error == (
        f"dmactl: the blocks of process {ME} exceed a snapshot of "
        "64 MiB: some are missing\n")


@pytest.mark.parametrize("data, reason", [
    (b"", "no snapshot of a pool"),
    (snapshot()[:31], "no snapshot of a pool"),
    (snapshot(magic=b"draypub2"), "no snapshot of a pool"),
    (snapshot(version=2), "another version of the format"),
    (snapshot(size=40), "a size that is not its own"),
    (snapshot(*GOOD)[:-8], "a size that is not its own"),
    (snapshot(b"1234"), "an item that leaves the snapshot"),
    (snapshot(item(1, b"", size=7)), "an item that leaves the snapshot"),
    (snapshot(item(1, b"", size=0x80000000)),
     "an item that leaves the snapshot"),
    (snapshot(item(9, b"", size=16)), "an item that leaves the snapshot"),
    (snapshot(item(1, bytes(80))), "an item that is too short"),
    (snapshot(pool(), item(3, bytes(40))), "an item that is too short"),
    (snapshot(region()), "a buffer without a pool"),
    (snapshot(block(), region()), "a block without a pool"),
    (snapshot(pool(), block()), "blocks without a buffer"),
    (snapshot(pool(), block(), pool(), region()), "blocks without a buffer"),
    (snapshot(pool(), block(0, 128), block(64), region()),
     "blocks that overlap"),
    (snapshot(pool(), block(128), block(64), region()), "blocks that overlap"),
    (snapshot(pool(), block(0, 0), region()), "blocks that overlap"),
    (snapshot(pool(), block((1 << 64) - 64, 128), region()),
     "blocks that overlap"),
    (snapshot(pool(), block(0, 1 << 21), region()),
     "a block that leaves its buffer"),
    (snapshot(pool(), loan(), region()), "a loan without a block"),
    (snapshot(pool(), block(), item(4, bytes(24)), region()), "an item that is too short"),
    (snapshot(pool(), region(0)), "a block that leaves its buffer"),
    (snapshot(pool(), block(state=3), region()), "a block in an unknown state"),
    (snapshot(pool(), block(ndim=65), region()),
     "an array with too many axes"),
    (snapshot(pool(), block(ndim=64), region()),
     "a block that is longer than its item"),
    (snapshot(pool(), block(type_length=0xffffffff), region()),
     "a block that is longer than its item"),
])
def test_a_wrong_snapshot_is_refused(data, reason):
    assert ask_about(data) == (
        1, "", f"dmactl: the snapshot of process {ME} is wrong: it has "
        f"{reason}\n")


def large():
    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.truncate(fd, MOST + 1)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd


@pytest.mark.parametrize("respond, reason", [
    (lambda peer: None, "process {} ended meanwhile, or stopped to publish"),
    (send(b"x"), "process {} sends something else than a snapshot"),
    (send(answer() + b"x"), "process {} sends no snapshot"),
    (send(answer(magic=b"draypub2")),
     "process {} sends something else than a snapshot"),
    (send(answer(version=7)),
     "process {} publishes in version 7 of the format, dmactl reads version 1"),
    (send(answer()), "process {} sends no snapshot"),
    (send(answer(error=-13)), "process {} belongs to another user: only that "
     "user and root may see its pools"),
    (send(answer(error=-24)),
     "process {} cannot make a snapshot: Too many open files"),
    (send(answer(error=-(1 << 31))),
     "process {} cannot make a snapshot: Invalid argument"),
    (lambda peer: send(answer(), os.open("/dev/zero", os.O_RDONLY))(peer),
     "process {} sends a file that it can still change"),
    (lambda peer: send(answer(), sealed(snapshot(*GOOD),
                                        fcntl.F_SEAL_SHRINK))(peer),
     "process {} sends a file that it can still change"),
    (lambda peer: send(answer(), os.pipe()[0])(peer),
     "process {} sends a file that it can still change"),
    (lambda peer: send(answer(), sealed(b""), sealed(b""))(peer),
     "process {} sends no snapshot"),
    (lambda peer: send(answer(), large())(peer),
     "process {} sends a snapshot of 67108865 bytes, at most 67108864 are "
     "read"),
])
def test_an_answer_that_means_harm_is_refused(respond, reason):
    assert ask(respond) == (1, "", f"dmactl: {reason.format(ME)}\n")


def test_a_socket_of_another_process_is_not_believed():
    with process(PUBLISHER) as running:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as taken:
            # The number of a process that does not publish.
            taken.bind(f"\0dray-publish-{os.getppid()}")
            taken.listen()
            assert run(DMACTL, "arrays", str(os.getppid())) == (
                1, "", f"dmactl: the socket that process {os.getppid()} "
                f"would publish with belongs to process {ME}\n")
        assert shown(running.pid)


def test_hostile_texts_are_shown_and_not_obeyed():
    hostile = (pool(name=b"\x1b[2J\n", node=b"\xff" * 32), block(
        64, flags=1, shape=(-1, (1 << 63) - 1), type_=b"\x1b]0;x\x07 y",
        site=b"a\nb\x9b31m"), region())
    result = ask_about(snapshot(*hostile))
    assert (result.code, result.error) == (0, "")
    assert [char for char in result.out if char < " " and char != "\n"] == []
    assert "(-1,9223372036854775807)" in result.out
    assert "\\x1b]0;x\\x07y" in result.out
    read = json.loads(ask_about(snapshot(*hostile), "--json").out)
    schema.check("arrays", read)
    assert read["processes"][0]["pools"][0]["name"] == "\x1b[2J\n"


def test_valgrind_finds_nothing():
    if not shutil.which("valgrind") or SANITIZED:
        pytest.skip("valgrind is not here, or the build has sanitizers")
    with process(PUBLISHER) as running:
        for options in ([], ["--json"], ["--all", "--sort", "type"]):
            result = run("valgrind", "-q", "--leak-check=full",
                         "--error-exitcode=99", DMACTL, "arrays",
                         str(running.pid), *options)
            assert (result.code, result.error) == (0, "")



# SPDX-License-Identifier: Apache-2.0 OR MIT
"""alloc, free, share, dump, fill, copy and sync on memory of the host.

A memory file that dmactl-scripted inherits counts as buffer 1; the tests read and
write it by themselves.  with-calls.sh has the real module.
"""

import fcntl
import json
import os
import select
import signal
import struct
import zlib
from pathlib import Path

import numpy
import pytest

import schema
from conftest import DMACTL, SCRIPTED, misused, run

SIZE = 65536
BYTES = bytes(i * 7 % 251 for i in range(SIZE))


class Memory:
    """A buffer that is shared with dmactl."""

    def __init__(self):
        self.fd = os.memfd_create("buffer", os.MFD_ALLOW_SEALING)
        os.write(self.fd, BYTES)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)

    def bytes(self):
        return os.pread(self.fd, SIZE, 0)

    def run(self, command, **more):
        """Each word @ of the command is the buffer."""
        words = [word.replace("@", f"@{self.fd}", 1)
                 if word.startswith("@") else word for word in command.split()]
        return run(SCRIPTED, *words, pass_fds=[self.fd], **more)

    def said(self, command, **more):
        result = self.run(command, **more)
        assert (result.code, result.error) == (0, "")
        return result.out


@pytest.fixture(name="memory")
def make_memory():
    memory = Memory()
    yield memory
    os.close(memory.fd)


def patched(offset, part):
    return BYTES[:offset] + part + BYTES[offset + len(part):]


@pytest.mark.parametrize("command, place, part", [
    ("fill @ --value 0", 0, lambda: bytes(SIZE)),
    ("fill @ --value 0xff --offset 3 --length 5", 3, lambda: b"\xff" * 5),
    ("fill @ --value 65 --offset 63K", 64512, lambda: b"A" * 1024),
    ("fill @ --pattern DEADbeef --offset 1 --length 8", 1,
     lambda: bytes.fromhex("deadbeefdeadbeef")),
    ("fill @ --pattern 000102030405060708090a0b0c0d0e0f --cpu", 0,
     lambda: bytes(range(16)) * 4096),
    ("copy @:100:50 @:4000", 4000, lambda: BYTES[100:150]),
    ("copy @:32K @", 0, lambda: BYTES[32768:]),
    ("copy @:0:1K @:63K --cpu", 64512, lambda: BYTES[:1024]),
    ("sync @ --for device", 0, lambda: b""),
    ("dump @", 0, lambda: b""),
])
def test_exactly_these_bytes_change(memory, command, place, part):
    assert memory.run(command).code == 0
    assert memory.bytes() == patched(place, part())


def end_keeper(pid):
    """Ends a keeper as dmactl free does, and waits for its end."""
    process = os.pidfd_open(pid)
    signal.pidfd_send_signal(process, signal.SIGTERM)
    select.select([process], [], [])
    os.close(process)


@pytest.mark.parametrize("replaced", [False, True])
def test_the_end_of_a_record_removes_its_own_file(memory, tmp_path, replaced):
    record = tmp_path / "record"
    keeper = json.loads(memory.said(f"share @ {record} --json"))["pid"]
    if replaced:
        record.rename(tmp_path / "elsewhere")
        record.write_text("of another program")
    end_keeper(keeper)
    assert record.exists() == replaced


def lines_of(data, start):
    """Lines in the format of hexdump -C."""
    lines, last = [], None
    for offset in range(0, len(data), 16):
        line = data[offset:offset + 16]
        if line == last and len(line) == 16:
            if lines[-1] != "*":
                lines.append("*")
            continue
        last = line
        words = [f" {byte:02x}" for byte in line] + ["   "] * (16 - len(line))
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in line)
        lines.append(f"{start + offset:08x} {''.join(words[:8])} "
                     f"{''.join(words[8:])}  |{shown}|")
    return "\n".join(lines + [f"{start + len(data):08x}", ""])


@pytest.mark.parametrize("offset, length", [
    (0, 4096), (0, 1), (5, 40), (4096, 16), (65535, 1)])
def test_a_dump_is_that_of_hexdump(memory, offset, length):
    assert memory.said(f"dump @ --offset {offset} --length {length}") == \
        lines_of(BYTES[offset:offset + length], offset)


def test_a_dump_folds_lines_that_repeat(memory):
    memory.said("fill @ --value 0 --offset 16 --length 64")
    assert memory.said("dump @ --length 96") == lines_of(
        patched(16, bytes(64))[:96], 0)
    assert "\n*\n" in memory.said("dump @ --length 96")


def test_a_long_dump_is_cut_and_says_so(memory):
    result = memory.run("dump @")
    assert result.out == lines_of(BYTES[:4096], 0)
    assert result.error == \
        "dmactl: the first 4.0K of 64.0K; --length shows more\n"
    assert memory.said("dump @ --length 64K") == lines_of(BYTES, 0)


def test_files_have_the_bytes_of_the_part(memory, tmp_path):
    memory.said(f"dump @ -o {tmp_path}/raw --offset 1 --length 1000")
    assert (tmp_path / "raw").read_bytes() == BYTES[1:1001]
    memory.said(f"dump @ -o {tmp_path}/a.npy --dtype >f4 --shape 16,8,2")
    array = numpy.load(tmp_path / "a.npy")
    assert (array.shape, array.dtype, array.tobytes()) == (
        (16, 8, 2), ">f4", BYTES[:1024])
    told = json.loads(memory.said(
        f"dump @ -o {tmp_path}/c.npy --dtype >f4 --shape 16,8,2 --offset 8 --json"))
    assert (told["offset"], told["length"], told["format"]) == (8, 1024, "npy")
    memory.said(f"dump @ -o {tmp_path}/b.npy --dtype <i8 --offset 8")
    assert numpy.load(tmp_path / "b.npy").tobytes() == BYTES[8:]


@pytest.mark.parametrize("shape, kind, pixel", [
    ("32,64", 0, 1), ("32,64,1", 0, 1), ("32,64,2", 4, 2), ("32,64,3", 2, 3),
    ("32,64,4", 6, 4)])
def test_pictures_have_the_channels_of_their_shape(memory, tmp_path, shape,
                                                   kind, pixel):
    path = tmp_path / "a.png"
    memory.said(f"dump @ -o {path} --shape {shape}")
    data = path.read_bytes()
    assert struct.unpack(">IIBB", data[16:26]) == (64, 32, 8, kind)
    rows, place = b"", 8
    while place < len(data):
        size, name = struct.unpack(">I4s", data[place:place + 8])
        if name == b"IDAT":
            rows += data[place + 8:place + 8 + size]
        place += size + 12
    # with-calls.sh compares the pixels
    assert len(zlib.decompress(rows)) == 32 * (64 * pixel + 1)


@pytest.mark.parametrize("command", [
    "fill @ --value 1", "copy @:0:16 @:32", "sync @ --for cpu",
    "sync @ --for device --direction both --length 5",
    "dump @ --length 3", "dump @ -o /dev/null --length 3"])
def test_documents_fit_their_schemas(memory, command):
    found = json.loads(memory.said(command + " --json"))
    schema.check(command.split()[0], found)
    if command == "dump @ --length 3":
        assert found == {"id": 1, "offset": 0, "length": 3, "format": "hex",
                         "hex": BYTES[:3].hex()}
    if command.startswith("copy"):
        assert (found["bytes"], found["by"]) == (16, "cpu")
    if command == "sync @ --for cpu":
        assert (found["for"], found["direction"], found["needed"]) == (
            "cpu", "from-device", True)


@pytest.mark.parametrize("command, sentence", [
    ("alloc", "alloc: SIZE [-- COMMAND...] is missing"),
    ("alloc 0", "the size is 0: 1 byte is the least"),
    ("alloc 1X", "'1X' is not a size: a number of bytes, or one with K, M, G "
     "or T, as 8M"),
    ("alloc 1 --align 3", "--align 3 is not a power of two"),
    ("alloc 1 --mask 65", "'65' is not a mask: the highest address, as "
     "0xffffffff, or a number of bits from 1 to 64"),
    ("alloc 1 --mask 0x0", "'0x0' is not a mask: the highest address, as "
     "0xffffffff, or a number of bits from 1 to 64"),
    ("alloc 1 --mode fast", "no mode 'fast': there are cached, write-combined, "
     "coherent and device"),
    ("alloc 1 --name " + 16 * "é",
     "--name '" + 16 * "é" + "' has 32 bytes: 31 are the most"),
    ("alloc 1 --hold -- true",
     "alloc: --hold and --json do not go with a COMMAND"),
    ("free", "free: ID or --all is missing; 'dmactl list' shows the buffers"),
    ("free 1 --all", "free: give an ID or --all, not both"),
    ("share 1", "share: ID PATH is missing"),
    ("dump x", "'x' is not an id; 'dmactl list' shows them, numbers from 1 on"),
    ("dump @x", "'@x' is not a descriptor: @ and a number, as @3"),
    ("dump 1 --length 0", "--length is 0: 1 byte is the least"),
    ("dump 1 --shape 2,2", "dump: --dtype and --shape need -o FILE.npy or -o "
     "FILE.png"),
    ("dump 1 -o a.npy --shape 2,,2", "--shape '2,,2' is not a list of 1 to 64 "
     "extents from 1 on, as 480,640,3"),
    ("dump 1 -o - --json", "dump: raw bytes and --json cannot both go to "
     "standard output"),
    ("fill 1", "fill: give --value or --pattern"),
    ("fill 1 --value 1 --pattern 00", "fill: give --value or --pattern"),
    ("fill 1 --value 256",
     "--value '256' is not a byte: 0 to 255, or 0x00 to 0xff"),
    ("fill 1 --pattern 123", "--pattern '123' is not 1, 2, 4, 8 or 16 bytes, "
     "each of two hexadecimal digits"),
    ("fill 1 --value 1 --engine --cpu",
     "fill: give --engine or --cpu, not both"),
    ("copy 1", "copy: SRC DST is missing"),
    ("copy 1:2:3:4 2", "'1:2:3:4' has too many parts: ID:OFFSET:LENGTH"),
    ("copy 1 2:0:1", "'2:0:1' has too many parts: ID:OFFSET"),
    ("copy 1:0:0 2", "'1:0:0' copies 0 bytes: 1 byte is the least"),
    ("sync 1", "sync: give --for cpu or --for device"),
    ("sync 1 --for cpu --direction up", "sync: no direction 'up': there are "
     "to-device, from-device and both"),
    ("test 1", "test: unexpected operand '1'"),
    ("test --size 0", "--size is 0: 1 byte is the least"),
    ("test --seed x", "--seed 'x' is not a number"),
])
def test_a_wrong_command_line_is_a_sentence_and_exits_2(command, sentence):
    assert run(DMACTL, *command.split()) == misused(sentence)


@pytest.mark.parametrize("command, sentence", [
    ("dump @9", "descriptor 9 is not a buffer of dray: it is not open"),
    ("dump 1", "cannot reach buffer 1 of python3, pid 101, user root: no descriptor of it can be copied, which needs the rights of a debugger"),
    ("free 1", "buffer 1 is not kept by dmactl: it belongs to python3, pid 101"),
    ("alloc 1T", "dray0: cannot allocate: scripted alloc: Cannot allocate "
     "memory"),
    ("alloc 1T --hold", "dray0: cannot allocate: scripted alloc: Cannot "
     "allocate memory"),
    ("alloc 1T -- true", "dray0: cannot allocate: scripted alloc: Cannot "
     "allocate memory"),
])
def test_a_failure_is_a_sentence_and_exits_1(command, sentence):
    words = command.replace("@9", "@999").split()
    fail = "alloc:12" if words[0] == "alloc" else None
    result = run(SCRIPTED, *words, fail=fail)
    assert (result.code, result.out, result.error.replace("999", "9")) == (
        1, "", f"dmactl: {sentence}\n")


@pytest.mark.parametrize("command, sentence", [
    ("dump @ --offset 64K",
     "offset 65536 lies outside buffer 1 of 65536 bytes"),
    ("fill @ --value 0 --offset 65530 --length 7",
     "7 bytes at offset 65530 leave buffer 1 of 65536 bytes"),
    ("copy @ @:1", "65536 bytes at offset 1 leave buffer 1 of 65536 bytes"),
    ("fill @ --pattern 0000 --length 3",
     "3 bytes are not a multiple of the pattern's 2"),
    ("fill @ --value 0 --engine",
     "dray0: cannot fill: the engine cannot: the host has no engine"),
    ("dump @ -o a.npy --dtype <f4 --length 3",
     "3 bytes are not a multiple of the type's 4"),
    ("dump @ -o a.npy --shape 65537",
     "the array has 65537 bytes, and the part of buffer 1 only 65536"),
    ("dump @ -o a.png --shape 4,4,5", "a .png file needs --shape H,W or H,W,C "
     "with 1 to 4 channels of u1, or H,W of u2"),
    ("dump @ -o /nowhere/a", "cannot write '/nowhere/a': No such file or "
     "directory"),
])
def test_a_refusal_changes_nothing(memory, tmp_path, command, sentence):
    result = memory.run(command, cwd=tmp_path)
    assert (result.code, result.out, result.error) == (
        1, "", f"dmactl: {sentence}\n")
    assert memory.bytes() == BYTES
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call, command", [
    ("import", "dump @"), ("sync", "sync @ --for cpu"),
    ("queue", "fill @ --value 0"), ("info", "dump @"), ("open", "dump @")])
@pytest.mark.parametrize("error", [19, 12])
def test_a_call_that_fails_is_a_sentence(memory, call, command, error):
    result = memory.run(command, fail=f"{call}:{error}")
    assert (result.code, result.out) == (1, "")
    assert result.error.startswith("dmactl: ")
    assert memory.bytes() == BYTES


def test_a_command_inherits_the_buffer_and_its_status_is_kept():
    result = run(SCRIPTED, "alloc", "5000", "--name", "mine", "--", "sh", "-c",
                 "wc -c <&$DRAY_BUFFER_FD; echo $DRAY_BUFFER_ID "
                 "$DRAY_BUFFER_SIZE; exit 9")
    assert result == (9, "8192\n1 1048576\n", "")


def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "wb")


NO_SPACE = ("dmactl: cannot write all of the output: No space left on "
            "device\n")
LOST = [(lambda: open("/dev/full", "wb"), 1, NO_SPACE),
        (closed_pipe, -signal.SIGPIPE, "")]


def keepers(word):
    return [folder for folder in Path("/proc").glob("[0-9]*")
            if word.encode() in command_line(folder)]


@pytest.mark.parametrize("output, code, error", LOST)
def test_a_buffer_of_an_id_that_is_lost_is_not_kept(output, code, error):
    mark = f"--name=lost{os.getpid()}"
    with output() as lost:
        assert run(SCRIPTED, "alloc", "1", mark, stdout=lost) == (
            code, "", error)
    assert not keepers(mark)


@pytest.mark.parametrize("output, code, error", LOST)
def test_a_record_that_is_told_to_nobody_is_removed(memory, tmp_path, output,
                                                    code, error):
    with output() as lost:
        result = memory.run(f"share @ {tmp_path}/record --json", stdout=lost)
    assert (result.code, result.error) == (code, error)
    assert not list(tmp_path.iterdir())
    assert not keepers(f"{tmp_path}/record")


def command_line(folder):
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def test_a_command_that_is_not_there_is_a_sentence():
    assert run(SCRIPTED, "alloc", "1", "--", "/nowhere") == (
        1, "", "dmactl: cannot run '/nowhere': No such file or directory\n")

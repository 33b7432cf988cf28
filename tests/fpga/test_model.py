# SPDX-License-Identifier: Apache-2.0 OR MIT
"""fpga-model beside a program that plays QEMU: how they start and end."""

import os
import signal
import subprocess
import sys
import time

import pytest

DEADLINE = 300

# A QEMU that does nothing; the model adds options, which it must not read.
WAITING = ("sh", "-c", "exec sleep 1000")

# Plays the guest: maps its memory, receives the interrupt, and is no QEMU.
GUEST = """
import mmap, re, socket, sys
words = " ".join(sys.argv)
file = re.search("mem-path=/proc/self/fd/([0-9]+)", words)[1]
qtest = socket.socket(fileno=int(re.search("fd=([0-9]+)", words)[1]))
ram = mmap.mmap(int(file), 1 << 30)
# Words as a processor writes them; struct writes byte after byte, which the model sees.
memory = memoryview(ram).cast("I")
registers = 0x3fff0000

def read(address):
    return memory[address // 4]

def write(address, value):
    memory[address // 4] = value

def start(offset, descriptor, buffer, control):
    for i, word in enumerate((descriptor, 0, buffer, 0, 0, 0, control, 0)):
        write(descriptor + 4 * i, word)
    write(registers + offset + 8, descriptor)
    write(registers + offset, 0x17001)
    while read(registers + offset + 4) & 1:
        pass
    write(registers + offset + 16, descriptor)

assert read(0x3fff1000) == 0x41475046
ram[0x2000:0x2004] = b"dray"
start(0x30, 0x1000, 0x3000, 64)
start(0x00, 0x1040, 0x2000, 4 | 1 << 26)
while not read(0x101c) >> 31:
    pass
text = b""
while text.count(b"gpio-in 90 0") == 0:
    text += qtest.recv(4096)
assert ram[0x3000:0x3004] == bytes(255 - byte for byte in b"dray")
assert read(0x101c) == 1 << 31 | 3 << 26 | 4
print("fine")
"""

# Then a core that changes nothing of one word takes the place of the other.
REPLACED = GUEST.replace('print("fine")', """
write(0x3fff1010, 1)
while read(0x3fff1010):
    pass
write(registers, 4)
while read(registers) & 4:
    pass
write(0x3000, 0)
start(0x30, 0x1080, 0x3000, 64)
start(0x00, 0x10c0, 0x2000, 4 | 1 << 26)
while not read(0x109c) >> 31:
    pass
assert ram[0x3000:0x3004] == b"dray"
write(0x3fff1010, 1)
while read(0x3fff1010):
    pass
print("fine")
""")


@pytest.fixture
def run(built):
    """Starts the model with options, the IP's words and those of its QEMU."""
    def start(*words, options=(), ip=None):
        return subprocess.Popen(
            [built / "fpga-model", *options, *(ip or [built / "invert"]), "--",
             *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
    return start


def children(process):
    """Identifiers of the processes that it has started."""
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    with open(path, encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def both_children(process):
    end = time.monotonic() + DEADLINE
    while len(children(process)) < 2:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    return children(process)


def all_gone(identifiers):
    end = time.monotonic() + DEADLINE
    for identifier in identifiers:
        while os.path.exists(f"/proc/{identifier}"):
            with open(f"/proc/{identifier}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    break
            assert time.monotonic() < end
            time.sleep(0.01)
    return True


def test_a_packet_passes_memory_model_and_ip(run):
    model = run(sys.executable, "-c", GUEST)
    out, said = model.communicate(timeout=DEADLINE)
    assert (out, model.returncode) == ("fine\n", 0), said
    assert "s2mm: 1 packets, 1 descriptors, 4 bytes, 1 interrupts" in said


def test_the_guest_replaces_an_ip_by_the_next(run, built):
    model = run(sys.executable, "-c", REPLACED,
                ip=[built / "invert", "+", built / "sum"])
    out, said = model.communicate(timeout=DEADLINE)
    assert (out, model.returncode) == ("fine\n", 0), said
    assert "no IP is left to replace this IP" in said


def test_its_exit_status_is_that_of_qemu(run):
    model = run("sh", "-c", "exit 7")
    model.communicate(timeout=DEADLINE)
    assert model.returncode == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT,
                                    signal.SIGKILL])
def test_a_signal_ends_all_three(run, number):
    model = run(*WAITING)
    started = both_children(model)
    model.send_signal(number)
    model.communicate(timeout=DEADLINE)
    assert model.returncode != 0
    assert all_gone(started)


def test_the_end_of_qemu_ends_the_ip(run):
    model = run("sh", "-c", "sleep 0.2")
    started = both_children(model)
    model.communicate(timeout=DEADLINE)
    assert all_gone(started)


@pytest.mark.parametrize("ip, said", [
    (["sh", "-c", "exit 3"], "the IP ended with 3"),
    (["sh", "-c", "kill -9 $$"], "signal 9 ended the IP"),
    (["/nowhere"], "cannot run /nowhere"),
])
def test_a_failing_ip_ends_qemu(run, ip, said):
    model = run(*WAITING, ip=ip)
    started = children(model)
    assert said in model.communicate(timeout=DEADLINE)[1]
    assert model.returncode == 1
    assert all_gone(started)


def test_an_ip_may_end_before_qemu(run):
    model = run("sh", "-c", "sleep 0.2", ip=["true"])
    model.communicate(timeout=DEADLINE)
    assert model.returncode == 0


@pytest.mark.parametrize("options, said", [
    (["--fault", "s2mm.late"], "no fault s2mm.late"),
    (["--fault", "deaf=x"], "no fault deaf=x"),
    (["--prefetch", "5"], "5 is not a number in range"),
    (["--width", "0"], "0 is not a number in range"),
])
def test_a_wrong_option_is_named(run, options, said):
    model = run("true", options=options)
    assert said in model.communicate(timeout=DEADLINE)[1]
    assert model.returncode == 2


def test_an_idle_model_takes_little_of_a_processor(run):
    model = run("sh", "-c", "sleep 3")
    time.sleep(2)
    with open(f"/proc/{model.pid}/stat", encoding="ascii") as file:
        ticks = sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    model.communicate(timeout=DEADLINE)
    assert ticks / os.sysconf("SC_CLK_TCK") < 0.4

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl top and list --all with the module and real processes, on the board.

    DRAY_BACKEND=kernel python3 -m pytest --noconftest with_module_top.py

Needs beside it screen.py, the programs dmactl and dmactl-holder; root; dray.ko
loaded, with /dev/dray0 and an engine, not in use by others, and the same file as
/guest/modules/dray.ko; the Python package, NumPy and tmux; a debugfs; another
exporter of dma-bufs: vgem.ko, /dev/udmabuf or the heap "system".
"""

import ctypes
import fcntl
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from screen import DEADLINE, Screen

HERE = Path(__file__).parent
DMACTL = HERE / "dmactl"
HOLDER = HERE / "dmactl-holder"
MODULE = "/guest/modules/dray.ko"
BUFINFO = Path("/sys/kernel/debug/dma_buf/bufinfo")
MIB = 1 << 20

# Copies by an engine, with cache maintenance, until its standard input ends.
WORKER = """
import select, sys
import numpy as np
import dray
with dray.memory():
    source = np.ones((1024, 512), np.float32)
    target = np.empty_like(source)
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    dray.copy(target, source, engine=True)
    dray.sync_for_device(target)
    dray.sync_for_cpu(target)
assert (target == source).all()
"""


def start(*command):
    """A child, once it says that it is ready; its end of input ends it."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, text=True,
                             stdout=subprocess.PIPE)
    for line in child.stdout:
        if line.strip() == "ready":
            return child
    raise AssertionError(f"{command} ended with {child.wait()}")


def finish(child):
    child.stdin.close()
    child.stdout.close()
    assert child.wait(DEADLINE) == 0


@pytest.fixture(name="worker", scope="module")
def make_worker():
    """One for all tests: Python takes seconds to start on the board."""
    child = start(sys.executable, "-c", WORKER)
    yield child
    finish(child)


@pytest.fixture(name="heap", scope="module")
def find_heap():
    return json.loads(run("heaps", "-n", "dray0"))["heaps"][0]["heap"]


def run(*arguments, **more):
    return subprocess.run([DMACTL, *arguments, "--json"], check=True,
                          capture_output=True, text=True, **more).stdout


def sample_until(fits):
    """Lines of top --json until one fits; returns it."""
    with subprocess.Popen([DMACTL, "top", "--json", "--interval", "250ms"],
                          stdout=subprocess.PIPE, text=True) as top:
        end = time.monotonic() + DEADLINE
        try:
            for line in top.stdout:
                sample = json.loads(line)
                if fits(sample):
                    return sample
                assert time.monotonic() < end, sample
        finally:
            top.terminate()
    raise AssertionError("top has ended")


def of_pid(sample, pid):
    return next((process for process in sample["processes"]
                 if process["pid"] == pid), None)


@pytest.fixture(name="screen")
def make_screen(tmp_path):
    screen = Screen(tmp_path, DMACTL, "top", "--interval", "200ms")
    yield screen
    screen.close()


def remove_module():
    """Once no sample has a node open; returns the words to insert it again."""
    folder = Path("/sys/module/dray/parameters")
    value = (folder / "watchdog_ms").read_text().strip()
    end = time.monotonic() + DEADLINE
    while (done := subprocess.run(["rmmod", "dray"], capture_output=True,
                                  text=True, check=False)).returncode:
        assert time.monotonic() < end, done.stderr
        time.sleep(0.05)
    return ["insmod", MODULE, f"watchdog_ms={value}"]


# First of all, as the worker would keep the module.
def test_the_module_is_removed_and_inserted_while_it_runs(screen):
    screen.wait("reserved")
    insert = remove_module()
    screen.wait("the dray module is not loaded")
    pid = screen.pid
    subprocess.run(insert, check=True)
    screen.wait("reserved")
    assert screen.pid == pid
    screen.keys("q")
    assert screen.wait_for_end() == 0


# Here, for the same reason.
def test_a_log_of_events_ends_with_the_module():
    with subprocess.Popen([DMACTL, "trace"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as trace:
        assert trace.stdout.readline().startswith("TIME")
        subprocess.run(remove_module(), check=True)
        assert trace.communicate(timeout=DEADLINE) == (
            "", "dmactl: the dray module was unloaded: its events have ended\n")
    assert trace.returncode == 1


def test_a_numpy_process_has_its_memory_and_its_transfers(worker):
    def works(sample):
        process = of_pid(sample, worker.pid)
        return process and (process["transfers_per_second"] or 0) > 0 and \
            process["synced_per_second"] > 0

    sample = sample_until(works)
    process = of_pid(sample, worker.pid)
    assert process["comm"].startswith("python3")
    assert (process["user"], process["state"]) == ("root", "alive")
    assert process["memory"] >= 4 * MIB and process["buffers"] >= 1
    # 2 MiB each
    assert process["moved_per_second"] == pytest.approx(
        process["transfers_per_second"] * 2 * MIB, rel=0.5)
    assert any(stream["transfers_per_second"] > 0
               for stream in sample["streams"])
    used = sum(heap["used"] for heap in sample["heaps"]
               if heap["node"] == "dray0")
    assert used >= process["memory"]


def test_a_process_that_allocates_and_frees_has_a_rate(heap):
    child = start(HOLDER, "--churn", heap, "a", "65536", "b", "65536")
    try:
        sample_until(lambda sample: (of_pid(sample, child.pid) or {}).get(
            "allocated_per_second", 0) > 0)
    finally:
        finish(child)


def test_once_and_list_agree(worker):
    text = subprocess.run([DMACTL, "top", "--once", "--no-header", "--bytes",
                           "--columns", "pid,memory"], check=True, text=True,
                          capture_output=True).stdout
    rows = [line.split() for line in text.split("\n\n")[-1].splitlines()]
    listed = json.loads(run("list", "--pid", str(worker.pid)))["total"]
    assert [str(worker.pid), str(listed["size"] + listed["attached"])] in rows


def test_the_screen_shows_the_process_and_its_buffers(screen, worker):
    screen.wait(str(worker.pid))
    screen.keys("/", *str(worker.pid), "Enter", "Enter")
    lines = screen.wait(f"({worker.pid})")
    assert lines[1].split()[:3] == ["ID", "SIZE", "HEAP"]
    assert "reserved" in "".join(lines[2:])
    screen.resize(60, 10)
    screen.wait(lambda lines: len(lines) == 10 and "ID" in lines[1])
    screen.keys("Escape", "q")
    screen.resize(100, 30)
    assert screen.wait_for_end() == 0


# Dma-bufs of other exporters: a descriptor, or None where there is no such driver.

def system_heap(size):
    try:
        heap = os.open("/dev/dma_heap/system", os.O_RDWR)
    except OSError:
        return None
    call = bytearray(struct.pack("QIIQ", size, 0, os.O_RDWR | os.O_CLOEXEC, 0))
    fcntl.ioctl(heap, 0xC0184800, call)
    os.close(heap)
    return struct.unpack("QIIQ", call)[1]


def udmabuf(size):
    try:
        device = os.open("/dev/udmabuf", os.O_RDWR)
    except OSError:
        return None
    memory = os.memfd_create("frames", os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    # returns the number only for a buffer that the call may change
    call = bytearray(struct.pack("IIQQ", memory, 1, 0, size))
    descriptor = fcntl.ioctl(device, 0x40187542, call)
    os.close(memory)
    os.close(device)
    return descriptor


def dumb_buffer(size):
    """Of vgem's card."""
    try:
        card = os.open("/dev/dri/card0", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    buffer = bytearray(struct.pack("IIIIIIQ", 1, size // 4, 32, 0, 0, 0, 0))
    fcntl.ioctl(card, 0xC02064B2, buffer)
    handle = struct.unpack("IIIIIIQ", buffer)[4]
    call = bytearray(struct.pack("IIi", handle, os.O_RDWR | os.O_CLOEXEC, -1))
    fcntl.ioctl(card, 0xC00C642D, call)
    os.close(card)
    return struct.unpack("IIi", call)[2]


MAKERS = {"system": system_heap, "udmabuf": udmabuf, "drm": dumb_buffer}


@pytest.fixture(name="others")
def make_others():
    """Dma-bufs of this process by their exporters."""
    found = {name: make(2 * 65536) for name, make in MAKERS.items()}
    found = {name: number for name, number in found.items()
             if number is not None}
    assert found
    yield found
    for number in found.values():
        os.close(number)


def entries(*arguments, **more):
    return json.loads(run("list", "--all", *arguments, **more))


def set_name(descriptor, name):
    fcntl.ioctl(descriptor, 0x40086201, name.encode() + b"\0")


def test_dma_bufs_of_all_exporters_are_listed(worker, others):
    for exporter, descriptor in others.items():
        set_name(descriptor, f"of {exporter}")
    found = entries()
    assert (found["unread"], found["hidden_processes"]) == ([], 0)
    ours = {entry["exporter"]: entry for entry in found["dma_bufs"]
            if os.getpid() in [each["pid"] for each in entry["holders"]]}
    assert set(ours) == set(others)
    for exporter, descriptor in others.items():
        entry = ours[exporter]
        assert entry["inode"] == os.fstat(descriptor).st_ino
        assert (entry["size"], entry["name"], entry["id"]) == (
            2 * 65536, f"of {exporter}", None)
        assert entry["devices"] == []
        assert entry["holders"] == [{
            "pid": os.getpid(), "comm": Path("/proc/self/comm").read_text()[:-1],
            "uid": 0, "user": "root", "descriptors": 1, "mappings": 0}]
    dray = {entry["id"]: entry for entry in found["dma_bufs"]
            if entry["exporter"] == "dray"}
    listed = json.loads(run("list", "--pid", str(worker.pid)))["buffers"]
    assert listed and {buffer["id"] for buffer in listed} <= set(dray)
    for buffer in listed:
        entry = dray[buffer["id"]]
        assert (entry["size"], entry["name"]) == (
            buffer["size"], buffer["name"])
        assert [holder["pid"] for holder in entry["holders"]] == [worker.pid]
    in_kernel = BUFINFO.read_text().splitlines()[-1].split()
    assert in_kernel[1] == str(len(found["dma_bufs"]))


def test_the_table_has_the_same_rows(worker, others):
    text = subprocess.run([DMACTL, "list", "--all", "--no-header", "--columns",
                           "inode,exporter", "--pid", str(os.getpid())],
                          check=True, capture_output=True, text=True).stdout
    assert sorted(line.split()[1] for line in text.splitlines()) == \
        sorted(others)
    assert worker.pid


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_mapping_alone_is_a_holder(make):
    descriptor = make(65536)
    if descriptor is None:
        pytest.skip("the kernel has no such exporter")
    inode = os.fstat(descriptor).st_ino
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    # Python's own would keep a copy of the descriptor
    place = libc.mmap(None, ctypes.c_size_t(65536),
                      mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED,
                      descriptor, ctypes.c_long(0))
    assert place != ctypes.c_void_p(-1).value, ctypes.get_errno()
    os.close(descriptor)
    entry, = [entry for entry in entries()["dma_bufs"]
              if entry["inode"] == inode]
    libc.munmap(ctypes.c_void_p(place), ctypes.c_size_t(65536))
    holder, = entry["holders"]
    assert (holder["pid"], holder["descriptors"], holder["mappings"]) == (
        os.getpid(), 0, 1)
    assert not [entry for entry in entries()["dma_bufs"]
                if entry["inode"] == inode]


def nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def test_others_see_less_and_are_told(worker, others):
    mode = os.stat("/dev/dray0").st_mode
    folder = HERE
    folder.chmod(0o755)
    os.chmod("/dev/dray0", 0o666)
    try:
        found = entries(preexec_fn=nobody)
        sample, = [json.loads(line) for line in run(
            "top", "--count", "1", "--interval", "50ms", "-n", "dray0",
            preexec_fn=nobody).splitlines()]
    finally:
        os.chmod("/dev/dray0", mode & 0o7777)
    assert found["hidden_processes"] > 0
    assert [each["reason"] for each in found["unread"]][0] == \
        "Permission denied"
    assert not [entry for entry in found["dma_bufs"] if entry["holders"]]
    assert sample["hidden_processes"] > 0
    assert sample["processes"] == [] and worker.pid and others is not None


def test_a_signal_ends_it_between_two_samples(screen):
    screen.wait("reserved")
    screen.kill(signal.SIGTERM)
    assert screen.wait_for_end() == 128 + signal.SIGTERM

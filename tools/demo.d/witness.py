# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Records the system calls of this process in the kernel.

    witness = Witness()
    with witness:
        ...
    witness.calls       # ["close 9", "ioctl SUBMIT"]

Uses tracefs: the measured code takes no part in the record.
"""

import gc
import os
import re

TRACING = "/sys/kernel/tracing"
CLOSE, WRITE, IOCTL = 57, 64, 29        # of arm64
NAMES = {29: "ioctl", 73: "ppoll", 98: "futex", 214: "brk", 215: "munmap",
         222: "mmap", 226: "mprotect", 233: "madvise"}
MAGIC = 0xda                    # include/uapi/linux/dray.h
CALLS = ["INFO", "HEAP_INFO", "CHANNEL_INFO", "ALLOC", "ADDRESS", "SYNC",
         "SUBMIT", "LIST", "BUFFER_INFO"]


class Witness:
    def __init__(self) -> None:
        write("tracing_on", "0")
        write("set_event_pid", str(os.getpid()))
        write("events/raw_syscalls/sys_enter/enable", "1")
        self.calls: list[str] = []
        self._switch = os.open(f"{TRACING}/tracing_on", os.O_WRONLY)

    def __enter__(self) -> "Witness":
        write("trace", "")
        gc.disable()        # a collection would add unrelated calls
        os.write(self._switch, b"1")
        return self

    def __exit__(self, *_exception: object) -> None:
        os.write(self._switch, b"0")
        gc.enable()
        with open(f"{TRACING}/trace", encoding="ascii") as trace:
            entries = re.findall(r"sys_enter: NR (\d+) \((\w+), (\w+)",
                                 trace.read())
        # The last one is the write that ended the record.
        last = entries.pop()
        assert (int(last[0]), int(last[1], 16)) == (WRITE, self._switch)
        self.calls = [name(int(number), int(first, 16), int(second, 16))
                      for number, first, second in entries]


def name(number: int, first: int, second: int) -> str:
    if number == IOCTL and second >> 8 & 0xff == MAGIC:
        return "ioctl " + CALLS[second & 0xff]
    if number == CLOSE:
        return f"close {first}"
    return NAMES.get(number, f"system call {number}")


def write(file: str, text: str) -> None:
    with open(f"{TRACING}/{file}", "w", encoding="ascii") as control:
        control.write(text)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The screen of an emulated ZCU102: takes pictures as the guest asks (screen.h).

Usage: screen.py MONITOR FOLDER

MONITOR is QEMU's socket for QMP.  Writes 0.ppm, 1.ppm, ... to FOLDER, and ends with
QEMU.
"""

import json
import pathlib
import socket
import sys
import time

ADDRESS = 0x3FFE0000
REFRESH = 1 / 100  # seconds
LOOK = 1 / 200
START = 60  # seconds until QEMU must listen


class Monitor:
    """A connection to QEMU's monitor."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + START
        while True:
            try:
                self._socket.connect(path)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(LOOK)
        self._file = self._socket.makefile("r")
        self._file.readline()
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: str) -> object:
        """Returns the answer; EOFError if QEMU has ended."""
        line = json.dumps({"execute": command, "arguments": arguments})
        try:
            self._socket.sendall(f"{line}\n".encode())
            while answer := self._file.readline():
                words = json.loads(answer)
                if "error" in words:
                    raise RuntimeError(f"{command}: {words['error']['desc']}")
                if "return" in words:
                    return words["return"]
        except OSError as error:
            raise EOFError from error
        raise EOFError

    def words(self, address: int, count: int) -> list[int]:
        """Reads 32-bit words of physical memory."""
        text = self.ask("human-monitor-command",
                        **{"command-line": f"xp /{count}wx {address:#x}"})
        return [int(word, 16) for line in str(text).splitlines()
                for word in line.split(":")[1].split()]


def main() -> None:
    monitor = Monitor(sys.argv[1])
    folder = pathlib.Path(sys.argv[2]).resolve()
    taken = 0
    while True:
        pictures, refreshes = monitor.words(ADDRESS, 2)
        if pictures > taken:
            monitor.ask("screendump", filename=str(folder / f"{taken}.ppm"))
            taken += 1
        elif refreshes:
            monitor.ask("screendump", filename="/dev/null")
        time.sleep(REFRESH if refreshes else LOOK)


try:
    main()
except EOFError:
    pass

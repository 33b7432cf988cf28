# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A terminal by tmux, on a server of its own: keys go in, its lines come out.
Nothing waits for a time: the screen is looked at until it shows what it should."""

import itertools
import os
import shlex
import subprocess
import time

DEADLINE = 60  # seconds; reached only by a failure
NUMBERS = itertools.count()


class Screen:
    def __init__(self, folder, *command, width=100, height=30,
                 environment=None, kind="screen-256color"):
        self.folder = folder
        self.socket = f"dray-test-{os.getpid()}-{next(NUMBERS)}"
        self.pid_file = folder / "pid"
        self.pid_file.unlink(missing_ok=True)
        variables = {"LC_ALL": "C.UTF-8", "DRAY_SCENE": "busy", "NO_COLOR": "",
                     "TERM": kind, **(environment or {})}
        words = " ".join(f"{name}={shlex.quote(value)}"
                         for name, value in variables.items())
        inner = shlex.join(["sh", "-c", f'echo $$ >{shlex.quote(str(self.pid_file))}; '
                            'exec "$@"', "sh", *map(str, command)])
        # the settings of the terminal before and after, and the exit status
        script = ('trap : INT QUIT; '  # they are for the program
                  f'stty -g >{folder}/before; env {words} {inner}; '
                  f'echo $? >{folder}/status; stty -g >{folder}/after; '
                  "echo all done; exec cat")
        self.tmux("-f", "/dev/null", "-u", "new-session", "-d",
                  "-x", str(width), "-y", str(height), script)
        self.tmux("set-option", "-g", "status", "off")

    def tmux(self, *arguments):
        return subprocess.run(
            ["tmux", "-L", self.socket, *arguments], check=True, text=True,
            stdin=subprocess.DEVNULL, capture_output=True,
            env=dict(os.environ, LC_ALL="C.UTF-8", TMUX="")).stdout

    def lines(self, colours=False):
        text = self.tmux("capture-pane", "-p", *(["-e"] if colours else []))
        return text.split("\n")[:-1]

    def wait(self, fits, colours=False):
        """The lines, once fits(lines) or, for a text, once they have it."""
        if isinstance(fits, str):
            wanted = fits
            fits = lambda lines: any(wanted in line for line in lines)
        end = time.monotonic() + DEADLINE
        while True:
            lines = self.lines(colours)
            if fits(lines):
                return lines
            assert time.monotonic() < end, "\n".join(lines)
            time.sleep(0.02)

    def wait_for_end(self):
        """The exit status, once the terminal is as it was before."""
        self.wait("all done")
        assert (self.folder / "before").read_text() == \
            (self.folder / "after").read_text()
        return int((self.folder / "status").read_text())

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def pid(self):
        return int(self.pid_file.read_text())

    def kill(self, number):
        os.kill(self.pid, number)

    def close(self):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], check=False,
                       capture_output=True)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_ended(pid):
    end = time.monotonic() + DEADLINE
    while is_running(pid):
        assert time.monotonic() < end, f"process {pid} runs on"
        time.sleep(0.02)

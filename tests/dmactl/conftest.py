# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs dmactl, from the build folder that DRAY_BUILD names.

dmactl-scripted has the same sources, but scripted.c in place of the library: it
shows scenes that the real module shows only by chance.
"""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from pathlib import Path
from typing import NamedTuple

# Programs get signals as a shell in front starts them, also if this run ignores some.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)

TREE = Path(__file__).parents[2]
BUILD = Path(os.environ["DRAY_BUILD"])
DMACTL = BUILD / "tools/dmactl/dmactl"
SCRIPTED = BUILD / "tests/dmactl/dmactl-scripted"
# Debian's Python cannot load such a library, nor does Valgrind run such a program.
SANITIZED = b"__asan_init" in DMACTL.read_bytes()


class Result(NamedTuple):
    code: int
    out: str
    error: str


def misused(sentence):
    """The result of a wrong command line."""
    return Result(2, "", f"dmactl: {sentence}\nTry 'dmactl --help'.\n")


def as_plain(error, code):
    """Errors as text without a command: test_usage.py has the real forms."""
    error = re.sub(r"^Try 'dmactl help [a-z ]+'\.$", "Try 'dmactl --help'.",
                   error, flags=re.MULTILINE)
    plain = re.sub(r'^\{"error":.*\}$',
                   lambda line: f"dmactl: {json.loads(line[0])['error']}", error,
                   flags=re.MULTILINE)
    return plain + ("Try 'dmactl --help'.\n" if code == 2 and plain != error else "")


def run(program, *arguments, scene="plain", fail=None, environment=(),
        stdout=subprocess.PIPE, **more):
    variables = dict(os.environ, DRAY_SCENE=scene, LC_ALL="C.UTF-8",
                     # so that a request for too much returns, as it does
                     # without the sanitizer
                     ASAN_OPTIONS="allocator_may_return_null=1:"
                     + os.environ.get("ASAN_OPTIONS", ""))
    if fail:
        variables["DRAY_FAIL"] = fail
    variables.update(environment)
    done = subprocess.run([program, *arguments], env=variables, timeout=600,
                          stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, check=False, **more)
    return Result(done.returncode, (done.stdout or b"").decode(),
                  as_plain(done.stderr.decode(), done.returncode))


def shown(*arguments, **more):
    """Output of dmactl-scripted, which succeeds without an error."""
    result = run(SCRIPTED, *arguments, **more)
    assert (result.code, result.error) == (0, "")
    return result.out


def document(*arguments, **more):
    return json.loads(shown(*arguments, "--json", **more))


def on_terminal(*arguments, width=200, **environment):
    """The same on a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, width, 0, 0))
    text = []
    # a terminal holds a few kilobytes only
    reader = threading.Thread(target=read_all, args=(ours, text))
    reader.start()
    try:
        shown(*arguments, stdout=theirs,
              environment={"TERM": "xterm", "NO_COLOR": "", **environment})
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return b"".join(text).decode().replace("\r\n", "\n")


def read_all(terminal, text):
    try:
        while piece := os.read(terminal, 65536):
            text.append(piece)
    except OSError:  # EIO: the other end is closed and all is read
        pass

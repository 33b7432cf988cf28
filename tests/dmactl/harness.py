# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tests of dmactl without a module share: how it is run, and TAP.

Each takes the paths of dmactl, of dmactl-scripted (the same sources over a
stand-in for the library, scripted.c, which shows what the real module shows
only by chance), of the folder with the man pages and of the completion.
"""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

DMACTL, SCRIPTED, MAN_FOLDER, COMPLETION = sys.argv[1:5]
MODULE_LOADED = os.path.exists("/sys/module/dray")
COMMANDS = ["list", "show", "heaps", "nodes", "reclaim", "help"]
OPTIONS = ["-n", "--node", "--all", "--json", "--no-header", "--bytes", "-h", "--help",
           "--version"]
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Skip(Exception):
    pass


def run(program, *arguments, scene="plain", fail=None, **more):
    environment = dict(os.environ, DRAY_SCENE=scene, LC_ALL="C.UTF-8",
                       # so that a request for too much returns, as it does
                       # without the sanitizer
                       ASAN_OPTIONS="allocator_may_return_null=1:"
                       + os.environ.get("ASAN_OPTIONS", ""))
    environment.pop("DRAY_FAIL", None)
    if fail:
        environment["DRAY_FAIL"] = fail
    environment.update(more.pop("environment", {}))
    return subprocess.run([program, *arguments], env=environment,
                          stdin=subprocess.DEVNULL, timeout=60,
                          stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, **more)


def same(what, value, expected):
    if value != expected:
        raise AssertionError(f"{what}: {value!r} instead of {expected!r}")


def check(result, code, out=None, error=""):
    """The exit code, the whole of both outputs; None: whatever it is."""
    same("standard error", result.stderr.decode(), error)
    same("exit code", result.returncode, code)
    if out is not None:
        same("standard output", result.stdout.decode(), out)


def read_json(result, code=0, error=""):
    check(result, code, error=error)
    return json.loads(result.stdout)


def on_terminal(*arguments, width=200, **environment):
    """What dmactl-scripted writes to a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, width, 0, 0))
    environment = {"TERM": "xterm", "NO_COLOR": "", **environment}
    result = run(SCRIPTED, *arguments, stdout=theirs, environment=environment)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # EIO: the other end is closed and all is read
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    same("exit code", result.returncode, 0)
    return text.decode().replace("\r\n", "\n")


def main():
    failed = False
    print(f"1..{len(TESTS)}")
    for number, function in enumerate(TESTS, 1):
        note = f"{number} - {function.__name__}"
        try:
            function()
            print(f"ok {note}")
        except Skip as reason:
            print(f"ok {note} # SKIP {reason}")
        except Exception as error:  # one broken test must not hide the rest
            failed = True
            print(f"not ok {note}")
            for line in f"{type(error).__name__}: {error}".splitlines():
                print(f"# {line}")
        sys.stdout.flush()
    return failed

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A signal handler, or a finalizer that the collector runs, asks for memory
while its own thread is doing so.

The signal comes before each bytecode of the package in turn, which is wherever
Python might run a handler, in a process of its own that a deadlock may keep.
"""
import subprocess
import sys

import pytest

from deadline import DEADLINE

PROGRAM = """
import signal, sys
import dray

def ask():
    return dray.memory(shareable=True).pool

got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(ask()))

def ask_with_a_signal_before(nth):
    '''Whether the call has so many bytecodes.'''
    left = nth

    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != dray._functions.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if not left:
                signal.raise_signal(signal.SIGUSR1)
            left -= 1
        return trace
    sys.settrace(trace)
    try:
        got.append(ask())
    finally:
        sys.settrace(None)
    return left < 0

ask()
kept, nth = len(dray._functions._made), 0
while True:
    got.clear()
    if sys.argv[1] == "first":
        dray._functions._made.clear()
    if not ask_with_a_signal_before(nth):
        break
    nth += 1
    assert len(got) == 2 and got[0] is got[1] is ask(), nth
    assert len(dray._functions._made) == kept, dray._functions._made
print(nth)
"""


@pytest.mark.parametrize("call", ["first", "later"])
def test_a_signal_handler_has_the_pool_that_it_came_upon(call):
    done = subprocess.run([sys.executable, "-c", PROGRAM, call], text=True,
                          capture_output=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20

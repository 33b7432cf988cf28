# SPDX-License-Identifier: Apache-2.0 OR MIT
"""DRAY_HANDLER=check: what a program does wrong with its arrays is said on
standard error, with the places that called, whatever the program is."""
import os
import re
import subprocess
import sys
import textwrap

import pytest

from deadline import DEADLINE

pytestmark = pytest.mark.host  # checks are the same on each back end

BEGIN = """
import ctypes
import sys
import numpy as np
import dray

def handler_of(array):
    '''The library's handler for the pool that the array lies in.'''
    path = [line.split()[-1] for line in open("/proc/self/maps")
            if "/libdray.so" in line][0]
    library = ctypes.CDLL(path)
    where = (ctypes.c_uint64 * 8)()
    assert library.dray_locate(ctypes.c_void_p(array.ctypes.data), where) == 0
    library.dray_handler_for.restype = ctypes.POINTER(ctypes.c_void_p)
    return library.dray_handler_for(ctypes.c_void_p(where[0]))

def free(handler, address):
    '''Through the handler's last function, as NumPy calls it.'''
    first = 128 // ctypes.sizeof(ctypes.c_void_p)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p,
                                ctypes.c_size_t)(handler[first + 4])
    function(handler[first], address, 1)

with dray.memory():
    a = np.arange(100, dtype=np.uint8)
"""


def run(body, **environment):
    """What a program does after BEGIN, in a process of its own."""
    environment = {**os.environ, "DRAY_HANDLER": "check", **environment}
    return subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(body)], text=True,
        capture_output=True, stdin=subprocess.DEVNULL, timeout=DEADLINE,
        env=environment, check=False)


def said_by(body):
    done = run(body)
    assert done.returncode == 0, done.stderr
    return done.stderr


SITES = r"(?:    \S.* in \S+\n)+"
NUMPY = r"(?:    \S.* in \S+\n)*    \S.* in _multiarray_umath\.\S+\n"


def test_a_program_that_does_all_well_says_nothing():
    assert said_by("""
        with dray.memory():
            b = [np.zeros(n) for n in (0, 1, 1000, 100_000)]
            b[2].resize(3000, refcheck=False)
            b[2].resize(3, refcheck=False)
            c = a[::2] + a[1::2]
        with dray.memory(min_bytes=1000):
            d = np.zeros(10)
            for n in (10_000, 10, 20_000, 0):
                d.resize(n, refcheck=False)
        """) == ""


def test_the_handler_says_in_its_name_that_it_checks(plain_handler):
    done = run("print(dray.handler_name(a), dray.pool().handler_name, sep='/')")
    name = f"checked {plain_handler}"
    assert done.stdout == f"{name}/{name}\n", done.stderr


def test_a_leak_is_said_at_exit_with_its_call_sites():
    said = said_by("ctypes.pythonapi.Py_IncRef(ctypes.py_object(a))")
    assert re.fullmatch(
        r'dray: handler "checked dray \w+" at exit:\n'
        r"block 0x[0-9a-f]+ of 100 bytes\n  allocated by\n" + SITES +
        r"1 block of 100 bytes is out; 0 bad frees, 0 double frees, "
        r"0 broken guards, 0 late writes, 0 frees with a wrong size\n", said), said
    assert re.search(r"allocated by\n" + NUMPY, said), said


def test_the_line_of_python_is_said():
    said = said_by("""
        def work():
            with dray.memory():
                b = np.ones(100)
            np.lib.stride_tricks.as_strided(b, (101,))[100] = 5
            return b
        b = work()
        del b
        """)
    lines = dict(re.findall(r"  (now called|allocated) by\n    <string>:(\d+ in "
                            r"\S+)\n", said))
    begin = BEGIN.count("\n")
    assert lines == {"allocated": f"{begin + 4} in work",
                     "now called": f"{begin + 8} in <module>"}, said


def test_a_write_behind_an_array_is_said_by_its_free():
    said = said_by("""
        np.lib.stride_tricks.as_strided(a, (101,))[100] = 5
        del a
        print("later", file=sys.stderr)
        """)
    assert re.match(
        r"dray: block 0x[0-9a-f]+ of 100 bytes was written 1 byte behind its "
        r"last\n  now called by\n" + SITES + r"  allocated by\n" + SITES, said)
    assert said.index("behind its last") < said.index("later")


def test_a_write_to_an_array_that_is_gone_is_said_at_exit():
    said = said_by("""
        late = (ctypes.c_uint8 * 100).from_address(a.ctypes.data)
        del a
        late[3] = 1
        """)
    assert re.match(
        r"dray: byte 3 of block 0x[0-9a-f]+ of 100 bytes was written after it "
        r"was freed\n  allocated by\n" + SITES + r"  freed by\n" + SITES, said)
    assert "0 broken guards, 1 late writes" in said


def test_a_second_free_is_said_and_harms_nobody():
    said = said_by("""
        handler, address = handler_of(a), a.ctypes.data
        del a
        free(handler, address)
        with dray.memory():
            assert np.ones(1000).sum() == 1000
        """)
    assert re.match(
        r"dray: free of block 0x[0-9a-f]+ of 100 bytes, which is freed\n"
        r"  now called by\n" + SITES + r"  allocated by\n" + SITES +
        r"  freed by\n" + SITES, said)
    assert "0 bad frees, 1 double frees" in said


def test_a_free_of_what_is_no_array_is_said_and_harms_nobody():
    said = said_by("""
        free(handler_of(a), a.ctypes.data + 8)
        free(handler_of(a), np.zeros(1000).ctypes.data)
        assert (a == np.arange(100)).all()
        """)
    assert "dray: free of 0x" in said
    assert ", 8 bytes from the start of block 0x" in said
    assert ', which is not a block of "checked dray ' in said
    assert "0 blocks of 0 bytes are out; 2 bad frees" in said


def test_the_first_fault_aborts_where_that_is_asked():
    done = run("free(handler_of(a), a.ctypes.data + 8)",
               DRAY_ABORT_ON_BAD_FREE="1")
    assert done.returncode == -6, done.stderr
    assert "8 bytes from the start of block" in done.stderr


def test_another_handler_is_a_value_error_that_names_it():
    done = run("", DRAY_HANDLER="chek")
    assert done.returncode == 1
    assert ('ValueError: DRAY_HANDLER is "chek", not "check"'
            in done.stderr)


def test_without_a_name_nothing_is_checked(plain_handler):
    done = run("print(dray.handler_name(a))", DRAY_HANDLER="")
    assert (done.stdout, done.stderr) == (f"{plain_handler}\n", "")

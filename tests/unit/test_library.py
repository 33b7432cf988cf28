# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The public headers, and what the library in DRAY_BUILD exports."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
LIBRARY = Path(os.environ["DRAY_BUILD"]) / "userspace/src/libdray.so"
HEADERS = sorted((TREE / "include/dray").glob("*.h"))


@pytest.mark.parametrize("compiler, standard", [
    ("gcc", "c11"), ("g++", "c++11"), ("g++", "c++20"), ("clang++", "c++11")])
@pytest.mark.parametrize("header", [header.name for header in HEADERS])
def test_a_header_alone_compiles_without_a_warning(header, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    # Twice: it has a guard.
    program = 2 * f"#include <dray/{header}>\n" + "int main(void) { return 0; }\n"
    done = subprocess.run(
        [compiler, "-x", standard.rstrip("0123456789"), f"-std={standard}",
         "-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror",
         f"-I{TREE}/include", f"-I{TREE}/include/uapi", "-fsyntax-only", "-"],
        input=program, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def exported():
    symbols = subprocess.check_output(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY], text=True)
    rows = map(str.split, symbols.splitlines())
    return {name for _, kind, name in rows if kind != "A"}


def declared(*patterns):
    text = "".join(header.read_text(encoding="utf-8") for header in HEADERS)
    found = [set(re.findall(r"(dray_[a-z0-9_]*)\(", "".join(
        re.findall(pattern, text, re.MULTILINE)))) for pattern in patterns]
    assert all(found)
    return set().union(*found)


def interrupted(header):
    """Returns the functions of which the comment before them says -EINTR."""
    text = header.read_text(encoding="utf-8")
    return {name for comment, name in re.findall(
        r"^/\*\*\n((?: \*.*\n)+)(?:DRAY_NAMESAKE_BEGIN\n)?DRAY_API[^;(]*?(dray_\w+)\(",
        text, re.MULTILINE) if "-EINTR" in comment}


def test_base_names_the_functions_that_a_signal_interrupts():
    base = (TREE / "include/dray/base.h").read_text(encoding="utf-8")
    found = set().union(*map(interrupted, HEADERS))
    assert {"dray_fence_wait", "dray_view_wait", "dray_copy"} <= found
    assert {name for name in found if f"{name}()" not in base} == set()


CALLED = r"^DRAY_API\s[^;]*;"
INLINED = r"^DRAY_INLINED\([^{]*{"


def test_all_exported_symbols_are_dray_and_have_a_version(exported):
    assert [name for name in exported
            if not re.fullmatch(r"dray_[a-z0-9_]*@@DRAY_[0-9.]*", name)] == []


def test_declared_and_exported_functions_are_the_same(exported):
    assert declared(CALLED, INLINED) == {name.split("@")[0] for name in exported}


def test_each_function_is_tested_with_null():
    tests = (TREE / "tests/unit").glob("test_null*.c")
    text = "".join(test.read_text(encoding="utf-8") for test in tests)
    assert declared(CALLED) - set(re.findall(r"dray_[a-z0-9_]*", text)) == set()


# Calls of the C library that return a new descriptor, and of the module.
OPENERS = re.compile(
    r"(?<![\w.>])(open|openat|creat|dup|dup2|dup3|socket|accept4|memfd_create"
    r"|eventfd|epoll_create|epoll_create1|timerfd_create|signalfd|inotify_init1?|pipe2?"
    r"|fopen|opendir|scandir|tmpfile|mkstemp|mkostemp|popen|pidfd_\w+)\(|\bF_DUPFD")
MODULE = re.compile(r"\bDRAY_IOC_(ALLOC|EXPORT|ATTACH|TIMELINE|SUBMIT)\b|\b(recvmsg|socketpair)\(")


def without_comments(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_new_descriptor_is_kept_above_the_standard_streams():
    sources = [path for path in sorted((TREE / "userspace/src").rglob("*.[ch]"))
               if path.stem != "descriptor"]
    assert len(sources) > 300
    found = []
    for path in sources:
        text = without_comments(path)
        for call in OPENERS.finditer(text):
            before = "".join(text[:call.start()].split())
            if not before.endswith("dray_descriptor("):
                found.append(f"{path.relative_to(TREE)}: {call[0]}")
        if MODULE.search(text) and "dray_descriptor" not in text:
            found.append(f"{path.relative_to(TREE)}: {MODULE.search(text)[0]}")
    assert found == []

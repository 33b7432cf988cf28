# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The public headers, and what the libraries in DRAY_BUILD export."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
BUILD = Path(os.environ["DRAY_BUILD"])
INCLUDE = TREE / "include"
OPENCL = [INCLUDE / "dray/opencl.h"]
CORE = sorted(path for path in (INCLUDE / "dray").glob("*.h")
              if path.stem not in ("array", "mpi", "opencl", "ucx"))
ARRAY = sorted((INCLUDE / "dray/array").glob("*.h"))
HEADERS = [*CORE, *ARRAY, *OPENCL, INCLUDE / "dray/array.h"]
# Each library, the headers of its functions, and the symbol's version
LIBRARIES = [("userspace/core/libdray.so", CORE, "DRAY_0.1"),
             ("userspace/array/libdray-array.so", ARRAY, "DRAY_ARRAY_0.1"),
             ("userspace/opencl/libdray-opencl.so", OPENCL, "DRAY_OPENCL_0.1")]
LIBRARIES = [row for row in LIBRARIES if (BUILD / row[0]).exists()]


@pytest.fixture
def opencl():
    if len(LIBRARIES) < 3:
        pytest.skip("libdray-opencl is not built")
    return LIBRARIES[2][0]


@pytest.mark.parametrize("compiler, standard", [
    ("gcc", "c11"), ("g++", "c++11"), ("g++", "c++20"), ("clang++", "c++11")])
@pytest.mark.parametrize("header", [str(header.relative_to(INCLUDE)) for header in HEADERS])
def test_a_header_alone_compiles_without_a_warning(header, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    # Twice: it has a guard.
    program = 2 * f"#include <{header}>\n" + "int main(void) { return 0; }\n"
    done = subprocess.run(
        [compiler, "-x", standard.rstrip("0123456789"), f"-std={standard}",
         "-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror",
         f"-I{TREE}/include", f"-I{TREE}/include/uapi", "-fsyntax-only", "-"],
        input=program, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def exported(library):
    """Returns the version of each exported symbol."""
    symbols = subprocess.check_output(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", BUILD / library], text=True)
    rows = map(str.split, symbols.splitlines())
    return dict(name.split("@@") for _, kind, name in rows if kind != "A")


def declared(headers, *patterns):
    text = "".join(header.read_text(encoding="utf-8") for header in headers)
    found = [set(re.findall(r"(dray_[a-z0-9_]*)\(", "".join(
        re.findall(pattern, text, re.MULTILINE)))) for pattern in patterns]
    assert any(found)
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


@pytest.mark.parametrize("library, headers, version", LIBRARIES)
def test_declared_and_exported_functions_are_the_same(library, headers, version):
    public = {name for name, with_version in exported(library).items()
              if with_version == version}
    assert declared(headers, CALLED, INLINED) == public


def undefined(library):
    rows = subprocess.check_output(["nm", "-D", "--undefined-only", BUILD / library], text=True)
    return {row.split()[-1] for row in rows.splitlines()}


def test_private_symbols_are_those_that_the_arrays_use_and_no_others():
    private = {f"{name}@{version}" for name, version in exported(LIBRARIES[0][0]).items()
               if version != "DRAY_0.1"}
    assert private == {name for name in undefined(LIBRARIES[1][0]) if "@DRAY_PRIVATE_" in name}
    version = re.search(r"version: '(.*?)'", (TREE / "meson.build").read_text())[1]
    assert {name.split("@")[1] for name in private} == {f"DRAY_PRIVATE_{version}"}


def test_libdray_includes_no_header_of_arrays():
    sources = [*CORE, *(TREE / "userspace/core").rglob("*.[ch]")]
    found = [str(path.relative_to(TREE)) for path in sources
             if re.search(r"#include <dray/array", path.read_text(encoding="utf-8"))]
    assert found == []


def test_libdray_opencl_calls_public_functions_alone(opencl):
    public = {f"{name}@{version}" for library, _, wanted in LIBRARIES[:2]
              for name, version in exported(library).items() if version == wanted}
    called = {name for name in undefined(opencl) if name.startswith("dray_")}
    assert "dray_executor_create@DRAY_ARRAY_0.1" in called
    assert called - public == set()


def test_libdray_opencl_includes_public_headers_alone():
    sources = sorted((TREE / "userspace/opencl").glob("*.[ch]"))
    found = {name for path in sources
             for name in re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"),
                                    re.MULTILINE)}
    assert found == {"opencl.h"}


def test_libdray_array_knows_nothing_of_opencl():
    library = BUILD / LIBRARIES[1][0]
    assert b"OpenCL" not in library.read_bytes()
    assert {name for name in undefined(library) if name.startswith(("dlopen", "clGet"))} == set()


def test_libdray_needs_no_array():
    assert {name for name in undefined(LIBRARIES[0][0]) if name.startswith("dray_")} == set()


def test_each_function_is_tested_with_null():
    tests = (TREE / "tests/unit").glob("test_null*.c")
    text = "".join(test.read_text(encoding="utf-8") for test in tests)
    assert declared(HEADERS, CALLED) - set(re.findall(r"dray_[a-z0-9_]*", text)) == set()


# Calls of the C library that return a new descriptor, and of the module.
OPENERS = re.compile(
    r"(?<![\w.>])(open|openat|creat|dup|dup2|dup3|socket|accept4|memfd_create"
    r"|eventfd|epoll_create|epoll_create1|timerfd_create|signalfd|inotify_init1?|pipe2?"
    r"|fopen|opendir|scandir|tmpfile|mkstemp|mkostemp|popen|pidfd_\w+)\(|\bF_DUPFD")
MODULE = re.compile(r"\bDRAY_IOC_(ALLOC|EXPORT|ATTACH|TIMELINE|SUBMIT)\b|\b(recvmsg|socketpair)\(")


def without_comments(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_new_descriptor_is_kept_above_the_standard_streams():
    sources = [path for folder in ("core", "array", "opencl")
               for path in sorted((TREE / "userspace" / folder).rglob("*.[ch]"))
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

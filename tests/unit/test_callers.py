# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The checking handler names a caller as far as the program's file knows it: a function is
never called by the name of another."""

import os
import re
import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[2] / "include"
CORE = Path(os.environ["DRAY_BUILD"]) / "userspace/core"
# Behind leak(), which is exported with -rdynamic, lies a function that is not.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <dray/dray.h>

static const struct dray_handler *handler;
static void *inner(void);
void *leak(void);

__attribute__((noinline)) void *leak(void)
{
	void *block = inner();

	__asm__ volatile("" : : : "memory");
	return block;
}

__attribute__((noinline)) static void *inner(void)
{
	void *block = dray_handler_zalloc(handler, 100); /* here */

	__asm__ volatile("" : : : "memory");
	return block;
}

int main(void)
{
	struct dray_node *node;
	struct dray_pool *pool;
	Dl_info info;

	if (dray_node_open("host", &node) || dray_pool_create(node, NULL, &pool))
		return 1;
	handler = dray_handler_for(pool);
	dladdr((void *)leak, &info);
	printf("%td\n", (char *)inner - (char *)info.dli_fbase);
	return !leak();
}
"""
HERE = PROGRAM[:PROGRAM.index("/* here */")].count("\n") + 1


def callers(folder, *flags):
    """Where inner() lies in the file, and the callers in the program."""
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-O1", *flags, f"-I{INCLUDE}", f"-I{INCLUDE}/uapi", "program.c", "-o",
                    "program", CORE / "libdray.so", f"-Wl,-rpath,{CORE}", "-ldl"],
                   cwd=folder, check=True)
    done = subprocess.run([folder / "program"], text=True, capture_output=True, check=False,
                          env={**os.environ, "DRAY_HANDLER": "check"})
    said = re.findall(r"^    (.*) in program(.*)$", done.stderr, re.MULTILINE)
    assert len(said) >= 2, done.stderr
    return int(done.stdout), said


@pytest.mark.parametrize("flags, exported", [
    (["-s", "-rdynamic"], True),
    (["-s"], False),
    (["-rdynamic"], True),  # symbols, but no lines
])
def test_a_function_without_a_symbol_of_its_own_is_an_offset_in_the_file(tmp_path, flags, exported):
    start, [inner, outer, *_] = callers(tmp_path, *flags)
    assert re.fullmatch("0x[0-9a-f]+", inner[0]) and inner[1] == ""
    assert start < int(inner[0], 16) < start + 64
    assert re.fullmatch(r"leak\+0x[0-9a-f]{1,2}" if exported else "0x[0-9a-f]+", outer[0])
    assert outer[1] == ""


@pytest.mark.skipif(not os.access("/usr/bin/addr2line", os.X_OK), reason="no addr2line")
def test_debugging_information_has_the_function_and_the_line(tmp_path):
    _, [inner, *_] = callers(tmp_path, "-g")
    assert inner == ("inner", f", at program.c:{HERE}")

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ctrl-C while a transfer waits for room in the queue.

The host has no queue that could be full, so a few lines of C stand in the
place of dray_copy(): they raise the signal and say -EINTR, as the library
does, and then hand on to it.  The rest is the real thing.
"""
import os
import shutil
import signal
import subprocess
import sys

import pytest

from deadline import DEADLINE

pytestmark = pytest.mark.host  # a guest has no compiler

SOURCE = r"""
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

int dray_copy(void *queue, void *dst, void *src, unsigned flags, void **fence)
{
	static int signals = 3;
	int (*copy)(void *, void *, void *, unsigned, void **) =
		dlsym(dlopen("libdray.so.0", RTLD_LAZY | RTLD_NOLOAD),
		      "dray_copy");

	if (signals-- > 0) {
		raise(atoi(getenv("TEST_SIGNAL")));
		return -EINTR;
	}
	return copy(queue, dst, src, flags, fence);
}
"""

PROGRAM = """
import signal, numpy as np, dray
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
with dray.memory():
    src, dst = np.arange(9), np.zeros(9, int)
try:
    dray.copy(dst, src)
except KeyboardInterrupt:
    print("interrupted", dst.any())
else:
    print("copied", (dst == src).all(), len(seen))
"""


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("stand_in")
    (folder / "copy.c").write_text(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "copy.so",
                    folder / "copy.c", "-ldl"], check=True)
    return str(folder / "copy.so")


def run(stand_in, number):
    preload = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), stand_in]))
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], text=True, capture_output=True,
        timeout=DEADLINE, env={**os.environ, "LD_PRELOAD": preload,
                         "TEST_SIGNAL": str(int(number))})
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


def test_ctrl_c_ends_a_copy_that_waits(stand_in):
    assert run(stand_in, signal.SIGINT) == ["interrupted", "False"]


def test_a_signal_that_raises_nothing_lets_the_copy_go_on(stand_in):
    assert run(stand_in, signal.SIGUSR1) == ["copied", "True", "3"]

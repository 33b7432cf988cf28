# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The libraries are guests in a process: nothing of them runs when they are loaded, and
none is unmapped under a thread that has yet to end."""

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[2] / "include"
BUILD = Path(os.environ["DRAY_BUILD"]) / "userspace"
LIBRARY = BUILD / "core/libdray.so"
PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <dray/dray.h>

static pthread_barrier_t step;
static void *(*take)(struct dray_pool *, size_t, size_t);
static void (*give)(struct dray_pool *, void *);
static struct dray_pool *pool;

static void *keep(void *unused)
{
	void *block = take(pool, 100, 0);

	(void)unused;
	give(pool, block);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	return block;
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW), *block;
	int (*open)(const char *, struct dray_node **);
	int (*create)(struct dray_node *, const struct dray_pool_options *,
		      struct dray_pool **);
	struct dray_node *node;
	pthread_t thread;

	if (!library)
		return 1;
	*(void **)&open = dlsym(library, "dray_node_open");
	*(void **)&create = dlsym(library, "dray_pool_create");
	*(void **)&take = dlsym(library, "dray_pool_alloc");
	*(void **)&give = dlsym(library, "dray_pool_free");
	if (open("host", &node) || create(node, NULL, &pool))
		return 2;
	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, keep, NULL);
	pthread_barrier_wait(&step);
	if (dlclose(library))
		return 3;
	pthread_barrier_wait(&step);
	pthread_join(thread, &block);
	return !block || !dlopen(argv[argc - 1], RTLD_NOW | RTLD_NOLOAD);
}
"""


# The last has no memory of threads, and may not be built.
LIBRARIES = [LIBRARY, BUILD / "array/libdray-array.so"]
PLUG_INS = [path for path in [BUILD / "opencl/libdray-opencl.so"] if path.exists()]


@pytest.fixture(params=LIBRARIES + PLUG_INS, ids=lambda path: path.name)
def readelf(request):
    return lambda option: subprocess.check_output(["readelf", "-W", option, request.param],
                                                  text=True)


def test_it_has_no_constructor(readelf):
    size = re.search(r"\.init_array +INIT_ARRAY +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)",
                     readelf("-S"))[1]
    # One pointer is the C runtime's, frame_dummy.
    assert "__frame_dummy_init_array_entry" in readelf("-s")
    assert int(size, 16) == struct.calcsize("P")


def test_it_cannot_be_unloaded(readelf):
    assert re.search("FLAGS_1.*NODELETE", readelf("-d"))


@pytest.mark.parametrize("readelf", LIBRARIES, indirect=True)
def test_memory_of_a_thread_is_found_without_a_call(readelf):
    # initial-exec: an access to a thread's own pointer calls nothing
    assert re.search("FLAGS.*STATIC_TLS", readelf("-d"))
    assert not re.search("DTPMOD|TLSDESC", readelf("-r"))


@pytest.mark.parametrize("readelf", LIBRARIES, indirect=True)
def test_at_most_64_bytes_of_a_thread_are_static(readelf):
    # All of a library that has such accesses is static, and a process that is
    # running has little of that for libraries that it loads.
    size = re.search(r"^ *TLS +(?:\w+ +){4}(\w+)", readelf("-l"), re.MULTILINE)[1]
    assert int(size, 16) <= 64


def test_a_thread_that_keeps_blocks_ends_after_dlclose(tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", f"-I{INCLUDE}", f"-I{INCLUDE}/uapi", "program.c",
                    "-o", "program", "-pthread", "-ldl"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "program", LIBRARY], check=False).returncode == 0

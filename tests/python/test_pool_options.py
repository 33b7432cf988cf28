# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What Node.pool() is told: sizes, and how its pages are."""
import errno
import mmap
import re

import numpy as np
import pytest

import dray

MIB = 1 << 20
MOST = (1 << 64) - 1


@pytest.mark.parametrize("options, sentence", [
    ({"limit": -1}, f"limit is -1: a number of bytes from 0 to {MOST}"),
    ({"initial": MOST + 1},
     f"initial is {MOST + 1}: a number of bytes from 0 to {MOST}"),
    ({"granule": 1 << 32},
     f"granule is {1 << 32}: a number of bytes from 0 to {(1 << 32) - 1}"),
    ({"numa": "best", "numa_nodes": [0]},
     "numa is 'best': 'preferred', 'bind' or 'interleave'"),
    ({"numa": "bind"}, "numa='bind' without numa_nodes, as [0]"),
    ({"numa_nodes": {3}},
     "numa_nodes without numa: 'preferred', 'bind' or 'interleave'"),
    ({"numa": "bind", "numa_nodes": [0, 64]},
     "numa_nodes has 64: numbers of nodes from 0 to 63"),
    ({"numa": "bind", "numa_nodes": [-1]},
     "numa_nodes has -1: numbers of nodes from 0 to 63"),
    ({"numa": "bind", "numa_nodes": [1 << 70]},
     f"numa_nodes has {1 << 70}: numbers of nodes from 0 to 63")])
def test_what_is_out_of_range_is_named(options, sentence):
    with pytest.raises(ValueError) as caught:
        dray.open("host").pool(**options)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("options", [
    {"granule": 3}, {"initial": 2 * MIB, "limit": MIB}, {"heap": "none"},
    {"numa": "preferred", "numa_nodes": [0, 1]}])
def test_what_the_node_does_not_have_is_a_value_error(options):
    with pytest.raises(ValueError) as caught:
        dray.open("host").pool(**options)
    assert str(caught.value) == dray.last_error()


@pytest.mark.parametrize("options", [
    {"limit": b"1M"}, {"initial": 1.5}, {"granule": None}, {"numa": 3},
    {"numa": "bind", "numa_nodes": 0}, {"numa": "bind", "numa_nodes": ["0"]}])
def test_what_is_of_another_type_is_a_type_error(options):
    with pytest.raises(TypeError):
        dray.open("host").pool(**options)


def test_a_size_may_have_a_unit():
    for text, size in [("2M", 2 * MIB), ("1024k", MIB), ("1MiB", MIB),
                       ("1MB", MIB), (str(MIB), MIB)]:
        pool = dray.open("host").pool(initial=text, limit="1G")
        assert pool.stats().reserved == size
    assert dray.memory(min_bytes="4K").min_bytes == 4096
    assert dray.memory(min_bytes="4 KiB").min_bytes == 4096


@pytest.mark.parametrize("text", ["", "K", "1X", "-1M", "1.5G", "1  M", "1MM",
                                  "1M\0", "20000000T", "1iB"])
def test_another_text_is_no_size(text):
    with pytest.raises(ValueError, match="^limit is "):
        dray.open("host").pool(limit=text)


def test_a_size_may_be_of_numpys_types():
    pool = dray.open().pool(initial=np.uint64(MIB), limit=np.int32(2 * MIB))
    assert pool.stats().reserved == MIB


def mapping_of(array, what):
    """What a file of /proc/self says of the mapping around an array: lines."""
    address = array.__array_interface__["data"][0]
    lines, inside = [], False
    with open(f"/proc/self/{what}", encoding="utf-8") as file:
        for line in file:
            head = re.match("([0-9a-f]+)-([0-9a-f]+) ", line)
            if head:
                first, last = (int(end, 16) for end in head.groups())
                inside = first <= address < last
            if inside:
                lines.append(line)
    return lines


def resident(array):
    [line] = [line for line in mapping_of(array, "smaps")
              if line.startswith("Rss:")]
    return int(line.split()[1]) << 10


@pytest.mark.host
@pytest.mark.exact
@pytest.mark.parametrize("spec", ["host", "host:shareable"])
def test_prefault_has_all_pages_before_an_array_is(spec):
    node = dray.open(spec)
    seen = {}
    for prefault in (False, True):
        with dray.memory(node.pool(initial=8 * MIB, prefault=prefault)):
            array = np.empty(4096, np.uint8)
        seen[prefault] = resident(array)
        del array
    assert seen[False] < 8 * MIB <= seen[True]


@pytest.mark.host
def test_huge_pages_are_for_shareable_memory():
    with pytest.raises(OSError, match="for private memory") as caught:
        dray.open("host").pool(huge_pages=True)
    assert caught.value.errno == errno.EOPNOTSUPP


def free_huge_pages():
    with open("/proc/meminfo", encoding="ascii") as file:
        found = dict(line.split(":") for line in file)
    return (int(found.get("HugePages_Free", "0").split()[0]),
            int(found.get("Hugepagesize", "0 kB").split()[0]) << 10)


@pytest.mark.host
def test_huge_pages_are_asked_of_the_system():
    count, size = free_huge_pages()
    node = dray.open("host:shareable")
    if not size:
        with pytest.raises(OSError):
            node.pool(huge_pages=True)
        return
    if not count:
        with pytest.raises(MemoryError, match="huge pages"):
            node.pool(initial=size, huge_pages=True)
        return
    with dray.memory(node.pool(initial=size, limit=size, huge_pages=True)):
        array = np.zeros(1000)
    assert f"KernelPageSize: {size >> 10:8} kB\n" in mapping_of(array, "smaps")


def test_numa_nodes_are_those_of_the_mapping():
    # Not only where the kernel has NUMA: the library is asked in any case.
    node = dray.open("host")
    for policy, words in (("preferred", {"prefer:0", "prefer=relative:0"}),
                          ("bind", {"bind:0"}),
                          ("interleave", {"interleave:0"})):
        try:
            pool = node.pool(initial=MIB, numa=policy, numa_nodes=[0])
        except OSError as error:
            assert error.errno == errno.ENOSYS, error
            pytest.skip("this kernel has no NUMA policies")
        with dray.memory(pool):
            array = np.ones(mmap.PAGESIZE)
        address = array.__array_interface__["data"][0]
        assert policy_at(address) in words
        del array, pool


def policy_at(address):
    """The second word of the line of numa_maps whose mapping holds it: that of
    the highest start below."""
    with open("/proc/self/numa_maps", encoding="utf-8") as file:
        starts = [(int(line.split()[0], 16), line.split()[1]) for line in file]
    return max(start for start in starts if start[0] <= address)[1]


def test_a_node_that_is_not_there_is_a_value_error():
    with pytest.raises((ValueError, OSError)):
        dray.open("host").pool(numa="bind", numa_nodes=[63])


@pytest.mark.kernel
def test_pages_of_the_module_are_not_chosen():
    dray.open().pool(prefault=True)
    for options in ({"huge_pages": True}, {"numa": "bind", "numa_nodes": [0]}):
        with pytest.raises(OSError) as caught:
            dray.open().pool(**options)
        assert caught.value.errno == errno.EOPNOTSUPP


@pytest.mark.exact
def test_arrays_of_a_pool_of_pages_begin_on_pages():
    """As files with O_DIRECT need."""
    with dray.open().pool(granule="4K"):
        arrays = [np.zeros(100, np.uint8) for _ in range(3)]
    assert [a.__array_interface__["data"][0] % 4096 for a in arrays] == [0, 0, 0]

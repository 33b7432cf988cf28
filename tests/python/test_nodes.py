# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Nodes: which there are, and what they say of themselves."""
import os
import subprocess
import sys

import pytest

import dray


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", code], text=True,
                          capture_output=True,
                          env={**os.environ, **environment})


def test_the_host_is_always_there():
    node = dray.open("host")
    assert node.backend == "host"
    info = node.info()
    assert (info.name, info.backend) == ("host", "host")
    assert info.page_size % info.cache_line == 0
    assert not info.addresses
    assert [channel.name for channel in node.channels()] == [
        "tx0", "rx0", "tx1", "rx1"]
    assert [heap.name for heap in node.heaps()] == ["private"]
    assert [heap.name for heap in dray.open("host:shareable").heaps()] == [
        "shareable"]


def test_a_spec_that_names_no_back_end_is_a_value_error():
    with pytest.raises(ValueError, match="nonsense"):
        dray.open("nonsense")


def test_a_spec_with_a_null_character_is_a_value_error():
    for spec in ("host\0junk", "host\0", "\0"):
        with pytest.raises(ValueError, match="contains a null character"):
            dray.open(spec)


def test_a_spec_that_is_no_string_is_a_type_error():
    with pytest.raises(TypeError, match="spec is not a string but int"):
        dray.open(3)
    with pytest.raises(UnicodeEncodeError):
        dray.open("\ud800")


def test_the_environment_chooses_the_back_end():
    answer = run("import dray; print(dray.open().backend)",
                 DRAY_BACKEND="host")
    assert answer.stdout == "host\n", answer.stderr
    answer = run("import dray; dray.open()", DRAY_BACKEND="nonsense")
    assert "ValueError" in answer.stderr and "nonsense" in answer.stderr


def test_types_cannot_be_made_by_hand():
    for type_, maker in {
            dray.Node: "dray.open", dray.Pool: "dray.pool", dray.Scope: "dray.memory",
            dray.Fence: "dray.copy", dray.Stream: "dray.stream", dray.Event: "Stream.send",
            dray.Frames: "Stream.frames", dray.Call: "CallQueue.submit",
            dray.XrtBo: "dray.xrt_bo", dray.FlatIterator: "Array.flat",
            dray.XrtDevice: "dray.xrt_device"}.items():
        for arguments in ((), (3,)):
            with pytest.raises(TypeError, match=rf"cannot create .* instances: {maker}\b"):
                type_(*arguments)
        with pytest.raises(TypeError):
            object.__new__(type_)


@pytest.mark.host
def test_without_the_module_there_are_no_nodes():
    assert dray.nodes() == []
    with pytest.raises(OSError) as caught:
        dray.open("kernel")
    assert caught.value.errno == 19, caught.value  # ENODEV
    assert caught.value.strerror == dray.last_error()


@pytest.mark.kernel
def test_each_node_of_the_module_can_be_opened():
    names = dray.nodes()
    assert names and dray.open("kernel").info().name == names[0]
    for name in names:
        node = dray.open(f"kernel:{name}")
        info = node.info()
        assert (info.name, info.backend) == (name, "kernel")
        assert len(node.heaps()) > 0
        for heap in node.heaps():
            assert heap.total >= heap.used
        for channel in node.channels():
            # The limits of a stream are known once it is open.
            assert channel.max_segment > 0 or not channel.open
            assert not channel.dead


@pytest.mark.kernel
def test_a_node_that_is_not_there_is_enodev():
    with pytest.raises(OSError) as caught:
        dray.open("kernel:dray77")
    assert caught.value.errno == 19, caught.value


FEW_ADDRESSES = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
import numpy as np
import dray
dray.install()
for shareable in (False, True):
    with dray.memory(shareable=shareable):
        print(np.ones(20 << 20, np.uint8).sum())
"""


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                    reason="the sanitizer takes more addresses itself")
def test_a_gibibyte_of_addresses_is_enough():
    """As with "ulimit -v 1048576"."""
    done = run(FEW_ADDRESSES, OPENBLAS_NUM_THREADS="1",
               DRAY_BACKEND="host", DRAY_HANDLER="")
    assert done.stdout.split() == [str(20 << 20)] * 2, done.stderr

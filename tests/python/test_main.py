# SPDX-License-Identifier: Apache-2.0 OR MIT
"""python -m dray: what there is, and the next step."""
import errno
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dray
import dray.__main__ as command
from deadline import DEADLINE

PAGE = Path(__file__).parents[2] / "userspace/python/README.md"


def main(*arguments, prefix=(), **environment):
    return subprocess.run([*prefix, sys.executable, "-m", "dray", *arguments], text=True,
                          capture_output=True, timeout=DEADLINE,
                          env={**os.environ, **environment})


def report(**more):
    done = main("--json", **more)
    return json.loads(done.stdout), done.returncode


def test_it_shows_what_the_package_finds():
    found, status = report()
    node = dray.open()
    assert (found["package"], found["library"]) == dray.versions()
    assert (found["numpy"], found["python"]) == (np.__version__, platform.python_version())
    assert (found["default"], found["error"], status) == (node.info().name, None, 0)
    assert [each["name"] for each in found["nodes"]] == [*dray.nodes(), "host"]
    [own] = [each for each in found["nodes"] if each["name"] == node.info().name]
    assert [heap["name"] for heap in own["heaps"]] == [heap.name for heap in node.heaps()]
    assert [stream["name"] for stream in own["streams"]] == [
        channel.name for channel in node.channels()]


def test_its_text_says_the_same():
    found, _ = report()
    text = main().stdout
    for node in found["nodes"]:
        assert re.search(f"^{node['name']}(,|$)", text, re.MULTILINE)
        for heap in node["heaps"]:
            assert f"  heap     {heap['name']}: " in text
    assert f"\ndray.memory() uses {found['default']}" in text


@pytest.mark.host
def test_without_the_module_the_next_step_loads_it():
    found, status = report(DRAY_BACKEND="")
    assert (found["loaded"], found["module"], status) == (False, None, 0)
    assert found["next_step"] == (
        "the dray module is not loaded; load it with: modprobe dray "
        "(or, from a build: insmod dray.ko)")
    assert report(DRAY_BACKEND="host")[0]["next_step"] is None
    assert main(DRAY_BACKEND="").stdout.endswith(f"Next step: {found['next_step']}\n")
    with pytest.raises(OSError) as caught:
        dray.open("kernel")
    assert caught.value.strerror == found["next_step"]


@pytest.mark.kernel
def test_with_the_module_nothing_is_missing():
    found, _ = report()
    assert found["loaded"] and found["next_step"] is None
    assert found["module"] == dray.open("kernel").info().version
    rights = found["nodes"][0]["rights"]
    status = os.stat(rights["path"])
    assert int(rights["mode"], 8) == status.st_mode & 0o7777
    with pytest.raises(OSError, match="no node /dev/dray77: there is dray0; open it as "
                       "kernel:dray0"):
        dray.open("kernel:dray77")


def test_a_back_end_that_does_not_exist_is_a_failure():
    found, status = report(DRAY_BACKEND="nonsense")
    assert (found["default"], status) == (None, 1)
    assert "nonsense" in found["error"]
    assert found["next_step"].startswith("unset DRAY_BACKEND, or set it to ")
    found, status = report(DRAY_BACKEND="kernel:null")
    assert (found["default"], status) == (None, 1)
    assert found["next_step"].endswith("/proc/misc lists the nodes")


@pytest.mark.host
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have a /dev of its own")
@pytest.mark.parametrize("prepare, node, next_step", [
    ("mkdir /sys/module/dray", None, "rmmod dray && modprobe dray nodes=1"),
    ("mkdir /sys/module/dray && touch /dev/dray0 && chown root:tty /dev/dray0 && "
     "chmod 660 /dev/dray0", "dray0", "sudo usermod -aG tty nobody"),
    ("mkdir /sys/module/dray && touch /dev/dray0 && chmod 600 /dev/dray0", "dray0",
     "run as root, or give /dev/dray0 to a group with the udev rule of driver/README.md"),
    ("mkdir /sys/module/dray && touch /dev/dray0 && chmod 666 /dev/dray0", "dray0",
     "remove /dev/dray0, which the module did not make"),
])
def test_a_module_without_a_usable_node_is_a_failure(prepare, node, next_step, tmp_path):
    """And never memory of the host, which a program would take for the device's."""
    # The package may lie where only root reads; writing to the node is refused all the same.
    script = ("mount -t tmpfs tmpfs /sys/module && mount --bind /dev $1 && "
              "mount -t tmpfs tmpfs /dev && touch /dev/null && "
              f"mount --bind $1/null /dev/null && {prepare} && shift && "
              "exec setpriv --reuid=65534 --regid=65534 --clear-groups "
              "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search \"$@\"")
    found, status = report(DRAY_BACKEND="", prefix=(
        "unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path)))
    assert (found["loaded"], found["default"], status) == (True, None, 1)
    assert found["next_step"].endswith(next_step)
    assert [each["name"] for each in found["nodes"]] == [*filter(None, [node]), "host"]


@pytest.mark.parametrize("number, words", [
    (errno.EPROTO, "rmmod dray && modprobe dray"),
    (errno.EMFILE, "ulimit -n"),
    (errno.EIO, "dmesg | grep dray"),
    (errno.ENODEV, "refused"),
])
def test_each_error_of_a_node_has_a_next_step(monkeypatch, number, words):
    """Without a module that has these errors on demand: its sentence decides nothing."""
    def refuse(_spec=None):
        raise OSError(number, "refused")
    monkeypatch.setattr(dray, "nodes", lambda: ["dray4711"])
    monkeypatch.setattr(dray, "open", refuse)
    found = command.report()
    assert [each["error"] for each in found["nodes"]] == ["refused"] * 2
    assert words in found["nodes"][0]["next_step"]
    assert (found["next_step"], found["default"]) == (found["nodes"][0]["next_step"], None)


@pytest.mark.skipif(not PAGE.exists(), reason="the tests were copied without the pages")
def test_the_page_has_a_line_for_each_key():
    text = PAGE.read_text(encoding="utf-8").split("### python -m dray")[1].split("\n## ")[0]
    told = set(re.findall(r"^\| `([A-Za-z_]+)`", text, re.MULTILINE))
    found, _ = report()
    assert told == set(found) | set(found["nodes"][0])


def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--help"]], ids=" ".join)
@pytest.mark.parametrize("sink, prepare, number", [
    (lambda: os.open("/dev/full", os.O_WRONLY), None, errno.ENOSPC),
    (lambda: os.open("/dev/null", os.O_WRONLY), lambda: os.close(1), errno.EBADF),
    (closed_pipe, None, errno.EPIPE)], ids=["full", "closed", "without a reader"])
def test_output_that_does_not_arrive_is_a_failure(arguments, sink, prepare, number):
    stdout = sink()
    done = subprocess.run([sys.executable, "-m", "dray", *arguments], stdout=stdout,
                          stderr=subprocess.PIPE, text=True, preexec_fn=prepare,
                          timeout=DEADLINE, check=False)
    os.close(stdout)
    assert (done.returncode, done.stderr) == (
        1, f"python -m dray: cannot write all of the output: {os.strerror(number)}\n")


def test_the_help_names_the_options():
    done = main("--help")
    assert done.returncode == 0 and "--json" in done.stdout and "--help" in done.stdout

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Failures of dmactl: no module, no right, no room, buffers and devices that
vanish meanwhile, hostile names."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from conftest import DMACTL, SANITIZED, SCRIPTED, document, run, shown


@pytest.mark.skipif(os.path.exists("/sys/module/dray"),
                    reason="the module is loaded")
@pytest.mark.parametrize("command", [
    "list", "show 1", "heaps", "nodes", "list --json", "list -n dray0"])
def test_every_command_says_how_to_load_the_module(command):
    assert run(DMACTL, *command.split()) == (
        1, "", "dmactl: the dray module is not loaded; load it with: "
        "modprobe dray (or, from a build: insmod dray.ko)\n")


@pytest.mark.parametrize("command", [
    "--help", "--version", "list", "list --json", "show 1", "heaps", "nodes"])
def test_output_that_does_not_arrive_is_a_failure(command):
    with open("/dev/full", "wb") as full:
        assert run(SCRIPTED, *command.split(), stdout=full) == (
            1, "", "dmactl: cannot write all of the output: "
            "No space left on device\n")


def test_closed_output_is_a_failure_and_no_node_takes_its_place():
    assert run(SCRIPTED, "list", preexec_fn=lambda: os.close(1)) == (
        1, "", "dmactl: cannot write all of the output: Bad file descriptor\n")


@pytest.mark.parametrize("action", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_reader_that_goes_away_ends_it_silently(action):
    reader, writer = os.pipe()
    os.close(reader)
    result = run(SCRIPTED, "list", stdout=writer,
                 preexec_fn=lambda: signal.signal(signal.SIGPIPE, action))
    os.close(writer)
    assert result == (-signal.SIGPIPE, "", "")


def in_private_tree(prepare, command):
    """Runs shell lines that have a /dev and a /sys/module of their own."""
    if os.geteuid():
        pytest.skip("only root can have a /dev of its own")
    script = ("mount -t tmpfs tmpfs /sys/module && "
              "keep=$(mktemp -d) && mount --bind /dev $keep && "
              "mount -t tmpfs tmpfs /dev && touch /dev/null && "
              "mount --bind $keep/null /dev/null && umount $keep && "
              f"rmdir $keep && {prepare} && {{ {command}; }}")
    return run("unshare", "--mount", "--propagation", "unchanged",
               "sh", "-c", script)


def test_no_permission_says_who_may():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        # nobody may not look into the build's folders
        program = shutil.copy(DMACTL, folder)
        libraries = subprocess.check_output(["ldd", DMACTL], text=True)
        shutil.copy(re.search(r"(/\S*/libdray\.so\S*)", libraries)[1], folder)
        assert in_private_tree(
            "mkdir /sys/module/dray && touch /dev/dray0 && "
            "chown root:tty /dev/dray0 && chmod 660 /dev/dray0",
            f"LD_LIBRARY_PATH={folder} setpriv --reuid=65534 --regid=65534 "
            f"--clear-groups {program} list") == (
            1, "", "dmactl: no permission to open /dev/dray0: it belongs to user "
            "root and group tty with mode 0660, and you have uid 65534\n")


def test_a_module_without_a_node_says_how_to_get_one():
    assert in_private_tree("mkdir /sys/module/dray", f"{DMACTL} list") == (
        1, "", "dmactl: the dray module is loaded but has no node: no device "
        "of the device tree is bound to it; for a node without a device: "
        "rmmod dray && modprobe dray nodes=1\n")


def test_a_container_without_the_node_says_how_to_pass_it():
    """And takes no memory of the host instead."""
    sys_class = "mount -t tmpfs tmpfs /sys/class && mkdir -p /sys/class/misc/dray3"
    sentence = ("the dray module has the node dray3, but /dev does not; start "
                "the container with --device /dev/dray3\n")
    assert in_private_tree(f"mkdir /sys/module/dray && {sys_class}",
                           f"{DMACTL} list") == (1, "", f"dmactl: {sentence}")


def test_a_file_that_is_not_a_node_is_named():
    assert in_private_tree("touch /dev/dray0", f"{DMACTL} list") == (
        1, "", "dmactl: cannot open dray0: /dev/dray0 is not a node of dray: "
        "Inappropriate ioctl for device; /proc/misc lists the nodes\n")


@pytest.mark.parametrize("arguments, scene, sentence", [
    (["list", "--node=dray7"], "plain",
     "no node 'dray7': there are dray0, dray1"),
    (["show", "42"], "plain",
     "no buffer or attachment 42; visible on any node: 1, 2, 3"),
    (["show", "7"], "single",
     "no buffer or attachment 7; visible on any node: 1"),
    (["show", "1"], "empty",
     "no buffer or attachment 1; none is visible on any node"),
])
def test_a_missing_node_or_buffer_names_the_others(arguments, scene, sentence):
    assert run(SCRIPTED, *arguments, scene=scene) == (
        1, "", f"dmactl: {sentence}\n")


def test_a_buffer_that_vanishes_is_left_out():
    lines = shown("list", "--no-header", scene="vanishing").splitlines()
    assert [line.split()[0] for line in lines] == ["1", "3"]


def test_a_list_that_grows_is_read_whole():
    ids = [buffer["id"] for buffer
           in document("list", scene="growing")["buffers"]]
    assert ids == list(range(1, len(ids) + 1))
    assert len(ids) >= 4


def test_too_many_buffers_for_memory_are_an_error():
    result = run(SCRIPTED, "list", scene="crowded")
    assert result.code == 1
    # the sanitizer has something to say before
    assert result.error.splitlines()[-1] == "dmactl: out of memory"


@pytest.mark.parametrize("what, fail, reason", [
    ("7", None, "No such file or directory"),
    ("--all", "reclaim:1", "Operation not permitted")])
def test_reclaim_of_memory_that_is_not_held_fails(what, fail, reason):
    assert run(SCRIPTED, "reclaim", what, fail=fail) == (
        1, "", "dmactl: dray0: cannot reclaim memory: scripted reclaim: "
        f"{reason}\n")


def test_hostile_names_are_shown_and_not_obeyed():
    text = shown("list", "--no-header", scene="hostile")
    rows = [line.split(None, 11) for line in text.splitlines()]
    assert [row[5] for row in rows] == [
        "a\\x20b\\x0a9\\x209\\x20root", "0123456789abcdef", "\\xc2\\x9b31m"]
    assert [row[11] for row in rows] == [
        "\\x1b[2Jgone\\x5c\\x08\\x7f\\x0d\\x0a", "café \\xff\\xc3",
        "rtl \\xe2\\x80\\xae 宽"]
    text = shown("list", "--no-header", scene="hostile",
                 environment={"LC_ALL": "C"})
    assert text.splitlines()[1].split(None, 11)[11] == "caf\\xc3\\xa9 \\xff\\xc3"
    for command in (["show", "1"], ["nodes"], ["list", "--json"],
                    ["nodes", "--json"]):
        out = shown(*command, scene="hostile")
        assert [char for char in out if char < " " and char != "\n"] == []


@pytest.mark.parametrize("call, command", [
    ("info", "list"), ("list", "list"), ("buffer", "list"), ("heap", "heaps"),
    ("heap", "nodes")])
def test_a_device_that_goes_away_is_named_and_the_rest_is_shown(call, command):
    result = run(SCRIPTED, command, "--no-header", fail=f"{call}:19:1")
    assert (result.code, result.error) == (
        1, "dmactl: dray1 disappeared while dmactl was reading it\n")
    assert len(result.out.splitlines()) >= 2, "dray0 is not shown"
    result = run(SCRIPTED, command, "--json", fail=f"{call}:19:1")
    json.loads(result.out)
    assert result.code == 1


@pytest.mark.parametrize("fail, command, sentence", [
    ("info:5:0", "list", "dray0: cannot read its description: scripted info: "
     "Input/output error"),
    ("list:5:0", "list", "dray0: cannot list its buffers: scripted list: "
     "Input/output error"),
    ("buffer:5:0", "list", "dray0: cannot read a buffer: scripted buffer: "
     "Input/output error"),
    ("heap:5:0", "heaps", "dray0: cannot read a heap: scripted heap: "
     "Input/output error"),
    ("channel:5:0", "nodes", "dray0: cannot read a channel: scripted channel: "
     "Input/output error"),
    ("channel:19:0", "nodes", "dray0 disappeared while dmactl was reading it"),
    ("open:19:0", "list", "cannot open dray0: scripted open: No such device"),
])
def test_other_failures_say_what_failed_and_why(fail, command, sentence):
    result = run(SCRIPTED, command, fail=fail)
    assert (result.code, result.error) == (1, f"dmactl: {sentence}\n")


@pytest.mark.parametrize("command", ["test --quick", "alloc 4096", "why 8M"])
def test_a_first_node_that_cannot_be_opened_is_not_another_one(command):
    assert run(SCRIPTED, *command.split(), fail="open:5:0") == (
        1, "", "dmactl: cannot open dray0: scripted open: Input/output error\n")


@pytest.mark.parametrize("call, command", [
    ("map", "map reserved"), ("map", "why 8M"),
    ("heap", "map"), ("heap", "why 8M"), ("heap", "leaks"),
    ("heap", "top --once --interval 10ms"), ("heap", "test"),
    ("list", "leaks"), ("list", "show 2"), ("list", "free --all"),
    ("list", "top --once --interval 10ms"), ("buffer", "leaks"),
    ("buffer", "map reserved"), ("buffer", "show 2"), ("buffer", "free --all"),
    ("channel", "top --once --interval 10ms"), ("info", "why 8M"), ("info", "test"),
    ("info", "alloc 4096"), ("reclaim", "reclaim --all")])
def test_a_module_that_goes_away_in_the_middle_fails_each_command(call, command):
    result = run(SCRIPTED, *command.split(), fail=f"{call}:19:0")
    assert (result.code, result.error) == (
        1, "dmactl: dray0 disappeared while dmactl was reading it\n")


@pytest.mark.skipif(not shutil.which("valgrind") or SANITIZED,
                    reason="valgrind is not here, or the build has sanitizers")
@pytest.mark.parametrize("command", [
    "list --sort=-size", "list --json", "list --all", "show 2", "heaps --json", "map",
    "map --json", "nodes", "leaks --idle 0 --for 1ms", "why 8M -n dray1",
    "why 8M --json", "top --once --interval 10ms", "reclaim --all", "test --quick",
    "help --complete", "show 99"])
def test_valgrind_finds_nothing(command):
    result = run("valgrind", "-q", "--leak-check=full", "--error-exitcode=99", SCRIPTED,
                 *command.split(), scene="hostile")
    assert result.code in (0, 1, 3)
    assert "==" not in result.error


def test_no_names_of_nodes_are_a_failure():
    assert run(SCRIPTED, "list", fail="names:5") == (
        1, "", "dmactl: cannot look for nodes: scripted names: "
        "Input/output error\n")

#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl where something is wrong: no module, no right, no room, what goes away
meanwhile, names that are no names."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import (DMACTL, MODULE_LOADED, SCRIPTED, Skip, check, main,
                     read_json, run, same, test)


@test
def every_command_says_how_to_load_the_module():
    if MODULE_LOADED:
        raise Skip("the module is loaded")
    for command in (["list"], ["show", "1"], ["heaps"], ["nodes"],
                    ["list", "--json"], ["list", "-n", "dray0"]):
        check(run(DMACTL, *command), 1, "",
              "dmactl: the dray module is not loaded, load it with: "
              "modprobe dray (or, from a build: insmod dray.ko)\n")


@test
def output_that_does_not_arrive_is_a_failure():
    for arguments in (["--help"], ["--version"], ["list"], ["list", "--json"],
                      ["show", "1"], ["heaps"], ["nodes"]):
        with open("/dev/full", "wb") as full:
            check(run(SCRIPTED, *arguments, stdout=full), 1, None,
                  "dmactl: cannot write all of the output: "
                  "No space left on device\n")


@test
def closed_output_is_a_failure_and_no_node_takes_its_place():
    check(run(SCRIPTED, "list", preexec_fn=lambda: os.close(1)), 1, "",
          "dmactl: cannot write all of the output: Bad file descriptor\n")


@test
def a_reader_that_goes_away_ends_it_without_a_word():
    def ignore():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    for ignored in (None, ignore):
        reader, writer = os.pipe()
        os.close(reader)
        result = run(SCRIPTED, "list", stdout=writer, preexec_fn=ignored)
        os.close(writer)
        check(result, -signal.SIGPIPE)


def in_private_tree(prepare, command):
    """Runs shell lines where changes to /dev and /sys/module are private."""
    if os.geteuid():
        raise Skip("only root can have a /dev of its own")
    script = ("mount -t tmpfs tmpfs /sys/module && "
              "keep=$(mktemp -d) && mount --bind /dev $keep && "
              "mount -t tmpfs tmpfs /dev && touch /dev/null && "
              "mount --bind $keep/null /dev/null && umount $keep && "
              f"rmdir $keep && {prepare} && {{ {command}; }}")
    return run("unshare", "--mount", "--propagation", "unchanged",
               "sh", "-c", script)


@test
def no_permission_says_who_may():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        # nobody may not look into the build's folders
        program = shutil.copy(DMACTL, folder)
        libraries = subprocess.run(["ldd", DMACTL], capture_output=True,
                                   check=True).stdout.decode()
        shutil.copy(re.search(r"(/\S*/libdray\.so\S*)", libraries)[1], folder)
        check(in_private_tree(
            "mkdir /sys/module/dray && touch /dev/dray0 && "
            "chown root:tty /dev/dray0 && chmod 660 /dev/dray0",
            f"LD_LIBRARY_PATH={folder} setpriv --reuid=65534 --regid=65534 "
            f"--clear-groups {program} list"), 1, "",
              "dmactl: no permission to open /dev/dray0: it belongs to user "
              "root and group tty with mode 0660, and you have uid 65534\n")


@test
def a_module_without_a_node_says_how_to_get_one():
    check(in_private_tree("mkdir /sys/module/dray", f"{DMACTL} list"), 1, "",
          "dmactl: the dray module is loaded but offers no node: no device "
          "of the device tree is bound to it; for one without a device: "
          "rmmod dray && modprobe dray nodes=1\n")


@test
def a_file_that_is_no_node_is_said():
    check(in_private_tree("touch /dev/dray0", f"{DMACTL} list"), 1, "",
          "dmactl: cannot open dray0: /dev/dray0 is no node of dray: "
          "Inappropriate ioctl for device\n")


@test
def no_such_node_names_those_that_there_are():
    check(run(SCRIPTED, "list", "--node=dray7"), 1, "",
          "dmactl: no node 'dray7': there are dray0, dray1\n")


@test
def no_such_buffer_names_those_that_there_are():
    check(run(SCRIPTED, "show", "42"), 1, "",
          "dmactl: no buffer or attachment 42: there are 3 on any node that you may see "
          "(1, 2, 3)\n")
    check(run(SCRIPTED, "show", "7", scene="single"), 1, "",
          "dmactl: no buffer or attachment 7: the only one on any node that you may see "
          "is 1\n")
    check(run(SCRIPTED, "show", "1", scene="empty"), 1, "",
          "dmactl: no buffer or attachment 1: there is none on any node that you may see\n")


@test
def a_buffer_that_vanishes_is_left_out():
    result = run(SCRIPTED, "list", "--no-header", scene="vanishing")
    check(result, 0)
    same("ids", [line.split()[0]
                 for line in result.stdout.decode().splitlines()], ["1", "3"])


@test
def a_list_that_grows_is_read_whole():
    result = read_json(run(SCRIPTED, "list", "--json", scene="growing"))
    ids = [buffer["id"] for buffer in result["buffers"]]
    same("ids", ids, list(range(1, len(ids) + 1)))
    if len(ids) < 4:
        raise AssertionError(f"only {len(ids)} buffers")


@test
def too_many_buffers_for_memory_is_said():
    result = run(SCRIPTED, "list", scene="crowded")
    same("exit code", result.returncode, 1)
    # the sanitizer has something to say before
    same("sentence", result.stderr.decode().splitlines()[-1],
         "dmactl: out of memory")


@test
def reclaim_of_what_is_not_held_fails():
    check(run(SCRIPTED, "reclaim", "7"), 1, "",
          "dmactl: dray0: cannot reclaim memory: scripted reclaim: "
          "No such file or directory\n")
    check(run(SCRIPTED, "reclaim", "--all", fail="reclaim:1"), 1, "",
          "dmactl: dray0: cannot reclaim memory: scripted reclaim: "
          "Operation not permitted\n")


@test
def hostile_names_are_shown_and_not_obeyed():
    text = run(SCRIPTED, "list", "--no-header",
               scene="hostile").stdout.decode()
    rows = [line.split(None, 11) for line in text.splitlines()]
    same("comms", [row[5] for row in rows],
         ["a\\x20b\\x0a9\\x209\\x20root", "0123456789abcdef", "\\xc2\\x9b31m"])
    same("names", [row[11] for row in rows],
         ["\\x1b[2Jgone\\x5c\\x08\\x7f\\x0d\\x0a", "café \\xff\\xc3",
          "rtl \\xe2\\x80\\xae 宽"])
    text = run(SCRIPTED, "list", "--no-header", scene="hostile",
               environment={"LC_ALL": "C"}).stdout.decode()
    same("name in the C locale", text.splitlines()[1].split(None, 11)[11],
         "caf\\xc3\\xa9 \\xff\\xc3")
    for command in (["show", "1"], ["nodes"], ["list", "--json"],
                    ["nodes", "--json"]):
        out = run(SCRIPTED, *command, scene="hostile").stdout
        bad = [byte for byte in out if byte < 32 and byte != 10]
        same(f"control characters of {command}", bad, [])


@test
def a_device_that_goes_away_is_said_and_the_rest_is_shown():
    for call, command in (("info", "list"), ("list", "list"), ("buffer", "list"),
                          ("heap", "heaps"), ("heap", "nodes")):
        result = run(SCRIPTED, command, "--no-header", fail=f"{call}:19:1")
        check(result, 1, None,
              "dmactl: dray1 went away while dmactl was reading it\n")
        if len(result.stdout.splitlines()) < 2:
            raise AssertionError(f"{call}: dray0 is not shown")
        result = run(SCRIPTED, command, "--json", fail=f"{call}:19:1")
        json.loads(result.stdout)
        same("exit code", result.returncode, 1)
    check(run(SCRIPTED, "nodes", fail="channel:19:0"), 1, None,
          "dmactl: dray0 went away while dmactl was reading it\n")


@test
def other_failures_say_what_failed_and_why():
    for call, command, doing in (
            ("info", "list", "ask what it is"),
            ("list", "list", "list its buffers"),
            ("buffer", "list", "read a buffer"),
            ("heap", "heaps", "read a heap"),
            ("channel", "nodes", "read a channel")):
        check(run(SCRIPTED, command, fail=f"{call}:5:0"), 1, None,
              f"dmactl: dray0: cannot {doing}: scripted {call}: "
              "Input/output error\n")
    check(run(SCRIPTED, "list", fail="open:19:0"), 1, None,
          "dmactl: cannot open dray0: scripted open: No such device\n")
    check(run(SCRIPTED, "list", fail="names:5"), 1, "",
          "dmactl: cannot look for nodes: scripted names: "
          "Input/output error\n")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl where no module is loaded: usage, sentences, exit codes, layout.

Prints TAP.  Takes the paths of dmactl, of dmactl-scripted (the same sources
over a stand-in for the library, scripted.c, which shows what the real module
shows only by chance), of the folder with the man pages and of the completion.
"""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios

DMACTL, SCRIPTED, MAN_FOLDER, COMPLETION = sys.argv[1:5]
MODULE_LOADED = os.path.exists("/sys/module/dray")
COMMANDS = ["list", "show", "heaps", "nodes", "reclaim", "help"]
OPTIONS = ["-n", "--node", "--all", "--json", "--no-header", "--bytes", "-h", "--help",
           "--version"]
TESTS = []

LIST = """\
ID  SIZE  HEAP      MODE             PID  COMM     USER  MAPPED  ATTACHED  BUSY    AGE  NAME
 1  1.0M  reserved  cached           101  python3  root       1         2     0     5s  frame
 2  2.0M  reserved  write-combined  gone  python3  root       1         2     1  3m12s  frame
 3  3.0M  other     coherent           -  python3  root       1         2     0  2h05m  -
total: 3 buffers, 6.0M
"""

HEAPS = """\
NODE   HEAP      TYPE      BUFFERS  TOTAL   USED   FREE  QUARANTINE  LARGEST  REQUEST  FRAG  HELD  FLAGS
dray0  reserved  reserved        3  64.0M  32.0M  16.0M        8.0M     4.0M    64.0M   75%    0B  pinnable,default
dray0  other     cma             3  64.0M  32.0M     0B        8.0M       0B    64.0M     -  1.0M  shared
dray0  pages     pages           3  64.0M  32.0M  16.0M        8.0M     4.0M     5.0M   20%    0B  shared
dray0  new       77              3  64.0M  32.0M  16.0M        8.0M    17.0M    64.0M    0%    0B  shared
dray1  reserved  reserved        3  64.0M  32.0M  16.0M        8.0M     4.0M    64.0M   75%    0B  pinnable,default
"""

NODES = """\
NODE   DEVICE    MODULE                MASK  LINE  ALIGN  HEAPS                     CHANNELS  FLAGS
dray0  soc:dray  0.1.0           0xffffffff    64    128  reserved,other,pages,new         2  submit,0x100000
dray1  soc:dray  0.1.0   0xffffffffffffffff    64    128  reserved                         0  virtual

NODE   CHANNEL   ENGINE     ALIGN  SEGMENT  SUBMITTED  BYTES  FAILED  STATE
dray0  channel0  -              1        -          7   8.0M       0  closed
dray0  channel1  dma0chan1      1     1.0G          7   8.0M       1  dead
"""

SHOW_2 = """\
id:          2
name:        frame
size:        2.0M (2097152 bytes)
heap:        reserved, number 0 of dray0
mode:        write-combined
owner:       python3, pid 102, gone
user:        root, uid 0
mapped:      1
attached:    2
busy:        1 transfer in flight
age:         3m12s
synced:      1.5M (1572864 bytes)
sync time:   2ms
held by:     -
"""


ATTACHED = """\
ID  SIZE  HEAP      MODE             PID  COMM     USER  MAPPED  ATTACHED  BUSY     AGE  NAME
 1  1.0M  reserved  cached           101  python3  root       1         2     0      5s  frame
 2  2.0M  reserved  write-combined  gone  python3  root       1         2     1   3m12s  frame
 3  3.0M  other     coherent           -  python3  root       1         2     0   2h05m  -
 4  4.0M  -         pinned          held  python3  root       -         -     0  40d00h  -
 5  5.0M  vivid     dma-buf          105  python3  root       -         -     1      5s  video
 6  6.0M  -         77               106  python3  root       -         -     0   3m12s  -
total: 3 buffers, 6.0M; 3 attachments, 15.0M
"""

SHOW_4 = """\
id:          4
name:        -
size:        4.0M (4194304 bytes)
memory:      pages of a process, pinned
attached to: dray1, which may write it
owner:       python3, pid 104, gone
user:        root, uid 0
held:        a device may still write it; when it does not: dmactl reclaim 4
busy:        0 transfers in flight
age:         40d00h
held by:     -
"""


def test(function):
    TESTS.append(function)
    return function


class Skip(Exception):
    pass


def run(program, *arguments, scene="plain", fail=None, **more):
    environment = dict(os.environ, DRAY_SCENE=scene, LC_ALL="C.UTF-8",
                       # so that a request for too much returns, as it does
                       # without the sanitizer
                       ASAN_OPTIONS="allocator_may_return_null=1:"
                       + os.environ.get("ASAN_OPTIONS", ""))
    environment.pop("DRAY_FAIL", None)
    if fail:
        environment["DRAY_FAIL"] = fail
    environment.update(more.pop("environment", {}))
    return subprocess.run([program, *arguments], env=environment,
                          stdin=subprocess.DEVNULL, timeout=60,
                          stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, **more)


def same(what, value, expected):
    if value != expected:
        raise AssertionError(f"{what}: {value!r} instead of {expected!r}")


def check(result, code, out=None, error=""):
    """The exit code, the whole of both outputs; None: whatever it is."""
    same("standard error", result.stderr.decode(), error)
    same("exit code", result.returncode, code)
    if out is not None:
        same("standard output", result.stdout.decode(), out)


def read_json(result, code=0, error=""):
    check(result, code, error=error)
    return json.loads(result.stdout)


def on_terminal(*arguments, width=200, **environment):
    """What dmactl-scripted writes to a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, width, 0, 0))
    environment = {"TERM": "xterm", "NO_COLOR": "", **environment}
    result = run(SCRIPTED, *arguments, stdout=theirs, environment=environment)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # EIO: the other end is closed and all is read
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    same("exit code", result.returncode, 0)
    return text.decode().replace("\r\n", "\n")


# --- the real dmactl ------------------------------------------------------

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
def help_of_each_command_is_the_same_in_three_ways():
    for command in COMMANDS:
        texts = {run(DMACTL, *call).stdout for call in (
            ["help", command], [command, "--help"], ["-h", command])}
        same(f"texts for {command}", len(texts), 1)
        text = texts.pop().decode()
        if not text.startswith(f"Usage: dmactl [OPTION]... {command}"):
            raise AssertionError(f"help of {command} begins {text[:60]!r}")
    same("help", run(DMACTL, "help").stdout, run(DMACTL, "--help").stdout)
    check(run(DMACTL, "--help"), 0)


@test
def help_names_every_command_and_option():
    text = run(DMACTL, "--help").stdout.decode()
    found = re.findall(r"^  (\w+)", text, re.MULTILINE)
    same("commands", found, COMMANDS)
    found = re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", text)
    same("options", sorted(set(found)), sorted(OPTIONS))


@test
def the_man_page_has_the_commands_options_and_columns_of_the_tool():
    with open(os.path.join(MAN_FOLDER, "dmactl.1"), encoding="utf-8") as file:
        page = file.read()
    found = set()
    for line in re.findall(r"^\.It (Fl .*)", page, re.MULTILINE):
        for name in re.findall(r"((?:Fl )+)([a-z-]+)", line):
            found.add("-" * name[0].count("Fl") + name[1])
    same("options", sorted(found), sorted(OPTIONS))
    found = re.findall(r"^\.It Cm (\w+)", page, re.MULTILINE)
    same("commands", found, COMMANDS)
    titles = set()
    for command in ("list", "heaps", "nodes"):
        for line in on_terminal(command, NO_COLOR="1").splitlines():
            if line and all(re.fullmatch("[A-Z]+", w) for w in line.split()):
                titles.update(line.split())
    described = set(re.findall(r"^\.It ([A-Z]+)$", page, re.MULTILINE))
    same("columns", sorted(described), sorted(titles))


@test
def the_man_pages_pass_lint():
    if not shutil.which("mandoc"):
        raise AssertionError("mandoc is missing: apt install mandoc")
    pages = sorted(p for p in os.listdir(MAN_FOLDER) if p[-1].isdigit())
    same("pages", pages, ["dmactl.1", "dray-replay.1", "dray.4",
                          "libdray.7"])
    for page in pages:
        result = subprocess.run(
            ["mandoc", "-T", "lint", os.path.join(MAN_FOLDER, page)],
            capture_output=True, check=False)
        # whether a page that is named is installed is not of this page
        same(page, [line for line in result.stdout.decode().splitlines()
                    if "referenced manual not found" not in line], [])


@test
def the_version_is_printed():
    result = run(DMACTL, "--version")
    check(result, 0)
    if not re.fullmatch(r"dmactl \d+\.\d+\.\d+\nlibdray \d+\.\d+\.\d+\n",
                        result.stdout.decode()):
        raise AssertionError(f"version is {result.stdout!r}")


@test
def usage_errors_are_sentences_and_exit_2():
    for arguments, sentence in (
            ([], "what to show is missing"),
            (["lsit"], "no command 'lsit'"),
            (["help", "lsit"], "no command 'lsit': 'dmactl help' shows them"),
            (["lsit", "--help"], "no command 'lsit'"),
            (["list", "1"], "list: '1' is one too many"),
            (["show", "1", "2"], "show: '2' is one too many"),
            (["show"], "show: ID is missing"),
            (["list", "-x"], "unknown option '-x'"),
            (["list", "-xn"], "unknown option '-x'"),
            (["list", "--jsno"], "unknown option '--jsno'"),
            (["list", "-n"], "option '-n' needs a value"),
            (["list", "--node"], "option '--node' needs a value"),
            (["list", "--json=1"], "option '--json=1' takes no value"),
            (["--n", "x", "list"], "unknown option '--n'"),
            (["list", "\033[31m"], "list: '\\x1b[31m' is one too many"),
            (["list", "--all"], "list takes no option '--all'"),
            (["reclaim"], "reclaim: ID or --all is missing: 'dmactl list' "
             "shows what is held"),
            (["reclaim", "1", "--all"],
             "reclaim: an ID, or --all, not both"),
            (["\n"], "no command '\\x0a'")):
        result = run(DMACTL, *arguments)
        first = result.stderr.decode().splitlines()[0]
        same(f"{arguments}", first, "dmactl: " + sentence)
        same(f"exit code of {arguments}", result.returncode, 2)
        same(f"output of {arguments}", result.stdout, b"")


@test
def what_is_no_id_is_a_usage_error():
    for word in ("0", "-1", "+1", " 1", "1x", "", "x", "0x10", "1.0",
                 "18446744073709551616", "99999999999999999999"):
        for command in ("show", "reclaim"):
            check(run(DMACTL, command, "--", word), 2, "",
                  f"dmactl: '{word}' is no id: 'dmactl list' shows them, "
                  "numbers from 1 on\n")


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


# --- dmactl over the stand-in ---------------------------------------------

@test
def list_is_aligned_and_has_a_total():
    check(run(SCRIPTED, "list"), 0, LIST)


@test
def heaps_are_aligned():
    check(run(SCRIPTED, "heaps"), 0, HEAPS)


@test
def nodes_and_channels_are_aligned():
    check(run(SCRIPTED, "nodes"), 0, NODES)


@test
def show_has_a_line_for_each_fact():
    check(run(SCRIPTED, "show", "2"), 0, SHOW_2)


@test
def attachments_are_rows_with_a_total_of_their_own():
    check(run(SCRIPTED, "list", scene="attached"), 0, ATTACHED)
    text = run(SCRIPTED, "list", "--bytes", scene="attached").stdout.decode()
    same("total", text.splitlines()[-1],
         "total: 3 buffers, 6291456 bytes; 3 attachments, 15728640 bytes")


@test
def show_of_an_attachment_tells_what_it_is_and_how_to_end_it():
    check(run(SCRIPTED, "show", "4", scene="attached"), 0, SHOW_4)
    for number, memory in (("5", "dma-buf of vivid"), ("6", "77")):
        text = run(SCRIPTED, "show", number, scene="attached").stdout.decode()
        same("memory", text.splitlines()[3:5], [
            f"memory:      {memory}",
            "attached to: dray1, which only reads it"])


@test
def a_node_has_what_is_attached_for_it():
    for name, ids in (("dray0", ["1", "2", "3"]),
                      ("dray1", ["1", "2", "4", "5", "6"])):
        text = run(SCRIPTED, "list", "--no-header", "-n", name,
                   scene="attached").stdout.decode()
        same(name, [line.split()[0] for line in text.splitlines()], ids)


@test
def json_has_attachments_apart_from_buffers():
    listed = read_json(run(SCRIPTED, "list", "--json", scene="attached"))
    same("buffers", [buffer["id"] for buffer in listed["buffers"]], [1, 2, 3])
    same("kinds", [attachment["kind"] for attachment
                   in listed["attachments"]], ["pinned", "dma-buf", "77"])
    same("total", listed["total"], {
        "buffers": 3, "size": 6291456, "attachments": 3, "attached": 15728640})
    same("attachment", listed["attachments"][0], {
        "id": 4, "kind": "pinned", "name": "", "size": 4194304,
        "exporter": "", "node": "dray1", "device_reads_only": False,
        "pid": 104, "comm": "python3", "owner_gone": True,
        "address_given": True, "held": True, "uid": 0, "user": "root",
        "transfers": 0, "age_ns": 3456000000000000})


@test
def no_header_leaves_out_header_and_total():
    lines = run(SCRIPTED, "--no-header", "list").stdout.decode().splitlines()
    same("first words", [line.split()[0] for line in lines], ["1", "2", "3"])
    text = run(SCRIPTED, "nodes", "--no-header").stdout.decode()
    same("nodes", [line.split()[:1] for line in text.splitlines()],
         [["dray0"], ["dray1"], [], ["dray0"], ["dray0"]])


@test
def bytes_prints_exact_sizes():
    text = run(SCRIPTED, "list", "--bytes").stdout.decode()
    same("sizes", [line.split()[1] for line in text.splitlines()],
         ["SIZE", "1048576", "2097152", "3145728", "3"])
    same("total", text.splitlines()[-1], "total: 3 buffers, 6291456 bytes")
    text = run(SCRIPTED, "heaps", "--bytes", "--no-header").stdout.decode()
    same("heap", text.splitlines()[0].split()[4:10],
         ["67108864", "33554432", "16777216", "8388608", "4194304",
          "67108864"])
    text = run(SCRIPTED, "show", "1", "--bytes").stdout.decode()
    same("size", text.splitlines()[2], "size:        1048576")


@test
def a_node_limits_what_is_listed_and_may_be_a_path():
    for name in ("dray1", "/dev/dray1"):
        result = run(SCRIPTED, "list", "--no-header", "-n", name)
        check(result, 0)
        same("ids", [line.split()[0]
                     for line in result.stdout.decode().splitlines()],
             ["1", "2"])
    check(run(SCRIPTED, "show", "3", "-n", "dray1"), 1, "",
          "dmactl: no buffer or attachment 3: there are 2 on dray1 that you may see "
          "(1, 2)\n")


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
def nothing_to_list_is_fine():
    check(run(SCRIPTED, "list", scene="empty"), 0,
          "ID  SIZE  HEAP  MODE  PID  COMM  USER  MAPPED  ATTACHED  BUSY  "
          "AGE  NAME\ntotal: 0 buffers, 0B\n")
    check(run(SCRIPTED, "list", "--no-header", scene="empty"), 0, "")
    same("json", read_json(run(SCRIPTED, "list", "--json", scene="empty")),
         {"buffers": [], "attachments": [],
          "total": {"buffers": 0, "size": 0, "attachments": 0,
                    "attached": 0}})


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
def json_has_exact_values():
    listed = read_json(run(SCRIPTED, "list", "--json"))
    same("total", listed["total"], {
        "buffers": 3, "size": 6291456, "attachments": 0, "attached": 0})
    buffer = {"id": 2, "kind": "buffer", "name": "frame", "size": 2097152, "heap": "reserved",
              "node": "dray0", "mode": "write-combined", "pid": 102,
              "comm": "python3", "owner_gone": True,
              "address_given": True, "held": False, "uid": 0,
              "user": "root", "mapped": 1, "attachments": 2, "transfers": 1,
              "age_ns": 192000000000, "sync_bytes": 1572864,
              "sync_ns": 2500000}
    same("buffer", listed["buffers"][1], buffer)
    buffer.update(holders=[], hidden_processes=0)
    same("show", read_json(run(SCRIPTED, "show", "--json", "2")), buffer)
    same("pid", listed["buffers"][2]["pid"], None)
    only = read_json(run(SCRIPTED, "heaps", "--json", "-n", "dray1"))
    same("heaps", only, {"heaps": [{
        "node": "dray1", "index": 0, "heap": "reserved", "type": "reserved",
        "flags": ["pinnable", "default"], "buffers": 3, "total": 67108864,
        "used": 33554432, "free": 16777216, "quarantined": 8388608,
        "held": 0, "limit": 0, "user_limit": 50331648, "user_used": 4096,
        "largest_free": 4194304, "largest_request": 67108864,
        "fragmented_percent": 75}]})
    heaps = read_json(run(SCRIPTED, "heaps", "--json"))["heaps"]
    same("full heap", heaps[1]["fragmented_percent"], None)
    nodes = read_json(run(SCRIPTED, "nodes", "--json"))["nodes"]
    same("mask", nodes[1]["dma_mask"], "0xffffffffffffffff")
    same("heaps", nodes[0]["heaps"], ["reserved", "other", "pages", "new"])
    same("flags", nodes[0]["flags"], ["submit", "0x100000"])
    same("channel", nodes[0]["channels"][1], {
        "index": 1, "name": "channel1", "engine": "dma0chan1",
        "state": "dead", "flags": ["copy", "open", "dead"], "alignment": 1,
        "max_segment": 1 << 30, "submitted": 7, "bytes": 8388608,
        "failed": 1})
    same("no channels", nodes[1]["channels"], [])


@test
def reclaim_tells_what_it_freed():
    check(run(SCRIPTED, "reclaim", "2"), 0, "reclaimed: 1 buffer, 2.0M\n")
    check(run(SCRIPTED, "reclaim", "--all", "--bytes"), 0,
          "reclaimed: 2 buffers, 5242880 bytes\n")
    same("json", read_json(run(SCRIPTED, "reclaim", "--all", "--json")),
         {"buffers": 2, "attachments": 0, "size": 5242880})
    check(run(SCRIPTED, "reclaim", "4", scene="attached"), 0,
          "reclaimed: 1 attachment, 2.0M\n")
    check(run(SCRIPTED, "reclaim", "--all", scene="attached"), 0,
          "reclaimed: 1 buffer and 1 attachment, 5.0M\n")
    same("json of both", read_json(run(SCRIPTED, "reclaim", "--all", "--json",
                                       scene="attached")),
         {"buffers": 1, "attachments": 1, "size": 5242880})


@test
def reclaim_of_what_is_not_held_fails():
    check(run(SCRIPTED, "reclaim", "7"), 1, "",
          "dmactl: dray0: cannot reclaim memory: scripted reclaim: "
          "No such file or directory\n")
    check(run(SCRIPTED, "reclaim", "--all", fail="reclaim:1"), 1, "",
          "dmactl: dray0: cannot reclaim memory: scripted reclaim: "
          "Operation not permitted\n")


@test
def what_is_held_is_seen_in_the_list():
    rows = run(SCRIPTED, "list", "--no-header", scene="held").stdout.decode()
    same("owner", rows.splitlines()[1].split()[4], "held")
    text = run(SCRIPTED, "show", "2", scene="held").stdout.decode()
    same("show", text.splitlines()[7],
         "held:        a device may still write it; when it does not: "
         "dmactl reclaim 2")
    listed = read_json(run(SCRIPTED, "list", "--json", scene="held"))
    same("held", [buffer["held"] for buffer in listed["buffers"]],
         [False, True, False])


@test
def huge_numbers_lose_nothing():
    buffer = read_json(run(SCRIPTED, "show", "1", "--json", scene="huge"))
    same("synced", buffer["sync_bytes"], "18446744073709551615")
    same("size", buffer["size"], (1 << 62) + 1)
    same("uid", buffer["uid"], (1 << 32) - 2)
    text = run(SCRIPTED, "show", "3", scene="huge").stdout.decode()
    for line in ("size:        4.0E (4611686018427387905 bytes)",
                 "heap:        other",
                 "owner:       python3, a process of another namespace",
                 "synced:      15.9E (18446744073709551615 bytes)",
                 "age:         213503d23h"):
        if line not in text.splitlines():
            raise AssertionError(f"{line!r} is not in {text!r}")


@test
def small_numbers_have_small_units():
    lines = run(SCRIPTED, "show", "1").stdout.decode().splitlines()
    same("lines", lines[-4:-1], ["age:         5s", "synced:      512 bytes",
                                 "sync time:   7us"])


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
def hostile_names_survive_json():
    names = [buffer["name"] for buffer in read_json(
        run(SCRIPTED, "list", "--json", scene="hostile"))["buffers"]]
    same("names", names, ["\033[2Jgone\\\b\177\r\n", "café \ufffd\ufffd",
                          "rtl \u202e 宽"])


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


@test
def colours_are_for_terminals_that_want_them():
    if "\033[31mgone\033[0m" not in on_terminal("list"):
        raise AssertionError("no colour on a terminal")
    if "\033[31m" not in on_terminal("heaps"):
        raise AssertionError("no colour for a full heap")
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for command in (["list"], ["heaps"], ["nodes"], ["show", "2"]):
            if "\033" in on_terminal(*command, **environment):
                raise AssertionError(f"{command} has colours")


@test
def a_terminal_gets_a_bar():
    lines = on_terminal("heaps", NO_COLOR="1").splitlines()
    same("title", lines[0].split()[-1], "FILL")
    same("bars", [line.split()[-1] for line in lines[1:]],
         ["[##########!!ooo.....]", "[##########!!oooooooo]"]
         + 3 * ["[##########!!ooo.....]"])


@test
def a_narrow_terminal_cuts_names():
    wide = on_terminal("list", NO_COLOR="1").splitlines()
    same("wide", wide, LIST.splitlines())
    longest = max(len(line) for line in wide)
    narrow = on_terminal("nodes", width=70, NO_COLOR="1")
    if "reserve+" not in narrow:
        raise AssertionError(f"nothing is cut: {narrow!r}")
    same("unknown width", on_terminal("list", width=0,
                                      NO_COLOR="1").splitlines(), wide)
    same("still aligned", on_terminal("list", width=longest,
                                      NO_COLOR="1").splitlines(), wide)


# --- completion -----------------------------------------------------------

def complete(*words):
    """What bash would offer for the last of the words."""
    script = (f"source '{COMPLETION}'\n"
              'COMP_WORDS=("$@")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
              # stands in for the files of /dev
              "_dmactl_nodes() { printf '%s\\n' dray0 dray1; }\n"
              '_dmactl\nprintf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "-c", script, "bash", SCRIPTED, *words],
                            env=dict(os.environ, DRAY_SCENE="plain"),
                            capture_output=True, timeout=60, check=True)
    same("standard error", result.stderr, b"")
    return result.stdout.decode().split()


@test
def completion_offers_what_fits():
    for words, offered in (
            ([""], COMMANDS), (["s"], ["show"]), (["help", "h"],
                                                  ["heaps", "help"]),
            (["-"], OPTIONS), (["list", "--no"], ["--node", "--no-header"]),
            (["-n", ""], ["dray0", "dray1"]),
            (["list", "--node", "d"], ["dray0", "dray1"]),
            (["list", "--node", "="], ["dray0", "dray1"]),
            (["list", "--node", "=", "dray1"], ["dray1"]),
            (["show", ""], ["1", "2", "3"]), (["show", "2"], ["2"]),
            (["reclaim", ""], ["1", "2", "3", "--all"]),
            (["-n", "dray0", "show", "--json", ""], ["1", "2", "3"]),
            (["show", "1", ""], []), (["list", ""], [])):
        same(f"{words}", sorted(complete(*words)), sorted(offered))


@test
def completion_is_sourced_without_a_word():
    result = subprocess.run(["bash", "-c", f"source '{COMPLETION}' && "
                             "complete -p dmactl"], capture_output=True,
                            check=True)
    same("registration", result.stdout.decode(),
         "complete -F _dmactl dmactl\n")


def main():
    failed = False
    print(f"1..{len(TESTS)}")
    for number, function in enumerate(TESTS, 1):
        note = f"{number} - {function.__name__}"
        try:
            function()
            print(f"ok {note}")
        except Skip as reason:
            print(f"ok {note} # SKIP {reason}")
        except Exception as error:  # one broken test must not hide the rest
            failed = True
            print(f"not ok {note}")
            for line in f"{type(error).__name__}: {error}".splitlines():
                print(f"# {line}")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())

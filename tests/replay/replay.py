#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray-replay: usage, what it makes of logs, and what is wrong with others.

Prints TAP.  Takes the path of dray-replay, the folder with the man pages, and
the script that completes its command line.
"""

import json
import os
import pty
import random
import subprocess
import sys
import tempfile

REPLAY, MAN_FOLDER, COMPLETION = map(os.path.abspath, sys.argv[1:4])
HEADER = "Thread,Time,Action,Pointer,Size,Stream\n"
OPTIONS = ["-r", "--resource", "-n", "--node", "-l", "--limit", "-c", "--rounds", "--json",
           "-h", "--help", "--version"]
TESTS = []


def fact(function):
    TESTS.append(function)
    return function


def call(*arguments, log=None, **more):
    environment = dict(os.environ, DRAY_BACKEND="host")
    return subprocess.run([REPLAY, *arguments], input=log, capture_output=True, text=True,
                          env=environment, timeout=100, check=False, **more)


def play(lines, *arguments):
    """The JSON of a log of those lines, behind the header."""
    done = call("--json", "-c", "1", *arguments, "-", log=HEADER + lines)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return json.loads(done.stdout)


def event(action, pointer, size=100, stream="0"):
    return f"7,12:34:56.123456,{action},{pointer},{size},{stream}\n"


def assert_usage(done, part):
    assert done.returncode == 2, done.returncode
    assert part in done.stderr, done.stderr
    assert "Try 'dray-replay --help'." in done.stderr, done.stderr
    assert done.stdout == "", done.stdout


def assert_refused(log, part):
    done = call("-", log=log)
    assert done.returncode == 1, done.returncode
    assert done.stderr.startswith("dray-replay: standard input"), done.stderr
    assert part in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == "", done.stdout


@fact
def help_and_the_man_page_name_all_options():
    done = call("--help")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    with open(os.path.join(MAN_FOLDER, "dray-replay.1"), encoding="utf-8") as file:
        manual = file.read()
    for option in OPTIONS:
        assert option in done.stdout, option
        name = option.lstrip("-")
        flag = f"Fl Fl {name}" if option.startswith("--") else f"Fl {name}"
        assert flag in manual, option
    assert max(map(len, done.stdout.splitlines())) <= 80


@fact
def the_version_is_that_of_the_library():
    done = call("--version")
    words = done.stdout.split()
    assert words[0] == "dray-replay" and words[2] == "libdray", done.stdout
    assert words[1] == words[3], done.stdout


@fact
def a_command_line_without_sense_is_usage():
    assert_usage(call(), "the log to play is missing")
    assert_usage(call("a", "b"), "'b' is one too many")
    assert_usage(call("-x", "a"), "unknown option '-x'")
    assert_usage(call("--wrong", "a"), "unknown option '--wrong'")
    assert_usage(call("--json=1", "a"), "option '--json=1' takes no value")
    assert_usage(call("-r"), "option '-r' needs a value")
    assert_usage(call("-r", "arena", "a"), "no resource 'arena': pool, binning or malloc")
    for limit in ["", "0", "-1", "12Q", "1KK", "99999999999999999999", "17179869184G", "x"]:
        assert_usage(call("-l", limit, "a"), f"'{limit}' is no number of bytes")
    for rounds in ["", "0", "-1", "1001", "2x", "99999999999999999999"]:
        assert_usage(call("-c", rounds, "a"), f"'{rounds}' is no number of rounds")


@fact
def a_log_that_is_not_there_is_named():
    done = call("/there/is/none.csv")
    assert done.returncode == 1
    assert done.stderr == "dray-replay: /there/is/none.csv: No such file or directory\n"
    done = call("/tmp")
    assert done.returncode == 1
    assert done.stderr == "dray-replay: /tmp: Is a directory\n", done.stderr
    done = call("no\033[31mfile")
    assert "no?[31mfile" in done.stderr, done.stderr


@fact
def a_node_that_is_not_there_is_named():
    done = call("-n", "tape", "-", log=HEADER)
    assert done.returncode == 1
    assert '"tape" names no back end' in done.stderr, done.stderr


@fact
def a_log_of_two_blocks_is_counted():
    told = play(event("allocate", "0x1000", 100) + event("allocate", "0x2000", 50) +
                event("free", "0x1000", 100) + event("allocate", "0x1000", 10) +
                event("free", "0x2000", 50) + event("allocate failure", "(nil)", 9999))
    assert told["events"] == 5 and told["allocations"] == 3 and told["failures"] == 1
    assert told["peak"] == 150
    assert (told["left_blocks"], told["left_bytes"]) == (1, 10)
    assert (told["unknown_frees"], told["lost_frees"]) == (0, 0)
    assert [row["name"] for row in told["rows"]] == ["pool", "binning", "malloc"]
    for row in told["rows"]:
        assert row["n"] == 1 and row["failed"] == 0 and row["unit"] == "ns/event"
        assert row["min"] <= row["median"] <= row["max"]
    # In granules of 64 bytes, and in one block of upstream for each bin.
    # 64 and 128 bytes, and for each one more that the thread keeps for later
    assert 192 <= told["rows"][0]["peak"] <= 2 * 192, told
    assert told["rows"][1]["peak"] == 128 * 128, told
    assert told["rows"][2]["peak"] is None


@fact
def the_table_has_the_same_numbers():
    done = call("-r", "malloc", "-c", "3", "-",
                log=HEADER + event("allocate", "0x1", 100) + event("free", "0x99"))
    assert done.returncode == 0, done.stderr
    assert "events:    1 (1 allocations, 0 more had failed)\n" in done.stdout, done.stdout
    assert "not freed: 1 blocks, 100 bytes\n" in done.stdout, done.stdout
    assert "left out:  1 frees of what the log does not allocate\n" in done.stdout
    rows = done.stdout.split("\n\n")[1].splitlines()
    assert rows[0].split() == ["RESOURCE", "NS/EVENT", "MIN", "MAX", "FAILED", "PEAK"]
    assert len(rows) == 2 and rows[1].startswith("malloc "), rows


@fact
def a_log_that_begins_or_ends_in_the_middle_is_played():
    told = play(event("free", "0x1") + event("allocate", "0x1", 10) +
                event("allocate", "0x1", 20) + event("free", "0x1") + event("free", "0x1"))
    assert told["unknown_frees"] == 2 and told["lost_frees"] == 1
    assert told["events"] == 4 and told["peak"] == 20 and told["left_blocks"] == 0


@fact
def an_empty_log_has_nothing_to_play():
    told = play("")
    assert told["events"] == 0 and len(told["rows"]) == 3


@fact
def columns_are_found_by_name_and_lines_end_as_they_like():
    done = call("--json", "-", log="Size,X,Pointer,Action\r\n5,,a0,allocate\r\n5,,0xA0,free")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["events"] == 2


@fact
def a_log_of_rmm_itself_is_played():
    # As spdlog formats it there, with the stream of a default and another.
    told = play("42,10:11:12.131415,allocate,0x7f5e0c000000,80,0x1\n"
                "42,10:11:12.131499,allocate failure,(nil),1099511627776,0\n"
                "43,10:11:12.131500,free,0x7f5e0c000000,80,0x1\n")
    assert told["events"] == 2 and told["failures"] == 1 and told["left_blocks"] == 0


@fact
def what_is_malformed_is_named_with_its_line():
    good = HEADER + event("allocate", "0x1")
    assert_refused("", "it is empty")
    assert_refused("a,b,c\n", ':1: no column "Action"')
    assert_refused("Action,Size\n", ':1: no column "Pointer"')
    assert_refused("," * 40 + "\n", ":1: 41 columns, at most 32")
    assert_refused(good + "1,2,3\n", ":3: 3 columns, the first line has 6")
    assert_refused(good + "\n", ":3: 1 columns")
    assert_refused(good + event("alocate", "0x1"), ':3: "alocate" is no action')
    assert_refused(good + event("", "0x1"), ':3: "" is no action')
    for pointer in ["", "zzz", "-1", " 1", "0x", "0x1ffffffffffffffff", "1g"]:
        assert_refused(good + event("free", pointer), f':3: "{pointer}" is no pointer')
    for size in ["", "-1", "+1", "1.5", "0x10", "9223372036854775808", "1e3", " 1"]:
        assert_refused(good + event("free", "0x1", size), f':3: "{size}" is no size')
    assert_refused(good + "1,2,free,0x1\0,5,0\n", ":3: a zero byte")
    assert_refused(good + event("\033[31m" + "x" * 1000, "0x1"), ':3: "?[31mxxx')


@fact
def a_limit_makes_allocations_fail_that_are_then_counted():
    lines = "".join(event("allocate", hex(i << 20), 1 << 20) for i in range(1, 9))
    told = play(lines, "-r", "pool", "-r", "malloc", "-l", "4M")
    assert [row["failed"] for row in told["rows"]] == [4, 0], told


@fact
def random_logs_are_counted_as_a_dictionary_counts_them():
    dice = random.Random(20261122)
    out, lines, peak, now, unknown = {}, [], 0, 0, 0
    for _ in range(20000):
        pointer = dice.randrange(1, 300) * 64
        if pointer in out or dice.random() < 0.05:
            lines.append(event("free", hex(pointer)))
            unknown += pointer not in out
            now -= out.pop(pointer, 0)
        else:
            out[pointer] = dice.randrange(0, 5000)
            now += out[pointer]
            peak = max(peak, now)
            lines.append(event("allocate", hex(pointer), out[pointer]))
    told = play("".join(lines))
    assert told["peak"] == peak and told["unknown_frees"] == unknown
    assert (told["left_blocks"], told["left_bytes"]) == (len(out), now)
    assert all(row["failed"] == 0 for row in told["rows"])


@fact
def more_bytes_than_can_be_counted_are_refused():
    half = 2 ** 63 - 1
    log = HEADER + "".join(event("allocate", hex(p), half) for p in (16, 32, 48))
    done = call("-", log=log)
    assert done.returncode == 1, done
    assert ":4: more than 18446744073709551615 bytes are allocated" in done.stderr, done.stderr


@fact
def a_terminal_is_shown_how_far_it_has_come():
    pair = event("allocate", "0x1") + event("free", "0x1")
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(HEADER + pair * 1000000)
        file.flush()
        master, terminal = pty.openpty()
        shown = b""
        with subprocess.Popen([REPLAY, "-c", "1", "-r", "pool", file.name], stderr=terminal,
                              stdout=subprocess.DEVNULL,
                              env=dict(os.environ, DRAY_BACKEND="host")) as process:
            os.close(terminal)
            try:
                while piece := os.read(master, 65536):
                    shown += piece
            except OSError:  # the terminal's other end is closed
                pass
            assert process.wait(100) == 0
        os.close(master)
        assert b"\rreading  [" in shown, shown[:200]
        assert shown.endswith(b"\r\033[K"), shown[-100:]
        quiet = call("-c", "1", "-r", "malloc", file.name)
    assert quiet.returncode == 0 and quiet.stderr == "", quiet.stderr


@fact
def output_that_does_not_arrive_is_a_failure():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([REPLAY, "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    assert done.returncode == 1
    assert done.stderr == "dray-replay: cannot write all of the output\n", done.stderr


def complete(*words):
    """What bash would offer for the last of the words, where a.csv and b.csv lie."""
    script = (f"source '{COMPLETION}'\n"
              'COMP_WORDS=("$@")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
              '_dray_replay\nprintf "%s\\n" "${COMPREPLY[@]}"')
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.csv", "b.csv"):
            with open(os.path.join(folder, name), "w", encoding="utf-8"):
                pass
        done = subprocess.run(["bash", "-c", script, "bash", "dray-replay", *words],
                              cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == "", done.stderr
    return sorted(done.stdout.split())


@fact
def completion_offers_what_fits():
    resources = ["binning", "malloc", "pool"]
    nodes = ["host", "host:private", "host:shareable", "kernel"]
    for words, offered in (
            (["-"], sorted(OPTIONS)), (["--r"], ["--resource", "--rounds"]),
            (["-r", ""], resources), (["--resource", "p"], ["pool"]),
            (["--resource", "="], resources), (["--resource", "=", "m"], ["malloc"]),
            (["-n", ""], nodes), (["--node", "=", "k"], ["kernel"]),
            (["-l", ""], []), (["--rounds", "=", ""], []),
            ([""], ["a.csv", "b.csv"]), (["--json", "b"], ["b.csv"])):
        assert complete(*words) == offered, f"{words}: {complete(*words)}"


@fact
def completion_is_sourced_without_a_word():
    done = subprocess.run(["bash", "-c", f"source '{COMPLETION}' && complete -p dray-replay"],
                          capture_output=True, text=True, check=True)
    assert done.stdout == "complete -F _dray_replay dray-replay\n", done.stdout


def main():
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, test in enumerate(TESTS, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Exception as error:  # the next test may tell more
            failed += 1
            print(f"# {type(error).__name__}: {error}".replace("\n", "\n# "))
            print(f"not ok {number} - {name}", flush=True)
    return failed > 0


sys.exit(main())

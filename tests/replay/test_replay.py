# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray-replay, from the build folder DRAY_BUILD: usage, good logs and bad ones."""

import json
import os
import pty
import random
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
REPLAY = Path(os.environ["DRAY_BUILD"]) / "tools/replay/dray-replay"
COMPLETION = TREE / "tools/replay/dray-replay.bash"
HEADER = "Thread,Time,Action,Pointer,Size,Stream\n"
OPTIONS = ["-r", "--resource", "-n", "--node", "-l", "--limit", "-c", "--rounds", "--json",
           "-h", "--help", "--version"]


def call(*arguments, log=None, **more):
    environment = dict(os.environ, DRAY_BACKEND="host")
    return subprocess.run([REPLAY, *arguments], input=log, capture_output=True, text=True,
                          env=environment, timeout=600, check=False, **more)


def play(lines, *arguments):
    """The JSON of a log of those lines, behind the header."""
    done = call("--json", "-c", "1", *arguments, "-", log=HEADER + lines)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def event(action, pointer, size=100, stream="0"):
    return f"7,12:34:56.123456,{action},{pointer},{size},{stream}\n"


def test_help_and_the_man_page_name_all_options():
    done = call("--help")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    manual = (TREE / "docs/man/dray-replay.1").read_text(encoding="utf-8")
    for option in OPTIONS:
        assert option in done.stdout, option
        name = option.lstrip("-")
        flag = f"Fl Fl {name}" if option.startswith("--") else f"Fl {name}"
        assert flag in manual, option
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_version_is_that_of_the_library():
    done = call("--version")
    words = done.stdout.split()
    assert words[0] == "dray-replay" and words[2] == "libdray"
    assert words[1] == words[3]


@pytest.mark.parametrize("arguments, part", [
    ([], "the log to play is missing"),
    (["a", "b"], "unexpected operand 'b'"),
    (["-x", "a"], "unknown option '-x'"),
    (["--wrong", "a"], "unknown option '--wrong'"),
    (["--json=1", "a"], "option '--json=1' takes no value"),
    (["-r"], "option '-r' needs a value"),
    (["-r", "arena", "a"], "no resource 'arena': pool or malloc"),
    *((["-l", limit, "a"], f"'{limit}' is not a number of bytes") for limit in [
        "", "0", "-1", "12Q", "1KK", "99999999999999999999", "17179869184G", "x"]),
    *((["-c", rounds, "a"], f"'{rounds}' is not a number of rounds") for rounds in [
        "", "0", "-1", "1001", "2x", "99999999999999999999"]),
])
def test_a_wrong_command_line_is_a_usage_error(arguments, part):
    done = call(*arguments)
    assert done.returncode == 2
    assert part in done.stderr
    assert "Try 'dray-replay --help'." in done.stderr
    assert done.stdout == ""


def test_a_log_that_is_not_there_is_named():
    done = call("/there/is/none.csv")
    assert done.returncode == 1
    assert done.stderr == "dray-replay: /there/is/none.csv: No such file or directory\n"
    done = call("/tmp")
    assert done.returncode == 1
    assert done.stderr == "dray-replay: /tmp: Is a directory\n"
    done = call("no\033[31mfile")
    assert "no\\x1b[31mfile" in done.stderr


def test_a_node_that_is_not_there_is_named():
    done = call("-n", "tape", "-", log=HEADER)
    assert done.returncode == 1
    assert '"tape" is not a back end' in done.stderr


def test_a_log_of_two_blocks_is_counted():
    told = play(event("allocate", "0x1000", 100) + event("allocate", "0x2000", 50) +
                event("free", "0x1000", 100) + event("allocate", "0x1000", 10) +
                event("free", "0x2000", 50) + event("allocate failure", "(nil)", 9999))
    assert told["events"] == 5 and told["allocations"] == 3 and told["failures"] == 1
    assert told["peak"] == 150
    assert (told["left_blocks"], told["left_bytes"]) == (1, 10)
    assert (told["unknown_frees"], told["lost_frees"]) == (0, 0)
    assert [row["name"] for row in told["rows"]] == ["pool", "malloc"]
    for row in told["rows"]:
        assert row["n"] == 1 and row["failed"] == 0 and row["unit"] == "ns/event"
        assert row["min"] <= row["median"] <= row["max"]
    # In granules of 64 bytes:
    # 64 and 128 bytes, and for each one more that the thread keeps for later
    assert 192 <= told["rows"][0]["peak"] <= 2 * 192
    assert told["rows"][1]["peak"] is None


def test_the_table_has_the_same_numbers():
    done = call("-r", "malloc", "-c", "3", "-",
                log=HEADER + event("allocate", "0x1", 100) + event("free", "0x99"))
    assert done.returncode == 0, done.stderr
    assert "events:    1 (1 allocations, 0 failed ones left out)\n" in done.stdout
    assert "not freed: 1 block, 100 bytes\n" in done.stdout
    assert "left out:  1 frees without an allocation in the log\n" in done.stdout
    rows = done.stdout.split("\n\n")[1].splitlines()
    assert rows[0].split() == ["RESOURCE", "NS/EVENT", "MIN", "MAX", "FAILED", "PEAK"]
    assert len(rows) == 2 and rows[1].startswith("malloc "), rows


def test_a_log_that_begins_or_ends_in_the_middle_is_played():
    told = play(event("free", "0x1") + event("allocate", "0x1", 10) +
                event("allocate", "0x1", 20) + event("free", "0x1") + event("free", "0x1"))
    assert told["unknown_frees"] == 2 and told["lost_frees"] == 1
    assert told["events"] == 4 and told["peak"] == 20 and told["left_blocks"] == 0


def test_an_empty_log_has_nothing_to_play():
    told = play("")
    assert told["events"] == 0 and len(told["rows"]) == 2


def test_columns_are_found_by_name_and_lines_end_as_they_like():
    done = call("--json", "-", log="Size,X,Pointer,Action\r\n5,,a0,allocate\r\n5,,0xA0,free")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["events"] == 2


def test_a_log_of_rmm_itself_is_played():
    # As spdlog formats it there, with the stream of a default and another.
    told = play("42,10:11:12.131415,allocate,0x7f5e0c000000,80,0x1\n"
                "42,10:11:12.131499,allocate failure,(nil),1099511627776,0\n"
                "43,10:11:12.131500,free,0x7f5e0c000000,80,0x1\n")
    assert told["events"] == 2 and told["failures"] == 1 and told["left_blocks"] == 0


GOOD = HEADER + event("allocate", "0x1")


@pytest.mark.parametrize("log, part", [
    ("", "the log is empty"),
    ("a,b,c\n", ':1: no column "Action"'),
    ("Action,Size\n", ':1: no column "Pointer"'),
    ("," * 40 + "\n", ":1: 41 columns, at most 32"),
    (GOOD + "1,2,3\n", ":3: 3 columns, the first line has 6"),
    (GOOD + "\n", ":3: 1 columns"),
    (GOOD + event("alocate", "0x1"), ':3: "alocate" is not an action'),
    (GOOD + event("", "0x1"), ':3: "" is not an action'),
    *((GOOD + event("free", pointer), f':3: "{pointer}" is not a pointer') for pointer in [
        "", "zzz", "-1", " 1", "0x", "0x1ffffffffffffffff", "1g"]),
    *((GOOD + event("free", "0x1", size), f':3: "{size}" is not a size') for size in [
        "", "-1", "+1", "1.5", "0x10", "9223372036854775808", "1e3", " 1"]),
    (GOOD + "1,2,free,0x1\0,5,0\n", ":3: a zero byte"),
    (GOOD + event("\033[31m" + "x" * 1000, "0x1"), ':3: "\\x1b[31mxxx'),
])
def test_a_malformed_log_is_refused_with_its_line(log, part):
    done = call("-", log=log)
    assert done.returncode == 1
    assert done.stderr.startswith("dray-replay: standard input")
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_limit_makes_allocations_fail_that_are_then_counted():
    lines = "".join(event("allocate", hex(i << 20), 1 << 20) for i in range(1, 9))
    told = play(lines, "-r", "pool", "-r", "malloc", "-l", "4M")
    assert [row["failed"] for row in told["rows"]] == [4, 0]


def test_random_logs_are_counted_as_a_dictionary_counts_them():
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


def test_a_log_of_twelve_columns_is_the_same():
    wide = ("Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,Total Memory,"
            "Current Allocs,Start,End,Elapsed,Location\n")
    words = {"allocate": "Alloc", "free": "Free", "allocate failure": "Alloc failure"}
    events = [("allocate", "0x10", 100), ("allocate failure", "(nil)", 7), ("free", "0x10", 100),
              ("allocate", "0x20", 50)]
    lines = "".join(f"{words[action]},0,{pointer},0,{size},0,0,1,0.1,0.2,0.1,thread 7\n"
                    for action, pointer, size in events)
    done = call("--json", "-c", "1", "-", log=wide + lines)
    assert done.returncode == 0, done.stderr
    expected = play("".join(event(*each) for each in events))
    result = json.loads(done.stdout)
    assert {**result, "rows": None} == {**expected, "rows": None}


def test_more_bytes_than_can_be_counted_are_refused():
    half = 2 ** 63 - 1
    log = HEADER + "".join(event("allocate", hex(p), half) for p in (16, 32, 48))
    done = call("-", log=log)
    assert done.returncode == 1
    assert ":4: more than 18446744073709551615 bytes are allocated" in done.stderr


def test_a_terminal_is_shown_how_far_it_has_come(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(HEADER + 1000000 * (event("allocate", "0x1") + event("free", "0x1")))
    master, terminal = pty.openpty()
    shown = b""
    with subprocess.Popen([REPLAY, "-c", "1", "-r", "pool", log], stderr=terminal,
                          stdout=subprocess.DEVNULL,
                          env=dict(os.environ, DRAY_BACKEND="host")) as process:
        os.close(terminal)
        try:
            while piece := os.read(master, 65536):
                shown += piece
        except OSError:  # the terminal's other end is closed
            pass
        assert process.wait(600) == 0
    os.close(master)
    assert b"\rreading  [" in shown
    assert shown.endswith(b"\r\033[K")
    quiet = call("-c", "1", "-r", "malloc", log)
    log.unlink()
    assert quiet.returncode == 0 and quiet.stderr == ""


def test_output_that_does_not_arrive_is_a_failure():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([REPLAY, "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    assert done.returncode == 1
    assert done.stderr == ("dray-replay: cannot write all of the output: "
                           "No space left on device\n")


RESOURCES = ["malloc", "pool"]
NODES = ["host", "host:private", "host:shareable", "kernel", "shareable"]


@pytest.mark.parametrize("words, offered", [
    (["-"], sorted(OPTIONS)), (["--r"], ["--resource", "--rounds"]),
    (["-r", ""], RESOURCES), (["--resource", "p"], ["pool"]),
    (["--resource", "="], RESOURCES), (["--resource", "=", "m"], ["malloc"]),
    (["-n", ""], NODES), (["--node", "=", "k"], ["kernel"]),
    (["-l", ""], []), (["--rounds", "=", ""], []),
    ([""], ["a.csv", "b.csv"]), (["--json", "b"], ["b.csv"]),
])
def test_completion_offers_what_fits_the_last_word(tmp_path, words, offered):
    (tmp_path / "a.csv").touch()
    (tmp_path / "b.csv").touch()
    script = (f"source '{COMPLETION}'\n"
              'COMP_WORDS=("$@")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
              '_dray_replay\nprintf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", "dray-replay", *words],
                          cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert sorted(done.stdout.split()) == offered


def test_the_completion_is_sourced_silently():
    done = subprocess.run(["bash", "-c", f"source '{COMPLETION}' && complete -p dray-replay"],
                          capture_output=True, text=True, check=True)
    assert done.stdout == "complete -F _dray_replay dray-replay\n"

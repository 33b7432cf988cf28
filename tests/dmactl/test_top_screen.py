# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The live screen of dmactl top, in a terminal by tmux."""

import os
import pty
import shutil
import signal
import subprocess

import pytest

from conftest import SCRIPTED
from machine import Machine
from screen import Screen, wait_until_ended

pytestmark = pytest.mark.skipif(not shutil.which("tmux"),
                                reason="there is no tmux")
SLOW = ("--interval", "1h")  # one sample: nothing changes by itself
FAST = ("--interval", "20ms")


@pytest.fixture(name="top")
def make_top(tmp_path):
    """Starts dmactl top on a screen."""
    screens = []

    def start(*arguments, program=SCRIPTED, **more):
        folder = tmp_path / f"screen{len(screens)}"
        folder.mkdir()
        screens.append(Screen(folder, program, "top", *arguments, **more))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


@pytest.fixture(name="three")
def make_three(tmp_path):
    """Three more processes with open nodes."""
    machine = Machine(tmp_path / "root")
    for pid, comm in ((201, "camera"), (202, "encoder"), (203, "filter")):
        machine.process(pid, comm)
        machine.opener(pid, 3, client=pid)
    return {"DRAY_ROOT": str(machine.root)}


FIRST = """\
dmactl top  every 1h00m  sort -memory
NODE   HEAP      TOTAL   USED  HELD  QUARANTINE   FREE  BUFFERS  FILL
dray0  reserved  64.0M  32.0M    0B       16.0M  16.0M        3  [██████████▒▒▒▒▒·····]
dray0  other     64.0M  32.0M  1.0M        8.0M     0B        3  [██████████▒▒░░░░░░░░]
dray0  pages     64.0M  32.0M    0B        8.0M  16.0M        3  [██████████▒▒░░░·····]
dray0  new       64.0M  32.0M    0B        8.0M  16.0M        3  [██████████▒▒░░░·····]
dray1  reserved  64.0M  32.0M    0B       16.0M  16.0M        3  [██████████▒▒▒▒▒·····]

NODE   CHANNEL   STATE   PID  BYTES/s  PACKETS/s  RING  LOST/s  STALLS/s  FAILED  TRANSFERS/s
dray0  channel0  closed    -        0          0     -       0         0       0            0
dray0  channel1  dead      -        0          0  5/16       0         0       1            0

 PID  USER  BUFFERS  MEMORY  ALLOC/s  SYNC/s  TRANSFERS/s  MOVED/s  BUSY  COMM
 101  root        2    2.0M        0       0            -        -     0  python3
gone  root        1    1.0M        0       0            -        -     1  python3
"""


def stripped(lines):
    return [line.rstrip() for line in lines]


def test_the_screen_has_three_tables(top):
    screen = top(*SLOW)
    lines = stripped(screen.wait("q quit"))
    assert lines[:len(FIRST.splitlines())] == FIRST.splitlines()
    assert set(lines[len(FIRST.splitlines()):-1]) == {""}
    assert lines[-1] == "h help  q quit"
    screen.keys("q")
    assert screen.wait_for_end() == 0


@pytest.mark.skipif(os.geteuid(), reason="a clock of its own needs root")
def test_a_machine_that_booted_just_now_has_a_first_sample(top, tmp_path):
    """Up for a shorter time than the interval: by a namespace of time."""
    booted = tmp_path / "booted"
    booted.write_text("#!/bin/sh\nread -r up rest </proc/uptime\n"
                      'exec unshare --time --fork --monotonic "-${up%.*}" '
                      f'{SCRIPTED} "$@"\n', encoding="utf-8")
    booted.chmod(0o755)
    screen = top(*SLOW, program=booted)
    assert stripped(screen.wait("q quit"))[:15] == FIRST.splitlines()[:15]
    screen.keys("q")
    assert screen.wait_for_end() == 0


def test_rates_change_with_each_sample(top):
    screen = top(*FAST)
    lines = screen.wait(lambda lines: any(
        line.split()[4:6] == ["1.0M", "3.0M"] for line in lines))
    assert ["dray0", "channel0", "closed", "-", "4.0M"] in [
        line.split()[:5] for line in lines]


def processes(lines):
    """The words of each row of a process; none if the screen is half drawn."""
    at = next((i for i, line in enumerate(lines) if "COMM" in line), len(lines))
    return [line.split() for line in lines[at + 1:-1] if line.strip()]


def comms(lines):
    """The last words of the rows of processes."""
    return [words[-1] for words in processes(lines)]


def pids(lines):
    return [words[0] for words in processes(lines)]


def test_keys_choose_column_and_direction(top, three):
    screen = top(*SLOW, environment=three)
    screen.wait("sort -memory")
    for keys, title, order in (
            (("<",), "sort -buffers", ["101", "gone", "201", "202", "203"]),
            (("<", "<"), "sort -pid", ["203", "202", "201", "gone", "101"]),
            (("r",), "sort pid", ["101", "gone", "201", "202", "203"]),
            (("<",), "sort comm", ["201", "202", "203", "101", "gone"]),
            ((">", ">"), "sort user", ["101", "gone", "201", "202", "203"])):
        screen.keys(*keys)
        screen.wait(lambda lines, title=title, order=order: lines[
            0].rstrip().endswith(title) and pids(lines) == order)


def test_text_filters_the_processes(top, three):
    screen = top(*SLOW, environment=three)
    screen.wait("q quit")
    screen.keys("/", "E", "R", "宽")
    screen.wait("filter: ER宽_")
    screen.keys("BSpace")  # three bytes
    screen.wait("filter: ER_")
    screen.wait(lambda lines: comms(lines) == ["camera", "encoder", "filter"])
    screen.keys("Enter")
    assert "filter 'ER'" in screen.wait("q quit")[0]
    screen.keys("q")  # a command again
    assert screen.wait_for_end() == 0


def test_escape_clears_the_filter(top, three):
    screen = top(*SLOW, environment=three)
    screen.wait("q quit")
    screen.keys("/", "2", "0", "2", "Enter")
    screen.wait("filter '202'")
    screen.wait(lambda lines: pids(lines) == ["202"])
    screen.keys("Escape")
    screen.wait(lambda lines: len(pids(lines)) == 5)


def firsts(lines):
    return [line.split()[0] for line in lines if line.strip()]


def test_enter_shows_the_buffers_of_the_chosen_process(top):
    screen = top(*SLOW)
    screen.wait("q quit")
    screen.keys("Enter")
    screen.wait("buffers of python3 (101)")
    screen.wait(lambda lines: firsts(lines[1:5]) == ["ID", "1", "3"])
    screen.keys("Escape")
    screen.wait("TRANSFERS/s")
    screen.keys("Down", "Enter")
    screen.wait("buffers of python3 (102)")
    screen.wait(lambda lines: firsts(lines[1:5]) == ["ID", "2"])


def test_the_chosen_process_stays_chosen_when_the_order_changes(top, three):
    screen = top(*SLOW, environment=three)
    screen.wait("q quit")
    screen.keys("Down", "Down", "r", "Enter")
    screen.wait("buffers of camera (201)")


def test_pause_stops_the_samples(top):
    screen = top(*FAST)
    screen.wait("PID")
    screen.keys("Space")
    screen.wait("PAUSED")
    # keys are answered, so whatever was to come has come
    screen.keys("r")
    paused = screen.wait(lambda lines: "sort memory" in lines[0]
                         and pids(lines) == ["gone", "101"])
    screen.keys("r")
    screen.wait(lambda lines: "sort -memory" in lines[0]
                and sorted(lines[1:]) == sorted(paused[1:]))
    screen.keys("Space")
    screen.wait(lambda lines: sorted(lines[1:]) != sorted(paused[1:]))


def test_the_interval_is_doubled_and_halved(top):
    screen = top("--interval", "1s")
    for key, text in (("+", "every 2s"), ("-", "every 1s"), ("-", "every 500ms"),
                      ("-", "every 250ms"), ("-", "every 125ms"),
                      ("-", "every 100ms"), ("-", "every 100ms")):
        screen.keys(key)
        screen.wait(text)


def test_help_explains_the_keys(top):
    screen = top(*SLOW)
    screen.wait("q quit")
    screen.keys("h")
    screen.wait("reverse the order")
    screen.keys("h")
    screen.wait("TRANSFERS/s")


@pytest.mark.parametrize("width, height", [
    (200, 50), (80, 24), (60, 12), (40, 10), (30, 6), (20, 4), (12, 3),
    (10, 2), (3, 2), (1, 1)])
def test_each_size_has_a_picture(top, width, height):
    screen = top(*SLOW, width=width, height=height)
    if width > 1:
        screen.wait(lambda lines: any(line.strip() for line in lines))
    screen.keys("Down", "End", "Enter", "Escape", "h", "h")
    large = width >= 80 and height >= 12
    lines = screen.wait(lambda lines: len(lines) == height and (
        not large or (lines[-1].startswith("h help") and
                      any("COMM" in line for line in lines))))
    assert all(len(line) <= width for line in lines)
    screen.keys("q")
    screen.resize(100, 30)
    assert screen.wait_for_end() == 0


def test_a_new_size_is_drawn_at_once(top):
    screen = top(*SLOW)
    screen.wait("q quit")
    for width, height in ((80, 24), (20, 5), (2, 1), (120, 40), (100, 30)):
        screen.resize(width, height)
        screen.wait(lambda lines: len(lines) == height and (
            height < 24 or lines[-1].startswith("h help")))
    screen.wait(lambda lines: stripped(lines)[:15] == FIRST.splitlines())


def test_many_processes_scroll(top, tmp_path):
    machine = Machine(tmp_path / "root")
    for pid in range(1000, 1100):
        machine.process(pid, f"p{pid}")
        machine.opener(pid, 3, client=pid)
    screen = top(*SLOW, "--sort", "pid",
                 environment={"DRAY_ROOT": str(machine.root)})
    screen.wait("p1000")
    screen.keys("End")
    screen.wait("p1099")
    screen.keys("PageUp", "Enter")
    assert "p10" in screen.wait("buffers of p")[0]
    screen.keys("Escape", "Home")
    screen.wait("p1000")


def test_colours_are_used_unless_they_are_not_wanted(top):
    coloured = "\n".join(top(*SLOW).wait("q quit", colours=True))
    assert "\033[31m" in coloured and "\033[32m" not in coloured.split("FILL")[0]
    plain = "\n".join(top(*SLOW, environment={"NO_COLOR": "1"}).wait(
        "q quit", colours=True))
    assert "\033[31m" not in plain and "\033[32m" not in plain


def test_the_c_locale_has_ascii(top):
    lines = top(*SLOW, environment={"LC_ALL": "C"}).wait("q quit")
    assert "[##########!!!!!.....]" in lines[2]
    assert all(line.isascii() for line in lines)


def test_hostile_names_do_not_reach_the_terminal(top):
    screen = top(*SLOW, environment={"DRAY_SCENE": "hostile"})
    screen.wait("a b\\x0a9 9")
    screen.keys("Enter")
    assert len(screen.wait("buffers of")) == 30


def test_the_module_may_go_and_come_back(top, tmp_path):
    root = tmp_path / "root"
    Machine(root)
    screen = top(*FAST, environment={"DRAY_ROOT": str(root)})
    screen.wait("python3")
    (root / "unloaded").touch()
    screen.wait("the dray module is not loaded")
    screen.wait(lambda lines: not any("python3" in line for line in lines))
    (root / "unloaded").unlink()
    screen.wait("python3")
    screen.keys("q")
    assert screen.wait_for_end() == 0


def test_a_missing_right_is_told_on_the_screen(top):
    screen = top(*FAST, environment={"DRAY_FAIL": "open:13"})
    screen.wait("no permission to open /dev/dray")
    screen.keys("q")
    assert screen.wait_for_end() == 0


@pytest.mark.parametrize("number", [
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(top, number):
    screen = top(*SLOW)
    screen.wait("q quit")
    screen.kill(number)
    assert screen.wait_for_end() == 128 + number


def test_control_c_ends_it(top):
    screen = top(*SLOW)
    screen.wait("q quit")
    screen.keys("C-c")
    assert screen.wait_for_end() == 128 + signal.SIGINT


def test_a_terminal_that_goes_away_ends_it(top):
    screen = top(*SLOW)
    screen.wait("q quit")
    pid = screen.pid
    screen.close()
    wait_until_ended(pid)


def test_it_ends_after_a_count_of_samples(top):
    screen = top(*FAST, "--count", "3")
    assert screen.wait_for_end() == 0


def test_a_terminal_of_no_known_kind_is_an_error(top):
    screen = top(environment={"TERM": "nothing-known"})
    screen.wait("dmactl: cannot draw on a terminal of type 'nothing-known'; use "
                "--once")
    assert screen.wait_for_end() == 1


def test_both_ends_must_be_the_terminal():
    ours, theirs = pty.openpty()
    done = subprocess.run([SCRIPTED, "top"], stdin=subprocess.DEVNULL,
                          stdout=theirs, stderr=subprocess.PIPE, check=False,
                          env=dict(os.environ, TERM="xterm"))
    os.close(theirs)
    os.close(ours)
    assert (done.returncode, done.stderr) == (
        1, b"dmactl: top needs a terminal; use --once\n")

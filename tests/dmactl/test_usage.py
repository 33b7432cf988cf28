# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line of dmactl: help, man page, options, completion in bash."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import DMACTL, SCRIPTED, TREE, misused, on_terminal, run

MANUAL = TREE / "docs/man"
COMPLETION = TREE / "tools/dmactl/dmactl.bash"
EVERY = {"-h", "--help", "--version"}


def read_table():
    """Commands, and the options of each, as the tool tells shells."""
    found = {}
    for line in run(SCRIPTED, "help", "--complete").out.splitlines():
        word, name, *rest = line.split("\t")
        if word == "command":
            found[name] = set()
        else:
            assert word == "option"
            found[name].add(rest[0])
    return found


OPTIONS_OF = read_table()
COMMANDS = list(OPTIONS_OF)
WORDS = sorted({command.split()[0] for command in COMMANDS})
DT = "dt check, dt show"
OPTIONS = set().union(*OPTIONS_OF.values())


def test_options_of_one_name_all_take_a_value_or_none():
    # the command line is read before it is known whose option it is
    takes = {}
    for line in run(SCRIPTED, "help", "--complete").out.splitlines():
        word, _, name, kind, *_ = line.split("\t")
        if word == "option":
            takes.setdefault(name, set()).add(kind != "nothing")
    assert [name for name, found in takes.items() if len(found) > 1] == []


def page_of(command):
    """The man page that has the command: the one with its first word under NAME."""
    named = re.compile(rf"^\.Nm dmactl-{command.split()[0]}\b", re.MULTILINE)
    for page in MANUAL.glob("dmactl-*.1"):
        if named.search(page.read_text(encoding="utf-8")):
            return page
    return MANUAL / "dmactl.1"


def options_in(text):
    return set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", text))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_the_same_in_three_ways(command):
    words = command.split()
    text = run(DMACTL, "help", *words)
    assert text == run(DMACTL, *words, "--help") == run(DMACTL, "-h", *words)
    assert text.out.startswith(f"Usage: dmactl [OPTION]... {command}")


def test_help_names_every_command():
    text = run(DMACTL, "--help")
    assert (text.code, text.error) == (0, "")
    assert text == run(DMACTL, "help")
    listed = text.out.split("Commands:\n")[1].split("\n\n")[0]
    for line, command in zip(listed.splitlines(), COMMANDS, strict=True):
        assert line.startswith(f"  {command} ")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_completion_of_a_command_have_its_options_only(command):
    words = command.split()
    text = run(DMACTL, *words, "--help").out
    assert options_in("\n".join(
        line[:21] for line in text.split("Options:")[1].splitlines())
    ) == OPTIONS_OF[command] >= EVERY
    assert set(complete(*words, "-")) == OPTIONS_OF[command]


def test_an_option_takes_a_value_in_all_commands_or_in_none():
    # options are read before the command is known
    takes = {}
    for line in run(SCRIPTED, "help", "--complete").out.splitlines():
        word, _, *rest = line.split("\t")
        if word == "option":
            takes.setdefault(rest[0], set()).add(rest[1] != "nothing")
    assert [name for name, found in takes.items() if len(found) > 1] == []


@pytest.mark.parametrize("command, meaning", [
    *((command, "only this node, as dray0; otherwise all")
      for command in ("list", "show", "heaps", "map", "nodes", "leaks", "free",
                      "arrays")),
    *((command, "use this node, as dray0; otherwise the first")
      for command in ("why", "alloc", "test", "reclaim")),
    *((command, "use this node, as dray0; otherwise the buffer's")
      for command in ("share", "dump", "fill", "copy", "sync")),
])
def test_help_tells_which_nodes_a_command_asks(command, meaning):
    line, = re.findall(r"-n, --node NAME +(.*)", run(DMACTL, "help", command).out)
    assert line == meaning


@pytest.mark.parametrize("page", sorted(MANUAL.glob("dmactl*.1")),
                         ids=lambda page: page.stem)
def test_a_man_page_has_the_options_of_its_commands(page):
    text = page.read_text(encoding="utf-8")
    described = [c for c in COMMANDS if page_of(c) == page]
    found = set()
    for line in re.findall(r"^\.It (Fl .*)", text, re.MULTILINE):
        for name in re.findall(r"((?:Fl )+)([a-z-]+)", line):
            found.add("-" * name[0].count("Fl") + name[1])
    expected = set().union(*(OPTIONS_OF[c] for c in described))
    # pages of single commands leave those of all to dmactl(1)
    assert found | EVERY == expected | EVERY
    assert page.name != "dmactl.1" or EVERY <= found
    for command in described:
        assert re.search(rf"^\.(It|Nm|Op|Nd)?.*Cm {command}\b", text,
                         re.MULTILINE)


def test_the_main_page_names_every_command_and_column():
    page = (MANUAL / "dmactl.1").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.It Cm ([a-z]+)", page, re.MULTILINE))
    assert named == set(WORDS)
    titles = set()
    for command, scene in (("list", "plain"), ("heaps", "plain"), ("nodes", "streams"),
                           ("nodes", "registers")):
        for line in on_terminal(command, NO_COLOR="1", DRAY_SCENE=scene).splitlines():
            if line and all(re.fullmatch("[A-Z-]+", w) for w in line.split()):
                titles.update(line.split())
    assert set(re.findall(r"^\.It ([A-Z-]+)$", page, re.MULTILINE)) == titles


def test_the_man_pages_pass_lint():
    assert shutil.which("mandoc"), "mandoc is missing: apt install mandoc"
    pages = sorted(MANUAL.glob("*.[0-9]"))
    assert {"dmactl.1", "dray-replay.1", "dray.4", "libdray.7"} <= {
        page.name for page in pages}
    for page in pages:
        said = subprocess.run(["mandoc", "-T", "lint", page], text=True,
                              capture_output=True, check=False).stdout
        # other pages need not be installed
        assert [line for line in said.splitlines()
                if "referenced manual not found" not in line] == []


@pytest.mark.parametrize("arguments", [["help", "dt"], ["dt", "--help"], ["-h", "dt"]])
def test_the_help_of_dt_lists_its_commands(arguments):
    result = run(DMACTL, *arguments)
    assert (result.code, result.error) == (0, "")
    assert re.findall(r"^  (dt [a-z]+)", result.out, re.MULTILINE) == DT.split(", ")
    assert "reclaim" not in result.out


def test_the_version_is_printed():
    result = run(DMACTL, "--version")
    assert (result.code, result.error) == (0, "")
    assert re.fullmatch(r"dmactl \d+\.\d+\.\d+\nlibdray \d+\.\d+\.\d+\n",
                        result.out)


@pytest.mark.parametrize("arguments, sentence", [
    ([], "no command given"),
    (["lsit"], "no command 'lsit'"),
    (["help", "lsit"], "no command 'lsit': 'dmactl help' lists them"),
    (["lsit", "--help"], "no command 'lsit'"),
    (["dt"], f"'dt' needs a second word: {DT}"),
    (["lst"], "no command 'lst': did you mean 'list'?"),
    (["recliam"], "no command 'recliam': did you mean 'reclaim'?"),
    (["dt", "draw", "x"], f"no command 'dt draw': there are {DT}"),
    (["help", "dt", "draw"], f"no command 'dt draw': there are {DT}"),
    (["list", "1"], "list: unexpected operand '1'"),
    (["show", "1", "2"], "show: unexpected operand '2'"),
    (["show"], "show: ID is missing"),
    (["list", "-x"], "unknown option '-x'"),
    (["list", "-xn"], "unknown option '-x'"),
    (["list", "--jsno"], "unknown option '--jsno'"),
    (["list", "-n"], "option '-n' needs a value"),
    (["list", "--node"], "option '--node' needs a value"),
    (["list", "--json=1"], "option '--json=1' takes no value"),
    (["--n", "x", "list"], "unknown option '--n'"),
    (["list", "\033[31m"], "list: unexpected operand '\\x1b[31m'"),
    (["nodes", "--all"], "nodes does not take the option '--all'"),
    (["help", "list", "x"], "no command 'list x': 'dmactl help' lists them"),
    (["reclaim"],
     "reclaim: ID or --all is missing; 'dmactl list' shows held memory"),
    (["reclaim", "1", "--all"], "reclaim: give an ID or --all, not both"),
    (["\n"], "no command '\\x0a'"),
])
def test_usage_errors_are_sentences_and_exit_2(arguments, sentence):
    assert run(DMACTL, *arguments) == misused(sentence)


@pytest.mark.parametrize("command", ["show", "reclaim"])
@pytest.mark.parametrize("word", [
    "0", "-1", "+1", " 1", "1x", "", "x", "0x10", "1.0", "18446744073709551616",
    "99999999999999999999"])
def test_a_word_that_is_not_an_id_is_a_usage_error(command, word):
    assert run(DMACTL, command, "--", word) == misused(
        f"'{word}' is not an id; 'dmactl list' shows them, numbers from 1 on")


@pytest.mark.parametrize("words, offered", [
    ([""], WORDS), (["s"], [w for w in WORDS if w.startswith("s")]),
    (["help", "heap"], ["heaps"]),
    (["-"], OPTIONS), (["list", "--no"], ["--node", "--no-header"]),
    (["-n", ""], ["dray0", "dray1"]),
    (["list", "--node", "d"], ["dray0", "dray1"]),
    (["list", "--node", "="], ["dray0", "dray1"]),
    (["list", "--node", "=", "dray1"], ["dray1"]),
    (["show", ""], ["1", "2", "3"]), (["show", "2"], ["2"]),
    (["reclaim", ""], ["1", "2", "3"]),
    (["-n", "dray0", "show", "--json", ""], ["1", "2", "3"]),
    (["show", "1", ""], []), (["list", ""], []),
    (["sync", "1", "--for", ""], ["cpu", "device"]),
    (["leaks", "--for", ""], []),
    (["why", "1M", "--heap", "o"], ["other"]),
    (["help", "dt", ""], ["check", "show"]),
    (["help", "d"], ["dt", "dump"]), (["help", "list", ""], []),
    (["list", "--sort", "si"], ["size"]), (["top", "--sort", "mo"], ["moved"]),
    (["arrays", "--columns", "s"], ["size", "state", "shape", "site"]),
    (["dt", "check", "liv"], ["live"]),
    (["dt", "check", "/dev/nul"], ["/dev/null"]),
    (["dt", "show", "/dev/nul"], ["/dev/null"]),
])
def test_completion_offers_what_fits_the_last_word(words, offered):
    assert sorted(complete(*words)) == sorted(offered)


def complete(*words):
    """The words that the completion offers after `dmactl WORDS`."""
    script = (f"source '{COMPLETION}'\n"
              'COMP_WORDS=("$@")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
              # stands in for the files of /dev
              "_dmactl_nodes() { printf '%s\\n' dray0 dray1; }\n"
              '_dmactl\nprintf "%s\\n" "${COMPREPLY[@]}"')
    result = run("bash", "-c", script, "bash", SCRIPTED, *words)
    assert (result.code, result.error) == (0, "")
    return result.out.split()


def test_the_completion_is_sourced_silently():
    assert run("bash", "-c", f"source '{COMPLETION}' && complete -p dmactl") \
        == (0, "complete -F _dmactl dmactl\n", "")


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
@pytest.mark.parametrize("words, offered", [
    (["recl"], "reclaim"), (["show", "2"], "2"), (["help", "recl"], "reclaim"),
    (["list", "--no-h"], "--no-header"), (["reclaim", "--al"], "--all"),
    (["sync", "--for", "dev"], "device"),
    (["list", "--sort", "siz"], "size"), (["help", "dt", "chec"], "check"),
    (["help", "d"], "d"), (["dt", "check", "liv"], "live"),
    (["dt", "show", "/dev/nul"], "/dev/null"),
])
def test_zsh_completes_the_word(words, offered):
    script = TREE / "tests/dmactl/complete.zsh"
    result = run("zsh", "-f", script, TREE / "tools/dmactl/dmactl.zsh", SCRIPTED,
                 *words)
    assert (result.code, result.error) == (0, "")
    assert result.out.split()[-1] == offered


def raw(*arguments):
    done = subprocess.run([DMACTL, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_usage_error_names_the_help_of_its_command():
    assert raw("why", "3x")[2].endswith("\nTry 'dmactl help why'.\n")
    assert raw("dt", "check")[2].endswith("\nTry 'dmactl help dt check'.\n")
    assert raw("nothing")[2].endswith("\nTry 'dmactl --help'.\n")


@pytest.mark.parametrize("arguments, code, sentence, word", [
    (["why", "--json"], 2, "why: SIZE is missing", None),
    (["lst", "--json"], 2, "no command 'lst': did you mean 'list'?", None),
    (["list", "--jsn", "--json"], 2, "unknown option '--jsn'", None)])
def test_with_json_an_error_is_json(arguments, code, sentence, word):
    found, out, error = raw(*arguments)
    assert (found, out) == (code, "")
    assert json.loads(error) == {"error": sentence, **({"errno": word} if word else {})}


@pytest.mark.skipif(Path("/sys/module/dray").exists(), reason="the module is loaded")
@pytest.mark.parametrize("command", [
    ["list"], ["heaps"], ["nodes"], ["why", "1M"], ["map"], ["leaks"]])
def test_machines_can_tell_that_the_module_is_not_loaded(command):
    code, out, error = raw(*command, "--json")
    assert (code, out) == (1, "")
    line = json.loads(error)
    assert line["errno"] == "ENODEV" and line["error"].startswith("the dray module is not loaded")


@pytest.mark.parametrize("size", ["64m", "64 MiB", "64mib", "64MB", "67108864", "65536k"])
def test_sizes_have_units_in_any_case(size):
    result = run(SCRIPTED, "why", size, "--json")
    assert json.loads(result.out)["request"]["size"] == 64 << 20

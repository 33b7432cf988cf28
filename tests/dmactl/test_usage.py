# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line of dmactl: help, man page, options, completion in bash."""

import re
import shutil
import subprocess

import pytest

from conftest import DMACTL, SCRIPTED, TREE, on_terminal, run

MANUAL = TREE / "docs/man"
COMPLETION = TREE / "tools/dmactl/dmactl.bash"
COMMANDS = ["list", "show", "heaps", "nodes", "reclaim", "help"]
OPTIONS = ["-n", "--node", "--all", "--json", "--no-header", "--bytes", "-h", "--help",
           "--version"]
EVERY = {"-h", "--help", "--version"}
SHOWING = EVERY | {"-n", "--node", "--json", "--bytes"}
OPTIONS_OF = {
    "list": SHOWING | {"--no-header"}, "show": SHOWING,
    "heaps": SHOWING | {"--no-header"}, "nodes": SHOWING | {"--no-header"},
    "reclaim": SHOWING | {"--all"}, "help": EVERY,
}


def options_in(text):
    return set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", text))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_the_same_in_three_ways(command):
    text = run(DMACTL, "help", command)
    assert text == run(DMACTL, command, "--help") == run(DMACTL, "-h", command)
    assert text.out.startswith(f"Usage: dmactl [OPTION]... {command}")


def test_help_names_every_command_and_option():
    text = run(DMACTL, "--help")
    assert (text.code, text.error) == (0, "")
    assert text == run(DMACTL, "help")
    assert re.findall(r"^  (\w+)", text.out, re.MULTILINE) == COMMANDS
    assert options_in(text.out) == set(OPTIONS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_completion_of_a_command_have_its_options_only(command):
    text = run(DMACTL, command, "--help").out
    assert options_in(text.split("Options:")[1]) == OPTIONS_OF[command]
    assert set(complete(command, "-")) == OPTIONS_OF[command]


def test_the_man_page_has_the_commands_options_and_columns_of_the_tool():
    page = (MANUAL / "dmactl.1").read_text(encoding="utf-8")
    found = set()
    for line in re.findall(r"^\.It (Fl .*)", page, re.MULTILINE):
        for name in re.findall(r"((?:Fl )+)([a-z-]+)", line):
            found.add("-" * name[0].count("Fl") + name[1])
    assert found == set(OPTIONS)
    assert re.findall(r"^\.It Cm (\w+)", page, re.MULTILINE) == COMMANDS
    titles = set()
    for command in ("list", "heaps", "nodes"):
        for line in on_terminal(command, NO_COLOR="1").splitlines():
            if line and all(re.fullmatch("[A-Z]+", w) for w in line.split()):
                titles.update(line.split())
    assert set(re.findall(r"^\.It ([A-Z]+)$", page, re.MULTILINE)) == titles


def test_the_man_pages_pass_lint():
    assert shutil.which("mandoc"), "mandoc is missing: apt install mandoc"
    pages = sorted(MANUAL.glob("*.[0-9]"))
    assert [page.name for page in pages] == [
        "dmactl.1", "dray-replay.1", "dray.4", "libdray.7"]
    for page in pages:
        said = subprocess.run(["mandoc", "-T", "lint", page], text=True,
                              capture_output=True, check=False).stdout
        # other pages need not be installed
        assert [line for line in said.splitlines()
                if "referenced manual not found" not in line] == []


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
    (["list", "--all"], "list does not take the option '--all'"),
    (["reclaim"],
     "reclaim: ID or --all is missing; 'dmactl list' shows held memory"),
    (["reclaim", "1", "--all"], "reclaim: give an ID or --all, not both"),
    (["\n"], "no command '\\x0a'"),
])
def test_usage_errors_are_sentences_and_exit_2(arguments, sentence):
    result = run(DMACTL, *arguments)
    assert result.error.splitlines()[0] == "dmactl: " + sentence
    assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize("command", ["show", "reclaim"])
@pytest.mark.parametrize("word", [
    "0", "-1", "+1", " 1", "1x", "", "x", "0x10", "1.0", "18446744073709551616",
    "99999999999999999999"])
def test_a_word_that_is_not_an_id_is_a_usage_error(command, word):
    assert run(DMACTL, command, "--", word) == (
        2, "", f"dmactl: '{word}' is not an id; 'dmactl list' shows them, "
        "numbers from 1 on\n")


@pytest.mark.parametrize("words, offered", [
    ([""], COMMANDS), (["s"], ["show"]), (["help", "h"], ["heaps", "help"]),
    (["-"], OPTIONS), (["list", "--no"], ["--node", "--no-header"]),
    (["-n", ""], ["dray0", "dray1"]),
    (["list", "--node", "d"], ["dray0", "dray1"]),
    (["list", "--node", "="], ["dray0", "dray1"]),
    (["list", "--node", "=", "dray1"], ["dray1"]),
    (["show", ""], ["1", "2", "3"]), (["show", "2"], ["2"]),
    (["reclaim", ""], ["1", "2", "3", "--all"]),
    (["-n", "dray0", "show", "--json", ""], ["1", "2", "3"]),
    (["show", "1", ""], []), (["list", ""], []),
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

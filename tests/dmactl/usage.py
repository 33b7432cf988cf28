#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dmactl: what it is told and what it says of itself: help, options, man page."""

import os
import re
import shutil
import subprocess
import sys

from harness import (COMMANDS, DMACTL, MAN_FOLDER, OPTIONS, check, main,
                     on_terminal, run, same, test)


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


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What bash offers for a line that begins with dmactl."""

import os
import subprocess
import sys

from harness import COMMANDS, COMPLETION, OPTIONS, SCRIPTED, main, same, test


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


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Takes apart what `meson test` has written.

    meson-logs.py JSON PREFIX

Writes the output of each program to PREFIX-NAME, and prints a line for each: the
words that it counts in ("tap", or "counts" for pytest), its name, exit status and
file.
"""
import json
import re
import sys


def counts(output):
    """The last line of pytest in the words of tally_end."""
    last = output.rstrip().rpartition("\n")[2]
    found = {word.rstrip("s"): int(number)
             for number, word in re.findall(r"(\d+) ([a-z]+)", last)}
    return (f"{found.get('passed', 0)} passed, "
            f"{found.get('failed', 0) + found.get('error', 0)} failed, "
            f"{found.get('skipped', 0)} skipped\n")


with open(sys.argv[1], encoding="utf-8") as lines:
    tests = [json.loads(line) for line in lines]
for test in tests:
    name = test["name"].rpartition(" / ")[2].replace(" ", "-")
    path = f"{sys.argv[2]}-{name}"
    status = 124 if test["result"] == "TIMEOUT" else test["returncode"] % 256
    output = test.get("stdout", "")
    pytest = "pytest" in test["command"]
    with open(path, "w", encoding="utf-8") as log:
        log.write(output + "\n" + test.get("stderr", "") + "\n")
        if pytest:
            log.write(counts(output))
    print("counts" if pytest else "tap", name, status, path)

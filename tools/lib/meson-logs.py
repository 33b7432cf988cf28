# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Splits the JSON log of `meson test`.

    meson-logs.py JSON PREFIX

Writes each program's output to PREFIX-NAME and prints a line: its kind ("tap" or
"counts", for pytest), name, exit status and file.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as lines:
    tests = [json.loads(line) for line in lines]
for test in tests:
    name = test["name"].rpartition(" / ")[2].replace(" ", "-")
    path = f"{sys.argv[2]}-{name}"
    status = 124 if test["result"] == "TIMEOUT" else test["returncode"] % 256
    with open(path, "w", encoding="utf-8") as log:
        log.write(f"{test.get('stdout', '')}\n{test.get('stderr', '')}\n")
    print("counts" if "pytest" in test["command"] else "tap", name, status, path)

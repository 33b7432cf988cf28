# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs dmactl dt over device trees that boot: it reads each, and finds no error.  The
only warnings may be that regions overlap, which Linux reports at boot, too, and on
this project's boards that a device for tests shares a region.

usage: stock_trees.py DMACTL LEAST FILE.dtb...
"""

import json
import subprocess
import sys


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{command}: {done.returncode} {done.stderr}")
    return done


def check(dmactl, path):
    """Yields the mistakes of dmactl, or of the tree."""
    done = run(dmactl, "dt", "check", "--json", path)
    if not done.stdout:
        yield done.stderr
        return
    for finding in json.loads(done.stdout)["findings"]:
        if not (finding["severity"] == "note" or
                finding["severity"] == "warning" and (
                    finding["rule"] == "region-overlap" or
                    "/sharer names it, too" in finding["sentence"])):
            yield f"{finding['severity']}: {finding['path']}: {finding['sentence']}"
    done = run(dmactl, "dt", "show", "--json", path)
    if done.returncode:
        yield done.stderr


def main():
    dmactl, least, *paths = sys.argv[1:]
    wrong = 0
    for path in paths:
        for said in check(dmactl, path):
            print(f"{path}: {said}")
            wrong += 1
    if len(paths) < int(least):
        print(f"{len(paths)} trees are too few: at least {least}")
        wrong += 1
    return int(wrong > 0)


sys.exit(main())

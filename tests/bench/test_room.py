# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tools/bench alloc says of dray and no machine changes: its goals of room
and of lines dirtied.  DRAY_ALLOC_PROGRAMS has the folder of the programs."""

import os
import subprocess
import unittest

FOLDER = os.environ.get("DRAY_ALLOC_PROGRAMS")


@unittest.skipUnless(FOLDER, "wants the programs of tests/bench/alloc")
class Room(unittest.TestCase):
    def figures(self, contender, *workload):
        lines = subprocess.run(
            [os.path.join(FOLDER, "alloc-" + contender), *workload],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        return {name: float(value) for name, value in
                map(str.split, lines.splitlines())}

    def each(self):
        for contender in "dray", "dray-shareable":
            with self.subTest(contender):
                yield contender

    def test_no_line_of_the_region_is_dirtied(self):
        for contender in self.each():
            self.assertEqual({"lines": 0}, self.figures(contender, "lines"))

    def test_the_region_fills_and_is_one_block_again(self):
        for contender in self.each():
            for idle in "0", "4":
                room = self.figures(contender, "fill", idle)
                self.assertGreaterEqual(room["filled"], 99)
                self.assertEqual(1024, room["largest"])

    def test_a_pair_of_calls_is_timed(self):
        for contender in "dray", "dray-shareable", "glibc", "none":
            self.assertGreater(
                self.figures(contender, "pair", "64")["ns"], 0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tools/benches/works.py makes of cells."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tools", "benches"))
import report  # noqa: E402
import works  # noqa: E402

MAPPINGS = ("dray reserved", "dray pages", "dray cma", "dma-heap cma",
            "anonymous")


def table(*came, consumer="vmsplice"):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("target\tboard\n")
        for mapping, words in zip(MAPPINGS, came):
            file.write("\t".join(["cell", consumer, mapping, *words]) + "\n")
        file.flush()
        return works.Table(file.name)


def met(*came):
    """Of reserved, pages and cma."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        works.samples([table(*came)])
    rows, target = report.rows_of(out.getvalue().splitlines())
    assert target == "board"
    return [row["met"] for row in rows]


WORKS = ("works", "", "")
COPIED = ("copied", "", "")
REFUSED = ("refused", "EFAULT", "vmsplice")
HANG = ("hang", "", "vmsplice")
ABSENT = ("absent", "ENODEV", "a pipe")
NO_MAPPING = ("absent", "ENOENT", works.ITSELF)


class Cells(unittest.TestCase):
    def test_refusal_is_for_cma_alone(self):
        self.assertEqual([True, True, True],
                         met(WORKS, WORKS, REFUSED, REFUSED, WORKS))
        self.assertEqual([False, True, True],
                         met(REFUSED, WORKS, REFUSED, REFUSED, WORKS))

    def test_hang_is_for_nobody(self):
        self.assertEqual([True, True, False],
                         met(WORKS, WORKS, HANG, REFUSED, WORKS))
        self.assertEqual([True, False, False],
                         met(WORKS, HANG, ("hang, cannot be killed", "", ""),
                             REFUSED, WORKS))

    def test_copy_is_enough_where_ordinary_memory_is_copied(self):
        self.assertEqual([True, True, True],
                         met(COPIED, COPIED, REFUSED, REFUSED, COPIED))
        self.assertEqual([False, True, True],
                         met(COPIED, WORKS, REFUSED, REFUSED, WORKS))

    def test_wrong_bytes_do_not_work(self):
        self.assertEqual([False, True, True],
                         met(("wrong", "", "byte 0 is 1, not 2"), WORKS,
                             REFUSED, REFUSED, WORKS))

    def test_consumer_that_takes_nothing_is_an_error(self):
        with self.assertRaises(ValueError):
            table(WORKS, WORKS, REFUSED, REFUSED, REFUSED)
        with self.assertRaises(ValueError):
            table(WORKS, WORKS, REFUSED, REFUSED, ABSENT)
        with self.assertRaises(ValueError):
            table(WORKS, WORKS, REFUSED, ("died", "", "pwrite"), WORKS)

    def test_mapping_that_a_machine_lacks_is_left_out(self):
        self.assertEqual(list(MAPPINGS[:3] + MAPPINGS[4:]),
                         table(WORKS, WORKS, REFUSED, NO_MAPPING,
                               WORKS).mappings)
        with self.assertRaises(ValueError):
            met(NO_MAPPING, WORKS, REFUSED, REFUSED, WORKS)

    def test_cell_without_a_known_reason_is_not_written_down(self):
        with self.assertRaises(ValueError):
            works.reason("vmsplice", "dray pages", REFUSED)
        self.assertTrue(works.reason("vmsplice", "dray cma", REFUSED))


if __name__ == "__main__":
    unittest.main()

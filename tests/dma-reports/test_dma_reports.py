# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reports that tools/lib/dma-reports.awk takes out of a kernel's log and counts: each
kind where it is known, and the same anywhere else not."""

import re
import subprocess
from pathlib import Path

import pytest

AWK = Path(__file__).parents[2] / "tools/lib/dma-reports.awk"
SYNC = ("device driver tries to sync DMA memory it has not allocated "
        "[device address=0x4000] [size=64 bytes]")
LINE = "cacheline tracking EEXIST, overlapping mappings aren't supported"
LONG = ("mapping sg segment longer than device claims to support "
        "[len=131072] [max=65536]")
FREE = ("device driver tries to free DMA memory it has not allocated "
        "[device address=0x4000] [size=64 bytes]")
SEVEN = "exceeded 7 overlapping mappings of cacheline 0x0000000000fb6000"
BUFFER = "dray_mapping_make"
ROW = "dray_sync_row"
FOREIGN = "dray_foreign_map"


def lines(*texts):
    return "".join(f"[   12.345678] {text}\n" for text in texts)


def report(words, *functions, device="platform dray: "):
    """A report as the debugger writes it, with these callers."""
    return lines(
        "------------[ cut here ]------------", f"DMA-API: {device}{words}",
        "WARNING: CPU: 1 PID: 77 at kernel/dma/debug.c:1108 check_sync+0x5c4/0x7a0",
        "Modules linked in: dray(O)", "Call trace:", " check_sync+0x5c4/0x7a0",
        *(f" {function}+0xd4/0x1a0 [dray]" for function in functions),
        " dray_ioctl+0x1c0/0x2f0 [dray]", "---[ end trace 0000000000000000 ]---")


def seven(*functions):
    """The report that is about no device."""
    return report(SEVEN, *functions, device="")


def first(count, log):
    return "".join(log.splitlines(keepends=True)[:count])


TWICE = lines("dray test: memory is mapped twice")
ONCE = lines("dray test: no memory is mapped twice")
WORD = lines("a word")
MAPPED = lines("DMA-API: Mapped at:")
MAPPED_SG = MAPPED + lines(" debug_dma_map_sg+0x3c/0x400")
BUG = lines("BUG: sleeping function called")
FOREIGN_LINE = report(LINE, FOREIGN)
MIXED_WITH_BUG = first(4, FOREIGN_LINE) + BUG + FOREIGN_LINE.removeprefix(
    first(4, FOREIGN_LINE))


def sift(log, *options):
    return subprocess.run(["awk", *options, "-f", AWK], input=log, text=True,
                          capture_output=True, check=True).stdout


def test_a_log_without_reports_stays_as_it_is():
    log = lines("dray: loaded", "a word")
    assert sift(log) == log
    assert sift(log, "-v", "count=1") == "0\n"


# The number of lines in the rest for which a guest fails, and of known reports.
@pytest.mark.parametrize("log, left, known", [
    pytest.param(log, left, known, id=fact) for fact, log, left, known in [
        ("a sync of a row that is mapped twice is known",
         TWICE + report(SYNC, ROW) + ONCE, 0, 1),
        ("a sync before memory is mapped twice is not",
         report(SYNC, ROW) + TWICE + ONCE, 3, 0),
        ("a sync after memory was mapped twice is not",
         TWICE + ONCE + report(SYNC, ROW), 3, 0),
        ("a sync that is not of a row is not",
         TWICE + report(SYNC, "dray_import_sync"), 3, 0),
        ("a sync of a row for another driver is not",
         TWICE + report(SYNC, ROW, FOREIGN), 3, 0),
        ("a line that an exporter maps once more is known",
         report(LINE, "udmabuf_map", FOREIGN), 0, 1),
        ("a segment of an exporter that is too long is known",
         report(LONG, "udmabuf_map", FOREIGN), 0, 1),
        ("a line that dray maps once more is not", report(LINE, BUFFER), 3, 0),
        ("a line that dray pins once more is not",
         report(LINE, "dray_pin_map"), 3, 0),
        ("a buffer that more than seven devices use is known",
         seven(BUFFER), 0, 0),
        ("so many mappings of pinned memory are not",
         seven("dray_pin_map"), 3, 0),
        ("so many mappings of an exporter are not", seven(FOREIGN), 3, 0),
        ("an unknown free in a buffer's mapping is not",
         report(FREE, BUFFER), 3, 0),
        ("a segment in a buffer's mapping that is too long is not",
         report(LONG, BUFFER), 3, 0),
        ("a segment of dray that is too long is not",
         report(LONG, "dray_import_map"), 3, 0),
        ("a sync where an exporter maps is not",
         TWICE + report(SYNC, FOREIGN), 3, 0),
        ("a line in a row is not", TWICE + report(LINE, ROW), 3, 0),
        ("a long segment in a row is not", TWICE + report(LONG, ROW), 3, 0),
        ("another report of the debugger is never known",
         TWICE + report(FREE, ROW) + report(FREE, FOREIGN), 6, 0),
        ("a function whose name only begins or ends so is another",
         TWICE + report(SYNC, ROW + "s") + report(SYNC, "my_" + ROW)
         + report(LINE, FOREIGN + "_more") + report(LINE, "my_" + FOREIGN), 12, 0),
        ("each is counted",
         TWICE + report(SYNC, ROW) + FOREIGN_LINE + report(FREE, ROW)
         + report(SYNC, ROW) + ONCE + report(LONG, FOREIGN) + seven(BUFFER)
         + report(SYNC, ROW), 6, 4),
        ("the place where memory was mapped goes with it",
         FOREIGN_LINE + MAPPED_SG, 0, 1),
        ("the place stays with a report that is not known",
         report(LINE, "dray_pin_map") + MAPPED_SG, 4, 0),
        ("nothing else goes with it", FOREIGN_LINE + WORD + MAPPED, 1, 1),
        ("lines of others within a report stay", MIXED_WITH_BUG, 1, 1),
        ("two reports that are mixed up both stay",
         first(5, FOREIGN_LINE) + report(SYNC, ROW), 6, 0),
        ("of two of a kind the one that broke off stays",
         first(5, FOREIGN_LINE) + FOREIGN_LINE, 3, 1),
        ("a report without an end stays", first(8, FOREIGN_LINE), 3, 0),
    ]])
def test_a_report(log, left, known):
    said = sift(log)
    bad = [line for line in said.splitlines()
           if re.search("WARNING:|DMA-API:|Call [Tt]race:|BUG:", line)]
    assert (len(bad), sift(log, "-v", "count=1")) == (left, f"{known}\n")

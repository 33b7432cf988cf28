# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Facts of Debian's torch 1.13 only."""
import os
import re
import signal
import subprocess
import sys

import torch

import dray
from cases import Case
from refusals import ENDS, ROWS

ENDING = """
import cases, consumers
consumers.DOORS["torch"].take(cases.Case("f4", "reversed", 1).array())
"""


def test_a_reversed_axis_ends_the_process():
    row, = [row for row in ROWS if row.outcome == ENDS]
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join((folder, os.environ["PYTHONPATH"]))
    ran = subprocess.run([sys.executable, "-c", ENDING],
                         env={**os.environ, "PYTHONPATH": path},
                         capture_output=True, text=True, check=False)
    assert ran.returncode == -signal.SIGABRT, ran.stderr
    assert re.search(row.words, ran.stderr)


def test_a_tensor_is_written_by_dray_if_the_caller_says_so():
    """Its tensors have no version, which would say it."""
    tensor = torch.zeros(3)
    dray.from_dlpack(tensor, writable=True)[1] = 7
    assert tensor.tolist() == [0, 7, 0]


def test_torch_computes_in_place_in_memory_of_dray():
    array = Case("f4", "C", 2).array()
    tensor = torch.from_dlpack(array)
    tensor.mul_(2).add_(1)
    assert array.tolist() == (Case("f4", "C", 2).expected() * 2 + 1).tolist()

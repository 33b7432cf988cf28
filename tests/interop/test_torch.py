# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Debian's torch 1.13: its end at a reversed axis, and its tensors beside a dray.Array."""
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
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


VALUES = np.arange(12.).reshape(3, 4)
# Operators with a tensor on the left, indices on either side, and NumPy's functions.
WORKS = {
    "tensor + a": lambda a, t: t + a, "tensor @ a": lambda a, t: t @ a.T, "tensor[a]": lambda a, t: t[a[0, :2].astype("i8")],
    "a[tensor]": lambda a, t: a[torch.tensor([2, 0])], "a[bools]": lambda a, t: a[t[:, 0] > 1],
    "np.add": lambda a, t: np.add(a, t), "np.concatenate": lambda a, t: np.concatenate([a, t]),
}


@pytest.mark.parametrize("name", WORKS)
def test_a_tensor_beside_an_array_computes_as_beside_numpys(name):
    result = WORKS[name](dray.Array(VALUES), torch.tensor(VALUES))
    wanted = WORKS[name](VALUES, torch.tensor(VALUES))
    assert np.asarray(result).tolist() == np.asarray(wanted).tolist()


def test_a_tensor_is_a_value_of_an_assignment():
    array = dray.Array(VALUES.copy())
    array[torch.tensor([0])] = torch.tensor(VALUES)[1]
    assert array[0].tolist() == VALUES[1].tolist()


@pytest.mark.parametrize("call", [
    lambda a, t: a + t, lambda a, t: a @ t.T, lambda a, t: a < t], ids=["+", "@", "<"])
def test_operators_with_a_tensor_on_the_right_are_refused_as_numpys_are(call):
    for array in (VALUES, dray.Array(VALUES)):
        with pytest.raises(TypeError):
            call(array, torch.tensor(VALUES))


def test_as_tensor_copies_and_from_dlpack_does_not():
    array = dray.Array(VALUES.copy())
    where = np.asarray(array).ctypes.data
    assert torch.as_tensor(array).data_ptr() != where
    assert torch.from_dlpack(array).data_ptr() == torch.as_tensor(np.asarray(array)).data_ptr() == where
    for refused in (torch.from_numpy, lambda a: torch.add(torch.tensor(VALUES), a)):
        with pytest.raises(TypeError):
            refused(array)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The examples of Dask, and of records in messages, run and print their result."""
import subprocess
import sys
from pathlib import Path

import pytest
from distributed import Client

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "cluster": "brightness of 8 frames: [0, 1, 2, 3, 4, 5, 6, 7]\n8 records, 8 opened\n",
    "messages": "20 frames of 2073600 bytes by messages of 128: right\n",
}


@pytest.mark.parametrize("name", SAID)
def test_it_prints_its_result(name):
    if name == "cluster" and not hasattr(Client, "register_plugin"):
        pytest.skip("this version of distributed has register_worker_plugin()")
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True,
                          text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == (SAID[name], 0), done.stderr

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs/tutorial.ipynb, run by nbclient: each cell prints what the notebook holds."""
import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from distributed import Client
from nbclient import NotebookClient

import dray

NOTEBOOK = Path(__file__).parents[2] / "docs/tutorial.ipynb"


def printed(cell):
    """Returns the text that a cell printed, and the kinds of what it showed."""
    text = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    return (re.sub(r"process \d+", "process N", text),
            [sorted(output.data) for output in cell.outputs if output.output_type != "stream"])


def test_it_prints_what_it_holds(tmp_path, monkeypatch):
    if not hasattr(Client, "register_plugin"):
        pytest.skip("this version of distributed has register_worker_plugin()")
    build = Path(dray.__file__).parents[3]
    monkeypatch.setenv("PATH", f"{build}/tools/dmactl", prepend=os.pathsep)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    assert shutil.which("dmactl")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    held = [printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(tmp_path))
    assert [printed(cell) for cell in notebook.cells if cell.cell_type == "code"] == held

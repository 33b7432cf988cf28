# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds the modules that tools/bench consists of."""

import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "benches"), str(TOOLS / "lib")]

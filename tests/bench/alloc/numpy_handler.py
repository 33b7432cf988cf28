# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A pytest plug-in (-p numpy_handler): NumPy's tests with the handler that
DRAY_BENCH_HANDLER names, one of numpy_times.py's, and nothing else."""

import os

import numpy_times

numpy_times.handler_begin(os.environ["DRAY_BENCH_HANDLER"])

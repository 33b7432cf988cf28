# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Debian's matplotlib is made for another NumPy."""
raise ImportError("not for these tests")

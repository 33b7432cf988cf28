# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory banks of an .xclbin file, and the bank that holds an array or a heap."""

import os
from typing import Any, Optional, Sequence, Union

from . import _dray
from ._functions import _node
from ._node import Node
from ._records import Bank


def xclbin_banks(path: Union[str, bytes, "os.PathLike[Any]"]) -> list[Bank]:
    """Reads the memory banks in an .xclbin file, in the order of their numbers.
    The file is not trusted, and nothing is loaded into a device.

    ValueError: not an xclbin, or cut off.  OSError: no such file; ENODATA:
    without a table of banks.
    """
    return _dray.xclbin_banks(path)


def xclbin_bank_of(memory: Any, banks: Union[str, bytes, "os.PathLike[Any]", Sequence[Bank]],
                   *, node: Optional[Node] = None) -> Bank:
    """Finds the bank that holds an array, or a heap:

        banks = dray.xclbin_banks("design.xclbin")
        group = dray.xclbin_bank_of(picture, banks).index
        dray.xclbin_bank_of("reserved", banks)

    Banks may overlap: each port to a memory is a bank.  The result
    is the first bank in use; to test a certain bank, pass it alone, as
    [banks[3]].

    `memory`: an array in dray's memory, all of its bytes, the gaps of a view
    included; or the name of a heap of `node`, of which a page at either end is
    looked at
    `banks`: xclbin_banks(), some of them, or the path of the file
    `node`: by default the node of memory()

    ValueError if no bank in use holds it, or two banks hold parts of it.
    PermissionError if this process may not see addresses; OSError (EOPNOTSUPP) on
    the host, which knows no addresses, and behind an IOMMU, which translates them.
    """
    if isinstance(banks, (str, bytes, os.PathLike)):
        banks = xclbin_banks(banks)
    if isinstance(memory, str) and node is None:
        node = _node(False)
    return _dray.bank_of(memory, banks, node)

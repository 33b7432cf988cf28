# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays of other processes, of XRT and of SYCL."""
from __future__ import annotations

import socket

import numpy as np

import dray


def hand_over(sock: socket.socket) -> bytes:
    with dray.memory(shareable=True):
        frames = np.zeros((8, 4), np.uint8)
    dray.send(sock, frames)
    return dray.export_array(frames[0], read_only=True)


def banks(path: str) -> list[str]:
    return [bank.name for bank in dray.xclbin_banks(path) if bank.used]


for waiting in dray.waiting_arrays():
    print(waiting.seconds, waiting.nbytes + 1, dray.revoke_waiting(older_than=60))
with dray.xrt_device(0) as device:
    bo: dray.XrtBo = dray.xrt_bo(dray.zeros(4096, np.uint8), device)
    bo.sync("to_device")
print(dray.versions().match, dray.nodes(), dray.stats().peak, dray.last_error())

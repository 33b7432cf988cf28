#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Frames to another process by ZeroMQ: a message carries a record instead of the bytes.

A record is plain bytes, so any library of messages carries it, on the same machine.
The receiver opens it: both processes then share the memory.  It answers when it is done,
and the frame may be filled again.

A frame that the sender drops needs a record that keeps it, as multiprocessing makes; such
records are in dray.waiting_arrays() until a receiver opens them.  If the receiver died,
dray.revoke_waiting() frees their memory.  Here the sender keeps its frames.
"""
import sys
import tempfile
from subprocess import Popen

import dray
import numpy as np
import zmq

SHAPE = 1080, 1920
FRAMES = 20
# Milliseconds.  A peer that died does not answer.
LIMIT = 10000


def connected(kind, bind=None, connect=None):
    socket = zmq.Context.instance().socket(kind)
    socket.set(zmq.RCVTIMEO, LIMIT)
    if bind:
        socket.bind(bind)
    else:
        socket.connect(connect)
    return socket


def receive(where):
    """Answers each record with the sum of its frame."""
    socket = connected(zmq.REP, connect=where)
    for _ in range(FRAMES):
        frame = dray.open_array(socket.recv())
        socket.send_string(str(frame.sum(dtype="i8")))


def send(where):
    frames = [dray.shared_zeros(SHAPE, np.uint8) for _ in range(2)]
    records = [dray.export_array(frame) for frame in frames]
    socket = connected(zmq.REQ, bind=where)
    with Popen([sys.executable, __file__, where]) as receiver:
        total = 0
        for number in range(FRAMES):
            frames[number % 2][:] = number
            socket.send(records[number % 2])
            total += int(socket.recv_string())
    for record in records:
        dray.revoke_array(record)
    right = total == sum(range(FRAMES)) * frames[0].size
    print(f"{FRAMES} frames of {frames[0].nbytes} bytes by messages of {len(records[0])}: "
          f"{'right' if right and not receiver.returncode else 'wrong'}")


if __name__ == "__main__":
    if sys.argv[1:]:
        receive(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            send(f"ipc://{folder}/frames")

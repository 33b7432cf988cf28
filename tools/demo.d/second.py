#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The second process: receives an array on the given socket, changes it in
place, describes it, and holds it until the socket is closed."""

import os
import socket
import sys

import numpy as np

import dray

with socket.socket(fileno=int(sys.argv[1])) as link:
    array = dray.receive(link)
    np.subtract(255, array, out=array)
    link.sendall(f"received {'x'.join(map(str, array.shape))} with strides "
                 f"{array.strides} and inverted it in place".encode())
    link.recv(1)        # until the other end is closed

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A tensor runtime that allocates through a handler.

The runtime is ordinary NumPy code.  If its caller is in a scope of dray, its
tensors lie in memory that a device reaches; small ones stay where they were.
"""
import contextlib
import sys

import dray
import numpy as np


class Dense:
    """A layer: outputs = max(inputs @ weights + bias, 0)."""

    def __init__(self, inputs, outputs):
        self.weights = np.full((inputs, outputs), 1 / inputs, np.float32)
        self.bias = np.zeros(outputs, np.float32)

    def __call__(self, batch):
        result = np.empty((len(batch), len(self.bias)), np.float32)
        np.matmul(batch, self.weights, out=result)
        result += self.bias
        return np.maximum(result, 0, out=result)


def run():
    """Runs a batch through two layers; returns the last layer and its output."""
    layers = [Dense(256, 512), Dense(512, 128)]
    batch = np.ones((64, 256), np.float32)
    for layer in layers:
        batch = layer(batch)
    return layers[-1], batch


def main():
    for scope in (contextlib.nullcontext(), dray.memory(min_bytes="4K")):
        with scope:
            layer, result = run()
        print(f"output {result.shape} in {dray.handler_name(result)}, "
              f"bias in {dray.handler_name(layer.bias)}, mean {result.mean():.1f}")


if __name__ == "__main__":
    try:
        main()
    except (OSError, MemoryError) as error:
        sys.exit(f"runtime: {error}")

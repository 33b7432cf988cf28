# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.Array, universal functions, sequences and queues."""
from __future__ import annotations

import numpy as np
from typing_extensions import assert_type

import dray
from dray import Array, Event, Pool, Stream

ANY: list[type[Event] | type[Pool] | type[Stream]] = [Event, Pool, Stream]
x: Array = dray.Array.zeros((3, 4), "f4")
assert_type(x.shape, tuple[int, ...])
total = dray.add(x, 1, out=x)
sums = dray.add.reduce(total, axis=0) + dray.exp(np.ones(4)) + dray.matmul(x.T, x)
with dray.errstate(divide="raise"):
    print(sums / x.sum(), abs(x), dray.abs(x), dray.pow(x, 2))

with dray.Sequence() as sequence:
    a, b = sequence.input(x), sequence.input(x)
    sequence.output(a * b + 1, -a, sequence.call(dray.exp, a) > b)
result = sequence.run(x, x, threads=2)

queue = dray.CallQueue()
call: dray.Call = queue.submit(dray.multiply, x, x)
call.wait(timeout=1.0)
print(dray.from_dlpack(np.ones(3)).tolist(), dray.to_arrow(x[0]).mask, sequence.plan)

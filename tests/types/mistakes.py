# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each line is wrong, and each checker says so; check.sh counts them."""
import dray

dray.os
dray.Any
dray.memory(heap=3)
dray.Pool().stats().nothing
dray.stream("tx0").send(3)
len(dray.open("host"))
text: str = dray.zeros(3)

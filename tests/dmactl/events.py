# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Events, as dmactl trace --json prints them."""

import json

BEGIN = 1_700_000_000_000_000_000  # 22:13:20 UTC
MIB = 1 << 20
MS = 1_000_000

FIELDS = {
    "alloc": {"id": 7, "size": MIB, "offset": 65536, "pid": 812,
              "heap": "reserved", "name": "frame"},
    "free": {"id": 7, "size": MIB, "offset": 65536, "pid": 812, "condemned": 0,
             "heap": "reserved"},
    "fail": {"node": "dray0", "call": 3, "error": -12, "reason": 4,
             "limit": 4096, "size": 64 * MIB, "pid": 812, "heap": "reserved"},
    "map": {"id": 7, "size": MIB, "kind": 0, "device": "soc:dray"},
    "mmap": {"id": 7, "size": MIB, "offset": 0, "pid": 812},
    "sync": {"id": 7, "bytes": 512, "ns": 7000, "for_cpu": 1, "direction": 2,
             "pid": 812, "device": "soc:dray"},
    "attach": {"id": 8, "size": MIB, "kind": 1, "device": "soc:dray"},
    "detach": {"id": 8, "size": MIB, "kind": 1, "device": "soc:dray"},
    "submit": {"context": 31, "seqno": 1, "queue": 31, "channel": "mem0",
               "pid": 812, "transfers": 2, "runs": 3, "bytes": MIB},
    "complete": {"context": 31, "seqno": 1, "queue": 31, "channel": "mem0",
                 "pid": 812, "bytes": MIB, "error": 0},
    "frame_submit": {"queue": 32, "frame": 3, "channel": "rx0", "pid": 812,
                     "bytes": 4096},
    "frame_complete": {"queue": 32, "frame": 3, "channel": "rx0", "pid": 812,
                       "point": 17, "bytes": 4096, "error": 0},
}


def event(event_kind, ms=0, **more):
    return {"event": event_kind, "time_ns": BEGIN + round(ms * MS), "thread": 812,
            "comm": "python3", **FIELDS[event_kind], **more}


def write(path, lines):
    path.write_text("".join(
        line if isinstance(line, str) else json.dumps(line) + "\n"
        for line in lines), encoding="utf-8")
    return path


def a_trace():
    """Two owners; 40 ms."""
    lines = [
        *(event("alloc", 5 * i, id=10 + i, size=MIB) for i in range(1, 5)),
        event("sync", 12, id=11, bytes=MIB),
        event("submit", 14, bytes=2 * MIB),
        event("complete", 15, bytes=2 * MIB),
        *(event("free", 20 + i, id=10 + i) for i in (1, 3)),
        event("fail", 24),
        event("fail", 25, size=32 * MIB, limit=8192),
        event("complete", 26, seqno=2, bytes=0, error=-110),
        event("alloc", 30, id=20, size=4 * MIB, comm="camera", pid=90),
        event("free", 35, id=20, size=4 * MIB, comm="camera", pid=90),
    ]
    return sorted(lines, key=lambda line: line["time_ns"])

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Asks a worker for an array as a worker of this machine does, and stops with the message
in hand: it never opens the record.  Prints a line then, and waits.

usage: asker.py WORKER KEY
"""
import asyncio
import sys

from distributed.comm import connect

import dray.dask


async def message(worker, key):
    """The reply, not deserialized, and the comm, which waits for "OK"."""
    comm = await connect(worker, deserialize=False,
                         handshake_overrides={"dray": dray.dask._token()})
    await comm.write({"op": "get_data", "keys": [key], "who": "tcp://127.0.0.1:9", "reply": True})
    reply = await comm.read()
    return comm, reply["data"][key]


async def main():
    kept = await message(*sys.argv[1:])
    print("received", flush=True)
    sys.stdin.readline()
    del kept


if __name__ == "__main__":
    asyncio.run(main())

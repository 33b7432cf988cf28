# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Facts that all ranks state together: each rank runs each function whose name begins with
fact_, and the first prints TAP."""
import sys
import traceback

from mpi4py import MPI

world = MPI.COMM_WORLD


def raises(kind, words, call, *arguments, **keywords):
    """Checks that a call raises `kind`, and that its sentence has the words."""
    try:
        call(*arguments, **keywords)
    except kind as error:
        assert words in str(error), str(error)
        return error
    raise AssertionError(f"no {kind.__name__}: {words}")


def run(facts):
    wanted = [(name, fact) for name, fact in facts.items() if name.startswith("fact_")]
    failures = 0
    for number, (name, fact) in enumerate(wanted, 1):
        try:
            fact()
            good = True
        except Exception:
            good = False
            print("".join(f"# rank {world.rank}: {line}\n" for line
                          in traceback.format_exc().splitlines()), end="", file=sys.stderr)
        good = world.allreduce(good, MPI.LAND)
        failures += not good
        if world.rank == 0:
            print(f"{'' if good else 'not '}ok {number} - {name[5:]}", flush=True)
    if world.rank == 0:
        print(f"1..{len(wanted)}", flush=True)
    MPI.Finalize()
    sys.exit(failures > 0)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.lend(): arrays that an engine of another library uses."""
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from deadline import DEADLINE

import dray


def new():
    with dray.memory():
        return np.zeros(1024, "u1")


def test_a_loan_ends_with_its_block():
    array = new()
    with dray.lend(array, to="MPI") as loan:
        assert not loan.ended
        assert repr(loan) == "<dray.Loan to MPI>"
        with pytest.raises(TimeoutError, match="lent to MPI"):
            dray.wait(array, timeout=0)
    assert loan.ended
    assert repr(loan) == "<dray.Loan to MPI, ended>"
    dray.wait(array, write=True, timeout=0)
    loan.end()


def test_a_loan_ends_with_an_exception():
    array = new()
    with pytest.raises(KeyError):
        with dray.lend(array):
            raise KeyError
    dray.wait(array, write=True, timeout=0)


@pytest.mark.parametrize("lent, write, waits", [
    ("r", False, False), ("r", True, True), ("w", False, True), ("rw", False, True)])
def test_reads_do_not_wait_for_reads(lent, write, waits):
    array = new()
    with dray.lend(array, lent):
        if waits:
            with pytest.raises(TimeoutError, match="lent to another engine"):
                dray.wait(array, write=write, timeout=0.01)
        else:
            dray.wait(array, write=write, timeout=0)
        dray.wait(array[:0], write=True, timeout=0)
    with dray.lend(array[:512], "w"):
        dray.wait(array[512:], write=True, timeout=0)


def test_a_loan_waits_for_another():
    array = new()
    with dray.lend(array, to="NIXL"):
        with pytest.raises(TimeoutError, match="lent to NIXL after 10 ms"):
            dray.lend(array, "r", timeout=0.01)
    with dray.lend(array, "r"), dray.lend(array, "r"):
        pass


@pytest.mark.parametrize("use", [lambda array: dray.copy(array, np.ones_like(array)), np.from_dlpack],
                         ids=["copy", "export"])
def test_uses_wait_for_the_end(use):
    with dray.memory():
        array = dray.Array.zeros(1024, "u1")
    loan = dray.lend(array, "w", to="MPI")
    order = []

    def end():
        order.append("ended")
        loan.end()

    ended = threading.Timer(0.05, end)
    ended.start()
    use(array)
    order.append("used")
    ended.join()
    assert order == ["ended", "used"]


@pytest.mark.exact
def test_memory_of_a_dropped_array_is_free_at_the_end():
    before = dray.stats().used
    with dray.memory():
        lent = np.zeros(1 << 20, "u1")
    loan = dray.lend(lent[::2], "r")
    del lent
    gc.collect()
    assert dray.stats().used >= before + (1 << 20)
    loan.end()
    gc.collect()
    assert dray.stats().used < before + (1 << 20)


def test_a_signal_ends_a_wait():
    array = new()
    def interrupt(*unused):
        raise InterruptedError("by a signal")

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with dray.lend(array):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(InterruptedError, match="by a signal"):
                dray.lend(array)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_loan_that_is_dropped_warns_and_ends():
    array = new()
    with pytest.warns(ResourceWarning, match="a loan to MPI was dropped"):
        dray.lend(array, to="MPI")
        gc.collect()
    dray.wait(array, write=True, timeout=0)


@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_waits_for_no_loan():
    array = new()
    with dray.lend(array) as loan:
        child = os.fork()
        if not child:
            try:
                dray.wait(array, write=True, timeout=0)
                loan.end()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        with pytest.raises(TimeoutError):
            dray.wait(array, timeout=0)


def test_memory_of_numpy_can_be_lent():
    a = np.zeros(10)
    with dray.lend(a, to="MPI"):
        with pytest.raises(TimeoutError, match="lent to MPI"):
            dray.wait(a, timeout=0)


@pytest.mark.parametrize("arguments, error, sentence", [
    (dict(access="x"), ValueError, "access is 'x'"),
    (dict(access=None), ValueError, "access is None"),
    (dict(to=""), ValueError, "0 bytes, not 1 to 31"),
    (dict(to="x" * 32), ValueError, "32 bytes, not 1 to 31"),
    (dict(to=3), TypeError, "str"),
    (dict(timeout=-1), ValueError, "timeout"),
])
def test_wrong_arguments(arguments, error, sentence):
    array = new()
    with pytest.raises(error, match=sentence):
        dray.lend(array, **arguments)


def test_wrong_arrays():
    array = new()
    with pytest.raises(TypeError):
        dray.lend(3)
    array.flags.writeable = False
    with pytest.raises(PermissionError, match="read-only"):
        dray.lend(array, "w")
    with dray.lend(array, "r"):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TimeoutError):
            with dray.lend(np.zeros(4)) as loan, dray.lend(loan._array, timeout=0):
                pass


def test_a_loan_that_has_ended_lends_nothing_again():
    loan = dray.lend(new(), to="MPI")
    loan.end()
    with pytest.raises(ValueError, match="to MPI has ended: lend"):
        with loan:
            pass


@pytest.mark.parametrize("module, needs", [("mpi", "mpi4py"), ("dask", "distributed")])
def test_a_module_names_the_package_it_lacks(module, needs):
    program = f"import sys; sys.modules[{needs!r}] = None; import dray.{module}"
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True,
                          check=False, timeout=DEADLINE)
    assert f"dray.{module} needs {needs} " in done.stderr and done.returncode == 1


def test_the_end_is_counted_once_in_threads():
    array = new()
    loan = dray.lend(array)
    threads = [threading.Thread(target=loan.end) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    dray.wait(array, write=True, timeout=0)


def test_a_loan_has_no_copy():
    array = new()
    with dray.lend(array, to="MPI") as loan:
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="a loan cannot be copied"):
                way(loan)
        with pytest.raises(TimeoutError):
            dray.wait(array, timeout=0)


@pytest.mark.parametrize("elements", [10, 5000])
def test_a_run_of_a_sequence_lets_the_thread_that_ends_the_loan_go_on(elements):
    with dray.memory():
        array, like = np.ones(elements), np.zeros(elements)
    sequence = dray.Sequence()
    value = sequence.input(like)
    sequence.output(sequence.copy(value))
    sequence.end()
    loan = dray.lend(array, "w", to="MPI")
    results = []
    running = threading.Thread(target=lambda: results.append(sequence.run(array)))
    running.start()
    running.join(0.05)
    assert not results
    loan.end()
    running.join()
    assert (results[0] == 1).all()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Threads that are in the package at once: where Python has no GIL, inside of
it too (tools/check runs these on such a Python as well)."""
import gc
import os
import random
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import dray
from deadline import DEADLINE

THREADS, ROUNDS = 4, 150


def at_once(work, rounds=ROUNDS):
    """Calls work(number) in each of some threads, again and again, and raises
    what the first of them raised."""
    together, wrong = threading.Barrier(THREADS), []

    def run(number):
        together.wait()
        try:
            for _ in range(rounds):
                work(number)
        except BaseException as error:
            wrong.append(error)
    threads = [threading.Thread(target=run, args=(number,))
               for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


@pytest.mark.free
def test_the_package_does_without_a_gil():
    code = "import sys, dray; print(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items()
                   if name != "PYTHON_GIL"}
    said = subprocess.run([sys.executable, "-W", "error", "-c", code],
                          env=environment, text=True, capture_output=True,
                          timeout=DEADLINE)
    assert said.stdout == "False\n", said.stderr


def shared(array):
    with dray.memory(shareable=True):
        return np.array(array)


def test_threads_make_and_free_arrays_in_one_scope():
    scope, shelf = dray.memory(), [None] * 16

    def work(number):
        with scope:
            arrays = [np.full(random.randrange(5000), number)
                      for _ in range(5)]
        for array in arrays:
            assert (array == number).all()
            shelf[random.randrange(16)] = array
    at_once(work)
    shelf.clear()


def test_threads_copy_between_the_same_arrays():
    source = shared(np.arange(4000).reshape(40, 100))
    fences = [None] * 8

    def work(number):
        target = shared(np.zeros((20, 50), source.dtype))
        fence = dray.copy(target, source[::2, ::2], wait=False)
        fences[random.randrange(8)] = fence
        # Somebody's, which others wait for as well.
        other = fences[random.randrange(8)]
        if other is not None:
            other.wait()
            assert other.done
        fence.wait(DEADLINE)
        assert (target == source[::2, ::2]).all()
        dray.fill(target, number)
        assert (target == number).all()
        assert dray.explain(target, source[::2, ::2]).elements == 1000
    at_once(work)
    fences.clear()


def test_threads_open_nodes_and_pools_and_ask_them():
    known = dray.pool()

    def work(number):
        node = dray.open()
        assert node.info().page_size > 0 and node.heaps()
        if node.backend == "host":
            with dray.memory(node.pool(initial=1 << 16)) as pool:
                array = np.full(100, number)
            assert pool.stats().blocks >= 1
            assert (array == number).all()
        assert dray.pool() is known
        dray.stats()
        known.trim()
        repr(known)
    at_once(work, 50)


def test_threads_export_open_and_revoke_one_array():
    array = shared(np.arange(1000))
    stays = dray.export_array(array[:1])

    def work(number):
        record = dray.export_array(array[number:])
        try:
            again = dray.open_array(record)
        except OSError:  # revoked by another
            again = array[number:]
        assert (again == np.arange(number, 1000)).all()
        if random.random() < 0.3:
            try:
                dray.revoke_array(record)
            except OSError:
                pass
        assert dray.open_array(stays)[0] == 0
    at_once(work)
    dray.revoke_array(stays)


def test_threads_send_to_each_other():
    array = shared(np.arange(1000))
    pairs = [socket.socketpair() for _ in range(THREADS)]

    def work(number):
        left, right = pairs[number]
        dray.send(left, array[number:])
        got = dray.receive(right)
        assert (got == np.arange(number, 1000)).all()
        assert dray.handler_name(got) is None
    at_once(work, 50)
    for left, right in pairs:
        left.close()
        right.close()


def test_each_thread_has_its_own_last_error():
    def work(number):
        name = f"nonsense{number}"
        with pytest.raises(ValueError, match=name):
            dray.open(name)
        assert name in dray.last_error()
    at_once(work)


def test_the_collector_runs_meanwhile():
    source = shared(np.arange(1000))

    def work(number):
        if not number:
            gc.collect(0)
            return
        knot = [dray.copy(shared(np.zeros(1000, source.dtype)), source,
                          wait=False), dray.memory(), dray.open()]
        knot.append(knot)
    at_once(work, 60)
    gc.collect()

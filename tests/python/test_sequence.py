# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sequences: calls that are recorded once and run with other arrays."""
import copy
import ctypes
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import dray

X, Y, Z = (np.linspace(-3, number, 5000) for number in (1, 4, 9))


def recorded(function, *arrays):
    """Records a function of values."""
    with dray.Sequence() as sequence:
        made = function(sequence, *map(sequence.input, arrays))
        sequence.output(*made if isinstance(made, tuple) else (made,))
    return sequence


def test_a_chain_has_the_bits_of_its_calls():
    sequence = recorded(lambda _, a, b, c: a * b + b * c - a * c, X, Y, Z)
    assert sequence.plan.chains == 1 and sequence.plan.chained == 5
    assert sequence.plan.arrays == 0
    for x, y, z in ((X, Y, Z), (Y, Z, X), (X[::-1], Y, Z)):
        result = sequence.run(x, y, z)
        assert isinstance(result, dray.Array)
        assert np.array_equal(np.asarray(result), x * y + y * z - x * z)
    out = np.zeros(5000)
    assert sequence.run(X, Y, Z, out=out, threads=2) is out
    assert np.array_equal(out, X * Y + Y * Z - X * Z)
    # In place.
    x = X.copy()
    assert sequence.run(x, Y, Z, out=x) is x
    assert np.array_equal(x, out)


@pytest.mark.parametrize("function, expected", [
    (lambda a: a * 2 + 1, np.float32), (lambda a: 2 - a, np.float32),
    (lambda a: 1.5 / (a + 4.5), np.float32), (lambda a: a + np.float64(2), np.float64),
    (lambda a: np.float64(2) * a, np.float64), (lambda a: abs(-a) ** 2, np.float32),
    (lambda a: a // 2 % 3, np.float32), (lambda a: (a < 1) & ~(a >= -1), np.bool_),
    (lambda a: a * (a > 0), np.float32), (lambda a: (a == 3) | (a != a), np.bool_), (lambda a: a.astype("i4") << 1 | 1, np.int32)])
def test_operators_are_those_of_arrays(function, expected):
    x = np.arange(-100, 100, dtype=np.float32)
    sequence = recorded(lambda _, a: function(a), x)
    result = np.asarray(sequence.run(x))
    assert result.dtype == expected
    # A number of the program is a part of a chain.
    assert sequence.plan.single == 0
    # With NumPy 1, a number of NumPy does not widen.
    wanted = np.asarray(function(dray.array(x.astype('f8') if expected is np.float64 else x)))
    assert result.dtype == wanted.dtype and result.tobytes() == wanted.tobytes()


def test_calls_with_masks_types_and_several_results():
    def record(sequence, a, b):
        whole, part = sequence.call(dray.divmod, a, b)
        safe = sequence.call(dray.divide, a, b, where=b > 0, otherwise=0.)
        wide = sequence.call(dray.add, a, 1, dtype=np.float64)
        assert wide.dtype == np.float64 and wide.shape == (5000,)
        return whole, part, safe, wide, a

    x, y = X.astype(np.float32), Y.astype(np.float32)
    with np.errstate(all="ignore"), dray.errstate(all="ignore"):
        whole, part, safe, wide, same = map(np.asarray, recorded(record, x, y).run(x, y))
        assert np.array_equal(whole, dray.floor_divide(x, y), equal_nan=True)
        assert np.array_equal(part, dray.remainder(x, y), equal_nan=True)
        assert np.array_equal(safe, np.where(y > 0, x / y, 0))
    assert np.array_equal(wide, x.astype(np.float64) + 1)
    assert np.array_equal(same, x)


def test_outputs_are_given_or_made_in_their_order():
    sequence = recorded(lambda _, a, b: (a + b, a - b), X, Y)
    out = np.zeros(5000)
    one, two = sequence.run(X, Y, out=(None, out))
    assert two is out and np.array_equal(np.asarray(one), X + Y)
    assert np.array_equal(out, X - Y)
    for bad, error in ((out, TypeError), ((out,), ValueError), ((out, 3), TypeError)):
        with pytest.raises(error):
            sequence.run(X, Y, out=bad)


def test_a_result_lies_in_the_memory_of_the_handler():
    sequence = recorded(lambda _, a: a + 1, X)
    with dray.memory():
        assert "dray " in dray.handler_name(np.asarray(sequence.run(X)))


def test_copies_of_a_queue():
    def record(sequence, a):
        there = sequence.copy(a)
        return sequence.copy(there * 2, engine=False), there

    with dray.memory():
        x = np.arange(5000.)
        outs = np.zeros(5000), np.zeros(5000)
    sequence = recorded(record, x)
    assert sequence.plan.transfers == 2
    sequence.run(x, out=outs)
    assert np.array_equal(outs[0], x * 2) and np.array_equal(outs[1], x)
    with pytest.raises(TypeError, match="engine"):
        recorded(lambda sequence, a: sequence.copy(a, engine=1.5), x)
    with pytest.raises(TypeError):
        recorded(lambda sequence, a: sequence.copy(a, node=3), x)


@pytest.mark.host  # it has no engine
def test_an_engine_that_is_not_there_is_an_error_of_the_run():
    sequence = recorded(lambda sequence, a: sequence.copy(a, engine=True), X)
    with pytest.raises(OSError):
        sequence.run(X)


def test_runs_on_a_queue_have_their_turn():
    sequence = recorded(lambda _, a, b: a * b + b, X, Y)
    out = np.zeros(5000)
    with dray.CallQueue() as queue:
        first = queue.submit(dray.add, X, 1)
        made = sequence.submit(queue, X, Y)
        given = sequence.submit(queue, X, Y, out=out)
        many = [sequence.submit(queue, X + number, Y) for number in range(20)]
        del sequence
        assert given.wait() is out and made.done and first.done
        assert np.array_equal(np.asarray(made.wait()), X * Y + Y)
        assert np.array_equal(out, X * Y + Y)
        for number, call in enumerate(many):
            assert np.array_equal(np.asarray(call.wait()), (X + number) * Y + Y)


@pytest.mark.parametrize("size", (10, 5000))
def test_errors_of_numbers_on_a_queue_are_those_of_the_submission(size):
    zero, said = np.zeros(size), []
    sequence = recorded(lambda _, a: 1 / (a * a), zero)
    with dray.CallQueue() as queue:
        with dray.errstate(divide="raise"):
            raised = sequence.submit(queue, zero)
        with dray.errstate(divide="call", call=lambda *told: said.append(told)):
            called = sequence.submit(queue, zero)
        with dray.errstate(divide="ignore"):
            assert np.isinf(np.asarray(sequence.submit(queue, zero).wait())).all()
        with pytest.raises(FloatingPointError, match="divide by zero"):
            raised.wait()
        assert np.isinf(np.asarray(called.wait())).all()
        assert said == [("divide by zero", 1)]
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            sequence.submit(queue, zero).wait()


def test_threads_run_one_sequence_at_once():
    sequence = recorded(lambda _, a, b: a * b + b, X, Y)
    wrong = []

    def run(number):
        for _ in range(50):
            if not np.array_equal(np.asarray(sequence.run(X + number, Y)),
                                  (X + number) * Y + Y):
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_mistakes_of_a_recording_are_met_where_they_are_made():
    other = dray.Sequence()
    foreign = other.input(X)
    with dray.Sequence() as sequence:
        a = sequence.input(X)
        for call, error in (
                (lambda: a + foreign, ValueError), (lambda: a + X, TypeError),
                (lambda: X + a, TypeError), (lambda: a + "x", TypeError),
                (lambda: a + sequence.input(Y[:3]), ValueError),
                (lambda: ~a, TypeError), (lambda: a.astype("i4", "safe"), TypeError),
                (lambda: a.astype("i4", "some"), ValueError),
                (lambda: sequence.call(np.add, a, a), TypeError),
                (lambda: sequence.call(dray.add, a), TypeError),
                (lambda: sequence.call(dray.add, a, a, where=a), TypeError),
                (lambda: sequence.input(object()), TypeError),
                (lambda: sequence.output(foreign), ValueError),
                (lambda: sequence.run(X, Y[:3]), ValueError),
                (lambda: sequence.plan, ValueError)):
            with pytest.raises(error):
                call()
        sequence.output(-a)
    with pytest.raises(OSError):  # it has ended
        sequence.input(X)
    with pytest.raises(OSError):
        sequence.end()
    with pytest.raises(ValueError), dray.Sequence():
        pass  # no output
    with pytest.raises(ZeroDivisionError), dray.Sequence() as unfinished:
        raise ZeroDivisionError
    with pytest.raises(ValueError):
        unfinished.run()
    with pytest.raises(TypeError):
        dray.Sequence(3)
    with pytest.raises(TypeError, match="no elements"):
        bool(foreign)
    assert len({foreign, foreign}) == 1
    for function in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            function(sequence)


def test_mistakes_of_a_run():
    sequence = recorded(lambda _, a: 1 / a, X)
    locked = np.zeros(5000)
    locked.flags.writeable = False
    queue = dray.CallQueue()
    for run in (sequence.run, lambda *args, **names: sequence.submit(queue, *args, **names)):
        for args, names, error in (
                ((), {}, TypeError), ((X, X), {}, TypeError), ((X[:7],), {}, ValueError),
                ((X.astype("f4"),), {}, ValueError), ((X,), {"out": locked}, ValueError),
                ((X,), {"out": np.zeros(3)}, ValueError), ((X,), {"where": True}, TypeError),
                ((X,), {"threads": -1}, (ValueError, OverflowError))):
            with pytest.raises(error):
                run(*args, **names)
    with pytest.raises(TypeError):
        sequence.submit(X)
    queue.close()
    with pytest.raises(ValueError, match="closed"):
        sequence.submit(queue, X)
    zero = np.zeros(5000)
    with dray.errstate(divide="raise"), pytest.raises(FloatingPointError):
        sequence.run(zero)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        sequence.run(zero)
    number = recorded(lambda _, a: a + 1, np.zeros(()))
    assert np.asarray(number.run(3.)) == 4
    with dray.CallQueue() as queue, pytest.raises(TypeError, match="number"):
        number.submit(queue, 3.)


def test_numbers_that_do_not_fit_are_the_runs_error():
    u = np.ones(3, "u1")
    for number in (300, -1):
        with dray.Sequence() as sequence:
            sequence.output(sequence.input(u) + number)
        with pytest.raises(OverflowError):
            sequence.run(u)
        with dray.Sequence() as sequence:
            sequence.output(sequence.call(dray.equal, sequence.input(u), number))
        assert not np.asarray(sequence.run(u)).any()


class Changes:
    """An array that does something when NumPy asks for it."""

    def __init__(self, function):
        self.function = function

    def __array__(self, dtype=None, copy=None):
        self.function()
        return np.ones(400000)


def test_arguments_that_change_others_are_refused():
    a = np.ones(400000)
    queue = dray.CallQueue()
    with dray.Sequence() as sequence:
        sequence.output(sequence.input(a) + sequence.input(a))
    with pytest.raises(ValueError, match="closed"):
        sequence.submit(queue, a, Changes(queue.close))
    with pytest.raises(ValueError, match="changed"):
        sequence.run(a, Changes(lambda: a.resize((1,), refcheck=False)))
    a = np.ones(400000)
    with pytest.raises(ValueError, match="changed"), dray.Sequence() as sequence:
        sequence.output(sequence.input(a) + sequence.input(a))
        sequence.run(a, Changes(lambda: [sequence.input(a) for _ in range(200)]))


def test_a_loop_of_the_user_lives_as_long_as_the_sequence():
    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.POINTER(ctypes.c_double)),
                      ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    def triple(data, _strides, count, _context):
        for at in range(count):
            data[1][at] = 3 * data[0][at]
        return 0

    ufunc = dray.ufunc("triple", 1, 1)
    ufunc.register("d->d", triple)
    sequence = recorded(lambda sequence, a: sequence.call(ufunc, a), X[:9])
    del ufunc, triple
    gc.collect()
    assert np.array_equal(np.asarray(sequence.run(X[:9].copy())), 3 * X[:9])


def test_a_sequence_that_its_own_loop_names_is_collected():
    class Sequence(dray.Sequence):
        pass

    def record():
        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                          ctypes.c_void_p)
        def loop(_data, _strides, _count, _context):
            return sequence.plan is None

        ufunc = dray.ufunc("named", 1, 1)
        ufunc.register("d->d", loop)
        with Sequence() as sequence:
            sequence.output(sequence.call(ufunc, sequence.input(X)))
        return weakref.ref(sequence)

    gone = record()
    gc.collect()
    assert gone() is None

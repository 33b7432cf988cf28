# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.frompyfunc(): functions of Python as loops over elements, with NumPy's results."""
import gc
import operator
import threading
import weakref

import numpy as np
import pytest

import dray


class Broken(Exception):
    """An exception of the program's own."""


def plus(x, y):
    return x + y


A = np.arange(12.).reshape(3, 4)
CALLS = {
    "an element": lambda f, a: f(3., 4.),
    "a line": lambda f, a: f(a[0], 1),
    "broadcast": lambda f, a: f(a[:, :1], a[0]),
    "backwards": lambda f, a: f(a[::-1, ::-2], 2),
    "transposed": lambda f, a: f(a.T, a.T),
    "another type": lambda f, a: f(a.astype("f4"), a.astype("i2")),
    "byte-swapped": lambda f, a: f(a.astype(">f8"), a),
    "many": lambda f, a: f(np.arange(20000.), a[0, 0]),
    "nothing": lambda f, a: f(a[:0], a[0]),
    "reduce": lambda f, a: f.reduce(a, axis=1),
    "reduce nothing": lambda f, a: f.reduce(a[:0]),
    "accumulate": lambda f, a: f.accumulate(a, axis=0),
    "reduceat": lambda f, a: f.reduceat(a[0], [0, 2]),
    "outer": lambda f, a: f.outer(a[0], a[1]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_computes_as_numpys_does(name):
    ours = dray.frompyfunc(plus, 2, 1, types="dd->d", identity=0)
    theirs = np.frompyfunc(plus, 2, 1, identity=0)
    result, expected = CALLS[name](ours, A), np.asarray(CALLS[name](theirs, A))
    assert np.asarray(result).dtype == np.float64 and np.shape(result) == expected.shape
    np.testing.assert_array_equal(np.asarray(result), expected.astype("d"))


def test_it_is_a_ufunc():
    f = dray.frompyfunc(plus, 2, 1, types=["ll->l", "dd->d", ("M8[s]", "m8[s]", "M8[s]")],
                        identity=0)
    assert type(f) is dray.ufunc and f.identity == 0
    assert (f.__name__, f.nin, f.nout) == (np.frompyfunc(plus, 2, 1).__name__, 2, 1)
    assert f.types == ["ll->l", "dd->d", "Mm->M"]
    assert f(1, 2).dtype == np.int64 and f(1, 2.).dtype == np.float64


def test_outputs_and_masks_are_those_of_a_call():
    f = dray.frompyfunc(plus, 2, 1, types=("d", "d", "d"))
    out, mask = np.full((3, 4), -1.), A % 2 == 0
    assert f(A, 1, out=out, where=mask) is out
    np.testing.assert_array_equal(out, np.where(mask, A + 1, -1))
    same = A.copy()
    f(same[:, 1:], same[:, :-1], out=same[:, :-1])
    np.testing.assert_array_equal(same[:, :-1], A[:, 1:] + A[:, :-1])


def test_several_outputs_are_a_tuple():
    f = dray.frompyfunc(divmod, 2, 2, types="ll->ll")
    for ours, numpys in zip(f(np.arange(9), 4), np.divmod(np.arange(9), 4)):
        np.testing.assert_array_equal(np.asarray(ours), numpys)


# As NumPy's item() returns them.
SEEN = [("?", True), ("i1", -3), ("u8", 2**64 - 1), ("f2", 0.5), ("f4", 0.25), ("f8", 1e300),
        ("c8", 1 + 2j), ("c16", 3j), ("M8[D]", "2024-02-29"), ("M8[ns]", 5), ("m8[s]", 7)]


@pytest.mark.parametrize("dtype, value", SEEN)
def test_a_function_sees_what_item_returns(dtype, value):
    seen = []
    a = np.array([value], dtype)
    f = dray.frompyfunc(lambda x: seen.append(x) or x, 1, 1, types=[(dtype, dtype)])
    result = f(a)
    assert seen == [a[0].item()] and type(seen[0]) is type(a[0].item())
    assert np.asarray(result).tobytes() == a.tobytes()


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("count", [1, 10, 100_000])
def test_an_exception_ends_the_loop_and_is_raised_as_it_is(count, threads):
    calls, error = [], Broken("at the third")

    def third(x):
        calls.append(x)
        if len(calls) == min(3, count):
            raise error
        return x
    f = dray.frompyfunc(third, 1, 1, types="d->d")
    with pytest.raises(Broken) as caught:
        f(np.ones(count), threads=threads)
    assert caught.value is error and len(calls) == min(3, count)
    assert caught.traceback[-1].name == "third"


METHODS = {
    "call": lambda f, a: f(a, a), "reduce": lambda f, a: f.reduce(a),
    "accumulate": lambda f, a: f.accumulate(a), "reduceat": lambda f, a: f.reduceat(a, [0, 5]),
    "outer": lambda f, a: f.outer(a, a[:3]), "at": lambda f, a: f.at(a.copy(), [1, 1], 2.),
    "out": lambda f, a: f(a, a, out=np.zeros(len(a))),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("count", [10, 5000])
def test_every_method_raises_the_functions_exception(name, count):
    def broken(x, y):
        raise Broken
    f = dray.frompyfunc(broken, 2, 1, types="dd->d")
    with pytest.raises(Broken):
        METHODS[name](f, np.ones(count))


RESULTS = [("no number", "d->d", (TypeError, ValueError)), (None, "l->l", TypeError),
           ([1, 2], "d->d", (TypeError, ValueError)), (2**70, "l->l", OverflowError),
           (1j, "d->d", TypeError)]


@pytest.mark.parametrize("value, types, error", RESULTS)
def test_a_result_of_another_kind_is_an_error(value, types, error):
    with pytest.raises(error):
        dray.frompyfunc(lambda x: value, 1, 1, types=types)([1, 2])


@pytest.mark.parametrize("value", [1, (1,), (1, 2, 3), [1, 2]])
def test_another_count_of_results_is_an_error(value):
    f = dray.frompyfunc(lambda x: value, 1, 2, types="l->ll")
    with pytest.raises(ValueError, match="a tuple of 2"):
        f(1)


WRONG = [
    (3, dict(types="d->d"), TypeError, "a function"),
    (abs, dict(), TypeError, "types"),
    (abs, dict(types=[]), ValueError, "types= lists them"),
    (abs, dict(types="dd->d"), ValueError, "has 2 types, not 3"),
    (abs, dict(types=["d->d", "d"]), ValueError, "has 2 types, not 1"),
    (abs, dict(types="d->O"), TypeError, None),
    (abs, dict(types=("d", "no type")), TypeError, None),
    (abs, dict(types="d->d", identity=0), ValueError, None),
]


@pytest.mark.parametrize("function, keywords, error, sentence", WRONG)
def test_wrong_arguments_are_refused(function, keywords, error, sentence):
    with pytest.raises(error, match=sentence):
        dray.frompyfunc(function, 1, 1, **keywords)


@pytest.mark.parametrize("counts", [(0, 1), (1, 0), (-1, 1), (40, 1)])
def test_wrong_counts_are_refused(counts):
    with pytest.raises(ValueError):
        dray.frompyfunc(abs, *counts, types="d" * max(sum(counts), 1))


def test_a_function_may_call_its_ufunc():
    def factorial(n):
        return 1 if n < 2 else n * int(f(n - 1))
    f = dray.frompyfunc(factorial, 1, 1, types="l->l")
    assert list(f(np.arange(6))) == [1, 1, 2, 6, 24, 120]


def test_a_recursion_without_end_is_its_error():
    f = dray.frompyfunc(lambda x: f(x), 1, 1, types="d->d")  # pylint: disable=unnecessary-lambda
    with pytest.raises(RecursionError):
        f(1.)


def test_a_function_lives_as_long_as_its_ufunc():
    def same(x):
        return x
    watched = weakref.ref(same)
    f = dray.frompyfunc(same, 1, 1, types="d->d")
    del same
    gc.collect()
    assert f(2.) == 2. and watched()
    del f
    gc.collect()
    assert not watched()


def test_a_function_that_names_its_ufunc_is_collected():
    def cycle(x):
        return f if x else x
    f = dray.frompyfunc(cycle, 1, 1, types="d->d")
    watched = weakref.ref(cycle)
    del f, cycle
    gc.collect()
    assert not watched()


def test_other_threads_run_meanwhile():
    f = dray.frompyfunc(plus, 2, 1, types="dd->d")
    results = []
    threads = [threading.Thread(target=lambda: results.append(float(f.reduce(np.ones(20000)))))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20000.] * 4


def test_a_queue_says_what_the_function_raised():
    def broken(x):
        raise Broken("in a queue")
    f = dray.frompyfunc(broken, 1, 1, types="d->d")
    with dray.CallQueue() as queue:
        assert float(queue.submit(dray.frompyfunc(operator.neg, 1, 1, types="d->d"), 2.).wait()) == -2
        with pytest.raises(OSError, match="in a queue"):
            queue.submit(f, np.ones(3)).wait()


def test_a_sequence_runs_functions():
    f = dray.frompyfunc(plus, 2, 1, types="dd->d")

    def broken(x):
        raise Broken
    a = np.arange(4.)
    with dray.Sequence() as sequence:
        sequence.output(sequence.call(f, sequence.input(a), 1.))
    np.testing.assert_array_equal(np.asarray(sequence.run(a)), a + 1)
    with dray.Sequence() as sequence:
        sequence.output(sequence.call(dray.frompyfunc(broken, 1, 1, types="d->d"),
                                      sequence.input(a)))
    with pytest.raises(Broken):
        sequence.run(a)

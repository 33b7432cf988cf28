# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ufuncs with core axes: dray.ufunc(name, signature=), compared with NumPy's."""
import ctypes
import gc
import platform
import random
import threading
import weakref

import numpy as np
import pytest

import dray

LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                        ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64),
                        ctypes.c_void_p)


def array_at(address, shape, strides):
    """An array over the memory of a loop."""
    interface = {"data": (address, False), "shape": shape, "strides": strides, "typestr": "<f8",
                 "version": 3}
    return np.asarray(type("Memory", (), {"__array_interface__": interface})())


def loop_of(cores, names, function):
    """A loop that calls a function with the core of each operand; `cores` has their axes."""
    def run(data, dimensions, steps, _context):
        sizes = {name: dimensions[1 + at] for at, name in enumerate(names)}
        for i in range(dimensions[0]):
            at, arrays = len(cores), []
            for o, core in enumerate(cores):
                shape = tuple(sizes[name] for name in core)
                strides = tuple(steps[at + axis] for axis in range(len(core)))
                at += len(core)
                arrays.append(array_at(data[o] + i * steps[o], shape, strides)
                              if all(shape) else np.zeros(shape))
            function(*arrays)
        return 0
    return LOOP(run)


def inner(a, b, c):
    c[()] = (a * b).sum()


def product(a, b, c):
    c[...] = a @ b


def times(a, b, c):
    c[...] = a @ b


def running(a, c):
    c[...] = a.cumsum()


def outer(a, b, c):
    c[...] = a[:, None] * b


def sum_and_mean(a, total, mean):
    total[()], mean[()] = a.sum(), a.mean() if len(a) else 0


def cross(a, b, c):
    c[...] = np.cross(a, b)


MAKERS = {
    "(n),(n)->()": (["n", "n", ""], "n", inner),
    "(m,n),(n,p)->(m,p)": (["mn", "np", "mp"], "mnp", product),
    "(m,n),(n)->(m)": (["mn", "n", "m"], "mn", times),
    "(n)->(n)": (["n", "n"], "n", running),
    "(m),(n)->(m,n)": (["m", "n", "mn"], "mn", outer),
    "(n)->(),()": (["n", "", ""], "n", sum_and_mean),
    "(3),(3)->(3)": (["3", "3", "3"], "3", cross),
}


def made(signature, name="f"):
    cores, names, function = MAKERS[signature]
    ufunc = dray.ufunc(name, signature=signature)
    ufunc.register("d" * ufunc.nin + "->" + "d" * ufunc.nout, loop_of(cores, names, function))
    return ufunc


A, B = np.arange(24.).reshape(2, 3, 4), np.arange(12.).reshape(3, 4) - 5

CALLS = [
    ("(n),(n)->()", lambda f: f(A[0, 0], B[0]), np.dot(A[0, 0], B[0])),
    ("(n),(n)->()", lambda f: f(A, B), (A * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(A[:, :1], B), (A[:, :1] * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(A[..., ::-2], B[:, ::-2]), (A[..., ::-2] * B[:, ::-2]).sum(-1)),
    ("(n),(n)->()", lambda f: f(A[..., :0], B[:, :0]), np.zeros((2, 3))),
    ("(n),(n)->()", lambda f: f(A[:0], B), np.zeros((0, 3))),
    ("(n),(n)->()", lambda f: f(A.astype("f4"), B.astype("i2")), (A * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(A.astype(">f8"), B), (A * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(dray.Array(A), B.tolist()), (A * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(A, A, axis=1), (A * A).sum(1)),
    ("(n),(n)->()", lambda f: f(A, A, axis=-2, keepdims=True), (A * A).sum(1, keepdims=True)),
    ("(n),(n)->()", lambda f: f(A, A, keepdims=True), (A * A).sum(-1, keepdims=True)),
    ("(n),(n)->()", lambda f: f(A, B.T, axes=[(2,), (0,)]), (A * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(A, B.T, axes=[2, 0, ()]), (A * B).sum(-1)),
    ("(n),(n)->()", lambda f: f(A, A, axes=[0, 0, 1], keepdims=True),
     (A * A).sum(0)[:, None]),
    ("(m,n),(n,p)->(m,p)", lambda f: f(A, B.T), A @ B.T),
    ("(m,n),(n,p)->(m,p)", lambda f: f(A, B, axes=[(1, 2), (1, 0), (0, 1)]),
     np.moveaxis(A @ B.T, 0, -1)),
    ("(m,n),(n,p)->(m,p)", lambda f: f(A, np.zeros((4, 0))), np.zeros((2, 3, 0))),
    ("(m,n),(n)->(m)", lambda f: f(A, B[0]), A @ B[0]),
    ("(n)->(n)", lambda f: f(A), A.cumsum(-1)),
    ("(n)->(n)", lambda f: f(A, axis=0), A.cumsum(0)),
    ("(n)->(n)", lambda f: f(A, axes=[0, 2]), np.moveaxis(A.cumsum(0), 0, -1)),
    ("(m),(n)->(m,n)", lambda f: f(A[0], B[:, :2]), A[0][..., None] * B[:, None, :2]),
    ("(3),(3)->(3)", lambda f: f(A[0].T, B.T), np.cross(A[0].T, B.T)),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_core_axes_are_the_last_and_others_are_broadcast(number):
    signature, call, expected = CALLS[number]
    result = call(made(signature))
    assert np.shape(result) == np.shape(expected)
    np.testing.assert_array_equal(np.asarray(result), expected)
    assert type(result) is (dray.Array if np.ndim(expected) else np.float64)


def test_several_outputs_are_a_tuple():
    total, mean = made("(n)->(),()")(A)
    np.testing.assert_array_equal(np.asarray(total), A.sum(-1))
    np.testing.assert_array_equal(np.asarray(mean), A.mean(-1))


def test_it_tells_what_it_is():
    f = made("(m,n),(n,p)->(m,p)", "product")
    assert isinstance(f, dray.CoreUfunc) and f.__name__ == "product"
    assert (f.nin, f.nout, f.nargs, f.ntypes, f.types) == (2, 1, 3, 1, ["dd->d"])
    assert f.signature == "(m,n),(n,p)->(m,p)" and f.identity is None
    assert repr(f) == "<dray.ufunc 'product' (m,n),(n,p)->(m,p)>"


@pytest.mark.parametrize("seed", range(60))
def test_random_calls_are_numpys(seed):
    draw = random.Random(seed)
    f = made("(m,n),(n,p)->(m,p)")
    m, n, p = (draw.randint(0, 4) for _ in range(3))
    outer_shape = [draw.randint(1, 3) for _ in range(draw.randint(0, 3))]

    def operand(core):
        kept = outer_shape[draw.randint(0, len(outer_shape)):]
        shape = [draw.choice([1, size]) for size in kept] + core
        a = np.array([draw.randint(-9, 9) for _ in range(int(np.prod(shape)))],
                     draw.choice(["f8", "f4", "i4", ">f8", "?"])).reshape(shape)
        if draw.random() < 0.3:
            a = np.asfortranarray(a)
        if draw.random() < 0.3 and a.ndim:
            a = a[(slice(None, None, -1),) * a.ndim]
        return a
    a, b = operand([m, n]), operand([n, p])
    keywords = {}
    if draw.random() < 0.4:
        a, b = np.moveaxis(a, -1, 0), np.moveaxis(b, -2, 0)
        keywords["axes"] = [(-1, 0), (0, -1), (-1, -2) if draw.random() < 0.5 else (-2, -1)]
    expected = np.matmul(a.astype("f8"), b.astype("f8"), **keywords)
    np.testing.assert_array_equal(np.asarray(f(a, b, **keywords)), expected)
    out = np.full(expected.shape, 7., draw.choice(["f8", "c16", ">f8"]))
    assert f(a, b, out=out, **keywords) is out
    np.testing.assert_array_equal(out, expected)


OUTPUTS = ["f8", "f4", ">f8", "c16"]


@pytest.mark.parametrize("dtype", OUTPUTS)
def test_outputs_are_converted(dtype):
    out = np.zeros((2, 3), dtype)
    assert made("(n),(n)->()")(A, B, out=out) is out
    np.testing.assert_array_equal(out, (A * B).sum(-1))


def test_an_output_may_be_an_input():
    a = A.copy()
    made("(n)->(n)")(a[..., ::-1], out=a)
    np.testing.assert_array_equal(a, A[..., ::-1].cumsum(-1))


def test_an_output_may_have_more_axes_as_numpys():
    out = np.zeros((2, 3))
    made("(n),(n)->()")(B, B, out=out)
    np.testing.assert_array_equal(out, np.broadcast_to((B * B).sum(-1), (2, 3)))


def test_an_ellipsis_asks_for_an_array():
    assert type(made("(n),(n)->()")(B[0], B[0], out=...)) is dray.Array


def test_results_lie_in_the_scope():
    with dray.memory(shareable=True):
        assert dray.handler_name(made("(n)->(n)")(A)) == dray.handler_name(np.zeros(1))


# The call, NumPy's function of the same signature, and the words of the error.
WRONG = [
    ("(n),(n)->()", lambda f: f(A, B[:, :3]), "mismatch in its core dimension 0"),
    ("(n),(n)->()", lambda f: f(A, B[:, :1]), "size 1 is different from 4"),
    ("(n),(n)->()", lambda f: f(A, 1.), "does not have enough dimensions"),
    ("(n),(n)->()", lambda f: f(A, np.ones((2, 4))), "broadcast"),
    ("(n),(n)->()", lambda f: f(A), "positional arguments"),
    ("(n),(n)->()", lambda f: f(A, B, B, B), "positional arguments"),
    ("(n),(n)->()", lambda f: f(A, B, axis=3), "axis 3 is out of bounds"),
    ("(n),(n)->()", lambda f: f(A, B, axis="last"), "integer"),
    ("(n),(n)->()", lambda f: f(A, B, axis=0, axes=[0, 0]), "do not go together"),
    ("(n),(n)->()", lambda f: f(A, B, axes=(2, 1)), "is a list"),
    ("(n),(n)->()", lambda f: f(A, B, axes=[2]), "a tuple for each"),
    ("(n),(n)->()", lambda f: f(A, B, axes=[(1, 2), 1]), "2 axes for operand 0"),
    ("(n),(n)->()", lambda f: f(A, B, axes=[2, 5]), "out of bounds"),
    ("(n),(n)->()", lambda f: f(A, B, out=np.zeros((2, 4))), "broadcast"),
    ("(n),(n)->()", lambda f: f(A, B, out=np.zeros((1, 3))), "loop axes"),
    ("(n),(n)->()", lambda f: f(A, B, out=np.zeros((2, 3), int)), "does not convert"),
    ("(n),(n)->()", lambda f: f(A, B, out=[0.]), "outputs are arrays"),
    ("(n),(n)->()", lambda f: f(A, B, np.zeros((2, 3)), out=np.zeros((2, 3))), "not both"),
    ("(n),(n)->()", lambda f: f(A, B, where=True), "where"),
    ("(n),(n)->()", lambda f: f(A, B, dtype="f4"), "no loop"),
    ("(n),(n)->()", lambda f: f(A, B, signature="dd"), "3 types"),
    ("(n),(n)->()", lambda f: f(A * 1j, B), "no loop for the types"),
    ("(n),(n)->()", lambda f: f(["x"], B), "no loop for the types"),
    ("(n),(n)->()", lambda f: f.reduce(A), "without a signature"),
    ("(n),(n)->()", lambda f: f.outer(A, B), "without a signature"),
    ("(m,n),(n)->(m)", lambda f: f(A, B[0], axis=0), "a single shared core axis"),
    ("(m,n),(n)->(m)", lambda f: f(A, B[0], keepdims=True), "keepdims= is for"),
    ("(m,n),(n)->(m)", lambda f: f(A, B[0], axes=[(0, 0), 0, 0]), "an axis twice"),
    ("(3),(3)->(3)", lambda f: f(A, B), "size 4 is different from 3"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_calls_are_refused(number):
    signature, call, words = WRONG[number]
    with pytest.raises((ValueError, TypeError, RuntimeError), match=words):
        call(made(signature))


def test_a_read_only_output_is_refused():
    out = np.zeros((2, 3))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        made("(n),(n)->()")(A, B, out=out)


@pytest.mark.parametrize("signature, error", [
    ("", ValueError), ("(n)", ValueError), ("(n)->", ValueError), ("->(n)", ValueError),
    ("(n),(n)->()x", ValueError), ("(n,)->()", ValueError), ("(n->()", ValueError),
    ("n->()", ValueError), ("(0)->()", ValueError), ("(n m)->()", ValueError),
    (",".join(["(n)"] * 40) + "->()", ValueError), (3, TypeError), (b"(n)->()", TypeError)])
def test_a_signature_that_does_not_parse_is_refused(signature, error):
    with pytest.raises(error):
        dray.ufunc("f", signature=signature)


@pytest.mark.parametrize("arguments, keywords, error", [
    ((), {}, TypeError), ((2, 2), dict(signature="(n),(n)->()"), ValueError),
    ((1, 1), dict(signature="(n),(n)->()"), ValueError),
    ((), dict(signature="(n),(n)->()", identity=0), ValueError)])
def test_wrong_makings_are_refused(arguments, keywords, error):
    with pytest.raises(error):
        dray.ufunc("f", *arguments, **keywords)
    assert dray.ufunc("f", 2, 1, signature=" ( n ) , (n)->( )").signature == "(n),(n)->()"


@pytest.mark.parametrize("types, loop, error", [
    ("dd", LOOP(lambda *args: 0), ValueError), ("dO->d", LOOP(lambda *args: 0), TypeError),
    ("dd->d", None, TypeError), ("dd->d", lambda *args: 0, TypeError), ("d?->x", 7, TypeError)])
def test_wrong_loops_are_refused(types, loop, error):
    with pytest.raises(error):
        dray.ufunc("f", signature="(n),(n)->()").register(types, loop)


def test_a_ufunc_without_loops_says_so():
    with pytest.raises(TypeError, match="register"):
        dray.ufunc("f", signature="(n),(n)->()")(A, B)


@pytest.mark.parametrize("result, error, words", [
    (-5, OSError, "a loop of the user failed"), (-22, ValueError, "Invalid argument"),
    (7, OSError, "returned 7")])
def test_a_loop_may_fail(result, error, words):
    f = dray.ufunc("f", signature="(n)->()")
    f.register("d->d", LOOP(lambda *args: result))
    with pytest.raises(error, match=words):
        f(A)


def test_a_loop_of_many_types():
    f = dray.ufunc("f", signature="(n),(n)->()")
    seen = []
    for types in ("ff->f", "dd->d", "DD->D"):
        f.register(types, LOOP(lambda *args, types=types: seen.append(types) or 0))
    f(np.ones(2, "f4"), np.ones(2, "f4"))
    f(np.ones(2, "f4"), np.ones(2, "f8"))
    f(np.ones(2, "i2"), np.ones(2, "f4"))
    f(np.ones(2, "i4"), np.ones(2, "f4"))
    f(np.ones(2), np.ones(2) * 1j)
    f(np.ones(2, "f4"), np.ones(2, "f4"), dtype="f8")
    f(np.ones(2, "f4"), np.ones(2, "f4"), signature="DD->D")
    f(np.ones(2), np.ones(2), signature=("f", None, None))
    assert seen == ["ff->f", "dd->d", "ff->f", "dd->d", "DD->D", "dd->d", "DD->D", "ff->f"]
    assert f.resolve_dtypes(("f4", "f8", None)) == (np.dtype("f8"),) * 3
    assert f.resolve_dtypes((np.dtype("f4"), float, None)) == (np.dtype("f4"),) * 3
    for wrong in [("f4", "f4"), ("f4", "U1", None), ("f8", "f8", "i4")]:
        with pytest.raises((ValueError, TypeError)):
            f.resolve_dtypes(wrong)
    f.register("dd->d", LOOP(lambda *args: -22))
    with pytest.raises(ValueError):
        f(np.ones(2), np.ones(2))


def test_errors_of_numbers_are_reported():
    f = dray.ufunc("f", signature="(n)->()")

    libm = ctypes.CDLL("libm.so.6")

    def raises(data, dimensions, steps, context):
        libm.feraiseexcept(4 if platform.machine() == "x86_64" else 2)  # FE_DIVBYZERO
        return 0
    f.register("d->d", LOOP(raises))
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in f"):
        f(A[0, 0])
    with dray.errstate(divide="raise"), pytest.raises(FloatingPointError, match="in f"):
        f(A[0, 0])
    with dray.errstate(divide="ignore"):
        f(A[0, 0])


def test_loops_live_as_long_as_their_ufunc():
    f = dray.ufunc("f", signature="(n)->()")
    loop = LOOP(lambda *args, f=f: 0)
    watched = weakref.ref(loop)
    f.register("d->d", loop)
    del loop
    gc.collect()
    assert watched() and f(A) is not None
    del f
    gc.collect()
    assert not watched()


def test_the_context_is_passed():
    seen = []
    f = dray.ufunc("f", signature="(n)->()")
    f.register("d->d", LOOP(lambda data, dimensions, steps, context: seen.append(
        (dimensions[0], dimensions[1], context)) or 0), 77)
    f(A)
    assert seen == [(3, 4, 77)] * 2


def test_threads_call_at_once():
    f = made("(n),(n)->()")
    results = []
    threads = [threading.Thread(target=lambda: results.append(np.asarray(f(A, B))))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all((each == (A * B).sum(-1)).all() for each in results)


def test_numbers_are_weak():
    f = made("(m),(n)->(m,n)")
    np.testing.assert_array_equal(np.asarray(f([1], [2., 3.])), [[2., 3.]])

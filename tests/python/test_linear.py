# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Products of matrices and vectors."""

import os
import subprocess
import sys

import numpy as np
import pytest

import dray

A = np.arange(12.).reshape(2, 2, 3)
B = np.arange(6.).reshape(3, 2)


@pytest.mark.parametrize("name, a, b", [
    ("matmul", A, B), ("matmul", A[0, 0], B), ("matmul", A, B[:, 0]),
    ("matmul", A.astype("i2"), B.astype("u1")), ("matmul", A * 1j, B.astype("f4")),
    ("dot", A, np.stack([B, B])), ("dot", A, 2), ("dot", 3, 4.5), ("dot", [1, 2], [3, 4]),
])
def test_products_are_numpys(name, a, b):
    wanted = getattr(np, name)(a, b)
    got = np.asarray(getattr(dray, name)(a, b))
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    assert (got == wanted).all()


@pytest.mark.parametrize("a", [A, A * (1 + 2j), A.astype("i2"), A[:, ::-1]])
@pytest.mark.parametrize("b", [np.arange(1., 4.), np.arange(6).reshape(2, 3) * 1j])
def test_stacks_of_matrices_and_vectors(a, b):
    wanted = (a @ b[..., None])[..., 0]
    got = np.asarray(dray.matvec(a, b))
    assert got.shape == wanted.shape and (got == wanted).all()
    transposed = a.swapaxes(-1, -2)
    got = np.asarray(dray.vecmat(b, transposed))
    assert (got == (b.conj()[..., None, :] @ transposed)[..., 0, :]).all()


@pytest.mark.parametrize("function", [dray.matvec, dray.vecmat])
def test_a_matrix_and_a_vector_are_needed(function):
    for operands in ((A[0, 0], A[0, 0]), (1, A)):
        with pytest.raises(ValueError, match=function.__name__):
            function(*operands)


def test_vecdot_conjugates_the_left_side():
    assert dray.vecdot([1j, 2], [1j, 1]) == 3


def test_a_result_goes_to_an_array():
    with dray.memory():
        out = dray.zeros((2, 2, 2), "f4")
    assert dray.matmul(A, B, out=out) is out
    assert (np.asarray(out) == A @ B).all()


@pytest.mark.parametrize("arguments, error", [
    ((A, A), ValueError), ((1, B), ValueError), ((A, ["x"] * 3), TypeError),
    ((np.array(["1"], "m8[s]"), B), TypeError), ((A,), TypeError),
])
def test_wrong_operands_are_refused(arguments, error):
    with pytest.raises(error):
        dray.matmul(*arguments)


PROGRAM = """
import numpy as np, dray
a = np.arange(90000, dtype=letter).reshape(300, 300) / 7
with dray.memory():
    x = dray.Array(a).copy()
    product = x @ x.T[:, ::-1]
    turned = np.matmul(x[::2, ::3].T, x[::2, ::2])
    vector = x.dot(x[0])
assert type(product) is type(turned) is type(vector) is dray.Array
assert {dray.handler_name(np.asarray(r)) for r in (product, turned, vector)} == {
    dray.handler_name(np.asarray(x))} != {"default_allocator"}
right = a @ a.T[:, ::-1], a[::2, ::3].T @ a[::2, ::2], a.dot(a[0])
for got, wanted in zip((product, turned, vector), right):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert np.allclose(got, wanted, rtol=1e-5)
out = dray.Array(np.empty((300, 300), letter))[:, ::-1]
assert dray.matmul(x, x, out=out) is out and np.allclose(out, a @ a, rtol=1e-5)
big = np.finfo(letter.lower()).max * np.ones((20, 20), letter)
with dray.errstate(over="raise", invalid="raise"):
    try:
        dray.Array(big) @ dray.Array(big)
    except FloatingPointError as error:
        assert "in matmul" in str(error)
    else:
        raise SystemExit("an overflow was not noticed")
try:
    x @ x[:7]
except ValueError as error:
    assert "the last axis of the first operand has 300 elements" in str(error)
stack = dray.Array(np.stack([a[:40, :40], a[40:80, :40]]))
assert np.allclose(stack @ stack, np.asarray(stack) @ np.asarray(stack), rtol=1e-5)
"""


@pytest.mark.parametrize("letter", "fdFD")
@pytest.mark.parametrize("blas", ["", "libblas.so.3", "none"])
def test_products_are_the_same_by_every_library(letter, blas):
    """Also NumPy's, which multiplies if the machine has only the reference."""
    subprocess.run([sys.executable, "-W", "error", "-c", f"letter = '{letter}'\n{PROGRAM}"],
                   check=True, env={**os.environ, "DRAY_BLAS": blas})

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Products of matrices and vectors."""

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

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The extension linalg of the standard, by NumPy's functions over the same memory."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .._dray import Array
from ._base import alike, array, makes, np, over
from ._functions import matmul, matrix_transpose, tensordot, vecdot

__all__ = ["cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
           "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer",
           "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
           "vector_norm"]


class Eig(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Any
    eigenvectors: Any


class QR(NamedTuple):
    """An orthonormal and an upper triangular factor."""

    Q: Any
    R: Any


class Slogdet(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


class SVD(NamedTuple):
    """Singular vectors, singular values, and singular vectors as rows, conjugated."""

    U: Any
    S: Any
    Vh: Any


def _floats(x: Any, axes: int = 2) -> Any:
    """An operand of floating-point or complex numbers, with so many axes at least."""
    given = over(x)
    if given.dtype.kind not in "fc":
        raise TypeError(f"floating-point or complex numbers are needed, not {given.dtype}")
    if given.ndim < axes:
        raise ValueError(f"{axes} axes are needed, not {given.ndim}")
    return given


def _complex(found: Any) -> Any:
    return found.astype(np.result_type(found, np.complex64), copy=False)


@makes
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of a positive definite matrix."""
    found = np.linalg.cholesky(_floats(x))
    return found.swapaxes(-1, -2).conj() if upper else found


@makes
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of three elements along an axis."""
    for given in (array(x1), array(x2)):
        if not -given.ndim <= axis < given.ndim or given.shape[axis] != 3:
            raise ValueError(f"cross() needs three elements along axis {axis}, not shape {given.shape}")
    return np.cross(*alike(array(x1), array(x2)), axis=axis)


@makes
def det(x: Any, /) -> Any:
    """The determinant."""
    return np.linalg.det(_floats(x))


@makes
def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """A read-only view of a diagonal of the last two axes."""
    if array(x).ndim < 2:
        raise ValueError(f"a diagonal is of two axes, not of {array(x).ndim}")
    return array(x).diagonal(offset, -2, -1)


@makes
def eig(x: Any, /) -> Eig:
    """Eigenvalues and eigenvectors, complex numbers."""
    return Eig(*map(_complex, np.linalg.eig(_floats(x))))


@makes
def eigvals(x: Any, /) -> Any:
    """Eigenvalues, complex numbers."""
    return _complex(np.linalg.eigvals(_floats(x)))


@makes
def eigh(x: Any, /) -> Eig:
    """Eigenvalues in ascending order, and eigenvectors, of an Hermitian matrix."""
    return Eig(*np.linalg.eigh(_floats(x)))


@makes
def eigvalsh(x: Any, /) -> Any:
    """Eigenvalues of an Hermitian matrix in ascending order."""
    return np.linalg.eigvalsh(_floats(x))


@makes
def inv(x: Any, /) -> Any:
    """The inverse."""
    return np.linalg.inv(_floats(x))


@makes
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """A norm of matrices, the last two axes."""
    return np.linalg.norm(_floats(x), ord, (-2, -1), keepdims)


@makes
def matrix_power(x: Any, n: int, /) -> Any:
    """A square matrix raised to an integer."""
    return np.linalg.matrix_power(_floats(x), n)


def _tolerance(rtol: Any, x: Any) -> Any:
    """A tolerance of singular values relative to the largest, by default of the precision."""
    if rtol is None:
        return np.asarray(max(x.shape[-2:]) * np.finfo(x.dtype).eps)
    return np.asarray(over(rtol) if not isinstance(rtol, (int, float)) else rtol)


@makes
def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """The number of singular values beyond rtol times the largest."""
    given = _floats(x)
    values = np.linalg.svd(given, compute_uv=False)
    most = values.max(axis=-1, keepdims=True, initial=0)
    return np.asarray(np.count_nonzero(
        values > most * _tolerance(rtol, given)[..., np.newaxis], axis=-1))


@makes
def outer(x1: Any, x2: Any, /) -> Any:
    """The products of all pairs of elements of two vectors."""
    if array(x1).ndim != 1 or array(x2).ndim != 1:
        raise ValueError(f"outer() takes vectors, not {array(x1).ndim} and {array(x2).ndim} axes")
    return np.outer(*alike(array(x1), array(x2)))


@makes
def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The pseudo-inverse, of singular values beyond rtol times the largest."""
    given = _floats(x)
    return np.linalg.pinv(given, _tolerance(rtol, given)).astype(given.dtype, copy=False)


@makes
def qr(x: Any, /, *, mode: str = "reduced") -> QR:
    """An orthonormal and an upper triangular factor; mode: "reduced" or "complete"."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is 'reduced' or 'complete', not {mode!r}")
    return QR(*np.linalg.qr(_floats(x), mode))


@makes
def slogdet(x: Any, /) -> Slogdet:
    """The sign and the logarithm of the determinant."""
    return Slogdet(*np.linalg.slogdet(_floats(x)))


@makes
def solve(x1: Any, x2: Any, /) -> Any:
    """Solves x1 @ x = x2; x2 is a vector if it has one axis, else matrices."""
    first, second = alike(_floats(x1), _floats(x2, 1))
    vector = second.ndim == 1
    if vector:
        second = second[:, np.newaxis]
    # Older NumPys take an array of an axis less for vectors.
    second = second.reshape((1,) * (first.ndim - second.ndim) + second.shape)
    found = np.linalg.solve(first, second)
    return found[..., 0] if vector else found


@makes
def svd(x: Any, /, *, full_matrices: bool = True) -> SVD:
    """Singular vectors and values, as SVD."""
    return SVD(*np.linalg.svd(_floats(x), full_matrices))


@makes
def svdvals(x: Any, /) -> Any:
    """Singular values in descending order."""
    return np.linalg.svd(_floats(x), compute_uv=False)


@makes
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of a diagonal of the last two axes."""
    return diagonal(x, offset=offset).sum(-1, dtype)


@makes
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """A norm along axes, or of all elements."""
    given = _floats(x, 0)
    axes = (range(given.ndim) if axis is None else
            [_axis(each, given.ndim) for each in (axis if isinstance(axis, tuple) else (axis,))])
    others = [each for each in range(given.ndim) if each not in axes]
    shape = [given.shape[each] for each in others]
    last = given.transpose([*others, *axes]).reshape(
        *shape, int(np.prod([given.shape[each] for each in axes])))
    found = np.asarray(np.linalg.norm(last, ord, -1))
    if keepdims:
        found = found.reshape([1 if each in axes else given.shape[each] for each in range(given.ndim)])
    return found


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds of {ndim} axes")
    return axis % ndim

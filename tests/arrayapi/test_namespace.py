# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The namespace itself: errors of wrong arguments, devices, memory, and array_api_compat."""
import gc
import weakref

import array_api_compat
import numpy as np
import pytest

import dray
import dray.xp as xp

A, I, M = xp.asarray([1.0, 2, 3]), xp.asarray([1, 2]), xp.reshape(xp.arange(4.0), (2, 2))


def test_array_api_compat_finds_the_namespace():
    assert array_api_compat.array_namespace(A, I, 2.0) is xp
    assert array_api_compat.is_array_api_obj(A)
    assert array_api_compat.device(A) == "cpu" and array_api_compat.to_device(A, "cpu") is A
    assert array_api_compat.size(M) == 4


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_each_version_of_the_standard_has_the_namespace(version):
    assert A.__array_namespace__(api_version=version) is xp
    assert xp.__array_api_version__ == "2025.12"


@pytest.mark.parametrize("call, error", [
    (lambda: A.__array_namespace__(api_version="2030.12"), ValueError),
    (lambda: A.to_device("gpu"), ValueError), (lambda: A.to_device("cpu", stream=1), ValueError),
    (lambda: A.mT, ValueError), (lambda: xp.zeros(3, device="gpu"), ValueError),
    (lambda: xp.astype(A, xp.float32, device="gpu"), ValueError),
    (lambda: xp.add(1, 2), TypeError), (lambda: xp.add(A, "1"), TypeError), (lambda: xp.sin([1.0]), TypeError),
    (lambda: xp.add(A, [1, 2, 3]), TypeError), (lambda: xp.sum([1]), TypeError),
    (lambda: xp.add(A, I), ValueError), (lambda: xp.add(xp.asarray([1], dtype=xp.int8), 300), OverflowError),
    (lambda: xp.asarray([1, 2], copy=False), ValueError), (lambda: xp.asarray(A, dtype=xp.int8, copy=False), ValueError),
    (lambda: xp.asarray([2**70]), OverflowError), (lambda: xp.asarray([None]), TypeError),
    (lambda: xp.asarray(["yes", "no"]), TypeError), (lambda: xp.asarray("yes"), TypeError), (lambda: xp.asarray([b"a"]), TypeError),
    (lambda: xp.astype(xp.asarray([1j]), xp.float64), TypeError),
    (lambda: xp.reshape(xp.permute_dims(M, (1, 0)), (4,), copy=False), ValueError),
    (lambda: xp.concat([]), ValueError), (lambda: xp.stack([]), ValueError),
    (lambda: xp.cumulative_sum(M), ValueError), (lambda: xp.cumulative_sum(xp.asarray(1)), ValueError),
    (lambda: xp.nonzero(xp.asarray(1)), ValueError), (lambda: xp.take(M, I), ValueError),
    (lambda: xp.take(A, xp.asarray([7])), IndexError), (lambda: xp.squeeze(A, 0), ValueError),
    (lambda: xp.unstack(xp.asarray(1)), ValueError), (lambda: xp.matrix_transpose(A), ValueError),
    (lambda: xp.where(xp.asarray(True), 1, 2), TypeError), (lambda: xp.isdtype(xp.int8, "float"), ValueError),
    (lambda: xp.isdtype(xp.int8, ("bool", ("bool",))), TypeError), (lambda: xp.result_type(1, 2), ValueError),
    (lambda: xp.clip(I, 0.5, None), TypeError), (lambda: xp.matmul(A, I), ValueError),
    (lambda: xp.linalg.inv(A), ValueError), (lambda: xp.linalg.det(xp.asarray([[1]])), TypeError),
    (lambda: xp.linalg.inv(xp.zeros((2, 2))), np.linalg.LinAlgError),
    (lambda: xp.linalg.cross(I, I), ValueError), (lambda: xp.linalg.outer(M, A), ValueError),
    (lambda: xp.linalg.qr(M, mode="r"), ValueError), (lambda: xp.linalg.vector_norm(A, axis=3), ValueError),
    (lambda: xp.fft.rfft(xp.asarray([1j])), TypeError), (lambda: xp.fft.fftfreq(3, dtype=xp.int64), ValueError),
    (lambda: xp.broadcast_to(A, (2,)), ValueError), (lambda: xp.expand_dims(A, 5), ValueError),
    (lambda: xp.__array_namespace_info__().dtypes(kind="text"), ValueError),
    (lambda: xp.sum(A, 0), TypeError), (lambda: xp.nothing, AttributeError)])
def test_a_wrong_argument_is_an_error(call, error):
    with pytest.raises(error):
        call()


def test_the_namespace_tells_its_devices_and_types():
    info = xp.__array_namespace_info__()
    assert info.devices() == ("cpu",) and info.default_device() == "cpu"
    assert info.default_dtypes() == {"real floating": xp.float64, "complex floating": xp.complex128,
                                     "integral": xp.int64, "indexing": xp.int64}
    assert list(info.dtypes(kind="real floating")) == ["float32", "float64"]
    assert set(info.dtypes(kind=("bool", "unsigned integer"))) == {"bool", "uint8", "uint16", "uint32", "uint64"}
    assert len(info.dtypes()) == 13
    capabilities = info.capabilities()
    assert capabilities["boolean indexing"] and capabilities["data-dependent shapes"]
    most = capabilities["max dimensions"]
    assert xp.zeros((1,) * most).ndim == most


def test_arrays_lie_in_the_memory_of_the_scope_or_of_dray():
    assert xp.zeros(3).handler_name == xp.sin(A).handler_name == xp.linalg.inv(xp.eye(2)).handler_name == "dray host"
    with dray.memory(shareable=True):
        assert xp.sqrt(A).handler_name == xp.fft.fft(A).handler_name == "dray host:shareable"
        assert (A + 1).handler_name == "dray host:shareable"


def test_results_are_arrays_also_without_axes_and_numbers_are_operands():
    assert type(xp.sum(A)) is type(xp.add(xp.asarray(1), 2)) is dray.Array
    assert xp.sum(A).shape == ()
    assert float(xp.sqrt(np.float64(2))) == 2**0.5
    assert complex(xp.asarray(1 + 2j)) == 1 + 2j
    with pytest.raises(TypeError):
        complex(A)


PLAIN = dray.Array(np.arange(1.0, 4.0))


@pytest.mark.parametrize("compute", [
    lambda a: a[0], lambda a: a[0] + a[1], lambda a: 2 * a[0], lambda a: a[0] ** 2, lambda a: a[0] ** 3, lambda a: -a[0],
    lambda a: abs(a[0]), lambda a: a[0] < a[1], lambda a: a[0] == 1, lambda a: a @ a, lambda a: divmod(a[0], 2)[1],
    lambda a: next(iter(a)), lambda a: a[1:][0], lambda a: (a + PLAIN)[0], lambda a: (PLAIN + a)[0],
    lambda a: (np.float64(2) * a)[0], lambda a: a[a > 1][0], lambda a: a[xp.asarray([1])][0], lambda a: a.T[0]])
def test_operators_and_indices_of_such_arrays_return_arrays(compute):
    plain, ours = compute(PLAIN), compute(A)
    assert type(ours) is dray.Array
    assert ours.shape == () and ours.dtype == plain.dtype and ours == plain


def test_an_element_is_a_copy():
    a = xp.asarray([1, 2])
    first = a[0]
    a[0] = 7
    assert first == 1 and a[0] == 7
    a[1] += first
    assert a[1] == 3


def test_an_array_of_the_program_is_not_changed():
    assert type(xp.asarray(PLAIN)[0]) is dray.Array
    assert isinstance(PLAIN[0], np.float64) and isinstance((PLAIN + 1)[0], np.float64)


def test_an_array_of_another_library_stays_where_it_is():
    there = np.arange(3.0)
    assert np.shares_memory(np.asarray(xp.asarray(there)), there)
    assert not np.shares_memory(np.asarray(xp.asarray(there, copy=True)), there)
    assert xp.asarray(A) is A and xp.astype(A, A.dtype, copy=False) is A


def test_a_list_is_no_operand():
    for call in (xp.isin, xp.add, xp.result_type):
        with pytest.raises(TypeError):
            call(A, [1.0, 2.0])
    with pytest.raises(TypeError, match=r"\[1.0, 2.0\] is neither .*: dray.xp.asarray\(\) makes"):
        xp.isin(A, [1.0, 2.0])


def test_an_array_can_be_referred_to_weakly():
    array = xp.zeros(3)
    reference = weakref.ref(array)
    assert reference() is array
    del array
    gc.collect()
    assert reference() is None


def test_a_type_does_not_change_any_more():
    with pytest.raises(TypeError):
        dray.Array.device = None
    with pytest.raises(TypeError):
        dray.ufunc.__doc__ = None

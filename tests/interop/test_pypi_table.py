# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of C functions at dray.Array, in the hands of apache-tvm-ffi."""
import numpy as np
import pytest
import tvm_ffi

import dray
from capsules import API
from cases import Case
from conftest import blocks
from refusals import address

CASE = Case("f4", "gaps", 2)


def test_both_names_are_of_one_table():
    table = dray.Array.__dlpack_c_exchange_api__
    assert API.PyCapsule_GetPointer(table, b"dlpack_exchange_api") == \
        dray.Array.__c_dlpack_exchange_api__


def test_a_function_gets_the_array_and_returns_one():
    """All of it by the table: of arguments, and of results in the caller's class."""
    seen = []

    def function(tensor):
        seen.append((tensor.data_ptr(), tensor.shape, tensor.strides))
        return tensor
    array = CASE.array()
    result = tvm_ffi.convert(function)(array)
    assert seen == [(address(array), array.shape, (10, 1))]
    assert type(result) is dray.Array and address(result) == address(array)
    assert result.tolist() == CASE.expected().tolist()


def test_a_compiled_function_gets_the_same_memory():
    array = CASE.array()
    echoed = tvm_ffi.get_global_func("testing.echo")(array)
    assert type(echoed) is dray.Array and address(echoed) == address(array)


@pytest.mark.parametrize("dtype", ["S3", "g"])
def test_a_type_without_a_code_is_refused_by_a_function(dtype):
    before = blocks()
    with pytest.raises(BufferError, match="DLPack"):
        tvm_ffi.convert(lambda tensor: tensor)(Case(dtype, "C", 1).array())
    assert blocks() == before


def test_a_read_only_array_stays_read_only_on_its_way():
    array = Case("f4", "read-only", 1).array()
    there = np.from_dlpack(array)
    assert not there.flags.writeable
    assert not dray.from_dlpack(there).flags.writeable
    assert not dray.from_dlpack(array).flags.writeable

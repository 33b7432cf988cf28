# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dask.array over chunks of dray.Array: results keep the type, with NumPy's elements."""
import dask.array as da
import numpy as np
import pytest

import dray
import tasks

NUMPY = np

OPERATIONS = {
    "sum-with-a-number": lambda d, np: d + 1,
    "transpose": lambda d, np: d.T,
    "view": lambda d, np: d[::2, 5:50],
    "mean": lambda d, np: np.exp(d / 1e6).mean(axis=0),
    "product": lambda d, np: d @ d.T,
    "concatenate": lambda d, np: np.concatenate([d, d]),
    "stack": lambda d, np: np.stack([d, d], axis=1),
    "zeros": lambda d, np: d.map_blocks(NUMPY.zeros_like) if np is da else np.zeros_like(d),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_keep_the_type_of_the_chunks(name):
    a = tasks.shared((80, 60))
    d = da.from_array(dray.Array(a), chunks=(20, 30), asarray=False)
    ours = OPERATIONS[name](d, da).compute(scheduler="sync")
    assert type(ours) is dray.Array
    np.testing.assert_allclose(np.asarray(ours), OPERATIONS[name](a, np), rtol=1e-5)


@pytest.mark.parametrize("change", [lambda d: d.rechunk((40, 60)),
                                    lambda d: d.map_overlap(np.asarray, depth=1, boundary="none")])
def test_chunks_keep_their_elements(change):
    a = tasks.shared((80, 60))
    d = da.from_array(dray.Array(a), chunks=(20, 30), asarray=False)
    assert (np.asarray(change(d).compute(scheduler="sync")) == a).all()

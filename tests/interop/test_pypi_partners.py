# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A dray.Array beside arrays, matrices and frames of other packages: operators, indices, frames of
two axes, and the calls of which docs/interop.md names the remedy."""
import operator

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

import dray

VALUES = np.arange(1., 13.).reshape(3, 4)
LINE = np.arange(4.)
TRUTHS = np.array([True, False, True, False])

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "gt", "ge"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]


def same(result, wanted):
    np.testing.assert_allclose(np.asarray(result), np.asarray(wanted), rtol=1e-12)


@pytest.mark.parametrize("name", BINARY + BITS)
def test_an_operator_with_an_array_of_jax_is_jaxs(name):
    function = getattr(operator, name)
    ours, theirs = (VALUES, VALUES[::-1]) if name in BINARY else (
        VALUES.astype("i8"), VALUES[::-1].astype("i8"))
    for result in (function(dray.Array(ours), jnp.asarray(theirs)),
                   function(jnp.asarray(ours), dray.Array(theirs))):
        assert isinstance(result, jnp.ndarray)
        same(result, function(ours, theirs))


def test_products_with_an_array_of_jax_are_jaxs():
    for result in (dray.Array(VALUES) @ jnp.asarray(VALUES.T), jnp.asarray(VALUES) @ dray.Array(VALUES.T)):
        assert isinstance(result, jnp.ndarray)
        same(result, VALUES @ VALUES.T)


@pytest.mark.parametrize("name", BINARY[:6])
def test_an_operator_in_place_makes_an_array_of_jax_as_with_numpys(name):
    function = getattr(operator, "i" + name)
    for here in (dray.Array(VALUES.copy()), VALUES.copy()):
        result = function(here, jnp.asarray(VALUES))
        assert isinstance(result, jnp.ndarray)
        same(here, VALUES)
        same(result, getattr(operator, name)(VALUES, VALUES))


UFUNCS = {
    "add": lambda a, b: np.add(a, b), "hypot": lambda a, b: np.hypot(a, b), "dray.add": lambda a, b: dray.add(a, b),
    "concatenate": lambda a, b: np.concatenate([a, b]), "where": lambda a, b: np.where(b > 5, a, -1),
    "clip": lambda a, b: np.clip(a, b - 1, b), "dot": lambda a, b: np.dot(a, np.asarray(b).T),
}


@pytest.mark.parametrize("name", UFUNCS)
def test_numpys_functions_of_both_are_drays(name):
    result = UFUNCS[name](dray.Array(VALUES), jnp.asarray(VALUES))
    assert type(result) is dray.Array
    same(result, UFUNCS[name](VALUES, VALUES))


INDICES = {
    "integers": ([2, 0],), "a number": (1,), "bools": ([True, False, True],), "two": ([2, 0], [1, 3]),
    "columns": (slice(None), [3, 0]), "of two axes": ([[0, 1], [2, 0]],), "none": ([],),
}


@pytest.mark.parametrize("name", INDICES)
def test_an_index_of_jax_is_as_numpys(name):
    def indices(make):
        kind = np.dtype("i8") if name == "none" else None
        return tuple(each if isinstance(each, slice) else make(np.asarray(each, kind)) for each in INDICES[name])
    theirs, here, there = indices(jnp.asarray), dray.Array(VALUES.copy()), VALUES.copy()
    same(here[theirs], there[indices(np.asarray)])
    here[theirs], there[indices(np.asarray)] = 7, 7
    same(here, there)
    here[theirs] = jnp.asarray(there[indices(np.asarray)] + 1)
    there[indices(np.asarray)] += 1
    same(here, there)


def test_jaxs_own_functions_want_an_array_of_jax():
    with pytest.raises(TypeError):
        jnp.add(dray.Array(VALUES), 1)
    same(jnp.add(jnp.asarray(dray.Array(VALUES)), 1), VALUES + 1)


FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
ENTRIES = np.where(VALUES % 3 == 0, VALUES, 0)
# Of a matrix s, an array a of the same shape, and one b to multiply with.
SPARSE = {
    "s @ a": lambda s, a: s @ a.T, "s @ line": lambda s, a: s @ a[0], "a @ s": lambda s, a: a.T @ s,
    "line @ s": lambda s, a: a.T[0] @ s, "s.dot(a)": lambda s, a: s.dot(a.T), "s + a": lambda s, a: s + a,
    "a + s": lambda s, a: a + s, "a - s": lambda s, a: a - s, "s - a": lambda s, a: s - a,
    "s.multiply(a)": lambda s, a: s.multiply(a), "s > a": lambda s, a: s > a, "s == a": lambda s, a: s == a,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_sparse_matrix_computes_as_with_numpys_arrays(form, kind):
    make = getattr(sparse, f"{form}_{kind}")
    for call in SPARSE.values():
        result, wanted = call(make(ENTRIES), dray.Array(VALUES)), call(make(ENTRIES), VALUES)
        if sparse.issparse(wanted):
            assert sparse.issparse(result)
            result, wanted = result.toarray(), wanted.toarray()
        same(result, wanted)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_sparse_matrix_is_made_of_an_array(form, kind):
    made = getattr(sparse, f"{form}_{kind}")(dray.Array(ENTRIES))
    assert made.toarray().tolist() == ENTRIES.tolist()
    out = dray.Array(np.zeros_like(ENTRIES))
    getattr(made, "toarray")(out=out)
    assert out.tolist() == ENTRIES.tolist()


def test_a_sparse_matrix_uses_the_memory_of_its_parts():
    data, rows, starts = (dray.Array(np.array(each)) for each in ([1., 2., 3.], [0, 2, 1], [0, 1, 2, 3]))
    made = sparse.csr_array((data, rows, starts), shape=(3, 3))
    assert np.shares_memory(made.data, np.asarray(data))
    data[0] = 7
    assert made.toarray().tolist() == [[7, 0, 0], [0, 0, 2], [0, 3, 0]]
    made = sparse.coo_array((data, (rows, rows)))
    assert made.toarray().tolist() == np.diag([7., 3., 2.]).tolist()
    assert sparse.diags(data).toarray().tolist() == np.diag([7., 2., 3.]).tolist()


def test_a_sparse_system_is_solved():
    same(spsolve(sparse.csc_array(np.eye(4) * 2), dray.Array(LINE)), LINE / 2)
    same(sparse.csr_array(VALUES)[dray.Array(np.array([2, 0]))].toarray(), VALUES[[2, 0]])


NAMES = ["w", "x", "y", "z"]
FRAMES = {
    "polars": lambda a: pl.DataFrame(a).to_numpy(), "pyarrow": lambda a: np.stack([
        each.to_numpy(zero_copy_only=False) for each in pa.record_batch(a).columns], 1),
    "pandas": lambda a: pd.DataFrame.from_arrow(a).to_numpy(),
}
LAYOUTS = {"C": lambda a: a, "F": lambda a: dray.Array(np.asfortranarray(np.asarray(a))), "reversed": lambda a: a[::-1],
           "gaps": lambda a: dray.Array(np.repeat(np.asarray(a), 2, 1))[:, ::2], "without rows": lambda a: a[:0]}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("package", FRAMES)
def test_two_axes_are_a_frame(package, layout, dtype):
    array = LAYOUTS[layout](dray.Array(VALUES.astype(dtype)))
    found = FRAMES[package](dray.to_arrow(array, fields=NAMES))
    assert found.tolist() == array.tolist() and found.dtype == array.dtype


def test_a_frame_is_two_axes_again():
    frame = pl.DataFrame(dray.to_arrow(dray.Array(VALUES), fields=NAMES))
    assert frame.columns == NAMES
    again = dray.from_arrow(frame)
    assert again.view("f8").reshape(VALUES.shape).tolist() == VALUES.tolist()
    columns = dray.from_arrow(frame, fields=True)
    assert [columns[name].tolist() for name in NAMES] == VALUES.T.tolist()


def test_nulls_of_a_frame():
    frame = pl.DataFrame(dray.to_arrow(VALUES, VALUES > 10, fields=NAMES))
    assert [frame[name].null_count() for name in NAMES] == [0, 0, 1, 1]
    assert frame.row(2) == (9, 10, None, None)


@pytest.mark.parametrize("array, names, keywords, sentence", [
    (VALUES, ["x"], {}, "a name for each column"), (LINE, NAMES, {}, "a name for each column"),
    (VALUES, ["x", "y", "z", "x"], {}, "the same name"), (VALUES, NAMES, {"copy": False}, "copy"),
    (VALUES[None], NAMES, {}, "a name for each column")])
def test_other_frames_are_refused(array, names, keywords, sentence):
    with pytest.raises(ValueError, match=sentence):
        pl.DataFrame(dray.to_arrow(dray.Array(array), fields=names, **keywords))


# Calls that fail, of an array of one axis, and the remedy.
REFUSED = {
    "polars.DataFrame of two axes": (lambda a: pl.DataFrame(a.reshape(2, 2)), lambda a: pl.DataFrame(
        np.asarray(a.reshape(2, 2)))),
    "polars.Series + a": (lambda a: pl.Series(LINE) + a, lambda a: pl.Series(LINE) + pl.Series(a)),
    "a + polars.Series": (lambda a: a + pl.Series(LINE), lambda a: a + pl.Series(LINE).to_numpy()),
    "with_columns": (lambda a: pl.DataFrame({"x": LINE}).with_columns(y=a),
                     lambda a: pl.DataFrame({"x": LINE}).with_columns(y=pl.Series(a))),
    "filter": (lambda a: pl.DataFrame({"x": LINE}).filter(a > 1),
               lambda a: pl.DataFrame({"x": LINE}).filter(np.asarray(a > 1))),
    "pandas.Series[bools]": (lambda a: pd.Series(LINE)[a > 1], lambda a: pd.Series(LINE)[np.asarray(a > 1)]),
    "pyarrow.array(type=)": (lambda a: pa.array(a, type=pa.float32()), lambda a: pa.array(a).cast(pa.float32())),
    "pyarrow.Tensor.from_numpy": (pa.Tensor.from_numpy, pa.Tensor.from_dlpack),
    "sparse.maximum": (lambda a: sparse.csr_array(LINE[None]).maximum(a[None]),
                       lambda a: sparse.csr_array(LINE[None]).maximum(np.asarray(a[None]))),
    "dray.Array(Series)": (lambda a: dray.Array(pd.Series(LINE)), lambda a: dray.from_arrow(pl.Series(LINE))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_fails_and_its_remedy_does_not(name):
    call, remedy = REFUSED[name]
    with pytest.raises(Exception):
        call(dray.Array(LINE))
    assert remedy(dray.Array(LINE)) is not None


# Of pandas with an array of one axis; all are as with NumPy's.
PANDAS = {
    "Series": pd.Series, "DataFrame": lambda a: pd.DataFrame({"x": a}), "two axes": lambda a: pd.DataFrame(a.reshape(2, 2)),
    "Index": pd.Index, "cut": lambda a: pd.cut(a, 2), "s + a": lambda a: pd.Series(LINE) + a,
    "a + s": lambda a: a + pd.Series(LINE), "s < a": lambda a: pd.Series(LINE) < a, "a < s": lambda a: a < pd.Series(LINE),
    "np.add": lambda a: np.add(a, pd.Series(LINE)), "isin": lambda a: pd.Series(LINE).isin(a),
    "iloc": lambda a: pd.Series(LINE).iloc[a.astype("i8")], "assign": lambda a: pd.DataFrame({"x": LINE}).assign(y=a),
    "frame @ a": lambda a: pd.DataFrame(np.eye(4)) @ a,
}


@pytest.mark.parametrize("name", PANDAS)
def test_pandas_computes_as_with_numpys_arrays(name):
    result, wanted = PANDAS[name](dray.Array(LINE)), PANDAS[name](LINE)
    assert type(result) is type(wanted)
    assert result.equals(wanted) if hasattr(result, "equals") else (result == wanted).all()


def test_an_index_may_be_a_series():
    for series in (pd.Series([2, 0]), pl.Series([2, 0])):
        assert dray.Array(LINE)[series].tolist() == [2, 0]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Archives of the library in DRAY_BUILD are read by NumPy, and the other way round."""
import ctypes

import pytest

np = pytest.importorskip("numpy")
from as_numpy import View, library, must, view_of  # noqa: E402

ARRAYS = {"one": np.arange(12, dtype=">i4").reshape(3, 4)[::-1, ::2],
          "two": np.asfortranarray(np.arange(60_000, dtype="f8").reshape(200, 300)),
          "three": np.zeros((0, 3), "<c8"), "four": np.array(5, "i2")}
COMPRESS = 4
library.dray_array_view.restype = ctypes.POINTER(View)
library.dray_array_view.argtypes = [ctypes.c_void_p, ctypes.POINTER(View)]


def handle(path):
    npz = ctypes.c_void_p()
    if library.dray_npz_open(str(path).encode(), ctypes.byref(npz)) == -95:
        pytest.skip("built without minizip")
    return npz


@pytest.mark.parametrize("flags", [0, COMPRESS])
def test_numpy_reads_an_archive_of_the_library(tmp_path, flags):
    path = tmp_path / "a.npz"
    views = [view_of(array) for array in ARRAYS.values()]
    if library.dray_npz_save(
            str(path).encode(),
            (ctypes.c_char_p * 4)(*(name.encode() for name in ARRAYS)),
            (ctypes.POINTER(View) * 4)(*(ctypes.pointer(view) for view in views)),
            ctypes.c_size_t(4), flags) == -95:
        pytest.skip("built without minizip")
    with np.load(path) as archive:
        assert archive.files == list(ARRAYS)
        for name, array in ARRAYS.items():
            assert archive[name].dtype == array.dtype
            assert np.array_equal(archive[name], array)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_library_reads_an_archive_of_numpy(tmp_path, save):
    path = tmp_path / "a.npz"
    save(path, **ARRAYS)
    npz = handle(path)
    for name, wanted in ARRAYS.items():
        array, view = ctypes.c_void_p(), View()
        must(library.dray_npz_load(npz, name.encode(), ctypes.byref(array)))
        library.dray_array_view(array, ctypes.byref(view))
        assert tuple(view.shape[:view.ndim]) == wanted.shape
        copy = np.empty(wanted.shape, wanted.dtype)
        must(library.dray_view_assign(ctypes.byref(view_of(copy)), ctypes.byref(view)))
        assert np.array_equal(copy, wanted)
    library.dray_npz_close(npz)

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Products of the library in DRAY_BUILD are those of the real NumPy 2: random types,
shapes, layouts and byte orders, by the library's loops and by each BLAS of the machine
and of the folder DRAY_TEST_BLAS.  Libraries are found in the order of the header."""

import ctypes
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not hasattr(np, "vecdot"), reason="NumPy 1 has no vecdot()")

TYPES = "?bBhHiIqQefdFD"
# Relative to the sum of absolute products, for each element of a sum.
PRECISION = {"e": 1e-3, "f": 2e-7, "d": 5e-16, "F": 4e-7, "D": 1e-15}


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint64),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 64),
                ("strides", ctypes.c_int64 * 64)]


def view(library, array):
    out = View(data=array.ctypes.data, ndim=array.ndim, flags=3)
    word = ctypes.c_uint64()
    assert library.dray_dtype_parse(array.dtype.str.encode(), ctypes.byref(word)) == 0
    out.dtype = word.value
    out.shape[:array.ndim] = array.shape
    out.strides[:array.ndim] = array.strides
    return out


def random_array(dice, shape, letter):
    """Returns an array of some layout and byte order."""
    if letter in "efd":
        array = dice.normal(size=shape).astype(letter)
    elif letter in "FD":
        array = (dice.normal(size=shape) + 1j * dice.normal(size=shape)).astype(letter)
    else:
        array = dice.integers(0, 2 if letter == "?" else 100, shape).astype(letter)
    layout = dice.integers(9)
    if layout == 1:
        array = np.asfortranarray(array)
    elif layout == 2:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    elif layout == 3:
        array = array[..., ::-1].copy()[..., ::-1]
    elif layout == 4:
        array = array.astype(array.dtype.newbyteorder())
    elif layout == 5:
        array = np.repeat(array, 3, axis=-1)[..., ::-3]
    elif layout == 6:
        array = np.broadcast_to(array[..., :1], array.shape)
    elif layout == 7 and array.ndim > 1:
        array = np.repeat(array, 2, axis=-2)[..., ::-2, :]
    elif layout == 8 and array.ndim > 1:
        array = np.broadcast_to(array[..., :1, :], array.shape)
    return array


def random_shapes(dice, name):
    """Returns the shapes of two operands that fit."""
    ranks = dice.integers(1, 5, 2)
    most = 6 if dice.integers(8) else 70
    m, k, n = (int(extent) for extent in dice.integers(0, most, 3))
    batch = [int(extent) for extent in dice.integers(1, 4, 4)]
    ends = ([k], [k]) if name == "vecdot" else (
        ([m, k] if ranks[0] > 1 else [k]), ([k, n] if ranks[1] > 1 else [k]))
    shapes = []
    for rank, end in zip(ranks, ends):
        more = rank - len(end)
        before = batch[-more:] if more else []
        shapes.append([extent if dice.integers(2) else 1 for extent in before] + end)
    return shapes


def check_one(library, dice):
    name = str(dice.choice(["matmul", "dot", "vecdot"]))
    a, b = (random_array(dice, shape, letter) for shape, letter
            in zip(random_shapes(dice, name), dice.choice(list(TYPES), 2)))
    wanted = np.asarray(getattr(np, name)(a, b))
    got = np.empty(wanted.shape, wanted.dtype)
    status = getattr(library, "dray_" + name)(
        *(ctypes.byref(view(library, array)) for array in (a, b, got)), None)
    assert status == 0, library.dray_last_error()
    told = (name, a.dtype, b.dtype, a.shape, b.shape, a.strides, b.strides)
    if wanted.dtype.kind in "biu":
        assert (got == wanted).all(), told
        return
    terms = a.shape[-1] if a.ndim else 1
    bound = np.asarray(getattr(np, name)(abs(a.astype("D")), abs(b.astype("D")))).real
    bound = bound * PRECISION[wanted.dtype.char] * (terms + 4) + 1e-6 * (
        wanted.dtype.char == "e")
    assert (abs(got.astype("D") - wanted.astype("D")) <= bound).all(), told


def load():
    library = ctypes.CDLL(os.environ["DRAY_BUILD"] + "/userspace/array/libdray-array.so")
    library.dray_last_error.restype = ctypes.c_char_p
    library.dray_blas_name.restype = ctypes.c_char_p
    return library


def blas_name():
    name = load().dray_blas_name()
    return name and name.decode()


def check_all(count):
    library = load()
    dice = np.random.default_rng(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(count):
            check_one(library, dice)
    print(count, library.dray_blas_name())


FOLDER = os.environ.get("DRAY_TEST_BLAS")
FAST = ["openblas-pthread/libopenblas.so.0", "blis-pthread/libblis.so.4"]


def blas_libraries():
    """Returns the paths of libraries in the folder of the test."""
    return sorted(str(path) for name in [*FAST, "blas/libblas.so.3"]
                  for path in Path(FOLDER).glob("**/" + name)) if FOLDER else []


def run_with(blas, *words, **environment):
    folders = {str(path.parent) for path in Path(FOLDER).glob("**/*.so*")} if FOLDER else ()
    environment = {**os.environ, "DRAY_BLAS": blas, "LD_LIBRARY_PATH": ":".join(
        [*sorted(folders), os.environ.get("LD_LIBRARY_PATH", "")]), **environment}
    run = subprocess.run([sys.executable, "-W", "ignore", __file__, *words],
                         capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("blas", ["", "none", *blas_libraries()])
def test_products_are_numpys(blas):
    said = run_with(blas)
    assert said.startswith("2000 ")
    if blas == "none":
        assert said == "2000 None"
    elif blas:
        assert said == f"2000 {blas.encode()}"


FUNCTIONS = [*(f"cblas_{letter}{name}" for letter in "sdcz" for name in ("gemm", "gemv")),
             "cblas_sdot", "cblas_ddot", "cblas_cdotu_sub", "cblas_zdotu_sub"]


def make_stub(path, *functions, more=""):
    """Makes a library with functions that only have names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", path], check=True, text=True,
                   input=more + "".join(f"void {name}(void);void {name}(void){{}}\n"
                                        for name in functions))


def name_with(folder, blas=""):
    """Returns the name of the library that a process with these only finds."""
    return run_with(blas, "name", LD_LIBRARY_PATH=str(folder))


SEARCHED = ["libopenblas.so.0", "libblis.so.4", *FAST, "libblas.so.3"]


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_libraries_are_tried_in_the_order_of_the_header(tmp_path):
    """Each that is taken away uncovers the next; the system's own come last."""
    for name in SEARCHED:
        make_stub(tmp_path / name, *FUNCTIONS)
    for name in SEARCHED:
        found = name_with(tmp_path)
        if found.startswith("lib") and name.startswith("lib") and found != name:
            pytest.skip(f"the machine has {found}")
        assert found == (str(tmp_path / name) if "/" in name else name)
        if name != SEARCHED[-1]:
            (tmp_path / name).unlink()


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_a_library_without_all_functions_is_passed_over(tmp_path):
    make_stub(tmp_path / "libopenblas.so.0", *FUNCTIONS[1:])
    make_stub(tmp_path / "libblis.so.4", *FUNCTIONS)
    assert name_with(tmp_path) == "libblis.so.4"


def test_the_variable_names_the_only_library():
    assert name_with("", "none") == "None"
    assert name_with("", "libc.so.6") == "None"
    assert name_with("", "/nowhere/libblas.so") == "None"


MULTIPLY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.POINTER(View)] * 3)


def check_multiplier():
    """Prints how often the thread's function is called, for products of these sides."""
    library = load()
    calls = []

    def multiply(context, a, b, to):
        calls.append((context, list(a[0].shape[:2]), list(b[0].strides[:2]), to[0].ndim))
        return 0 if len(calls) == 1 else -1

    function = MULTIPLY(multiply)
    library.dray_set_multiplier(function, ctypes.c_void_p(7))
    for side, letter in [(15, "d"), (16, "d"), (16, "d"), (16, "q")]:
        a = np.arange(side * side).reshape(side, side).astype(letter)
        got = np.full((side, side), -1, letter)
        assert library.dray_matmul(*(ctypes.byref(view(library, array))
                                     for array in (a, a, got)), None) == 0
        # A call that returns 0 has made the product, as this does not.
        assert (got == -1).all() if side == 16 and len(calls) == 1 and letter == "d" else (
            got == a @ a).all()
    library.dray_set_multiplier(None, None)
    print(calls)


def test_the_threads_function_multiplies_where_only_a_slow_library_was_found(tmp_path):
    """It is asked again after a failure, and not for a few elements or integers."""
    if name_with("") in ("libopenblas.so.0", "libblis.so.4"):
        pytest.skip("the machine has a fast library")
    calls = [(7, [16, 16], [128, 8], 2)] * 2
    assert run_with("", "multiplier", LD_LIBRARY_PATH="") == str(calls)
    assert run_with("none", "calls", LD_LIBRARY_PATH="") == "0"


@pytest.mark.skipif("avx2" not in Path("/proc/cpuinfo").read_text(), reason="no AVX2")
@pytest.mark.parametrize("core, calls", [("Prescott", "1"), ("SkylakeX", "0")])
def test_an_openblas_that_is_older_than_the_processor_is_slow(tmp_path, core, calls):
    """Unless the user asks for it by its name."""
    make_stub(tmp_path / "libopenblas.so.0", *FUNCTIONS,
              more=f'char *openblas_get_corename(void){{return "{core}";}}\n')
    assert run_with("", "calls", LD_LIBRARY_PATH=str(tmp_path)) == calls
    assert run_with("libopenblas.so.0", "calls", LD_LIBRARY_PATH=str(tmp_path)) == "0"


def check_calls():
    """Prints how often the thread's function is called for a product."""
    library = load()
    calls = []
    function = MULTIPLY(lambda *arguments: calls.append(0) or 0)
    library.dray_set_multiplier(function, None)
    a, got = np.ones((50, 50)), np.empty((50, 50))
    assert library.dray_matmul(*(ctypes.byref(view(library, array))
                                 for array in (a, a, got)), None) == 0
    print(len(calls))


if __name__ == "__main__":
    {"": lambda: check_all(2000), "name": lambda: print(blas_name()),
     "multiplier": check_multiplier, "calls": check_calls}["".join(sys.argv[1:])]()

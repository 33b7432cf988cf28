# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How each library takes and gives arrays, with the wording of docs/interop.md."""
from typing import NamedTuple


class Library(NamedTuple):
    name: str
    takes: str
    gives: str
    asks: str


LIBRARIES = [
    Library("NumPy 2.4", "`np.from_dlpack(a)`", "`dray.from_dlpack(x)`",
            "asks for version 1; exports either"),
    Library("NumPy 1.24", "`np.from_dlpack(a)`", "`dray.from_dlpack(x)`",
            "without a version"),
    Library("torch 1.13", "`torch.from_dlpack(a)`", "`dray.from_dlpack(x)`",
            "without a version"),
    Library("JAX 0.10", "`jax.dlpack.from_dlpack(a, copy=False)`",
            "`dray.from_dlpack(x)`", "without a version"),
    Library("apache-tvm-ffi 0.1.15", "`tvm_ffi.from_dlpack(a)`",
            "`dray.from_dlpack(x)`",
            "by the table, else without a version; exports either"),
    Library("pyarrow 26", "`pa.Tensor.from_dlpack(a)`, `pa.Array.from_dlpack(a)`; "
            "`pa.array(a)`, by Arrow", "`dray.from_dlpack(x)`; `dray.from_arrow(x)`",
            "asks for version 1.3; exports either"),
    Library("nanoarrow 0.9", "`nanoarrow.device.c_device_array(a)`, by Arrow, or by "
            "DLPack if `a` has only that", "`dray.from_dlpack(x)` of a buffer's view; "
            "`dray.from_arrow(x)`", "without a version"),
    Library("pandas 3.1", "`pd.Series(pa.array(a), dtype=pd.ArrowDtype(...))`",
            "`dray.from_arrow(x)`", "not at all"),
    Library("Polars 2.1", "`pl.Series(a)`, by Arrow",
            "`dray.from_arrow(x)`", "not at all"),
]

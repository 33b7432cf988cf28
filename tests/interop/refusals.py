# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Arrays that do not pass, or not without a copy, with the wording of docs/interop.md.

Everything else shares its memory.  The tests meet each row, and nothing that no row
names: a refusal that a library gives up is found too.
"""
from typing import Any, Callable, NamedTuple

from cases import ALIGNMENT, COMPLEX, OTHERS, Case
from consumers import DOORS

SHARES = "the same memory"
COPIES = "a copy"
ENDS = "the process ends"
ALL = ("all",)
TWICE = "a capsule that was consumed"
RENAMED = "a capsule with another name"
DEVICE = "memory of device 12, kDLExtDev"


class Refusal(NamedTuple):
    # Names of doors, or ALL.
    doors: tuple[str, ...]
    what: str
    # One of the words above, or the class of the error.
    outcome: str
    why: str
    # Words of the error, an expression.
    words: str = ""
    holds: Callable[[Case, Any], bool] = lambda _case, _array: True

    def line(self) -> str:
        """The row of the page."""
        known = (SHARES, COPIES, ENDS)
        outcome = self.outcome if self.outcome in known else f"`{self.outcome}`"
        return f"| {'; '.join(self.doors)} | {self.what} | {outcome} | {self.why} |"

    def is_about(self, name: str) -> bool:
        return self.doors == ALL or name in self.doors


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


def is_other_type(case: Case, _array: Any) -> bool:
    return case.dtype in OTHERS


def is_read_only(case: Case, _array: Any) -> bool:
    return case.layout in ("read-only", "repeated")


def has_gaps(_case: Case, array: Any) -> bool:
    """The elements are not dense in any order of the axes, from the first upward."""
    stride = array.itemsize
    for each, extent in sorted(zip(array.strides, array.shape)):
        if extent == 0:
            return False
        if extent == 1:
            continue
        if each != stride:
            return True
        stride *= extent
    return False


def is_unaligned(_case: Case, array: Any) -> bool:
    return array.size > 0 and address(array) % ALIGNMENT != 0


def is_reversed(_case: Case, array: Any) -> bool:
    return any(stride < 0 for stride in array.strides)


def is_no_row(case: Case, array: Any) -> bool:
    return array.ndim != 1 or has_gaps(case, array)


def has_other_axes(_case: Case, array: Any) -> bool:
    return array.ndim != 1


def of(*dtypes: str) -> Callable[[Case, Any], bool]:
    return lambda case, _array: case.dtype in dtypes


OLD = ("NumPy 1.24", "torch")
JAX = ("JAX", "JAX, copy=False")
TVM = ("apache-tvm-ffi, by the table", "apache-tvm-ffi, by a capsule")
PYARROW = ("pyarrow.Tensor", "pyarrow.Array")
NANOARROW = ("nanoarrow",)

# Arrays of dray on their way out.  The first row that holds counts.
ROWS = [
    Refusal(ALL, "text, raw data, dates, structures, the other byte order, long "
            "doubles", "BufferError", "DLPack has no code for them, so dray refuses.",
            "DLPack", is_other_type),
    Refusal((*OLD, *JAX, TVM[1], *NANOARROW), "read-only, repeated elements",
            "BufferError", "A tensor without a version cannot say that it is "
            "read-only, so dray refuses.", "read", is_read_only),
    Refusal(TVM[:1], "read-only, repeated elements", SHARES, "tvm-ffi drops the mark: "
            "its tensor may be written.", "", is_read_only),
    Refusal(OLD[1:], "reversed axes", ENDS, "torch has no negative strides; its error "
            "leaves a function that must not raise one.", "negative|overflow",
            is_reversed),
    Refusal(OLD[:1], "bools", "RuntimeError", "NumPy 1.24 does not know their code.",
            "Unsupported dtype", of("?")),
    Refusal(OLD[1:], "bools", "RuntimeError", "torch 1.13 does not know their code.",
            "Unsupported code 6", of("?")),
    Refusal(OLD[1:], "u2, u4, u8", "RuntimeError", "torch 1.13 does not have them.",
            "Unsupported kUInt bits", of("u2", "u4", "u8")),
    Refusal(JAX, "gaps, reversed axes", "JaxRuntimeError", "JAX has dense arrays only.",
            "compact", has_gaps),
    Refusal(JAX[:1], "a start that is not aligned to 64 bytes", COPIES,
            "JAX compiles for aligned memory.", "", is_unaligned),
    Refusal(JAX[1:], "a start that is not aligned to 64 bytes", "ValueError",
            "The copy is forbidden.", "not aligned to 64", is_unaligned),
    Refusal(PYARROW[1:], "another number of axes than one, gaps, a reversed axis",
            "ArrowInvalid", "Arrow's arrays are dense rows.",
            "Only contiguous one dimensional", is_no_row),
    Refusal(PYARROW, "bools", "ArrowInvalid", "Arrow's have one bit each.",
            "unsupported DLPack type 6", of("?")),
    Refusal(PYARROW, "complex numbers", "ArrowInvalid", "Arrow does not have them.",
            "unsupported DLPack type 5", of(*COMPLEX)),
    Refusal(PYARROW[:1], "reversed axes", "ArrowInvalid",
            "pyarrow has no negative strides.", "negative strides not supported",
            is_reversed),
    Refusal(NANOARROW, "another number of axes than one", "NotImplementedError",
            "Arrow's arrays are dense rows.", "ndim != 1", has_other_axes),
    Refusal(NANOARROW, "gaps, a reversed axis", "ValueError",
            "Arrow's arrays are dense rows.", "Non-contiguous", has_gaps),
    Refusal(NANOARROW, "bools, complex numbers", "ValueError", "Arrow's bools have one "
            "bit each, and it has no complex numbers.", "data type",
            of("?", *COMPLEX)),
]

# Arrays of others on their way in.
GIVEN = [
    Refusal(OLD[:1], "read-only, repeated elements", "BufferError",
            "NumPy 1.24 refuses: its tensors have no version.", "readonly",
            is_read_only),
    Refusal(OLD[:1], "bools", "BufferError", "NumPy 1.24 refuses.", "DLPack only",
            of("?")),
    Refusal(OLD[1:], "bools", "RuntimeError", "torch 1.13 refuses.", "Bool type",
            of("?")),
]

# Capsules that no honest producer makes, and memory that the CPU does not reach.
MISUSES = [
    Refusal(("NumPy 2", *OLD[:1], *PYARROW), TWICE, "ValueError",
            "The capsule's name tells.", "incorrect name"),
    Refusal(OLD[1:], TWICE, "RuntimeError", "The capsule's name tells.",
            "consumed only once"),
    Refusal(JAX, TWICE, "JaxRuntimeError", "The capsule's name tells.",
            "consumed at most once"),
    Refusal(TVM, TWICE, "ValueError", "The capsule's name tells.", "consumed once"),
    Refusal(NANOARROW, TWICE, SHARES,
            "nanoarrow keeps the capsule and leaves the tensor in it."),
    Refusal(("NumPy 2", *OLD[:1], *PYARROW, *NANOARROW), RENAMED, "ValueError",
            "Names are the types of capsules.", "incorrect name"),
    Refusal(OLD[1:], RENAMED, "RuntimeError", "Names are the types of capsules.",
            "invalid capsule"),
    Refusal(JAX, RENAMED, "JaxRuntimeError", "Names are the types of capsules.",
            'must be a capsule with name "dltensor"'),
    Refusal(TVM, RENAMED, "ValueError", "Names are the types of capsules.",
            "Expect a dltensor field"),
    Refusal(("NumPy 2", *OLD[:1]), DEVICE, "RuntimeError", "The CPU does not reach it.",
            "Unsupported device"),
    Refusal(OLD[1:], DEVICE, "RuntimeError", "torch 1.13 does not have it.",
            "Unsupported device_type"),
    Refusal(JAX, DEVICE, "TypeError", "JAX does not have it.",
            "unsupported device type"),
    Refusal(TVM, DEVICE, SHARES, "A tensor of tvm-ffi only describes memory; its "
            "elements are not looked at."),
    Refusal(PYARROW, DEVICE, "ArrowNotImplementedError", "The CPU does not reach it.",
            "only for buffers on CPU"),
    Refusal(NANOARROW, DEVICE, "ValueError", "nanoarrow does not have it.",
            "Device not found"),
]


def here(rows: list[Refusal]) -> list[Refusal]:
    """The rows about libraries that are here, in the same order."""
    return [row for row in rows if row.doors == ALL or set(row.doors) & set(DOORS)]

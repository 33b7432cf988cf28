# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Numbers that a stranger has filled in, in each protocol: an import raises and keeps
nothing, or its array covers the bytes that integers without a limit say.  The seed is
fixed.  tests/libfuzzer does the same for the functions in C."""
import ctypes
import math
import random

import numpy as np
import pytest

import dray
import arrow_structs
import tensors

CASES = 1200
REFUSED = (BufferError, OverflowError, TypeError, ValueError, MemoryError)
MEMORY = np.arange(4096, dtype="u2").view("u1")
START, END = MEMORY.ctypes.data, MEMORY.ctypes.data + MEMORY.nbytes
SIZES = {"|u1": 1, "<i2": 2, "<f4": 4, "<f8": 8}
CODES = {"|u1": 1, "<i2": 0, "<f4": 2, "<f8": 2}


def number(dice, most, bits=64):
    """Mostly 0 to `most`, else near a limit, negative or any."""
    return dice.choice([
        *[dice.randint(0, most)] * 12, -dice.randint(1, most),
        dice.choice([1, -1]) * (2 ** dice.randrange(bits) + dice.randint(-1, 1)),
        dice.getrandbits(bits) - 2 ** (bits - 1), 2 ** (bits - 1) - dice.randint(1, 9)])


def signed(value):
    return (value + 2**63) % 2**64 - 2**63


def covered(shape, strides, size):
    """The bytes [low, high) from the first element's; strides count bytes."""
    if 0 in shape:
        return 0, 0
    steps = [(count - 1) * stride for count, stride in zip(shape, strides)]
    return (sum(step for step in steps if step < 0),
            sum(step for step in steps if step > 0) + size)


def check(array, first, shape, strides, typestr):
    """Checks where an array is, and reads it if that is in MEMORY."""
    size = SIZES[typestr]
    low, high = covered(shape, strides, size)
    assert array.shape == tuple(shape) and array.dtype.str == typestr
    if low == high:
        return
    assert all(is_ == wanted for is_, wanted, count in zip(array.strides, strides, shape)
               if count > 1)
    assert 0 <= first + low and first + high <= 2**64
    if START <= first + low and first + high <= END and math.prod(shape) <= 10_000:
        there = np.ndarray(shape, typestr, MEMORY, first - START, strides)
        assert np.array(array).tobytes() == there.tobytes()


def dice_of(case):
    return random.Random(f"hostile {case}")


class Tensor(tensors.Made):
    """A tensor with such numbers."""

    def __init__(self, dice):
        super().__init__(versioned=dice.random() < 0.7)
        tensor = self.tensor
        self.typestr = dice.choice(list(SIZES))
        tensor.code, tensor.bits = CODES[self.typestr], SIZES[self.typestr] * 8
        self.counts = [signed(number(dice, 6)) for _ in range(dice.randrange(5))]
        self.steps = [signed(number(dice, 20)) for _ in self.counts]
        # Of their exact size.
        self.shape = (ctypes.c_int64 * len(self.counts))(*self.counts)
        self.strides = (ctypes.c_int64 * len(self.counts))(*self.steps)
        tensor.shape, tensor.strides = self.shape, self.strides
        tensor.ndim = len(self.counts)
        tensor.data = START + 8 * dice.randrange(MEMORY.nbytes // 8)
        tensor.byte_offset = number(dice, 64) % 2**64
        self.first = tensor.data + tensor.byte_offset


@pytest.mark.parametrize("seed", range(4))
def test_a_tensor_is_refused_or_covers_what_its_numbers_say(seed):
    dice, taken = dice_of(f"tensor {seed}"), 0
    for _ in range(CASES // 4):
        made = Tensor(dice)
        capsule = made.capsule()
        try:
            array = dray.from_dlpack(capsule)
        except REFUSED:
            assert not made.given_back and tensors.name_of(capsule) == made.name
            continue
        size, taken = SIZES[made.typestr], taken + 1
        check(array, made.first, made.counts, [each * size for each in made.steps],
              made.typestr)
        assert not made.given_back
        del array
        assert made.given_back == 1
    assert taken > CASES // 40


class Interface:
    """An object of SYCL with such numbers, of which one may not fit 64 bits."""

    def __init__(self, dice, with_data):
        self.typestr = dice.choice(list(SIZES))
        self.shape = tuple(number(dice, 6, 66) for _ in range(dice.randrange(5)))
        self.strides = tuple(number(dice, 20, 66) for _ in self.shape)
        self.offset = number(dice, 64, 66)
        self.at = START + 8 * dice.randrange(MEMORY.nbytes // 8)
        self.__sycl_usm_array_interface__ = {
            "shape": self.shape, "typestr": self.typestr, "version": 1, "syclobj": None,
            "strides": self.strides, "offset": self.offset,
            "data": (self.at, False) if with_data else None}


class WithBuffer(Interface, bytearray):
    """And one with its memory in a buffer, so that its size is known."""

    def __new__(cls, _):
        return bytearray.__new__(cls, MEMORY.tobytes())

    def __init__(self, dice):
        bytearray.__init__(self, MEMORY.tobytes())
        Interface.__init__(self, dice, with_data=False)


@pytest.mark.parametrize("seed", range(4))
def test_memory_of_sycl_is_refused_or_covers_what_its_numbers_say(seed):
    dice, taken = dice_of(f"sycl {seed}"), 0
    for _ in range(CASES // 4):
        made = Interface(dice, with_data=True)
        size = SIZES[made.typestr]
        strides = [each * size for each in made.strides]
        try:
            array = dray.from_sycl(made)
        except REFUSED:
            continue
        taken += 1
        low, high = covered(made.shape, strides, size)
        first = made.at + made.offset * size
        assert array.shape == made.shape and array.dtype.str == made.typestr
        assert low == high or (0 <= first + low and first + high <= 2**64)
        # No library tells the kind of the memory.
        if high:
            with pytest.raises(ValueError, match="unknown memory"):
                array.tolist()
    assert taken > CASES // 40


@pytest.mark.parametrize("seed", range(4))
def test_elements_of_sycl_lie_in_the_buffer_or_are_refused(seed):
    dice, taken = dice_of(f"buffer {seed}"), 0
    for _ in range(CASES // 4):
        made = WithBuffer(dice)
        size, first = SIZES[made.typestr], made.offset * SIZES[made.typestr]
        strides = [each * size for each in made.strides]
        low, high = covered(made.shape, strides, size)
        inside = 0 <= first + low and first + high <= MEMORY.nbytes
        try:
            array = dray.from_sycl(made)
        except REFUSED:
            numbers = [made.offset, *made.shape, *made.strides]
            assert not inside or min(made.shape, default=0) < 0 or not all(
                abs(each * size) < 2**63 for each in numbers) or low == high
            continue
        assert inside or low == high
        if high and math.prod(made.shape) <= 10_000:
            taken += 1
            there = np.ndarray(made.shape, made.typestr, MEMORY, first, strides)
            assert np.array(array).tobytes() == there.tobytes()
    assert taken > CASES // 80


FORMATS = {"|u1": b"C", "<i2": b"s", "<f4": b"f", "<f8": b"g"}


def lists(dice):
    """Elements in lists in lists: a producer, its type, and the first element's number
    and the shape that the structures tell."""
    typestr = dice.choice(list(SIZES))
    room = MEMORY.nbytes // SIZES[typestr]
    made = arrow_structs.Producer(FORMATS[typestr], MEMORY.view(typestr))
    made.array.length = signed(number(dice, room))
    made.array.offset = signed(number(dice, 3))
    sizes = [number(dice, 4, 31) for _ in range(dice.randrange(3))]
    for size in reversed(sizes):
        length = number(dice, 20)
        outer = arrow_structs.Producer(b"+w:%d" % size, None, length=signed(length),
                                       offset=signed(number(dice, 3)), children=[made])
        made = outer
    return made, typestr, sizes


@pytest.mark.parametrize("seed", range(4))
def test_lists_of_arrow_are_refused_or_lie_where_their_numbers_say(seed):
    dice, taken = dice_of(f"lists {seed}"), 0
    for _ in range(CASES // 4):
        made, typestr, sizes = lists(dice)
        shape = [made.array.length, *sizes]
        first, node = made.array.offset, made
        for size in sizes:
            node = node.keep[2][0]
            first = first * size + node.array.offset
        try:
            array = dray.from_arrow(made.capsules(), copy=False)
        except REFUSED:
            assert made.released["array"] == 0
            continue
        taken += 1
        strides = [SIZES[typestr] * math.prod(shape[i + 1:]) for i in range(len(shape))]
        check(array, START + first * SIZES[typestr], shape, strides, typestr)
        assert made.released["array"] == 0
        del array
        assert made.released["array"] == 1
    assert taken > CASES // 40


CAPSULE = ctypes.pythonapi.PyCapsule_New
ANYTHING = np.zeros(64, "u1")
STRANGE = {
    "no capsule": lambda: object(),
    "a number": lambda: 7,
    "of a name": lambda: CAPSULE(ANYTHING.ctypes.data, b"dltensor2", None),
    "without a name": lambda: CAPSULE(ANYTHING.ctypes.data, None, None),
    "used": lambda: CAPSULE(ANYTHING.ctypes.data, b"used_dltensor", None),
    "of the other protocol": lambda: CAPSULE(ANYTHING.ctypes.data, b"arrow_device_array",
                                             None),
}


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_a_strange_capsule_is_refused_by_each_protocol(strange):
    for import_ in (dray.from_dlpack, dray.from_sycl, dray.from_arrow,
                    lambda x: dray.from_arrow((x, x))):
        with pytest.raises((AttributeError, *REFUSED)):
            import_(strange())


class Liar:
    """A producer with methods that return one answer, or raise it."""

    def __init__(self, answer):
        self.answer = answer

    def give(self, *_, **__):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def __dlpack_device__(self):
        return self.give()

    __dlpack__ = __arrow_c_array__ = __arrow_c_stream__ = give
    __sycl_usm_array_interface__ = property(give)


@pytest.mark.parametrize("answer", [
    None, (), (1,), (1, 0), {}, "x", b"x", 2**70, ((), ()), (None, None),
    KeyError("mine"), BufferError("mine"), RecursionError("mine")], ids=repr)
@pytest.mark.parametrize("import_", [dray.from_dlpack, dray.from_sycl, dray.from_arrow])
def test_a_producer_that_lies_is_refused(import_, answer):
    with pytest.raises((AttributeError, KeyError, RecursionError, *REFUSED)) as raised:
        import_(Liar(answer))
    if isinstance(answer, BaseException):
        assert raised.value is answer or raised.value.__cause__ is answer

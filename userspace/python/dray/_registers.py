# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Registers and interrupts of a node's device, over the parts in C."""

from __future__ import annotations

import operator
import os
from typing import Any, Generator, Optional, Sequence, Union, final, overload

from ._dray import (Handle, interrupt_clear, interrupt_describe, interrupt_open, interrupt_wait,
                    registers_describe, registers_map, registers_read, registers_write)
from ._stream import copy_descriptor


def _offset(index: Any) -> int:
    offset = operator.index(index)
    if not 0 <= offset < 2**64:
        raise ValueError(f"offset {offset} of registers: bytes from the first, 0 or more")
    return offset


@final
class Registers(Handle):
    """An area of registers of a node's device, made by Node.registers().

    registers[0x10] reads the 32 bits at offset 0x10, in bytes, and registers[0x10] = 1
    writes them; registers[0:16] is a list of four.  A write shows the device all bytes
    that were written to arrays before, but for those that sync_for_device() is for.

    Once the device is gone, an access ends the program by SIGBUS."""

    __slots__ = ("_about",)
    __module__ = "dray"
    _about: tuple[str, int]

    @property
    def name(self) -> str:
        """The name in the device tree."""
        return self._about[0]

    @property
    def size(self) -> int:
        """The bytes that are mapped."""
        return self._about[1]

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._dropped

    def __len__(self) -> int:
        return self.size

    def _offsets(self, part: slice) -> range:
        start, stop, step = part.indices(self.size)
        return range(start, stop, step if part.step is not None else 4)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> list[int]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[int, list[int]]:
        if isinstance(index, slice):
            return [registers_read(self, offset) for offset in self._offsets(index)]
        return registers_read(self, _offset(index))

    @overload
    def __setitem__(self, index: int, value: int) -> None: ...

    @overload
    def __setitem__(self, index: slice, value: Sequence[int]) -> None: ...

    def __setitem__(self, index: Union[int, slice], value: Any) -> None:
        if not isinstance(index, slice):
            registers_write(self, _offset(index), _word(value))
            return
        offsets, words = self._offsets(index), [_word(word) for word in value]
        if len(offsets) != len(words):
            raise ValueError(f"{len(words)} values for {len(offsets)} registers of {self.name}")
        for offset, word in zip(offsets, words):
            registers_write(self, offset, word)

    def close(self) -> None:
        """Unmaps the registers; a second call does nothing."""
        self._drop()

    def __enter__(self) -> Registers:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("registers cannot be copied, nor pickled: map them again")

    def __repr__(self) -> str:
        return f"<dray.Registers {self.name}, {self.size} bytes{', closed' * self.closed}>"


def _word(value: Any) -> int:
    word = operator.index(value)
    if not 0 <= word < 2**32:
        raise ValueError(f"value {word} of a register: from 0 to {2**32 - 1}")
    return word


@final
class Interrupt(Handle):
    """An interrupt of a node's device, made by Node.interrupt().

    wait() waits for it, and so does `await interrupt`.  It stays masked until the next
    wait or clear(): a device that keeps its line active has its cause ended before that,
    by a register.  Interrupts that arrive meanwhile count as a single one."""

    __slots__ = ("_about",)
    __module__ = "dray"
    _about: tuple[str, int]

    @property
    def name(self) -> str:
        """The name in the device tree."""
        return self._about[0]

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._dropped

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits until the device raises the interrupt, or did so since the last wait, and
        returns the count of interrupts since the interrupt was opened.

        `timeout`: seconds, then TimeoutError; None waits for ever.  OSError (ENODEV) if
        the device is gone."""
        return interrupt_wait(self, timeout)

    def clear(self) -> None:
        """Unmasks the interrupt, and forgets an arrival."""
        interrupt_clear(self)

    def fileno(self) -> int:
        """A descriptor to poll: readable from an arrival until clear()."""
        if self.closed:
            raise ValueError(f"the interrupt {self.name} is closed")
        return self._about[1]

    async def _await(self) -> int:
        import asyncio

        try:
            return self.wait(0)
        except TimeoutError:
            pass
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        descriptor = copy_descriptor(self.fileno())
        try:
            loop.add_reader(descriptor, arrived.set)
            await arrived.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        return self.wait(0)

    def __await__(self) -> Generator[Any, Any, int]:
        return self._await().__await__()

    def close(self) -> None:
        """Closes the interrupt, after waits in other threads; a second call does
        nothing."""
        self._drop()

    def __enter__(self) -> Interrupt:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("an interrupt cannot be copied, nor pickled: open it again")

    def __repr__(self) -> str:
        return f"<dray.Interrupt {self.name}{', closed' * self.closed}>"


def open_registers(node: Any, name: Optional[str]) -> Registers:
    registers = registers_map(Registers, node, name)
    registers._about = registers_describe(registers)
    return registers


def open_interrupt(node: Any, name: Optional[str]) -> Interrupt:
    interrupt = interrupt_open(Interrupt, node, name)
    interrupt._about = interrupt_describe(interrupt)
    return interrupt

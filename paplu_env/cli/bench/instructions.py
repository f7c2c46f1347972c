"""Instructions that a piece of work executes, where Linux and the processor count them."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Callable
from typing import Final

# Numbers of the system call perf_event_open, for which the C library has no function.
_SYSCALL: Final = {"x86_64": 298, "aarch64": 241}
# The first version of the kernel's struct perf_event_attr: type and size, then what to count, and bits that follow.
_LAYOUT: Final = "IIQQQQQIIQ"
_HARDWARE: Final = 0  # type: an event that every processor has
_RETIRED_INSTRUCTIONS: Final = 1
_USER_ONLY: Final = 1 << 5 | 1 << 6  # neither the kernel's instructions nor a hypervisor's


def count_instructions(work: Callable[[], object]) -> int | None:
    """Instructions that this thread retires during ``work()``, or None where they can't be counted.

    Nothing is counted outside Linux, in most containers and virtual machines, and where the setting
    ``kernel.perf_event_paranoid`` forbids it.
    """
    counter = _open_counter()
    if counter is None:
        return None
    try:
        before = _read(counter)
        work()
        return _read(counter) - before
    finally:
        os.close(counter)


def _open_counter() -> int | None:
    """A file that holds the number of instructions so far, running at once."""
    number = _SYSCALL.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return None
    size = struct.calcsize(_LAYOUT)
    attributes = struct.pack(_LAYOUT, _HARDWARE, size, _RETIRED_INSTRUCTIONS, 0, 0, 0, _USER_ONLY, 0, 0, 0)
    this_thread, any_processor, no_group, no_flags = 0, -1, -1, 0
    found = ctypes.CDLL(None).syscall(
        number, ctypes.create_string_buffer(attributes, size), this_thread, any_processor, no_group, no_flags
    )
    return int(found) if found >= 0 else None


def _read(counter: int) -> int:
    return int(struct.unpack("q", os.read(counter, 8))[0])

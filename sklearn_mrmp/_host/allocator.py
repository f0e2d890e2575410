"""Memory that stays with the process from one training step, or prediction batch, to the next.

glibc gives large blocks back to the system as soon as they are freed, and the next step pays for
getting them, page by page: a quarter of a step with many labels. Knows the C library and numpy.
"""

import ctypes
import os
from contextlib import contextmanager

import numpy as np

# Steps that hold less than this: malloc keeps as much by itself.
_KEPT_ANYWAY = 2**26

# Names of mallopt's parameters, from malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_WHILE_TRAINING = {_MMAP_MAX: 0, _TRIM_THRESHOLD: 2**31 - 1}
# Settings cannot be read. These are where malloc's own adjustment would have ended: it raises its
# thresholds when large blocks are freed, up to these values. Set by hand, they stay.
_AFTERWARDS = {_MMAP_MAX: 65_536, _MMAP_THRESHOLD: 2**25, _TRIM_THRESHOLD: 2**26}

# The largest block that malloc learns from, its header included, is one of 32 MB.
_LARGEST_BLOCK_MINDED = 2**25 - 2**16


@contextmanager
def kept_memory(step_bytes, device_type):
    """Let malloc keep freed blocks while a network trains on the CPU, and give them back then.

    Does nothing for small steps, on other devices, with other C libraries than glibc, and for
    users who have set malloc up in the environment. In other threads than the main one malloc
    keeps no blocks above 64 MB. Afterwards malloc returns blocks above 32 MB at once, as it does by
    itself in a process that has freed such blocks.

    Parameters
    ----------
    step_bytes : int
        Memory that a training step takes and frees.
    device_type : str
        Where it takes it: ``"cpu"`` or something else.
    """
    libc = _glibc() if device_type == "cpu" and step_bytes > _KEPT_ANYWAY else None
    if libc is None or _user_has_set_malloc_up():
        yield
        return
    try:
        _set(libc, _WHILE_TRAINING)
        yield
    finally:
        _set(libc, _AFTERWARDS)
        libc.malloc_trim(0)


def expect_large_blocks():
    """Let malloc keep what a prediction batch frees, as if large blocks had been freed before.

    malloc raises its thresholds by itself when it frees a block that came straight from the system,
    and a process that has freed one of 32 MB keeps up to 64 MB in each thread. This one is freed at
    once and never written to, so it costs next to nothing. Settings made by hand stay as they are.
    """
    np.empty(_LARGEST_BLOCK_MINDED, dtype=np.uint8)


def _glibc():
    """Return the C library if it is glibc, else None."""
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "gnu_get_libc_version") else None
    except (OSError, TypeError):  # no such thing on this system
        return None


def _user_has_set_malloc_up():
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return "glibc.malloc" in tunables or any(name.startswith("MALLOC_") for name in os.environ)


def _set(libc, settings):
    for name, value in settings.items():
        libc.mallopt(name, value)

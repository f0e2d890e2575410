"""Paths as users write them, and files that are written whole or not at all.

Leaf module: the standard library alone.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def user_path(path):
    """Return a path with a leading ``~`` replaced by the home folder, where there is one."""
    return Path(os.path.expanduser(path))


def write_atomically(path, chunks, keep=None):
    """Write a file in one step: whoever looks sees the old one or the new one, whole.

    Parameters
    ----------
    path : path-like
        The file; one that exists is replaced once the new one is safe on disk.
    chunks : iterable of bytes
        Its content.
    keep : path-like, default=None
        Where to put the file that is replaced; None drops it.
    """
    path = user_path(path)
    # A file that is written again and again has a fixed name: what a killed process left half
    # written is overwritten, not added to. Others may have two writers at once.
    token = secrets.token_hex(8) if keep is None else "tmp"
    temporary = path.with_name(f".{path.name}.{token}")
    try:
        with _new_file(temporary) as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if keep is not None and path.exists():
            os.replace(path, keep)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def _new_file(path):
    """Open a new file: never one, or a link, that somebody else put there."""
    path.unlink(missing_ok=True)
    return open(path, "xb")


def sync_folder(folder):
    """Make new names in a folder as durable as the files, where the system can do that."""
    with suppress(OSError):  # not every system and file system can open or sync folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""Making files durable. Leaf module: the standard library alone."""

import os
from contextlib import suppress


def sync_folder(folder):
    """Make new names in a folder as durable as the files, where the system can do that."""
    with suppress(OSError):  # not every system and file system can open or sync folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

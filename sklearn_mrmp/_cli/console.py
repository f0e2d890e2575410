"""What the command line says: results to standard output, everything else to standard error.

Leaf module: the standard library alone.
"""

import os
import sys
import warnings
from contextlib import contextmanager, suppress

OK, FAILED, MISUSED = 0, 1, 2
# As shells report processes that a signal has ended: Ctrl-C, and a reader that went away.
INTERRUPTED, PIPE_CLOSED = 130, 141


class UsageError(ValueError):
    """Arguments that do not go together; the status is then that of wrong arguments."""


def say(text):
    """Print a line to standard output, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def note(text):
    """Print a line to standard error, so that results can go through a pipe."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def complain(text):
    """Print what went wrong."""
    note(f"sklearn_mrmp: {text}")


def forget_output():
    """Let what is still to be written go nowhere, once nobody reads it any more."""
    with suppress(OSError, ValueError):  # in tests standard output is no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def plain_warnings():
    """Show warnings as one line each, without the line of code that gave them."""

    def show(message, category, filename, lineno, file=None, line=None):
        complain(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield

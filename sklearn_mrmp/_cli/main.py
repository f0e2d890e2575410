"""``python -m sklearn_mrmp`` and ``sklearn-mrmp``: commands, errors and exit codes.

Each command is a file with ``add(commands)``, which describes its arguments; what it needs is
imported when it runs.
"""

import argparse

from sklearn_mrmp._cli import compare, explain, fit, graph, predict, report, results
from sklearn_mrmp._cli.console import (
    FAILED,
    INTERRUPTED,
    MISUSED,
    PIPE_CLOSED,
    UsageError,
    complain,
    forget_output,
    plain_warnings,
)
from sklearn_mrmp._version import __version__

_EXAMPLES = """\
examples:
  sklearn-mrmp fit posts.csv --text body --label-column tags --model posts.mrmp
  sklearn-mrmp predict posts.mrmp new.csv --keep id --out tagged.csv
  sklearn-mrmp graph posts.csv --label-column tags --html graph.html

exit codes:
  0 done, 1 data or a model that cannot be used, 2 wrong arguments, 130 interrupted,
  141 nobody reads the output any more
"""


def main(argv=None, prog="sklearn-mrmp"):
    """Run the command line; return the exit status.

    Parameters
    ----------
    argv : list of str, default=None
        The arguments; those of the process when None.
    prog : str, default="sklearn-mrmp"
        What the user calls the program.

    Returns
    -------
    status : int
        0; 1 when data or a model cannot be used or a classifier failed; 2 for arguments that do
        not go together; 130 when interrupted; 141 when nobody reads the output any more.
    """
    arguments = _parser(prog).parse_args(argv)
    try:
        with plain_warnings():
            return arguments.run(arguments)
    except BrokenPipeError:
        forget_output()
        return PIPE_CLOSED
    except UsageError as error:
        complain(error)
        return MISUSED
    except (OSError, ValueError, ImportError) as error:
        complain(error)
        return FAILED
    except KeyboardInterrupt:
        complain(getattr(arguments, "interrupted", "interrupted; nothing was written"))
        return INTERRUPTED


def _parser(prog):
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Multi-label classification with learned label relations.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in (fit, predict, explain, graph, compare, report, results):
        command.add(commands)
    return parser

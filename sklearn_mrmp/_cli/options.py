"""Arguments that several commands share, and what they say about columns.

Knows argparse, and what columns a model reads.
"""

import argparse
import csv
from dataclasses import dataclass

from sklearn_mrmp._cli.console import UsageError
from sklearn_mrmp._cli.formats.choice import FORMATS, open_rows
from sklearn_mrmp._host.files import user_path

METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")


def positive(text):
    """Read a whole number above 0."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def names(text):
    """Read names separated by commas; one that contains a comma is put into double quotes."""
    found = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not found or not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of names separated by commas")
    return found


@dataclass(frozen=True)
class LabelColumns:
    """Where the labels of a table are.

    Attributes
    ----------
    columns : list of str or None
        Columns of 0 and 1, one for each label, or patterns of their names such as ``tag_*``.
    listed : str or None
        The column that has all labels of a row.
    separator : str
        What stands between the labels in `listed`.
    """

    columns: list | None = None
    listed: str | None = None
    separator: str = ","

    @property
    def given(self):
        """Whether there is anything to read labels from."""
        return self.columns is not None or self.listed is not None


def described(parser_of, name, **texts):
    """Add a command whose examples keep their lines."""
    return parser_of.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, **texts)


def add_data(parser, what):
    """Add the file, and how it is read."""
    parser.add_argument("data", help=f"{what}; - is standard input")
    parser.add_argument(
        "--format", choices=FORMATS, help="format of the file (by the ending of its name)"
    )
    parser.add_argument(
        "--no-quotes",
        dest="quotes",
        action="store_false",
        help="CSV and TSV: double quotes are ordinary characters",
    )
    parser.add_argument(
        "--zero-based",
        action="store_true",
        default=None,
        help="libsvm: features are counted from 0 (from 1; a model remembers it)",
    )


def add_model(parser, what="rows"):
    """Add the model and the file that it is asked about."""
    parser.add_argument("model", help="the model file, of fit or of sklearn_mrmp.save")
    add_data(parser, f"{what}: a file of the kind that the model was fitted on")
    add_columns(parser, note=", for models that were not written by fit")


def training_rows(arguments):
    """Return the reader of a file that no model has told how to read."""
    return open_rows(
        arguments.data,
        arguments.format,
        zero_based=bool(arguments.zero_based),
        quotes=arguments.quotes,
    )


def add_columns(parser, note=""):
    """Add which columns are read."""
    parser.add_argument(
        "--text",
        action="append",
        metavar="COLUMN",
        help=f"column of texts; may be given several times{note}",
    )
    parser.add_argument(
        "--features",
        type=names,
        metavar="A,B",
        help=f"columns of numbers (all that are not labels){note}",
    )


def add_labels(parser, note=""):
    """Add where labels are."""
    parser.add_argument(
        "--labels",
        type=names,
        metavar="A,B",
        help=f"columns of 0 and 1, one for each label, or patterns such as 'tag_*'{note}",
    )
    parser.add_argument(
        "--label-column",
        metavar="COLUMN",
        help=f"column with all labels of a row: separated, or a list in JSON and parquet{note}",
    )
    parser.add_argument(
        "--separator", help="what stands between the labels of --label-column (a comma)"
    )


def label_columns(arguments):
    """Return the `LabelColumns` of the arguments; raise UsageError if they contradict."""
    if arguments.labels is not None and arguments.label_column is not None:
        raise UsageError("--labels and --label-column exclude each other: give one of them.")
    if arguments.separator is not None and arguments.label_column is None:
        raise UsageError("--separator says how --label-column is split: give --label-column, too.")
    if arguments.separator == "":
        raise UsageError("--separator must not be empty.")
    separator = "," if arguments.separator is None else arguments.separator
    return LabelColumns(arguments.labels, arguments.label_column, separator)


def new_file(text):
    """Read the path of a file to write; its folder has to be there, before hours of work."""
    path = user_path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder")
    return path

"""Which reader reads a file: by its ending, or as the user says."""

from pathlib import PurePath

from sklearn_mrmp._cli.console import UsageError
from sklearn_mrmp._cli.formats.arff import ArffFile
from sklearn_mrmp._cli.formats.delimited import DelimitedFile
from sklearn_mrmp._cli.formats.json_lines import JsonLinesFile
from sklearn_mrmp._cli.formats.libsvm import LibsvmFile
from sklearn_mrmp._cli.formats.parquet import ParquetFile

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arff", "libsvm")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}


def format_of(path, given=None):
    """Return the name of a file's format.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    given : str, default=None
        What the user says.

    Examples
    --------
    >>> format_of("rows.TSV"), format_of("-", "jsonl")
    ('tsv', 'jsonl')
    """
    if given is not None:
        return given
    ending = PurePath(path).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(
            f"The format of {path!r} cannot be told from the ending of its name: give --format, "
            f"one of {', '.join(FORMATS)}."
        )
    return _ENDINGS[ending]


def open_rows(path, given=None, *, zero_based=False, quotes=True, n_features=None):
    """Return the reader of a file.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    given : str, default=None
        Its format; None is by the ending of its name.
    zero_based : bool, default=False
        Whether libsvm counts features from 0.
    quotes : bool, default=True
        Whether cells of CSV and TSV may stand in double quotes.
    n_features : int, default=None
        How many features libsvm has; None reads the whole file to find out.

    Returns
    -------
    reader : object
        With ``chunks(n_rows)``.
    """
    name = format_of(path, given)
    if name == "libsvm":
        return LibsvmFile(path, zero_based, n_features)
    if name in ("csv", "tsv"):
        return DelimitedFile(path, "," if name == "csv" else "\t", quotes)
    return {"jsonl": JsonLinesFile, "parquet": ParquetFile, "arff": ArffFile}[name](path)

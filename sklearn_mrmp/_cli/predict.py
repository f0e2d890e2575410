"""``predict``: labels and probabilities of the rows of a file, chunk by chunk."""

import csv
import io
import json
import sys
from pathlib import PurePath

import numpy as np

from sklearn_mrmp._cli.columns import shown_names
from sklearn_mrmp._cli.console import UsageError, note
from sklearn_mrmp._cli.formats.chunks import DataError
from sklearn_mrmp._cli.models import LoadedModel, labels_and_probabilities
from sklearn_mrmp._cli.options import (
    METRICS,
    add_model,
    described,
    names,
    new_file,
    positive,
)
from sklearn_mrmp._host.files import write_atomically
from sklearn_mrmp._numerics.label_lists import names_of_rows

_EXAMPLES = """\
examples:
  sklearn-mrmp predict posts.mrmp new.csv --keep id --out tagged.csv
  sklearn-mrmp predict posts.mrmp new.jsonl --out tagged.jsonl --wide
  cat new.jsonl | sklearn-mrmp predict posts.mrmp - --format jsonl | head

output:
  labels and scores: the predicted labels and their probabilities, separated by --separator (lists
  in JSON lines). With --wide: labels, and the probability of each label in a column of its own
  (an object "scores" in JSON lines).
"""
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def add(commands):
    """Describe the command and its arguments."""
    parser = described(
        commands,
        "predict",
        help="predict labels of the rows of a file",
        description="Predict the labels of the rows of a file with a model. Rows are read, "
        "predicted and written chunk by chunk, so that memory does not grow with the file (ARFF "
        "is read as a whole).",
        epilog=_EXAMPLES,
    )
    add_model(parser)
    parser.add_argument("--out", type=new_file, help="CSV, TSV or JSON lines (standard output)")
    parser.add_argument(
        "--out-format", choices=("csv", "tsv", "jsonl"), help="format (by the ending of --out; csv)"
    )
    parser.add_argument("--wide", action="store_true", help="probabilities of all labels")
    parser.add_argument("--separator", default=",", help="what stands between labels (a comma)")
    parser.add_argument(
        "--keep", type=names, default=[], metavar="A,B", help="columns to copy into the output"
    )
    parser.add_argument("--metric", choices=METRICS, help="decide for another metric than in fit")
    parser.add_argument(
        "--chunk-rows", type=positive, default=1000, help="rows in memory at a time (1000)"
    )
    parser.set_defaults(run=_predict)


def _predict(arguments):
    form = _output_format(arguments)
    model = LoadedModel.of(arguments.model, arguments.text, arguments.features)
    _check(arguments, form, model)
    rows = model.open_rows(arguments)
    if rows.is_matrix and arguments.keep:
        raise UsageError("--keep copies columns of tables, and libsvm and ARFF have none.")
    if arguments.metric is not None:
        model.classifier.set_params(metric=arguments.metric)
    writer = _Writer(form, model.names, arguments.separator, arguments.keep, arguments.wide)
    parts = _written(model, rows, writer, arguments.chunk_rows)
    if arguments.out is not None:
        write_atomically(arguments.out, parts)
        note(f"predicted {writer.n_rows} rows; wrote {arguments.out}")
        return 0
    for part in parts:
        sys.stdout.write(part.decode("utf-8"))
        sys.stdout.flush()
    return 0


def _output_format(arguments):
    if arguments.out_format is not None:
        return arguments.out_format
    if arguments.out is None:
        return "csv"
    ending = PurePath(arguments.out).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(
            f"{arguments.out}: the format cannot be told from the ending; give --out-format."
        )
    return _ENDINGS[ending]


def _check(arguments, form, model):
    """Refuse what would give wrong or ambiguous output."""
    if getattr(getattr(model.classifier, "decision", None), "needs_all_rows", False):
        raise ValueError(
            f"decision={model.classifier.decision!r} has an entry for each row, and cannot be used "
            "for a file that is read in chunks."
        )
    if arguments.metric is not None and "metric" not in model.classifier.get_params(deep=False):
        raise UsageError(f"A {type(model.classifier).__name__} decides for no metric.")
    if not arguments.separator:
        raise UsageError("--separator must not be empty.")
    unclear = [name for name in model.names if arguments.separator in name]
    if form != "jsonl" and unclear:
        raise UsageError(
            f"Labels contain the separator {arguments.separator!r}: {shown_names(unclear)}. Give "
            "another --separator, or write JSON lines."
        )


def _written(model, rows, writer, n_rows):
    """Give the output in parts, each for a chunk of rows; nothing of earlier chunks is kept."""
    yield writer.header()
    for chunk in rows.chunks(n_rows):
        labels, P = labels_and_probabilities(model.classifier, model.rows(chunk)[0])
        yield writer.part(chunk, labels, P)


class _Writer:
    """Turns predictions into lines of a file."""

    def __init__(self, form, label_names, separator, keep, wide):
        self.form = form
        self.label_names = label_names
        self.separator = separator
        self.keep = keep
        self.wide = wide
        self.n_rows = 0

    def header(self):
        """Return the first line, which JSON lines do not have."""
        if self.form == "jsonl":
            return b""
        columns = [*self.keep, "labels", *(self.label_names if self.wide else ["scores"])]
        for number, column in enumerate(columns):
            if column in columns[:number]:
                raise UsageError(
                    f"Two columns of the output would be named {column!r}; choose other columns "
                    "with --keep, or leave out --wide."
                )
        return self._cells([columns])

    def part(self, chunk, labels, P):
        """Return the lines of some rows."""
        self.n_rows += len(chunk)
        has = labels.toarray() if hasattr(labels, "toarray") else np.asarray(labels)
        named = names_of_rows(has, self.label_names)
        rows = zip(self._kept(chunk), named, has != 0, np.asarray(P), strict=True)
        if self.form == "jsonl":
            lines = [json.dumps(self._object(*row), ensure_ascii=False) + "\n" for row in rows]
            return "".join(lines).encode("utf-8")
        return self._cells([self._row(*row) for row in rows])

    def _kept(self, chunk):
        if not self.keep:
            return [()] * len(chunk)
        for row, place in zip(chunk.rows, chunk.places, strict=True):
            for column in self.keep:
                if column not in row:
                    raise DataError(place, "there is no such column to keep.", column)
        return [tuple(row[column] for column in self.keep) for row in chunk.rows]

    def _object(self, kept, names, has, P):
        scores = [_rounded(p) for p in (P if self.wide else P[has])]
        if self.wide:
            scores = dict(zip(self.label_names, scores, strict=True))
        return {**dict(zip(self.keep, kept, strict=True)), "labels": names, "scores": scores}

    def _row(self, kept, names, has, P):
        if self.wide:
            return [*kept, self.separator.join(names), *map(_rounded, P)]
        scores = self.separator.join(str(_rounded(p)) for p in P[has])
        return [*kept, self.separator.join(names), scores]

    def _cells(self, rows):
        text = io.StringIO()
        delimiter = "," if self.form == "csv" else "\t"
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
        return text.getvalue().encode("utf-8")


def _rounded(probability):
    """Return a probability with as many digits as anybody reads."""
    return round(float(probability), 6)

"""``fit``: learn from a file, and write a model file that is safe to pass on."""

import argparse
import ast
import time

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

import sklearn_mrmp
from sklearn_mrmp._cli.columns import ColumnReader, MatrixReader, shown_names
from sklearn_mrmp._cli.console import UsageError, note
from sklearn_mrmp._cli.formats.chunks import DataError, joined, shown_name
from sklearn_mrmp._cli.labels import LabelReader, columns_of
from sklearn_mrmp._cli.models import read_columns
from sklearn_mrmp._cli.options import (
    METRICS,
    add_columns,
    add_data,
    add_labels,
    described,
    label_columns,
    names,
    new_file,
    training_rows,
)

_CHUNK = 10_000
# Words of a single text teach nothing where there are many texts.
_RARE_FROM = 1_000
_EXAMPLES = """\
examples:
  sklearn-mrmp fit posts.csv --text body --label-column tags --model posts.mrmp
  sklearn-mrmp fit posts.jsonl --text body --label-column tags --encoder FOLDER --model posts.mrmp
  sklearn-mrmp fit genes.csv --labels 'class_*' --metric accuracy --model genes.mrmp
  sklearn-mrmp fit bibtex-train.arff --voters linear --param random_state=0 --model bibtex.mrmp
"""


def add(commands):
    """Describe the command and its arguments."""
    parser = described(
        commands,
        "fit",
        help="learn from a file and write a model",
        description="Fit MrMPClassifier on the rows of a file, and write a model file. Texts "
        "become tf-idf words, or are read by a pretrained encoder; missing numbers become medians.",
        epilog=_EXAMPLES,
    )
    add_data(parser, "training rows: CSV, TSV, JSON lines, parquet, ARFF with XML, or libsvm")
    parser.add_argument("--model", type=new_file, required=True, help="the model file to write")
    add_columns(parser)
    add_labels(parser)
    parser.add_argument(
        "--ignore", type=names, default=[], metavar="A,B", help="columns to leave out"
    )
    parser.add_argument("--encoder", help="folder or name of a pretrained text encoder")
    parser.add_argument(
        "--encoder-weights", action="store_true", help="the model file holds the encoder, too"
    )
    parser.add_argument("--metric", choices=METRICS, help="what to be good at (f1_micro)")
    parser.add_argument("--voters", type=names, help="base learners (network,linear,neighbors)")
    parser.add_argument(
        "--param",
        action="append",
        type=_parameter,
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of MrMPClassifier; may be given several times",
    )
    parser.add_argument("--verbose", action="store_true", help="tell the stages of the fit")
    parser.set_defaults(run=_fit)


def _parameter(text):
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a word


def _fit(arguments):
    _check(arguments)
    classifier = _classifier(arguments)
    data = training_rows(arguments)
    if data.is_matrix and (arguments.text or arguments.features or arguments.ignore):
        raise UsageError("--text, --features and --ignore are for tables, not for libsvm and ARFF.")
    labels = LabelReader(label_columns(arguments), data)
    chunk = _all_rows(data, labels)
    Y = labels.table()
    model = _model(arguments, data, labels, chunk, classifier)
    note(f"{arguments.data}: {len(chunk)} rows, {len(Y.columns)} labels")
    start = time.perf_counter()
    rows = read_columns(model[0], chunk, learn=True)  # errors name the line of the file
    model[1:].fit(rows, Y)
    sklearn_mrmp.save(model, arguments.model, encoder_weights=arguments.encoder_weights)
    size = arguments.model.stat().st_size / 1e6
    note(f"fitted in {time.perf_counter() - start:.1f} s; wrote {arguments.model} ({size:.1f} MB)")
    return 0


def _check(arguments):
    """Refuse arguments that contradict, before anything is read."""
    if arguments.text and arguments.features:
        raise UsageError("--text and --features exclude each other: a model reads one kind.")
    if arguments.encoder is not None and not arguments.text:
        raise UsageError("--encoder reads texts: say where they are with --text COLUMN.")
    if arguments.encoder_weights and arguments.encoder is None:
        raise UsageError("--encoder-weights is about an encoder: give --encoder, too.")


def _classifier(arguments):
    params = dict(arguments.param)
    for name in ("metric", "voters", "encoder"):
        value = getattr(arguments, name)
        if value is not None:
            params[name] = tuple(value) if name == "voters" else value
    classifier = sklearn_mrmp.MrMPClassifier(verbose=int(arguments.verbose))
    try:
        return classifier.set_params(**params)
    except ValueError as error:
        raise UsageError(f"--param: {error}") from error


def _all_rows(data, labels):
    """Read a whole file; labels are taken on the way."""
    chunks = []
    for chunk in data.chunks(_CHUNK):
        labels.read(chunk)
        chunks.append(chunk)
    if not chunks:
        raise DataError(shown_name(data.path), "there are no rows.")
    return joined(chunks)


def _model(arguments, data, labels, chunk, classifier):
    """Return the pipeline for these columns."""
    if data.is_matrix:
        steps = [("read", MatrixReader(zero_based=bool(arguments.zero_based)))]
        return Pipeline([*steps, ("classify", classifier)])
    columns = columns_of(chunk, data)
    features = None if arguments.text else arguments.features
    if not arguments.text and features is None:
        taken = {*labels.columns, *arguments.ignore}
        features = [column for column in columns if column not in taken]
    for column in (*(arguments.text or ()), *(features or ()), *arguments.ignore):
        if column not in columns:
            raise DataError(
                chunk.places[0],
                f"there is no column {column!r}; the columns are {shown_names(columns)}.",
            )
    where = labels.where
    reader = ColumnReader(
        arguments.text,
        features,
        label_columns=labels.names,
        label_column=where.listed,
        separator=where.separator if where.listed is not None else None,
    )
    if arguments.encoder is not None:
        return Pipeline([("read", reader), ("classify", classifier)])
    if arguments.text:
        words = TfidfVectorizer(sublinear_tf=True, min_df=2 if len(chunk) >= _RARE_FROM else 1)
        return Pipeline([("read", reader), ("words", words), ("classify", classifier)])
    medians = SimpleImputer(strategy="median", keep_empty_features=True)
    return Pipeline([("read", reader), ("impute", medians), ("classify", classifier)])

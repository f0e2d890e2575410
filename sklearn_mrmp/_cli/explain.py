"""``explain``: why rows of a file have the labels that a model predicts."""

from itertools import islice

from sklearn_mrmp._cli.console import UsageError, note, say
from sklearn_mrmp._cli.formats.chunks import DataError, joined, shown_name
from sklearn_mrmp._cli.models import LoadedModel
from sklearn_mrmp._cli.options import add_model, described, names, new_file, positive

_EXAMPLES = """\
examples:
  sklearn-mrmp explain posts.mrmp new.csv --rows 3
  sklearn-mrmp explain posts.mrmp new.csv --first 17 --labels sea,ship --html why.html
"""


def add(commands):
    """Describe the command and its arguments."""
    parser = described(
        commands,
        "explain",
        help="say why a model predicts labels",
        description="Take the log odds of predicted labels apart: what each base learner adds, and "
        "which words, features, similar rows and other labels are behind it.",
        epilog=_EXAMPLES,
    )
    add_model(parser)
    parser.add_argument("--first", type=positive, default=1, help="the first row to explain (1)")
    parser.add_argument("--rows", type=positive, default=5, help="how many rows to explain (5)")
    parser.add_argument(
        "--labels", type=names, metavar="A,B", help="labels to explain (those predicted)"
    )
    parser.add_argument("--html", type=new_file, help="write a page instead of printing")
    parser.set_defaults(run=_explain)


def _explain(arguments):
    model = LoadedModel.of(arguments.model, arguments.text, arguments.features)
    if not hasattr(model.classifier, "explain"):
        raise UsageError(f"A {type(model.classifier).__name__} cannot explain its predictions.")
    chunk = _chosen(model.open_rows(arguments), arguments)
    rows, texts = model.rows(chunk)
    is_raw = texts is not None and model.steps is None  # the classifier reads texts itself
    explanation = model.classifier.explain(
        rows,
        arguments.labels,
        feature_names=None if is_raw else model.feature_names(),
        texts=None if is_raw else texts,
    )
    for number, place in enumerate(chunk.places):
        note(f"row {number} is {place}")
    if arguments.html is None:
        say(explanation)
        return 0
    explanation.to_html(arguments.html)
    note(f"wrote {arguments.html}")
    return 0


def _chosen(data, arguments):
    """Return the rows to explain; nothing behind them is read."""
    start = arguments.first - 1
    chunks = list(islice(data.chunks(1), start, start + arguments.rows))
    if not chunks:
        raise DataError(shown_name(data.path), f"there is no row {arguments.first}.")
    return joined(chunks)

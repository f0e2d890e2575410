"""``report``: how good a model is on the rows of a file, label by label."""

from sklearn_mrmp._cli.console import UsageError, note, say
from sklearn_mrmp._cli.formats.chunks import stacked
from sklearn_mrmp._cli.labels import LabelReader
from sklearn_mrmp._cli.models import LoadedModel
from sklearn_mrmp._cli.options import (
    add_labels,
    add_model,
    described,
    label_columns,
    new_file,
)

_CHUNK = 10_000
_EXAMPLES = """\
examples:
  sklearn-mrmp report posts.mrmp held_out.csv
  sklearn-mrmp report posts.mrmp held_out.csv --html report.html --csv report.csv
"""


def add(commands):
    """Describe the command and its arguments."""
    parser = described(
        commands,
        "report",
        help="score a model, label by label",
        description="Compare what a model predicts with the labels of a file: precision, recall, "
        "F1, average precision and calibration of each label. Use rows that fit has not seen.",
        epilog=_EXAMPLES,
    )
    add_model(parser, "rows with labels")
    parser.add_argument("--html", type=new_file, help="write a page")
    parser.add_argument("--csv", type=new_file, help="write the table (needs pandas)")
    add_labels(parser, note=" (as in fit)")
    parser.set_defaults(run=_report)


def _report(arguments):
    model = LoadedModel.of(arguments.model, arguments.text, arguments.features)
    if not hasattr(model.classifier, "report"):
        raise UsageError(f"A {type(model.classifier).__name__} makes no report.")
    data, where = model.open_rows(arguments), label_columns(arguments)
    labels, parts = LabelReader(where if where.given else model.labels, data), []
    for chunk in data.chunks(_CHUNK):
        labels.read(chunk)
        parts.append(model.rows(chunk)[0])
    Y = labels.table(model.names).to_numpy()
    report = model.classifier.report(stacked(parts), Y)
    say(report)
    if arguments.html is not None:
        report.to_html(arguments.html)
        note(f"wrote {arguments.html}")
    if arguments.csv is not None:
        report.to_frame().to_csv(arguments.csv)
        note(f"wrote {arguments.csv}")
    return 0

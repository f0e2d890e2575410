"""``compare``: classifiers side by side on a data set.

Reads arguments and data, calls `compare_classifiers`, writes tables, a picture and a page.
"""

import argparse
import csv
import math
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from sklearn_mrmp._cli.console import complain, say
from sklearn_mrmp._cli.options import positive
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.matrix_parts import MATRIX_SETS, load_matrix_parts
from sklearn_mrmp._compare.methods import GROUPS, METHODS, make_method
from sklearn_mrmp._compare.report import table_rows
from sklearn_mrmp._compare.text_methods import TEXT_METHODS, encoder_wanted
from sklearn_mrmp._compare.text_parts import TEXT_SETS, load_text_parts
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._sklearn_compat import _safe_indexing
from sklearn_mrmp.datasets import load_mulan
from sklearn_mrmp.datasets._fetch import data_home_folder

_DEFAULT_METHODS = "mlknn,br-lr,mrmp"
_DEFAULT_TEXT_METHODS = "tuned-lr,pooled-lr,both-lr,mrmp-text-network,mrmp-text"


def add(commands):
    """Describe the command and its arguments."""
    compare = commands.add_parser(
        "compare",
        help="compare classifiers on a data set",
        description="Fit classifiers on the training rows of a data set, tune the same decision "
        "rules on the same validation rows, score all test rows, and print and write the table.",
        epilog=f"methods:\n{_described(METHODS)}\n\nwith --encoder:\n{_described(TEXT_METHODS)}"
        f"\n\nseveral at once:\n  paper-table       {', '.join(GROUPS['paper-table'])}"
        "\n\nexample:\n"
        "  sklearn-mrmp compare --dataset bibtex --data-home DIR --methods mlknn,mrmp",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.set_defaults(run=_compare, interrupted="interrupted; the same command resumes")
    _add_compare_arguments(compare)


def _described(methods):
    return "\n".join(f"  {name:17} {text}" for name, (_, text) in methods.items())


def _add_compare_arguments(parser):
    parser.add_argument(
        "--dataset",
        required=True,
        help=f"texts: {', '.join(TEXT_SETS)}; {', '.join(MATRIX_SETS)}; or the name of a Mulan "
        "data set in the data home (bibtex, delicious, …), or a folder in Mulan's format with a "
        "training and a test file",
    )
    parser.add_argument(
        "--data-home",
        help="folder with mulan/<name>/, reuters21578/, npz/ and text/<name>/ (scikit-learn's data "
        "home)",
    )
    parser.add_argument(
        "--methods",
        type=_methods,
        help="methods, separated by commas, or 'all', or 'paper-table', those that the paper "
        f"compares and three classical ones ({_DEFAULT_METHODS}; with --encoder "
        f"{_DEFAULT_TEXT_METHODS})",
    )
    parser.add_argument(
        "--encoder",
        help="folder or name of a pretrained text encoder, for methods that read texts with one",
    )
    parser.add_argument(
        "--cache-dir",
        type=user_path,
        help="folder in which token states are kept and found again (one for this run alone)",
    )
    parser.add_argument(
        "--titles",
        action="store_true",
        help="words of a text's first line are features once more, for all that reads tf-idf words",
    )
    parser.add_argument("--seeds", type=positive, default=1, help="number of seeds (1)")
    parser.add_argument(
        "--rows",
        type=positive,
        help="draw this many training rows, always the same ones, and use no others (all rows)",
    )
    parser.add_argument(
        "--time-limit", type=positive, help="seconds after which a run is stopped (none)"
    )
    parser.add_argument("--n-jobs", type=positive, default=1, help="runs at the same time (1)")
    parser.add_argument("--out", type=user_path, default=Path("results"), help="folder (results)")
    parser.add_argument(
        "--report", type=user_path, help="page (HTML) to write: tables, charts, labels, label graph"
    )
    parser.add_argument("--fresh", action="store_true", help="forget the runs done before")


def _methods(text):
    names, known = [name.strip() for name in text.split(",")], [*METHODS, *TEXT_METHODS, *GROUPS]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown method {name!r}, not in {', '.join(known)}")
    return names


def _chosen(names, encoder):
    """Names of methods, each once; what is there without an encoder when None is given."""
    if names is None:
        names = (_DEFAULT_METHODS if encoder is None else _DEFAULT_TEXT_METHODS).split(",")
    if "all" in names and encoder is not None:
        names = [*names, *TEXT_METHODS]
    names = [method for name in names for method in GROUPS.get(name, (name,))]
    return list(dict.fromkeys(names))


def _compare(arguments):
    methods = _chosen(arguments.methods, arguments.encoder)
    _check_encoder(arguments, methods)
    name, train, test = _load(arguments.dataset, arguments.data_home)
    train = _drawn(train, arguments.rows)
    is_text = isinstance(train.data, list)
    for option in ("titles", "encoder"):
        if getattr(arguments, option) and not is_text:
            raise ValueError(f"--{option} is for texts, and the rows of {name} are features.")
    texts = {"text": is_text, "titles": arguments.titles, "encoder": arguments.encoder}
    say(f"{name}: {train.DESCR}\n{name}: {test.DESCR}")
    can_draw = _can_draw()
    arguments.out.mkdir(parents=True, exist_ok=True)
    _check_report(arguments.report)
    runs = arguments.out / f"{name}.jsonl"
    if arguments.fresh:
        runs.unlink(missing_ok=True)
    with _cache_folder(arguments) as cache_dir:
        result = compare_classifiers(
            {method: make_method(method, name, **texts, cache_dir=cache_dir) for method in methods},
            train.data,
            train.target,
            test.data,
            test.target,
            seeds=arguments.seeds,
            n_jobs=arguments.n_jobs,
            results_path=runs,
            verbose=1,
            time_limit=arguments.time_limit,
        )
    say("\n" + result.to_markdown())
    _write(result, arguments.out, name, can_draw)
    if arguments.report is not None:
        title = f"{name}: comparison of classifiers"
        result.to_html(arguments.report, title=title, label_names=train.target_names)
        say(f"wrote {arguments.report}")
    return 1 if result.errors else 0


def _check_encoder(arguments, methods):
    """Refuse methods and options that need an encoder where there is none."""
    if arguments.encoder is not None:
        return
    for method in methods:
        if method in TEXT_METHODS:
            raise ValueError(encoder_wanted(method))
    if arguments.cache_dir is not None:
        raise ValueError("--cache-dir keeps what --encoder makes of texts: give --encoder, too.")


def _check_report(path):
    """Refuse a page that cannot be written before the run, which may take hours."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(
            f"--report {path} is a folder; give a file, such as {path / 'report.html'}."
        )
    path.parent.mkdir(parents=True, exist_ok=True)


def _cache_folder(arguments):
    """Context with the folder that all methods share: the user's, or one that is removed."""
    if arguments.encoder is None or arguments.cache_dir is not None:
        return nullcontext(arguments.cache_dir)
    # A map that is still open keeps its file on some systems; the system's cleaning gets it then.
    return tempfile.TemporaryDirectory(prefix="sklearn_mrmp_", ignore_cleanup_errors=True)


def _can_draw():
    """Whether pictures can be drawn; said before the run, which may take hours."""
    try:
        import_optional("matplotlib.pyplot", "plot")
    except ImportError as error:
        complain(f"no picture will be written. {error}")
        return False
    return True


def _load(dataset, data_home):
    """Return the name of the data set, its training part and its test part."""
    if dataset in TEXT_SETS:
        return dataset, *load_text_parts(dataset, data_home)
    if dataset in MATRIX_SETS:
        return dataset, *load_matrix_parts(dataset, data_home)
    folder = _find(dataset, data_home)
    name = folder.resolve().name
    whole, parts = folder / f"{name}.arff", (f"{name}-train.arff", f"{name}-test.arff")
    if whole.is_file() and not all((folder / part).is_file() for part in parts):
        raise ValueError(
            f"{whole} is one file, and a comparison needs training and test rows: divide it into "
            f"{parts[0]} and {parts[1]}, or call sklearn_mrmp.compare_classifiers in Python with "
            "parts of your own."
        )
    return name, *(load_mulan(folder, name, subset=part) for part in ("train", "test"))


def _drawn(part, n_rows):
    """Return the part with as many of its rows as are asked for, drawn from a seed of its own."""
    n_all = part.target.shape[0]
    if n_rows is None or n_rows >= n_all:
        return part
    rows = np.sort(np.random.default_rng(0).permutation(n_all)[:n_rows])
    return Bunch(
        data=_safe_indexing(part.data, rows),
        target=part.target[rows],
        DESCR=f"{part.DESCR}\n{n_rows} of these rows are drawn.",
    )


def _find(dataset, data_home):
    """Return the folder of a Mulan data set: in the data home by its name, or else as a path."""
    given, named = user_path(dataset), data_home_folder(data_home) / "mulan" / dataset
    if named.is_dir() and (dataset == given.name or not given.is_dir()):
        return named
    if given.is_dir():
        return given
    if given.is_file():
        is_part = given.suffix in (".arff", ".xml")
        hint = f"; give its folder: --dataset {given.parent}" if is_part else ""
        raise ValueError(
            f"{dataset} is a file, and --dataset takes a folder in Mulan's format (ARFF and XML)"
            f"{hint}. For data in another format call sklearn_mrmp.compare_classifiers in Python."
        )
    raise FileNotFoundError(
        f"There is no folder {dataset!r} and no data set {named}. Give --data-home, or "
        f"download it: sklearn_mrmp.datasets.fetch_mulan({dataset!r})."
    )


def _write(result, out, name, can_draw):
    """Write the table as CSV and Markdown and, if possible, the picture."""
    written = [out / f"{name}.csv", out / f"{name}.md"]
    _write_csv(table_rows(result), written[0])
    written[1].write_text(result.to_markdown(), encoding="utf-8")
    if can_draw and len(result.errors) < len(result.methods):
        from sklearn_mrmp._plot.comparison import ComparisonDisplay

        written.append(out / f"{name}.png")
        display = ComparisonDisplay.from_result(result, title=name)
        display.figure_.savefig(written[-1], dpi=120)
    say("wrote " + ", ".join(map(str, written)))


def _write_csv(rows, path):
    """Write rows as pandas would, without it: what is missing is empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: "" if _is_nan(value) else value for key, value in row.items()})


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)

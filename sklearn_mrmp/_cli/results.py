"""``results``: the table of results on public data, from the fits to the pages that show it.

Reads arguments; `_compare.benchmark` fits, reads and writes.
"""

import tempfile
from contextlib import nullcontext
from pathlib import Path

from sklearn_mrmp._cli.console import UsageError, complain, note, say
from sklearn_mrmp._cli.options import described, new_file, positive
from sklearn_mrmp._compare.benchmark.entrants import METHODS
from sklearn_mrmp._compare.benchmark.fits import Sources, chosen_fits, fit_in_process
from sklearn_mrmp._compare.benchmark.lines import add_line, read_lines
from sklearn_mrmp._compare.benchmark.pages import changed_pages, pages_with_tables, write_pages
from sklearn_mrmp._compare.benchmark.sets import DATASETS
from sklearn_mrmp._compare.benchmark.tables import TABLES
from sklearn_mrmp._compare.text_methods import encoder_wanted
from sklearn_mrmp._host.files import user_path

_EXAMPLES = """\
examples:
  sklearn-mrmp results --csv results.csv --data-home DIR --dataset emotions --seeds 1
  sklearn-mrmp results --csv results.csv --data-home DIR --encoder FOLDER --cache-dir STATES
  sklearn-mrmp results --csv results.csv --markdown
  sklearn-mrmp results --csv docs/results/results.csv --write --pages README.md docs/results.md
"""


def add(commands):
    """Describe the command and its arguments."""
    parser = described(
        commands,
        "results",
        help="make the table of results on public data",
        description="Fit classifiers on public data sets, score all test rows, and show the table. "
        "Each fit is a process of one thread and a line of the CSV file; fits that have a line are "
        "not made again.",
        epilog=f"methods:\n{_described()}\n\n{_EXAMPLES}",
    )
    parser.add_argument(
        "--csv", type=user_path, required=True, help="the file of results; fits add lines to it"
    )
    _add_fits(parser)
    _add_outputs(parser)
    parser.set_defaults(run=_results, interrupted="interrupted; the same command resumes")


def _described():
    titles = {name: method.of_features or method.of_texts for name, method in METHODS.items()}
    return "\n".join(f"  {name:11} {title.replace('`', '')}" for name, title in titles.items())


def _add_fits(parser):
    parser.add_argument(
        "--data-home",
        type=user_path,
        help="make the fits that the file lacks, of data in this folder with mulan/<name>/, "
        "reuters21578/, npz/ and text/<name>/ (as scikit-learn's data home)",
    )
    parser.add_argument(
        "--dataset", choices=DATASETS, action="append", help="may be given several times (all)"
    )
    parser.add_argument(
        "--method", choices=METHODS, action="append", help="may be given several times (all)"
    )
    parser.add_argument("--seeds", type=positive, default=3, help="number of seeds (3)")
    parser.add_argument(
        "--encoder", help="folder or name of a pretrained text encoder, which reads raw texts"
    )
    parser.add_argument(
        "--cache-dir",
        type=user_path,
        help="folder in which its states are kept and found again (one for this run alone)",
    )


def _add_outputs(parser):
    parser.add_argument(
        "--markdown",
        nargs="?",
        choices=TABLES,
        const="results",
        metavar="TABLE",
        help=f"print a table in Markdown: {', '.join(TABLES)} (results)",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write tables between the marks of pages, such as <!-- results: begin --> and "
        "<!-- results: end -->",
    )
    parser.add_argument(
        "--check", action="store_true", help="fail if --write would change a page; write nothing"
    )
    parser.add_argument(
        "--pages",
        nargs="+",
        type=Path,
        help="the pages (README.md and docs/*.md of this folder, as far as they have marks)",
    )
    parser.add_argument(
        "--picture", type=new_file, help="draw mean ranks of the methods into this file (PNG, SVG)"
    )


def _results(arguments):
    _check(arguments)
    status = _fit(arguments) if arguments.data_home is not None else 0
    lines = read_lines(arguments.csv)
    if not lines:
        raise ValueError(f"There are no results in {arguments.csv}: make some with --data-home.")
    if arguments.markdown is not None:
        say(TABLES[arguments.markdown](lines))
    if arguments.write or arguments.check:
        status = max(status, _pages(arguments, lines))
    if arguments.picture is not None:
        from sklearn_mrmp._compare.benchmark.picture import draw_ranks

        draw_ranks(lines, arguments.picture)
        note(f"wrote {arguments.picture}")
    return status


def _check(arguments):
    """Refuse arguments that ask for nothing, or do not go together."""
    outputs = arguments.markdown, arguments.write, arguments.check, arguments.picture
    if arguments.data_home is None:
        if not any(outputs):
            raise UsageError(
                "Nothing to do: give --data-home to fit, or --markdown, --write, --check or "
                "--picture to show what the file has."
            )
        for option in ("dataset", "method", "encoder", "cache_dir"):
            if getattr(arguments, option) is not None:
                name = option.replace("_", "-")
                raise UsageError(f"--{name} is about fits: give --data-home, too.")
    if arguments.write and arguments.check:
        raise UsageError("--write and --check exclude each other: give one of them.")
    if arguments.pages is not None and not (arguments.write or arguments.check):
        raise UsageError("--pages names what --write or --check is about: give one of them.")
    if arguments.encoder is None and arguments.cache_dir is not None:
        raise UsageError("--cache-dir keeps what --encoder makes of texts: give --encoder, too.")


def _fit(arguments):
    """Make the fits that the file lacks; return 1 if some failed."""
    known = {line.key for line in read_lines(arguments.csv)}
    fits = [fit for fit in _wanted(arguments) if fit.key not in known]
    note(f"{len(fits)} fits to make")
    n_failed, missing = 0, set()
    with _cache_folder(arguments) as cache_dir:
        sources = Sources(arguments.data_home, arguments.encoder, cache_dir)
        for fit in fits:
            if fit.dataset in missing:
                n_failed += 1
                continue
            try:
                line = fit_in_process(fit, sources)
            except Exception as error:  # whatever a classifier raises, or its process dies of
                complain(f"{fit.dataset}, {fit.method}, seed {fit.seed}: {error}")
                n_failed += 1
                if isinstance(error, OSError):  # other fits would lack the same files
                    missing.add(fit.dataset)
                continue
            add_line(arguments.csv, line)
            say(line.shown())
    if n_failed:
        complain(f"{n_failed} of {len(fits)} fits were not made")
    return 1 if n_failed else 0


def _wanted(arguments):
    """Return the fits asked for; say which ones are left out for want of an encoder."""
    asked = arguments.dataset, arguments.method, arguments.seeds
    suitable = chosen_fits(*asked, with_encoder=True)
    fits = chosen_fits(*asked, with_encoder=arguments.encoder is not None)
    if not suitable:
        raise UsageError("None of these methods is for these data sets.")
    if not fits:
        raise UsageError(encoder_wanted(suitable[0].method))
    if len(fits) < len(suitable):
        note("methods that read texts with an encoder are left out: there is no --encoder")
    return fits


def _cache_folder(arguments):
    """Context with the folder of states: the user's, or one that is removed afterwards."""
    if arguments.encoder is None or arguments.cache_dir is not None:
        return nullcontext(arguments.cache_dir)
    # A map that is still open keeps its file on some systems; the system's cleaning gets it then.
    return tempfile.TemporaryDirectory(prefix="sklearn_mrmp_", ignore_cleanup_errors=True)


def _pages(arguments, lines):
    """Write the tables of pages, or say which are not those of the file."""
    pages = arguments.pages
    if pages is None:
        pages = pages_with_tables([Path("README.md"), *sorted(Path("docs").glob("*.md"))])
    changed = changed_pages(pages, lines)
    if arguments.write:
        write_pages(changed)
        note("wrote " + ", ".join(map(str, changed)) if changed else "no page has changed")
        return 0
    for page in changed:
        complain(f"{page}: its tables are not those of {arguments.csv}; write them with --write.")
    return 1 if changed else 0

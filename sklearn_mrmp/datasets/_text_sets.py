"""GoEmotions and Ohsumed: raw texts and their labels, in parts for training and testing.

Knows the two formats; reading lines, and what all text sets return, is in `_text_rows`.
"""

import json
import re

from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._sklearn_compat import StrOptions, validate_params
from sklearn_mrmp.datasets._text_rows import TextRow, make_bunch, read_lines, read_text

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # JSON can spell it, and no file can hold it


@validate_params(
    {"folder": "no_validation", "subset": [StrOptions({"all", "train", "dev", "test"})]},
    prefer_skip_nested_validation=True,
)
def load_goemotions(folder, *, subset="all"):
    r"""Load GoEmotions: comments from Reddit and the emotions in them.

    Parameters
    ----------
    folder : str or path-like
        The folder with ``train.tsv``, ``dev.tsv`` and ``test.tsv``, whose lines are a text, the
        numbers of its labels with commas between them, and an id, with tabs between the three;
        and ``emotions.txt``, whose lines name the labels from number 0 on.

    subset : {"all", "train", "dev", "test"}, default="all"
        Which rows: one part, or the training rows followed by the development and the test rows.
        The labels are the same for all of them.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with these attributes.

        data : list of str
            The comments.
        target : ndarray of shape (n_samples, n_labels), int32
            1 where a comment has a label, else 0.
        target_names : list of str
            The emotions, in the order of ``emotions.txt``.
        document_ids : ndarray of str (as objects) of shape (n_samples,)
            The id of each comment.
        DESCR : str
            What was loaded.

    Raises
    ------
    FileNotFoundError
        When a file is missing.
    ValueError
        When a file is malformed, with its name and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "emotions.txt").write_text("anger\njoy\nsurprise\n")
    >>> _ = (folder / "train.tsv").write_text("You came!\t1,2\tid1\nGo away.\t0\tid2\n")
    >>> from sklearn_mrmp.datasets import load_goemotions
    >>> comments = load_goemotions(folder, subset="train")
    >>> comments.data, comments.target_names
    (['You came!', 'Go away.'], ['anger', 'joy', 'surprise'])
    >>> comments.target
    array([[0, 1, 1],
           [1, 0, 0]], dtype=int32)
    """
    folder = user_path(folder)
    names = _read_names(_existing(folder / "emotions.txt", "name the labels of GoEmotions"))
    numbered = {str(number): name for number, name in enumerate(names)}
    parts = {}
    for part in ("train", "dev", "test") if subset == "all" else (subset,):
        path = _existing(folder / f"{part}.tsv", f"hold the {part} rows of GoEmotions")
        parts[path.name] = [_comment(place, line, numbered) for place, line in read_lines(path)]
    return make_bunch(f"GoEmotions ({subset} rows).", parts, names)


def _read_names(path):
    """Label names, whose numbers are those of their lines: none may be missing."""
    lines = [line.strip() for line in read_text(path).rstrip().split("\n")]
    if lines == [""]:
        raise ValueError(f"{path}: the file is empty, and must name the labels, one a line.")
    seen = set()
    for number, name in enumerate(lines, 1):
        if not name:
            raise ValueError(f"{path}, line {number}: a name is missing.")
        if name in seen:
            raise ValueError(f"{path}, line {number}: the label {name!r} occurs more than once.")
        seen.add(name)
    return lines


def _comment(place, line, numbered):
    cells = line.split("\t")
    if len(cells) != 3:
        raise ValueError(
            f"{place}: expected 3 columns (text, label numbers, id) with tabs between them, "
            f"found {len(cells)}."
        )
    text, numbers, id = cells
    labels = set()
    for number in numbers.split(","):
        if number not in numbered:
            raise ValueError(
                f"{place}: the label number {number[:40]!r} is none of 0 … {len(numbered) - 1}, "
                "the lines of emotions.txt."
            )
        labels.add(numbered[number])
    return TextRow(id, text, labels)


@validate_params(
    {"folder": "no_validation", "subset": [StrOptions({"all", "train", "test"})]},
    prefer_skip_nested_validation=True,
)
def load_ohsumed(folder, *, subset="all"):
    r"""Load Ohsumed: medical abstracts and the categories of diseases they are about.

    Parameters
    ----------
    folder : str or path-like
        The folder with ``train.jsonl`` and ``test.jsonl``, in which a line is a JSON object with
        ``"id"`` and ``"text"``, two strings, and ``"labels"``, a list of strings.

    subset : {"all", "train", "test"}, default="all"
        Which rows: the training part, the test part, or the training rows followed by the test
        rows.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with these attributes.

        data : list of str
            The abstracts.
        target : ndarray of shape (n_samples, n_labels), int32
            1 where an abstract has a label, else 0.
        target_names : list of str
            The labels, sorted.
        document_ids : ndarray of str (as objects) of shape (n_samples,)
            The id of each abstract.
        DESCR : str
            What was loaded, and which files the labels are from.

    Raises
    ------
    FileNotFoundError
        When a file of the subset is missing.
    ValueError
        When a file is malformed, with its name and line, or when there are no labels.

    Notes
    -----
    The labels are those of both files, whichever rows are loaded, so that the columns of all
    subsets are the same. Where only one of the files exists, they are its labels.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for part, labels in (("train", ["C08"]), ("test", ["C08", "C14"])):
    ...     row = {"id": part, "text": "Of lungs.", "labels": labels}
    ...     _ = (folder / f"{part}.jsonl").write_text(json.dumps(row) + "\n")
    >>> from sklearn_mrmp.datasets import load_ohsumed
    >>> train = load_ohsumed(folder, subset="train")
    >>> train.data, train.target_names, train.target
    (['Of lungs.'], ['C08', 'C14'], array([[1, 0]], dtype=int32))
    """
    folder = user_path(folder)
    paths = {part: folder / f"{part}.jsonl" for part in ("train", "test")}
    chosen = list(paths.values()) if subset == "all" else [paths[subset]]
    for path in chosen:
        _existing(path, f"hold the {path.stem} rows of Ohsumed")
    found = {
        path.name: [_abstract(place, line) for place, line in read_lines(path)]
        for path in paths.values()
        if path.is_file()
    }
    names = sorted(set().union(*(row.labels for rows in found.values() for row in rows)))
    if not names:
        raise ValueError(f"{folder}: no row has a label.")
    parts = {path.name: found[path.name] for path in chosen}
    dataset = make_bunch(f"Ohsumed ({subset} rows).", parts, names)
    dataset.DESCR += f"\nThe labels are those of {' and '.join(found)}."
    return dataset


def _existing(path, purpose):
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; it must {purpose}.")
    return path


def _abstract(place, line):
    record = _parse_json(place, line)
    for key in ("id", "text", "labels"):
        if key not in record:
            raise ValueError(f"{place}: the row has no {key!r}.")
    for key in ("id", "text"):
        if not _is_text(record[key]):
            raise ValueError(f"{place}: {key!r} must be a string, found {_seen(record[key])}.")
    labels = record["labels"]
    if isinstance(labels, list):
        wrong = [label for label in labels if not _is_text(label) or not label]
    else:
        wrong = [labels]
    if wrong:
        raise ValueError(f"{place}: 'labels' must be a list of names, found {_seen(wrong[0])}.")
    return TextRow(record["id"], record["text"], set(labels))


def _parse_json(place, line):
    """Return the object that a line spells."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # also of endless numbers and endless nesting
        problem = getattr(error, "msg", error)
        raise ValueError(f"{place}: not JSON ({problem}), found {line[:40]!r}.") from error
    if not isinstance(record, dict):
        raise ValueError(
            f"{place}: expected an object with id, text and labels, found {_seen(record)}."
        )
    return record


def _is_text(value):
    return isinstance(value, str) and _HALF_CHARACTER.search(value) is None


def _seen(value):
    """Say what stands in the place of something else; objects and lists by their type alone."""
    if isinstance(value, str):
        return ascii(value[:40]) + ("" if _is_text(value) else " with half a character")
    return type(value).__name__

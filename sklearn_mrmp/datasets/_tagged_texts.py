"""Texts with tags before them, a row a line: the format of fastText, and of Cooking StackExchange.

Knows the format; reading lines, and what all text sets return, is in `_text_rows`.
"""

import re
from collections import Counter
from numbers import Integral

from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._sklearn_compat import Interval, validate_params
from sklearn_mrmp.datasets._text_rows import TextRow, make_bunch, read_lines


@validate_params(
    {
        "path": "no_validation",
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "prefix": [str],
    },
    prefer_skip_nested_validation=True,
)
def load_tagged_texts(path, *, min_count=1, prefix="__label__"):
    r"""Load texts whose lines begin with tags, as fastText reads them.

    Parameters
    ----------
    path : str or path-like
        The file. A line is a row: its tags, then the text, with spaces or tabs between them.

    min_count : int, default=1
        Tags of fewer rows have no column. All rows remain, also those that have no other tag.

    prefix : str, default="__label__"
        What a tag begins with; it is no part of its name. From the first word without it on, a
        line is text.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with these attributes.

        data : list of str
            The texts, without their tags.
        target : ndarray of shape (n_samples, n_labels), int32
            1 where a text has a tag, else 0.
        target_names : list of str
            The tags without the prefix, sorted.
        DESCR : str
            What was loaded.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    ValueError
        When the file is malformed, with its name and line, or when no tag is left.

    Notes
    -----
    The format has no training and test part: all rows are returned, in their order.

    ``target`` is dense. With many thousands of tags, most of them rare, `min_count` keeps it small.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "cooking.txt")
    >>> _ = path.write_text("__label__egg __label__pan How to fry an egg?\n"
    ...                     "__label__pan Why does it stick?\n")
    >>> from sklearn_mrmp.datasets import load_tagged_texts
    >>> titles = load_tagged_texts(path)
    >>> titles.data, titles.target_names
    (['How to fry an egg?', 'Why does it stick?'], ['egg', 'pan'])
    >>> titles.target
    array([[1, 1],
           [0, 1]], dtype=int32)
    """
    if not prefix or prefix.split() != [prefix]:
        raise ValueError(f"prefix must be characters without spaces between them, got {prefix!r}.")
    path = user_path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file; it must hold texts with tags before them.")
    tag = re.compile(re.escape(prefix) + r"([^ \t]*+)[ \t]*+")
    rows = [_split_tags(place, line.lstrip(" \t"), tag) for place, line in read_lines(path)]
    names = _frequent_tags(path, rows, min_count, prefix)
    at_least = "" if min_count == 1 else f", tags of {min_count} rows or more"
    return make_bunch(
        f"{path.name}, texts with tags (all rows{at_least}).", {path.name: rows}, names
    )


def _split_tags(place, line, tag):
    """Divide a line into tags and text, in one pass over it."""
    labels, position = set(), 0
    while found := tag.match(line, position):
        if not found[1]:
            raise ValueError(f"{place}: a tag has no name: {line[position:][:40]!r}.")
        labels.add(found[1])
        position = found.end()
    return TextRow(None, line[position:], labels)


def _frequent_tags(path, rows, min_count, prefix):
    counts = Counter(label for row in rows for label in row.labels)
    if not counts:
        raise ValueError(
            f"{path}: no line begins with the prefix {prefix!r}, so there are no labels; give the "
            "prefix of the tags in this file."
        )
    names = sorted(label for label, count in counts.items() if count >= min_count)
    if not names:
        raise ValueError(
            f"{path}: no tag has {min_count} rows; the most frequent one has "
            f"{max(counts.values())}. Give a smaller min_count."
        )
    return names

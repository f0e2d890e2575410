"""Reuters-21578 from its SGML distribution: news wires and their topics.

Knows the distribution's mark-up and the ModApte split; texts are returned raw, for a vectorizer.
"""

import html
import re
from collections import namedtuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import Bunch

from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._sklearn_compat import StrOptions, validate_params

# No pattern looks for its end further than the next mark, so that reading takes linear time
# whatever a file holds.
_HEAD = re.compile(r"<REUTERS\b([^>]*)>")
_ATTRIBUTE = re.compile(r'\b(\w++)="([^"]*)"')
_TOPIC = re.compile(r"<D>([^<\n]*)</D>")
_PART = re.compile(r"<(/?)(TITLE|BODY)>")
_CONTROL = re.compile(r"&#\d+;|[\x00-\x08\x0b-\x1f\x7f]")  # teletype control characters
_TAG = re.compile(r"</?[A-Z][^<>]*>")

_Document = namedtuple("_Document", "id part text topics")


@validate_params(
    {
        "path": "no_validation",
        "split": [StrOptions({"modapte"})],
        "subset": [StrOptions({"all", "train", "test"})],
    },
    prefer_skip_nested_validation=True,
)
def load_reuters21578(path, split="modapte", *, subset="all"):
    r"""Load Reuters-21578 from its SGML files: raw texts and their topics.

    Parameters
    ----------
    path : str or path-like
        The folder with the files ``*.sgm`` of the distribution (22 of them).

    split : {"modapte"}, default="modapte"
        The modified Apte split: documents with ``TOPICS="YES"``, divided by ``LEWISSPLIT`` into
        training and test rows. Topics that do not occur in both parts are left out, and with
        them documents that have no other topic: 7,770 and 3,019 documents with 90 topics remain.

    subset : {"all", "train", "test"}, default="all"
        Which rows: the training part, the test part, or the training rows followed by the test
        rows. The topics are the same for all of them.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with these attributes.

        data : list of str
            Title and body of each document.
        target : csr_array of shape (n_samples, n_labels), int32
            1 where a document has a topic.
        target_names : list of str
            The topics, sorted.
        document_ids : ndarray of int of shape (n_samples,)
            ``NEWID`` of each document.
        DESCR : str
            What was loaded.

    Raises
    ------
    FileNotFoundError
        When there are no SGML files.
    ValueError
        When a file is malformed, with its name and line, or when no document is left.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> wire = ('<REUTERS TOPICS="YES" LEWISSPLIT="{}" NEWID="{}"><TOPICS><D>{}</D></TOPICS>'
    ...         '<TEXT><TITLE>{}</TITLE><BODY>Up &lt;a lot>.</BODY></TEXT></REUTERS>')
    >>> wires = [("TRAIN", 1, "wheat", "WHEAT"), ("TRAIN", 2, "gold", "GOLD"),
    ...          ("TEST", 3, "wheat", "GRAIN")]
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "reut2-000.sgm").write_text("".join(wire.format(*w) for w in wires))
    >>> from sklearn_mrmp.datasets import load_reuters21578
    >>> reuters = load_reuters21578(folder)  # "gold" does not occur in the test part
    >>> reuters.data, reuters.target_names
    (['WHEAT\n\nUp <a lot>.', 'GRAIN\n\nUp <a lot>.'], ['wheat'])
    """
    path = user_path(path)
    files = sorted(path.glob("*.sgm"))
    if not files:
        raise FileNotFoundError(
            f"{path} holds no *.sgm files; it must be the folder of the Reuters-21578 distribution."
        )
    parts = {"TRAIN": [], "TEST": []}
    for file in files:
        for document in _read_documents(file):
            parts[document.part].append(document)
    topics = _common_topics(parts)
    if not topics:
        raise ValueError(f"{path}: no topic occurs in both the training and the test documents.")
    chosen = ["TRAIN", "TEST"] if subset == "all" else [subset.upper()]
    documents = [d for part in chosen for d in parts[part] if not d.topics.isdisjoint(topics)]
    return _bunch(documents, topics, subset)


def _read_documents(file):
    """Yield the documents of one file that take part in the split."""
    content = file.read_text(encoding="latin-1")
    *pieces, rest = content.split("</REUTERS>")
    line = 1
    for piece in [*pieces, rest]:
        start = line + piece.count("\n", 0, max(piece.find("<REUTERS"), 0))
        if piece.count("<REUTERS ") > (piece is not rest):
            raise ValueError(f"{file}, line {start}: <REUTERS> is never closed.")
        head = _HEAD.search(piece)
        if head is not None and piece is not rest:
            attributes = dict(_ATTRIBUTE.findall(head[1]))
            if attributes.get("TOPICS") == "YES" and attributes.get("LEWISSPLIT") != "NOT-USED":
                yield _parse_document(f"{file}, line {start}", piece[head.end() :], attributes)
        line += piece.count("\n")


def _parse_document(place, markup, attributes):
    topics, text = _between(markup, "<TOPICS>", "</TOPICS>"), _text(markup)
    part, number = attributes.get("LEWISSPLIT"), attributes.get("NEWID", "")
    problems = {
        "no <TOPICS>": topics is None,
        "no <TEXT>": text is None,
        f"the unknown LEWISSPLIT {part!r}": part not in ("TRAIN", "TEST"),
        f"the NEWID {number[:40]!r}, not a number": not re.fullmatch(r"[0-9]{1,18}", number),
    }
    for problem, seen in problems.items():
        if seen:
            raise ValueError(f"{place}: the document has {problem}.")
    return _Document(int(number), part, _plain_text(text), set(_TOPIC.findall(topics)))


def _between(markup, opening, closing):
    """Return what stands between two marks, or None."""
    _, found, rest = markup.partition(opening)
    content, closed, _ = rest.partition(closing)
    return content if found and closed else None


def _text(markup):
    """Return the content of ``<TEXT …>``, or None."""
    content = _between(markup, "<TEXT", "</TEXT>")
    return None if content is None or ">" not in content else content.partition(">")[2]


def _plain_text(markup):
    """Title and body, or all of a text that has neither, as plain characters."""
    markup = _CONTROL.sub("", markup)
    parts = _title_and_body(markup) or [_TAG.sub("", markup)]
    return "\n\n".join(html.unescape(part).strip() for part in parts)


def _title_and_body(markup):
    """Contents of the parts that are closed, in their order."""
    last_closed = {tag: markup.rfind(f"</{tag}>") for tag in ("TITLE", "BODY")}
    parts, opened = [], None
    for mark in _PART.finditer(markup):
        closes, tag = mark.groups()
        if opened is None and not closes and mark.start() < last_closed[tag]:
            opened = mark
        elif opened is not None and closes and tag == opened[2]:
            parts.append(markup[opened.end() : mark.start()])
            opened = None
    return parts


def _common_topics(parts):
    train, test = (set().union(*(d.topics for d in documents)) for documents in parts.values())
    return sorted(train & test)


def _bunch(documents, topics, subset):
    binarizer = MultiLabelBinarizer(classes=topics, sparse_output=True)
    kept = set(topics)
    Y = sp.csr_array(binarizer.fit_transform([d.topics & kept for d in documents]), dtype=np.int32)
    return Bunch(
        data=[d.text for d in documents],
        target=Y,
        target_names=topics,
        document_ids=np.array([d.id for d in documents], dtype=int),
        DESCR=(
            f"Reuters-21578, ModApte split ({subset} rows).\n{len(documents)} documents, "
            f"{len(topics)} topics, {Y.nnz / max(1, len(documents)):.2f} topics per document."
        ),
    )

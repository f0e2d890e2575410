"""`Explanation`: why labels have their probabilities, as a value that can be read and shown.

Knows how it is written as text, HTML and data frames; nothing of models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

from sklearn_mrmp._explain.as_frame import inside_frame, part_frame
from sklearn_mrmp._explain.as_html import html_page, html_part
from sklearn_mrmp._explain.as_text import one_as_text
from sklearn_mrmp._explain.pipelines import explain_estimator
from sklearn_mrmp._explain.terms import Terms
from sklearn_mrmp._host.files import user_path

# Labels that a notebook shows of an explanation of very many.
_MOST_SHOWN = 50
# Kinds of terms that are about the input.
_OF_THE_INPUT = ("features", "words", "tokens", "columns")


@dataclass(frozen=True, eq=False)
class LabelExplanation:
    """Why one label of one row has its probability; an item of an `Explanation`.

    Attributes
    ----------
    row : int
        Number of the row in the `X` that was explained.
    label : str
        Name of the label.
    probability : float
        What ``predict_proba`` says.
    parts : dict of str to float
        What each voter adds to the log odds, then the frequency of the label, its shift (with
        ``cv=`` folds), told labels and label sets, as far as they take part. Their sum is
        `log_odds`.
    inside : dict of str to {Terms, NearestRows}
        For parts that can be looked into, what they are made of. Terms have ``names``, ``values``,
        ``baseline``, ``residual`` and ``spans``, and add up to their part; the neighbours have
        ``rows``, ``similarities``, ``has_label`` and ``shares``.
    related : tuple of RelatedLabel
        Labels that the label graph links with this one, each with its ``relation``, ``label``,
        ``weight`` and ``probability`` in the same row.
    notes : tuple of str
        What could not be explained, and why.
    text : str or None
        The text of the row, where it is known.
    """

    row: int
    label: str
    probability: float
    parts: Mapping
    inside: Mapping
    related: tuple = ()
    notes: tuple = ()
    text: str | None = None

    @property
    def log_odds(self):
        """Sum of the parts: the log odds of the label."""
        return float(sum(self.parts.values()))

    def features(self):
        """Return what features, or words, add by all voters that can be looked into.

        Returns
        -------
        values : dict of str to float
            By name, the largest absolute values first.
        """
        values = {}
        for terms in self.inside.values():
            if isinstance(terms, Terms) and terms.kind in _OF_THE_INPUT:
                for name, value in terms.by_name().items():
                    values[name] = values.get(name, 0.0) + value
        return dict(sorted(values.items(), key=lambda item: -abs(item[1])))

    def marks(self):
        """Return what the words of the text add, by where they stand.

        Returns
        -------
        marks : list of (int, int, float)
            First character, the one after the last, and what stands there adds to the log odds.
            What a word adds that occurs several times is shared by its occurrences.
        """
        found = {}
        for terms in self.inside.values():
            if isinstance(terms, Terms) and terms.spans is not None:
                for value, spans in zip(terms.values.tolist(), terms.spans, strict=True):
                    for span in spans:
                        found[span] = found.get(span, 0.0) + value / len(spans)
        return [(*span, value) for span, value in sorted(found.items())]

    def __str__(self):
        return one_as_text(self)

    def __repr__(self):
        return (
            f"LabelExplanation(row {self.row}, label {self.label!r}, probability "
            f"{self.probability:.3f})"
        )


class Explanation(Sequence):
    """Why labels have their probabilities: log odds as exact sums.

    ``explain`` of the classifiers with a network makes it. It is a sequence: ``explanation[0]`` is
    about the first of the explained labels, ``explanation[3, "sea"]`` about the label "sea" of row
    3. Such an item has ``row``, ``label``, ``probability``, ``log_odds``, ``parts`` (what each base
    learner adds), ``inside`` (the terms of the parts), ``features()``, ``marks()`` (words of a
    text), ``related`` (labels that the label graph links), ``notes`` and ``text``.
    ``print(explanation)`` writes all of them, and notebooks show them with bars.

    Parameters
    ----------
    items : sequence of LabelExplanation
        One for each explained label of each row.

    See Also
    --------
    ExplanationDisplay : The same as a picture.

    Examples
    --------
    >>> from sklearn_mrmp import MrMPClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> clf = MrMPClassifier(d_model=8, max_epochs=1, random_state=0).fit(X, Y)
    >>> explanation = clf.explain(X[:2], labels=["1", "4"])
    >>> explanation
    Explanation(4 labels of 2 rows)
    >>> why = explanation[0, "4"]
    >>> list(why.parts)[:4]
    ['network', 'linear', 'neighbors', 'frequency']
    >>> bool(abs(sum(why.inside["linear"].values) + why.inside["linear"].baseline
    ...          - why.parts["linear"]) < 1e-5)
    True
    """

    def __init__(self, items):
        self._items = tuple(items)

    @classmethod
    def from_estimator(cls, estimator, X, labels=None, **options):
        """Explain predictions of a pipeline, a search or a classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier that has ``explain``, or a pipeline or search that ends in one.
        X : array-like
            Rows as the estimator takes them.
        labels : str, int, or sequence of these, default=None
            As for ``explain``.
        **options : dict
            Further arguments of ``explain``. Names of features, and texts if `X` holds such, are
            those of the pipeline unless they are given.

        Returns
        -------
        explanation : Explanation

        Examples
        --------
        >>> from sklearn.feature_extraction.text import TfidfVectorizer
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn_mrmp import Explanation, MrMPClassifier
        >>> texts = ["a ship at sea", "a camel in the desert", "sea and ships", "desert sand"] * 10
        >>> Y = [[1, 0], [0, 1], [1, 0], [0, 1]] * 10
        >>> clf = MrMPClassifier(voters=("linear",), label_sets=False, random_state=0)
        >>> pipeline = make_pipeline(TfidfVectorizer(), clf).fit(texts, Y)
        >>> (why,) = Explanation.from_estimator(pipeline, ["a camel by the sea"], labels=["1"])
        >>> why.features()["camel"] > 0 > why.features()["sea"]
        True
        """
        return explain_estimator(estimator, X, labels, **options)

    def __len__(self):
        return len(self._items)

    def __getitem__(self, which):
        """Return an item by its place or by row and label; a slice is an explanation again."""
        if isinstance(which, slice):
            return Explanation(self._items[which])
        if isinstance(which, Integral):
            return self._items[which]
        if isinstance(which, tuple) and len(which) == 2:
            row, label = which
            for item in self._items:
                if (item.row, item.label) == (row, str(label)):
                    return item
            raise KeyError(f"Label {label!r} of row {row!r} was not explained.")
        raise TypeError(
            "An explanation is read by place, as explanation[0], or by row and label, as "
            f"explanation[3, 'sea']; got {which!r:.50}."
        )

    def to_frame(self, *, inside=False):
        """Return the explanation as a table.

        Parameters
        ----------
        inside : bool, default=False
            False has one line for each explained label, with a column for each part of its log
            odds. True has one line for each term inside the parts.

        Returns
        -------
        frame : pandas.DataFrame
            With ``inside=True`` the columns are ``row``, ``label``, ``part``, ``kind``, ``name``,
            ``log_odds``, ``start`` and ``end`` (in the text), and of neighbours ``similarity``,
            ``has_label`` and ``share``. Terms of a part add up to it.

        Examples
        --------
        >>> from sklearn_mrmp import MrMPClassifier
        >>> from sklearn_mrmp.datasets import make_related_labels
        >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
        >>> clf = MrMPClassifier(voters=("linear",), label_sets=False).fit(X, Y)
        >>> clf.explain(X[:1], labels=["0", "1"]).to_frame().columns.tolist()
        ['row', 'label', 'probability', 'log_odds', 'linear']
        """
        return inside_frame(self._items) if inside else part_frame(self._items)

    def to_html(self, path=None, *, n_features=10):
        """Return the explanation as HTML, or write it to a file that needs nothing else.

        Words of texts are highlighted: blue ones raise the probability of the label, red ones
        lower it.

        Parameters
        ----------
        path : path-like, default=None
            Where to write a whole page; None writes nothing.
        n_features : int, default=10
            Features, training rows and other labels that are shown of each label.

        Returns
        -------
        html : str
            A whole page if it was written, and a part of a page otherwise.
        """
        if path is None:
            return html_part(self._items, n_features)
        page = html_page(self._items, n_features)
        user_path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self):
        shown = html_part(self._items[:_MOST_SHOWN], n_features=10)
        if len(self) > _MOST_SHOWN:
            shown += f"<p>{len(self) - _MOST_SHOWN} more labels are not shown.</p>"
        return shown

    def __str__(self):
        return "\n\n".join(map(str, self._items))

    def __repr__(self):
        n_rows = len({item.row for item in self._items})
        labels = "label" if len(self) == 1 else "labels"
        return f"Explanation({len(self)} {labels} of {n_rows} {'row' if n_rows == 1 else 'rows'})"

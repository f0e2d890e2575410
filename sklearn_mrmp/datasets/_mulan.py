"""Multi-label data sets in Mulan's format: ARFF files and an XML file that names the labels.

Knows the format and the names of its files; where the files come from is `_fetch`'s business.
"""

from collections import Counter, defaultdict
from xml.parsers import expat

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._sklearn_compat import StrOptions, validate_params
from sklearn_mrmp.datasets._arff import ArffError, read_arff
from sklearn_mrmp.datasets._nominal import Coding


@validate_params(
    {
        "folder": "no_validation",
        "name": [str, None],
        "subset": [StrOptions({"all", "train", "test"})],
    },
    prefer_skip_nested_validation=True,
)
def load_mulan(folder, name=None, *, subset="all"):
    r"""Load a multi-label data set in Mulan's format (ARFF and XML).

    Parameters
    ----------
    folder : str or path-like
        The folder that holds ``<name>.xml``, and ``<name>-train.arff`` and ``<name>-test.arff``
        or else ``<name>.arff``.

    name : str, default=None
        Name the files begin with; that of the folder when None.

    subset : {"all", "train", "test"}, default="all"
        Which rows: the training part, the test part, or all of them: the training rows followed
        by the test rows, or the rows of ``<name>.arff`` when there are no parts.

    Returns
    -------
    dataset : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with these attributes.

        data : {ndarray, csr_array} of shape (n_samples, n_features), float64
            Sparse exactly when the ARFF rows are; missing values are NaN. Nominal values are the
            numbers they spell. Of two categories that are no numbers the rarer one is 1; several
            have a column each, in which they are 1 (a missing one is 1 in none).
        target : ndarray of shape (n_samples, n_labels), int32
            1 where a row has a label, else 0.
        feature_names : list of str
            Names of the columns of ``data``; ``<attribute>=<category>`` for a category's own.
        target_names : list of str
            Names of the labels, in the order of the XML file.
        categories : dict
            For each nominal attribute with categories that are not numbers, their list. Of two,
            the second is 1.
        parents : dict
            For each label that the XML nests inside another, the name of that other label.
        DESCR : str
            What was loaded, and which nominal attributes were left out because they name rows:
            (nearly) every row has a value of its own.

    Raises
    ------
    FileNotFoundError
        When a file is missing.
    ValueError
        When a file is malformed, with its name and line.

    Notes
    -----
    What is rare, and what names rows, is decided by the training rows (those of ``<name>.arff``
    when there are no parts), for all subsets alike.

    ``target`` is dense, and of a type in which ``target.T @ target`` cannot overflow: even the
    16,105 × 983 labels of Delicious take only 63 MB. ``csr_array(target)`` makes it sparse.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tiny.xml").write_text(
    ...     '<labels><label name="sea"/><label name="ship"/></labels>')
    >>> _ = (folder / "tiny.arff").write_text('''@relation tiny
    ... @attribute wave numeric
    ... @attribute sea {0,1}
    ... @attribute ship {0,1}
    ... @data
    ... 0.5,1,0
    ... 0.9,1,1
    ... ''')
    >>> from sklearn_mrmp.datasets import load_mulan
    >>> tiny = load_mulan(folder, "tiny")
    >>> tiny.data, tiny.target_names
    (array([[0.5],
           [0.9]]), ['sea', 'ship'])
    >>> tiny.target
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    folder = user_path(folder)
    name = folder.resolve().name if name is None else name
    xml_path = folder / f"{name}.xml"
    if not xml_path.is_file():
        raise FileNotFoundError(f"{xml_path} does not exist; it must name the labels of {name!r}.")
    label_names, parents = _read_labels(xml_path)
    tables = [read_arff(path) for path in _arff_paths(folder, name, subset)]
    _check_same_attributes(tables)
    labels, features = _split_columns(tables[0], label_names, xml_path)
    coding = _choose_coding(tables, features, folder / f"{name}-train.arff", subset)
    X = _stack([coding.transform(table.values[:, features]) for table in tables])
    Y = np.vstack([_label_matrix(table, labels) for table in tables])
    return Bunch(
        data=X,
        target=Y,
        feature_names=coding.feature_names,
        target_names=label_names,
        categories=coding.categories,
        parents=parents,
        DESCR=_describe(name, subset, tables, X, Y, coding.left_out),
    )


class _LabelFileError(ValueError):
    """A label file that is well-formed XML and yet no label file."""


class _LabelReader:
    """Collects label names and parents while expat reads; no nesting is too deep for it."""

    def __init__(self, path):
        self.path = path
        self.names, self.parents = [], {}
        self._open = []  # the root, and the labels around the present place
        self._skipped = 0  # depth inside an element that is no label

    def start(self, tag, attributes):
        """Take up a label, or skip what is none."""
        if self._skipped or (self._open and tag.rpartition(":")[2] != "label"):
            self._skipped += 1
            return
        if not self._open:
            self._open.append(None)
            return
        name = attributes.get("name")
        self.names.append(name)
        if self._open[-1] is not None:
            self.parents[name] = self._open[-1]
        self._open.append(name)

    def end(self, tag):
        """Leave an element."""
        if self._skipped:
            self._skipped -= 1
        else:
            self._open.pop()

    def refuse_entity(self, name, *_):
        """Entities can grow without bound, and label files have no need of them."""
        raise _LabelFileError(f"{self.path}: declares the entity {name!r}, which is not allowed.")


def _read_labels(path):
    """Label names in document order, and the parent of each nested label."""
    reader, parser = _LabelReader(path), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = reader.refuse_entity
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise ValueError(f"{path}, line {error.lineno}: not well-formed XML: {error}.") from error
    except _LabelFileError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that Python or expat cannot read
        raise ValueError(f"{path}: not readable: {error}.") from error
    names, twice = reader.names, [n for n, count in Counter(reader.names).items() if count > 1]
    if None in names:
        number = names.index(None) + 1
        raise ValueError(f"{path}: label number {number} has no name attribute.")
    if not names:
        raise ValueError(f"{path}: no <label name=…> element, so there are no labels.")
    if twice:
        raise ValueError(f"{path}: the label {twice[0]!r} occurs more than once.")
    return names, reader.parents


def _arff_paths(folder, name, subset):
    """Return the files that hold the rows of `subset`."""
    parts = {part: folder / f"{name}-{part}.arff" for part in ("train", "test")}
    whole = folder / f"{name}.arff"
    if subset == "all" and whole.is_file() and not all(path.is_file() for path in parts.values()):
        return [whole]
    paths = list(parts.values()) if subset == "all" else [parts[subset]]
    for path in paths:
        if not path.is_file():
            hint = f' ({whole.name} exists: pass subset="all")' if whole.is_file() else ""
            raise FileNotFoundError(f"{path} does not exist{hint}.")
    return paths


def _check_same_attributes(tables):
    for table in tables[1:]:
        if table.attributes != tables[0].attributes:
            raise ValueError(f"{table.path} and {tables[0].path} declare different attributes.")


def _without_escapes(name):
    return name.replace("\\", "")


def _split_columns(table, label_names, xml_path):
    """Columns of the labels in the order of `label_names`, and those of the features."""
    exact, plain = defaultdict(list), defaultdict(list)
    for j, attribute in enumerate(table.attributes):
        exact[attribute.name].append(j)
        plain[_without_escapes(attribute.name)].append(j)
    labels = []
    for name in label_names:
        # Some files escape a name in the ARFF and not in the XML, or the other way round.
        found = exact.get(name) or plain.get(_without_escapes(name), [])
        if len(found) != 1:
            problem = f"{len(found)} attributes" if found else "no attribute"
            raise ValueError(
                f"{table.path} has {problem} named {name!r}, a label according to {xml_path}."
            )
        labels += found
    features = np.setdiff1d(np.arange(len(table.attributes)), labels)
    return labels, features


def _choose_coding(tables, features, train_path, subset):
    """How nominal features become columns, by the training rows whichever rows are loaded."""
    table = tables[0]  # the training rows, if they are loaded
    symbolic = [a.name for a in (table.attributes[j] for j in features) if a.is_symbolic]
    if subset == "test" and symbolic:
        if not train_path.is_file():
            raise FileNotFoundError(
                f"{train_path} does not exist; how the nominal attribute {symbolic[0]!r} of the "
                "test rows is coded is decided by the training rows."
            )
        table = read_arff(train_path)
        _check_same_attributes([table, *tables])
    return Coding.choose([table.attributes[j] for j in features], table.values[:, features])


def _label_matrix(table, labels):
    for attribute in (table.attributes[label] for label in labels):
        if attribute.is_symbolic:  # positions of categories would not say which of them is 1
            shown = ", ".join(attribute.categories[:5])
            raise ValueError(
                f"{table.path}: the label {attribute.name!r} has the categories {shown}; a label "
                "must be {0,1}."
            )
    Y = table.values[:, labels]
    Y = Y.toarray() if sp.issparse(Y) else Y
    wrong = ~np.isin(Y, (0, 1))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise ArffError(
            table.path,
            table.lines[i],
            f"the label {table.attributes[labels[j]].name!r} must be 0 or 1, found {Y[i, j]:g}.",
        )
    return Y.astype(np.int32)


def _stack(parts):
    if len(parts) == 1:
        return parts[0]
    if all(sp.issparse(part) for part in parts):
        return sp.vstack(parts, format="csr")
    return np.vstack([part.toarray() if sp.issparse(part) else part for part in parts])


def _describe(name, subset, tables, X, Y, left_out):
    files = ", ".join(f"{table.path.name} ({len(table.lines)} rows)" for table in tables)
    kind = "sparse" if sp.issparse(X) else "dense"
    are = "it names" if len(left_out) == 1 else "they name"
    note = f"\nLeft out, because {are} rows: {', '.join(left_out)}." if left_out else ""
    return (
        f"{name}, a multi-label data set in Mulan's format ({subset} rows).\n"
        f"{X.shape[0]} rows, {X.shape[1]} features ({kind}), {Y.shape[1]} labels, "
        f"{Y.sum() / max(1, len(Y)):.2f} labels per row.\nRead from {files}.{note}"
    )

"""`to_onnx`: a fitted classifier as a model that onnxruntime serves.

The graph is written node by node from the fitted parts, and not traced, so that it has no branch
that depends on the sizes of a batch. Knows the writers of its parts, and classifiers by
`OnnxSource`, which they make of themselves.
"""

import json
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._host.files import write_atomically
from sklearn_mrmp._onnx.graph import GraphWriter
from sklearn_mrmp._onnx.outputs import write_labels, write_probabilities
from sklearn_mrmp._onnx.rows import rows_of
from sklearn_mrmp._onnx.voting import check_voters, probabilities
from sklearn_mrmp._version import __version__


@dataclass(frozen=True, eq=False)
class OnnxSource:
    """What a fitted classifier is made of, as far as a graph holds it.

    Attributes
    ----------
    ensemble : Ensemble
        Voters, weights, and what reads the rows.
    label_sets : LabelSetVote or None
        What is mixed in.
    encoding : TargetEncoding
        The target of ``fit``.
    label_names : ndarray of str
        Names of the labels.
    rule : rule, float or None
        What decides; None is the most probable class of a vector.
    decision : str
        What the caller calls it.
    feature_names : ndarray of str or None
        Names of the columns of rows.
    """

    ensemble: object
    label_sets: object
    encoding: object
    label_names: np.ndarray
    rule: object
    decision: str
    feature_names: np.ndarray | None = None


def to_onnx(classifier, path=None, *, sparse_rows=False):
    """Write a fitted classifier as an ONNX model.

    The model takes rows as ``predict_proba`` does and computes everything that follows: the scaling
    of the columns, the network, the linear base learner, their weighted vote, and the label sets
    that are mixed in. In onnxruntime its probabilities are those of ``predict_proba`` within
    1e-5 for rows of float32.

    Parameters
    ----------
    classifier : MrMPClassifier, LaMPClassifier or MPVAEClassifier
        A fitted classifier whose base learners (`voters`) are ``"network"``, ``"linear"``, or both.
    path : str or path-like, default=None
        The file. One that exists is replaced, in one step at the end. None writes none.
    sparse_rows : bool, default=False
        How rows of a feature matrix come: as one dense matrix ``X``, or as the ``columns`` and
        ``values`` of their entries that are not zero, padded with zeros to the same number of
        entries. The latter is faster and smaller where there are many features.

    Returns
    -------
    model : onnx.ModelProto
        Its inputs:

        - ``X``, float32 (n_rows, n_features), for features and vectors; with `sparse_rows` there
          are ``columns``, int64 (n_rows, n_entries), and ``values``, float32 of the same shape,
          instead;
        - ``X``, int64 (n_rows, length), for token sequences;
        - ``states``, float32 (n_rows, length, width), and ``lengths``, int64 (n_rows,), for token
          states.

        Its outputs: ``probabilities``, float32, as ``predict_proba`` returns them; and ``labels``,
        as ``predict`` returns them, where the present `decision` is a threshold for each label or
        for all of them. The metadata have ``label_names`` and, if there are such, ``feature_names``
        and ``classes``, in JSON; ``input_type`` and ``decision``.

    Raises
    ------
    ValueError
        For a part that cannot be written, such as the nearest neighbours; the message says how to
        fit without it.

    Warns
    -----
    UserWarning
        If the present `decision` is no threshold, so that there is no output ``labels``.

    See Also
    --------
    save : Keep all of a classifier, in a file for this package.

    Notes
    -----
    Known labels (``known=``) and explanations are not part of the model. It does not check rows as
    ``predict_proba`` does: missing values give numbers without a meaning. There must be at least
    one row, and one entry or token of padding. Memory grows with the rows of a call, so cut many of
    them into batches.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sklearn_mrmp import MrMPClassifier, to_onnx
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(100, 4, n_features=30, random_state=0)
    >>> clf = MrMPClassifier(voters=("network", "linear"), d_model=8, max_epochs=1, random_state=0)
    >>> model = to_onnx(clf.fit(X, Y))
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> X = X.toarray().astype(np.float32)
    >>> (P,) = session.run(["probabilities"], {"X": X})
    >>> bool(np.allclose(P, clf.predict_proba(X), atol=1e-5))
    True
    """
    if not hasattr(classifier, "_onnx_source"):
        raise TypeError(
            "to_onnx writes MrMPClassifier, LaMPClassifier and MPVAEClassifier, not "
            f"{type(classifier).__name__}. Of a pipeline or a search pass the fitted classifier "
            "inside, and transform rows as the steps before it do."
        )
    check_is_fitted(classifier)
    source, op = classifier._onnx_source(), GraphWriter()
    check_voters(source.ensemble)
    rows = rows_of(op, source.ensemble.encoder, sparse_rows)
    P = probabilities(op, source.ensemble, source.label_sets, rows)
    write_probabilities(op, P, source.encoding)
    has_labels = write_labels(op, P, source.encoding, source.rule)
    if not has_labels:
        warnings.warn(
            f"decision={source.decision} is no threshold of probabilities, so that the model gives "
            "probabilities and no labels. For labels, call set_params(decision='threshold') or "
            "set a number before to_onnx.",
            stacklevel=2,
        )
    metadata = _metadata(source, has_labels)
    producer = {"producer_name": "sklearn-mrmp", "producer_version": __version__}
    model = op.model(metadata, **producer)
    if path is not None:
        write_atomically(path, [model.SerializeToString()])
    return model


def _metadata(source, has_labels):
    """Texts about the model, by name."""
    metadata = {
        "label_names": _as_json(source.label_names),
        "input_type": source.ensemble.encoder.name,
        "decision": source.decision if has_labels else "none",
    }
    if not source.encoding.is_matrix:
        metadata["classes"] = _as_json(source.encoding.classes)
    if source.feature_names is not None:
        metadata["feature_names"] = _as_json(source.feature_names)
    return metadata


def _as_json(values):
    return json.dumps(values.tolist(), ensure_ascii=False, default=str)

"""`save`, `load`, and the methods of the same names for the classifiers.

The border: whatever goes wrong inside a stranger's file leaves here as a `ModelFileError`.
"""

import warnings

import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._model_files import bounded_json
from sklearn_mrmp._model_files.container import read_container, write_container
from sklearn_mrmp._model_files.decoding import Decoder
from sklearn_mrmp._model_files.encoding import Encoder
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp._model_files.objects import decode_object, encode_object
from sklearn_mrmp._model_files.part import Request
from sklearn_mrmp._version import __version__


def save(estimator, path, *, encoder_weights=False):
    """Save a fitted model as a file of data that is safe to pass on.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of this package, or a scikit-learn estimator made of parts that model
        files know, such as a `~sklearn.pipeline.Pipeline` around one.
    path : str or path-like
        The file. One that exists is replaced, in one step at the end.
    encoder_weights : bool, default=False
        Whether to save the weights and the tokenizer of a pretrained text encoder in the file, so
        that it can be used on a machine without the encoder. Otherwise the file has only the name
        of the encoder. A model that was loaded with them is always saved with them.

    Raises
    ------
    ModelFileError
        When a part of the model is not plain data; the message names it.
    sklearn.exceptions.NotFittedError
        When the model is not fitted.

    See Also
    --------
    load : Load a model.

    Notes
    -----
    Settings of the training that are code are left out with a warning, since predictions do not
    depend on them. `callbacks` and a `RandomState` are replaced by None, a function as `relations`
    by the graph that it returned, and a splitter as `cv` by the default.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import sklearn_mrmp
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    >>> knn = sklearn_mrmp.MLKNNClassifier().fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "knn.safetensors"
    ...     sklearn_mrmp.save(knn, path)
    ...     sklearn_mrmp.load(path)
    MLKNNClassifier()
    """
    _save(estimator, path, encoder_weights)


def _save(estimator, path, encoder_weights):
    check_is_fitted(estimator)
    encoder = Encoder(encode_object, Request(encoder_weights))
    state = bounded_json.dump(encoder.encode(estimator))
    _rebuild(state, dict(encoder.arrays))  # what cannot be loaded is not written
    metadata = {
        "package_version": __version__,
        "scikit_learn_version": sklearn.__version__,
        "state": state,
    }
    write_container(path, metadata, encoder.arrays)
    if encoder.notes:
        warnings.warn(
            f"Not saved, since it is code or a generator and matters for fit alone: "
            f"{', '.join(encoder.notes)}.",
            stacklevel=3,
        )


def load(path):
    """Load a model that `save` wrote, without running code from the file.

    A file can only name classes of a fixed list and fill them with numbers and text, and sizes,
    names and types are checked first. It is therefore safe to load files from other people, in
    contrast to `joblib.load` and `pickle.load`, which run code from the file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : estimator
        The fitted model. On the same machine its probabilities are bit for bit those of the model
        that was saved. It is on the CPU where the device it was trained on does not exist.

    Raises
    ------
    ModelFileError
        If the file is no model file, damaged, malicious, or of another format version.

    See Also
    --------
    save : Save a model.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import sklearn_mrmp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.safetensors"
    ...     _ = path.write_bytes(b"something else")
    ...     try:
    ...         sklearn_mrmp.load(path)
    ...     except sklearn_mrmp.ModelFileError as error:
    ...         print(type(error).__name__)
    ModelFileError
    """
    metadata, arrays = read_container(path)
    estimator = _rebuild(metadata.get("state", ""), arrays)
    saved_with = metadata.get("scikit_learn_version", "")
    if saved_with.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=type(estimator).__name__,
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=f"{saved_with:.20}",
            ),
            stacklevel=2,
        )
    return estimator


def _rebuild(state, arrays):
    """Estimator of a state and its arrays."""
    tree = bounded_json.parse(state.encode("utf-8", "surrogatepass"))
    decoder = Decoder(arrays, decode_object)
    try:
        estimator = decoder.decode(tree)
        decoder.check_all_used()
        check_is_fitted(estimator)
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:
        # Constructors and fitted parts refuse wrong values in many ways; to the caller it is one.
        raise ModelFileError(
            f"The file's values do not make a model: {type(error).__name__}: {error!s:.300}"
        ) from error
    return estimator


class ModelFileMixin:
    """Gives a classifier the methods ``save`` and ``load``."""

    def save(self, path, *, encoder_weights=False):
        """Save the fitted model as a file of data that is safe to pass on.

        Parameters
        ----------
        path : str or path-like
            The file; see `sklearn_mrmp.save`.
        encoder_weights : bool, default=False
            Whether a pretrained text encoder comes with its weights and its tokenizer, so that the
            file can be used where the encoder is not.
        """
        _save(self, path, encoder_weights)

    @classmethod
    def load(cls, path):
        """Load a model of this class that ``save`` wrote; safe for files of strangers.

        Parameters
        ----------
        path : str or path-like
            The file; see `sklearn_mrmp.load`.

        Returns
        -------
        estimator : object
            The fitted model.
        """
        estimator = load(path)
        if not isinstance(estimator, cls):
            raise ModelFileError(
                f"The file holds a {type(estimator).__name__}, not a {cls.__name__}; load it with "
                "sklearn_mrmp.load."
            )
        return estimator

"""`TextEncoder`: a pretrained text encoder as a transformer of scikit-learn.

How texts are encoded and where states are kept is the affair of `_encoders`. `_neural` takes a
`TextEncoder` as a parameter; `taken_apart` is what it asks.
"""

import os
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._encoders.text import PretrainedEncoder
from sklearn_mrmp._host.report import Report
from sklearn_mrmp._host.torch_state import resolve_device
from sklearn_mrmp._input.text import Progress, as_texts
from sklearn_mrmp._model_files.part import Part, nothing
from sklearn_mrmp._sklearn_compat import DocLinkMixin, Interval, StrOptions, _fit_context


# Token states are no table: `set_output` has nothing to make of them.
class TextEncoder(DocLinkMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Turn texts into token states, or into their mean, with a pretrained encoder.

    The encoder is not changed, and nothing is learned from texts. `MrMPClassifier` reads token
    states, and any other estimator can read their means. With `cache_dir`, each text is encoded
    only once, also in searches, comparisons and several processes.

    Parameters
    ----------
    encoder : str, path-like or (model, tokenizer)
        Name or folder that ``transformers.AutoModel`` understands (extra ``text``), or both
        objects. Code that comes with an encoder is never run.
    revision : str, default=None
        Branch, tag or commit of a named encoder; a commit never changes. None takes the newest
        version. Folders and objects have no revisions.
    pooling : "mean" or None, default=None
        None gives a vector for each token, and ``"mean"`` the mean of these vectors, one row for
        each text.
    layers : "auto", "last", int or sequence of int, default="auto"
        Layers of the encoder whose states are put side by side: 0 is the embeddings of the tokens,
        and negative numbers count from the last layer. ``"auto"`` takes the layers at one and two
        thirds of the depth, which have more information about single tokens than the last one. For
        mean states it takes the last layer.
    max_tokens : int, default=None
        Number of tokens of a text that are kept. If there are more than the encoder reads at once,
        a text is read in several windows. None keeps one window.
    cache_dir : path-like, default=None
        Folder in which states are kept and found again, also by other processes. It is created if
        needed, never emptied, and needs two bytes for each number of each token. None keeps
        nothing.
    device : str, default="auto"
        Where to compute: ``"auto"`` takes CUDA, then MPS, then the CPU. An encoder that is given as
        objects stays on its device.
    verbose : int, default=0
        1 prints how many texts have been encoded.

    Attributes
    ----------
    encoder_ : object
        The encoder; ``encoder_.width_`` is the width of its states, and ``encoder_.fingerprint_``
        identifies it.

    See Also
    --------
    MrMPClassifier : Takes a TextEncoder as `encoder`, or its token states as rows.
    TokenSequenceVectorizer : Sequences of token ids, without a pretrained encoder.

    Notes
    -----
    Model files and pickles contain the name of the encoder, its `revision` and a fingerprint, but
    not its weights. Loading them loads this encoder by its name, and refuses another one.
    ``save(model, path, encoder_weights=True)`` puts weights and tokenizer into the file. An encoder
    that was given as objects must be passed again to a loaded model: ``set_params(encoder=(model,
    tokenizer))``. Model files do not contain `cache_dir`.

    The last bit of a state, in half precision, may depend on the other texts of the batch, since
    sums over padded rows are rounded differently.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_mrmp import TextEncoder
    >>> encoder = TextEncoder("sentence-transformers/all-MiniLM-L6-v2", pooling="mean")
    >>> model = make_pipeline(encoder, LogisticRegression())
    >>> model.fit(["What a day!", "Oh no."], [1, 0])  # doctest: +SKIP
    >>> encoder.pooling
    'mean'
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        # None is what a model file holds in the place of objects.
        "encoder": [str, os.PathLike, tuple, list, None],
        "revision": [str, None],
        "pooling": [StrOptions({"mean"}), None],
        "layers": [StrOptions({"auto", "last"}), Integral, list, tuple],
        "max_tokens": [Interval(Integral, 1, None, closed="left"), None],
        "cache_dir": [str, os.PathLike, None],
        "device": [str],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        encoder,
        *,
        revision=None,
        pooling=None,
        layers="auto",
        max_tokens=None,
        cache_dir=None,
        device="auto",
        verbose=0,
    ):
        self.encoder = encoder
        self.revision = revision
        self.pooling = pooling
        self.layers = layers
        self.max_tokens = max_tokens
        self.cache_dir = cache_dir
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X=None, y=None):
        """Load the encoder.

        Parameters
        ----------
        X : sequence of str, default=None
            Texts; they are not read.
        y : None
            Ignored.

        Returns
        -------
        self : TextEncoder
        """
        resolve_device(self.device)  # refused here, not by the first text
        layers = self.layers
        if self._pools_last and self.cache_dir is None:
            layers = "last"  # what is kept beside token states would serve as well
        self.encoder_ = PretrainedEncoder.of(self.encoder, layers, self.revision)
        return self

    def transform(self, X):
        """Encode texts.

        Parameters
        ----------
        X : sequence of str
            Texts: a list, a vector, a Series or a single column.

        Returns
        -------
        states : StateRows, or ndarray of float32 of shape (n_samples, width)
            Token states in half precision, rows of which can be picked by ``states[rows]``; or
            their means, zeros for a text without tokens.
        """
        check_is_fitted(self)
        texts = as_texts(X)
        # A model out of a file may have been given its objects since.
        self.encoder_ = self.encoder_.given(self.encoder)
        tell = Progress(Report(self.verbose), len(texts))
        rows, wholes = self.encoder_.encode(
            texts, self.max_tokens, self.device, tell, self.cache_dir
        )
        if self.pooling is None:
            return rows
        return wholes if self._pools_last else rows.pooled()

    @property
    def _pools_last(self):
        is_plain = isinstance(self.layers, str) and self.layers in ("auto", "last")
        return self.pooling is not None and is_plain

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of mean states, ``textencoder0`` and so on.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        if self.pooling is None:
            raise ValueError("Token states have no columns; mean states do: pooling='mean'.")
        width = self.encoder_.whole_width if self._pools_last else self.encoder_.width_
        return np.array([f"textencoder{i}" for i in range(width)], dtype=object)


def taken_apart(encoder):
    """Return what a classifier takes from its parameter `encoder`, which stays as it is.

    Parameters
    ----------
    encoder : TextEncoder, or what it takes itself
        The parameter.

    Returns
    -------
    source : str, path-like or (model, tokenizer)
        What `PretrainedEncoder.of` takes.
    layers : str, int or sequence of int
        Which layers are read.
    max_tokens : int or None
        Tokens of a text that are kept, if the classifier has no number of its own.
    cache_dir : path-like or None
        Where states are kept.
    revision : str or None
        Which version of a named encoder is loaded.
    """
    if not isinstance(encoder, TextEncoder):
        return encoder, "auto", None, None, None
    encoder._validate_params()
    if encoder.pooling is not None:
        raise ValueError(
            f"The TextEncoder given as encoder has pooling={encoder.pooling!r}, but the network "
            "reads the states of all tokens: give one with pooling=None."
        )
    limits = encoder.layers, encoder.max_tokens
    return encoder.encoder, *limits, encoder.cache_dir, encoder.revision


TextEncoder._model_part = Part(
    {"encoder_": "PretrainedEncoder"}, fit_only={"encoder": nothing}, local=("cache_dir",)
)

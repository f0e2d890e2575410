"""What this package uses of scikit-learn beyond its public names, all in one place.

A new release of scikit-learn can break this file and no other. Leaf module: scikit-learn alone.
"""

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, validate_params
from sklearn.utils._param_validation import StrOptions as _StrOptions
from sklearn.utils._repr_html.estimator import _VisualBlock
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled
from sklearn.utils.metaestimators import _BaseComposition, _safe_split
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    _check_y,
    _num_samples,
)

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:
        """Stands where scikit-learn has no callbacks; there is no ``set_callbacks`` then."""


# Where `set_callbacks` of an estimator keeps what it was given.
CALLBACKS_ATTRIBUTE = "_skl_callbacks"

__all__ = [
    "CALLBACKS_ATTRIBUTE",
    "CallbackSupportMixin",
    "DocLinkMixin",
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "_BaseComposition",
    "_VisualBlock",
    "_check_method_params",
    "_check_sample_weight",
    "_check_y",
    "_fit_context",
    "_num_samples",
    "_raise_for_params",
    "_routing_enabled",
    "_safe_indexing",
    "_safe_split",
    "validate_params",
]


class StrOptions(_StrOptions):
    """Strings that a parameter takes; scikit-learn's lists them in an order that changes by run."""

    def __str__(self):
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


class DocLinkMixin:
    """Makes the HTML representation of an estimator link to its page of the documentation.

    It comes before `BaseEstimator` among the bases of a class.
    """

    _doc_link_module = "sklearn_mrmp"
    _doc_link_template = (
        "https://sklearn-mrmp.github.io/sklearn-mrmp/stable/generated/"
        "{estimator_module}.{estimator_name}.html"
    )

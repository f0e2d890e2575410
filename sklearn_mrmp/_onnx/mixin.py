"""``to_onnx`` of every classifier with a network, and what it tells of itself for it.

Knows the classifiers by their fitted parts; they inherit from here.
"""

from numbers import Real

from sklearn_mrmp._onnx.api import OnnxSource, to_onnx


class OnnxMixin:
    """``to_onnx``: the fitted classifier as a model for onnxruntime."""

    def to_onnx(self, path=None, *, sparse_rows=False):
        """Write the fitted classifier as an ONNX model; see `sklearn_mrmp.to_onnx`.

        Parameters
        ----------
        path : str or path-like, default=None
            The file. None writes none.
        sparse_rows : bool, default=False
            Whether rows of a feature matrix come as the columns and values of their entries.

        Returns
        -------
        model : onnx.ModelProto
        """
        return to_onnx(self, path, sparse_rows=sparse_rows)

    def _onnx_source(self):
        metric, decision = self._operating_point
        return OnnxSource(
            self._ensemble,
            self._label_sets,
            self._target_encoding,
            self.label_names_,
            self._onnx_rule(metric, decision),
            repr(decision),
            getattr(self, "feature_names_in_", None),
        )

    def _onnx_rule(self, metric, decision):
        """Return what decides: a cut, a rule, or None for the most probable class."""
        encoding = self._target_encoding
        if isinstance(decision, Real):
            return decision
        if encoding.kind == "multiclass" or (encoding.kind == "binary" and decision == "optimal"):
            return None
        return self._points.rule(metric, decision, self.label_names_)

"""scikit-learn's callbacks for classifiers with a network: what a fit tells them.

The tasks of a fit are four: ``read-rows``, ``fit-ensemble``, ``tune-decisions`` and
``fit-on-all-rows``. Each training of a network is a task ``train-network`` inside the second or the
fourth, and its epochs are tasks ``epoch``. Knows scikit-learn's callbacks, where there are any.
"""

from contextlib import contextmanager

from sklearn_mrmp._host.tasks import FitTask
from sklearn_mrmp._sklearn_compat import CALLBACKS_ATTRIBUTE, CallbackSupportMixin

_TASKS = 4


class FitTasksMixin(CallbackSupportMixin):
    """Tells the callbacks of ``set_callbacks``, which scikit-learn has since 1.9."""

    @contextmanager
    def _root_task(self, X, y, sample_weight):
        """Begin the task of the whole fit; it ends with the block, and fails with it."""
        if not hasattr(self, "_init_callback_context"):
            yield None
            return
        context = self._init_callback_context(max_subtasks=_TASKS)
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        data = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(**data)
        yield FitTask(context, self) if getattr(self, CALLBACKS_ATTRIBUTE, None) else None
        # By now the classifier itself has all that a fitted copy of it needs.
        context.call_on_fit_task_end(**data, reconstruction_attributes=dict)

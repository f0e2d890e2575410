"""Ctrl-C during training: stop after the batch, and stop a search around the fit as well.

skorch takes any KeyboardInterrupt as the end of training, which suits a single fit: it keeps what
was learned. A search, a cross-validation or an ensemble would go on with its next candidate, so
there the interrupt is raised again. Knows skorch's callbacks and the names of scikit-learn's
modules.
"""

import signal
import sys
import threading

from skorch.callbacks import Callback, EarlyStopping

# Callers that fit this estimator and no other: after an interrupt they return, too.
_SINGLE_FIT = ("sklearn.base", "sklearn.pipeline", "sklearn_mrmp._mrmp")
_PACKAGES = ("sklearn", "sklearn_mrmp", "joblib")


class StopAfterBatch(Callback):
    """Hold a Ctrl-C back until the batch is done; a second one interrupts at once.

    Used as a context around training and as its last callback. Signals are left alone outside the
    main thread, where there are none, and where somebody else handles them.

    Attributes
    ----------
    n_asked : int
        How many times Ctrl-C was pressed.
    """

    n_asked = 0

    def __enter__(self):
        self.n_asked = 0
        in_main_thread = threading.current_thread() is threading.main_thread()
        self._installed = (
            in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._installed:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *exception):
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number, frame):
        self.n_asked += 1
        if self.n_asked > 1:
            raise KeyboardInterrupt

    def on_batch_end(self, net, **kwargs):
        """Stop if asked to."""
        if self.n_asked:
            raise KeyboardInterrupt


def is_early_stopping(error):
    """Whether a KeyboardInterrupt is skorch's way to stop early and not a Ctrl-C.

    Parameters
    ----------
    error : KeyboardInterrupt
        As caught.

    Returns
    -------
    stopped : bool
    """
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    return place.tb_frame.f_code is EarlyStopping.on_epoch_end.__code__


def inside_search():
    """Whether a search, a cross-validation, an ensemble or parallel jobs called the running fit.

    Looks at the modules of the callers, from the wrapper that scikit-learn puts around ``fit``
    outwards; done only after an interrupt.

    Returns
    -------
    inside : bool
    """
    frame, modules = sys._getframe(1), []
    while frame is not None:
        modules.append(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    outside = modules[modules.index("sklearn.base") :] if "sklearn.base" in modules else modules
    return any(name.partition(".")[0] in _PACKAGES and name not in _SINGLE_FIT for name in outside)

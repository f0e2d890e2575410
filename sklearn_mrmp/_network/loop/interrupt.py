"""Ctrl-C during training: stop after the batch, so that what was learned can be kept.

skorch takes a KeyboardInterrupt as the end of training and swallows it; who trains a network raises
it again once the classifier is usable. Knows skorch's callbacks and signals.
"""

import signal
import threading

from skorch.callbacks import Callback

from sklearn_mrmp._host.world import ALONE


class StopAfterBatch(Callback):
    """Hold a Ctrl-C back until the batch is done; a second one interrupts at once.

    Used as a context around training and as its last callback. Signals are left alone outside the
    main thread, where there are none, and where somebody else handles them.

    Parameters
    ----------
    world : World, default=ALONE
        The processes of the fit; several stop after the same batch.

    Attributes
    ----------
    n_asked : int
        How many times Ctrl-C was pressed here.
    agreed : bool
        Whether several processes have agreed to stop.
    """

    n_asked = 0
    agreed = False

    def __init__(self, world=ALONE):
        self.world = world

    @property
    def stops(self):
        """Whether training is to stop."""
        return self.n_asked > 0 if self.world.is_alone else self.agreed

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
        if self.stops:
            raise KeyboardInterrupt

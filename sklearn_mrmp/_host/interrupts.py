"""Ctrl-C after the long part of a fit: what remains takes seconds, and is finished first.

Leaf module: the standard library.
"""


class InsistedInterrupt(KeyboardInterrupt):
    """Ctrl-C was pressed a second time: nothing more is to be waited for."""


def finished(step, *, keep):
    """Run a step to its end, also when the user presses Ctrl-C once.

    Parameters
    ----------
    step : callable
        Without arguments. It must change nothing but what it returns, since it is called anew
        after an interrupt, wherever that struck.
    keep : bool
        Whether there is something to keep that the step makes usable; otherwise an interrupt is
        raised at once, and so is a second one.

    Returns
    -------
    result : object
        What the step returned.
    interrupted : bool
        Whether Ctrl-C was pressed.

    Examples
    --------
    >>> from sklearn_mrmp._host.interrupts import finished
    >>> finished(lambda: 42, keep=True)
    (42, False)
    """
    try:
        return step(), False
    except InsistedInterrupt:
        raise
    except KeyboardInterrupt:
        if not keep:
            raise
    return step(), True

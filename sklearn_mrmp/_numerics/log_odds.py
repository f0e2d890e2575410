"""Log odds of many probabilities at once, and back.

`scipy.special.logit` takes five times as long, `expit` almost twice: numpy's logarithms and powers
work on several numbers at a time, and give a number the same bits wherever it stands. Leaf module:
numpy alone.
"""

import numpy as np


def log_odds(P, margin):
    """``log(P / (1 - P))``, finite because probabilities are kept inside (0, 1).

    Parameters
    ----------
    P : ndarray
        Probabilities; other numbers than float32 and float64 are taken as the latter.
    margin : float
        Smaller ones count as this one, and larger ones than 1 minus it as that.

    Returns
    -------
    Z : ndarray of the shape of `P`, float32 or float64

    Examples
    --------
    >>> import numpy as np
    >>> log_odds(np.array([0.0, 0.5, 0.75]), margin=1e-3).round(2)
    array([-6.91,  0.  ,  1.1 ])
    """
    if P.dtype not in (np.float32, np.float64):
        P = P.astype(np.float64)
    margin = P.dtype.type(margin)
    inside = np.clip(P, margin, 1 - margin)
    against = 1 - inside
    np.divide(inside, against, out=against)
    return np.log(against, out=against)


# The largest power whose inverse float32 can hold with all its digits; odds beyond count as that.
_LARGEST_POWER = 87.0


def to_probabilities(Z):
    """Turn log odds into probabilities, in place.

    Parameters
    ----------
    Z : ndarray of float
        Log odds; overwritten.

    Returns
    -------
    P : ndarray
        `Z` itself.

    Examples
    --------
    >>> import numpy as np
    >>> to_probabilities(np.array([-1e9, 0.0, 1.1])).round(2)
    array([0.  , 0.5 , 0.75])
    """
    np.negative(Z, out=Z)
    np.clip(Z, -_LARGEST_POWER, _LARGEST_POWER, out=Z)
    np.exp(Z, out=Z)
    Z += 1
    return np.reciprocal(Z, out=Z)

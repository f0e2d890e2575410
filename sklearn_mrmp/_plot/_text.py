"""Users' strings in pictures: label and method names are shown as they are, and kept short.

matplotlib reads what stands between two dollar signs as a formula. A name such as ``"$5 to $10"``
is no formula, so every string that a user gave is drawn with `PLAIN`.
"""

PLAIN = {"parse_math": False, "usetex": False}


def shorten(name, max_length):
    """Return a name on one line, its middle replaced by an ellipsis when it is too long.

    The end is kept too, because long names often begin alike.

    Parameters
    ----------
    name : str
        Any name.
    max_length : int or None
        Most characters to return; None keeps all.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from sklearn_mrmp._plot._text import shorten
    >>> shorten("international agreements on the sea", 20)
    'international…he sea'
    """
    text = " ".join(str(name).split())
    if max_length is None or len(text) <= max_length:
        return text
    tail = max_length // 3
    head = text[: max_length - 1 - tail].rstrip()
    return f"{head}…{text[len(text) - tail :]}"


def set_plain(texts):
    """Switch off the reading of formulas in matplotlib texts that exist already, as of a legend."""
    for text in texts:
        text.set(**PLAIN)

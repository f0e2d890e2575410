"""Small HTML tables, which notebooks show for results. Knows the standard library alone."""

from html import escape


class Bold(str):
    """A cell in bold."""

    __slots__ = ()


def html_table(header, rows, *, caption=None, notes=()):
    """Return a plain table; every text is escaped, so names may hold any characters.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequence of {str, Bold}
        The cells.
    caption : str, default=None
        Line above the table.
    notes : sequence of str, default=()
        Lines below the table.

    Returns
    -------
    html : str

    Examples
    --------
    >>> from sklearn_mrmp._host.html import html_table
    >>> html_table(["x"], [["<1"]])
    '<table><thead><tr><th>x</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_cell(text) for text in row)}</tr>" for row in rows)
    title = "" if caption is None else f"<caption>{escape(caption)}</caption>"
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cell(text):
    inside = escape(text)
    return f"<td><b>{inside}</b></td>" if isinstance(text, Bold) else f"<td>{inside}</td>"

"""HTML that is safe whatever names hold: tables of results, and data that scripts of a page read.

Knows the standard library alone.
"""

import json
from html import escape


class Bold(str):
    """A cell in bold."""

    __slots__ = ()


def html_table(header, rows, *, caption=None, notes=(), css_class=None):
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
    css_class : str, default=None
        Class of the table, for the style sheet of a page.

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
    kind = "" if css_class is None else f' class="{escape(css_class)}"'
    return f"<table{kind}>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cell(text):
    inside = escape(text)
    return f"<td><b>{inside}</b></td>" if isinstance(text, Bold) else f"<td>{inside}</td>"


def json_block(value, css_class):
    r"""Return data that the scripts of a page read; no text in it can end the block.

    Parameters
    ----------
    value : object
        Anything that JSON holds; NaN is none of it.
    css_class : str
        Class by which scripts find the block.

    Returns
    -------
    html : str

    Examples
    --------
    >>> from sklearn_mrmp._host.html import json_block
    >>> json_block(["</script>"], "data")
    '<script type="application/json" class="data">["\\u003c/script>"]</script>'
    """
    # Browsers look for "</script" and "<!--" before they look at quotes.
    text = json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" class="{escape(css_class)}">{text}</script>'

"""A page as one file: a title, sections, and the scripts and the style sheet that they need.

Everything is inside the file. The page says so to the browser, too: its content security policy
forbids every request, and every script that was not put there by `html_page`. Knows the assets
beside it, numpy, and `_host`.
"""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np

from sklearn_mrmp._host.files import write_atomically

# Types of numpy that browsers have arrays of.
_ARRAYS = {
    "uint8": "Uint8Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "float32": "Float32Array",
}


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    title : str
        Its heading.
    html : str
        Its content, in which every text is escaped.
    scripts : tuple of str, default=()
        Assets that it needs, in the order in which they are to be loaded.
    """

    title: str
    html: str
    scripts: tuple = ()


def html_page(title, sections, *, lead=""):
    """Return a whole page.

    Parameters
    ----------
    title : str
        Title and first heading.
    sections : sequence of Section
        The parts, from top to bottom.
    lead : str, default=""
        A sentence below the first heading.

    Returns
    -------
    html : str

    Examples
    --------
    >>> from sklearn_mrmp._pages.template import Section, html_page
    >>> page = html_page("A < B", [Section("Result", "<p>no</p>")])
    >>> "<title>A &lt; B</title>" in page
    True
    """
    names = dict.fromkeys(name for section in sections for name in section.scripts)
    scripts = [asset(name) for name in ("page.js", *names)]
    parts = [_section_html(section, alone=len(sections) == 1) for section in sections]
    return "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{asset('page.css')}</style></head><body>",
            f"<header><h1>{escape(title)}</h1><p>{escape(lead)}</p></header><main>",
            *parts,
            "</main>",
            *(f"<script>{text}</script>" for text in scripts),
            "</body></html>\n",
        ]
    )


def write_page(path, html):
    """Write a page, whole or not at all; the same bytes on every system."""
    write_atomically(path, [html.encode("utf-8")])


def asset(name):
    """Return the text of a file that is shipped beside this one."""
    return files("sklearn_mrmp._pages").joinpath("assets", name).read_text(encoding="utf-8")


def packed(values):
    """Return an array as scripts unpack it: the name of its type there, and its bytes in base64.

    Parameters
    ----------
    values : ndarray of numbers
        The array. Whole numbers take as few bytes as they need; others are rounded to float32.

    Returns
    -------
    packed : dict of str to str

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._pages.template import packed
    >>> packed(np.array([1.0, 2.0]))
    {'type': 'Uint8Array', 'bytes': 'AQI='}
    """
    values = np.asarray(values)
    kind = next((kind for kind in ("uint8", "uint16", "uint32") if _fits(values, kind)), "float32")
    little = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
    return {"type": _ARRAYS[kind], "bytes": b64encode(little).decode()}


def _fits(values, kind):
    """Whether all values are whole numbers that a type holds; NaN is none."""
    most = np.iinfo(kind).max
    return bool(((values >= 0) & (values <= most) & (values == np.floor(values))).all())


def _section_html(section, alone):
    heading = "" if alone else f"<h2>{escape(section.title)}</h2>"
    return f"<section>{heading}{section.html}</section>"


def _policy(scripts):
    """Content security policy: no request, and these scripts alone, by their fingerprints."""
    hashes = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"

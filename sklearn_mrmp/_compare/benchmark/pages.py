"""Tables in pages: each stands between two comments, of which the first one says which table it is.

A page says ``<!-- results: begin -->`` and ``<!-- results: end -->``; what is between them is
replaced. Knows the tables by name.
"""

import re

from sklearn_mrmp._compare.benchmark.tables import TABLES
from sklearn_mrmp._host.files import write_atomically

_BEGIN = re.compile(r"^<!-- (results[\w-]*): begin -->\n", re.MULTILINE)


def pages_with_tables(pages):
    """Return those of some pages that exist and have marks; raise ValueError if there are none."""
    found = [page for page in pages if page.is_file() and _BEGIN.search(_read(page))]
    if not found:
        raise ValueError(
            "No page here has the marks of a table, such as <!-- results: begin --> and "
            "<!-- results: end -->. Name the pages with --pages."
        )
    return found


def changed_pages(pages, lines):
    """Return pages whose tables are not those of some lines.

    Parameters
    ----------
    pages : sequence of Path
        Pages with marks.
    lines : list of ResultLine
        The results.

    Returns
    -------
    changed : dict of Path to str
        What the pages should be.
    """
    wanted = {page: _with_tables(page, lines) for page in pages}
    return {page: text for page, text in wanted.items() if text != _read(page)}


def write_pages(changed):
    """Write what `changed_pages` returned."""
    for page, text in changed.items():
        write_atomically(page, [text.encode()])


def _read(page):
    return page.read_bytes().decode("utf-8")


def _with_tables(page, lines):
    """Return the text of a page with its tables in their places."""
    text, position, parts = _read(page), 0, []
    for begin in _BEGIN.finditer(text):
        name = begin[1]
        if name not in TABLES:
            raise ValueError(
                f"{page}: there is no table {name!r}; the tables are {', '.join(TABLES)}."
            )
        end = text.find(f"<!-- {name}: end -->", begin.end())
        if end < 0:
            raise ValueError(f"{page}: there is no <!-- {name}: end --> after its beginning.")
        parts += [text[position : begin.end()], f"\n{TABLES[name](lines)}\n"]
        position = end
    if not parts:
        raise ValueError(f"{page} has no mark of a table, such as <!-- results: begin -->.")
    return "".join([*parts, text[position:]])

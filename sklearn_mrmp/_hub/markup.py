"""Texts of anybody as Markdown and YAML: a name can neither end its place nor become markup.

Leaf module: the standard library alone.
"""

import re

_MOST_CHARACTERS = 100
# Joiners have no width, but words of some scripts, and some emoji, are not the same without them.
_JOINERS = "\u200c\u200d"
# What Markdown, HTML, tables and formulas are made of, also where a line does not begin. An
# underscore inside a word is a plain one.
_ACTIVE = re.compile(r"[\\`*\[\]<>|~&@:$]|(?<!\w)_+|_+(?!\w)|(?<=\bwww)\.", re.IGNORECASE)


def one_line(text, most=_MOST_CHARACTERS):
    r"""Return a text as one line of characters that can be seen, cut where it is too long.

    Parameters
    ----------
    text : object
        What to show.
    most : int, default=100
        Number of characters.

    Returns
    -------
    line : str

    Examples
    --------
    >>> from sklearn_mrmp._hub.markup import one_line
    >>> one_line("two\nlines")
    'two lines'
    """
    line = "".join(_visible(character) for character in str(text)[: most + 1])
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _visible(character):
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"


def markdown_text(text, most=_MOST_CHARACTERS):
    """Return a text for a heading, a sentence or a cell of a table in Markdown.

    Parameters
    ----------
    text : object
        What to show.
    most : int, default=100
        Number of characters of the text that are shown.

    Returns
    -------
    markdown : str
        A line in which characters that Markdown and HTML read are numbered.

    Examples
    --------
    >>> from sklearn_mrmp._hub.markup import markdown_text
    >>> markdown_text("f1_micro | <b>")
    'f1_micro &#124; &#60;b&#62;'
    """
    return _ACTIVE.sub(_numbered, one_line(text, most))


def _numbered(found):
    return "".join(f"&#{ord(character)};" for character in found[0])


def markdown_table(header, rows):
    """Return a table in Markdown; cells are Markdown already.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of sequence of str
        The cells.

    Returns
    -------
    markdown : str
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def yaml_mapping(values):
    r"""Return the lines of a YAML mapping, of plain values, lists and mappings.

    Parameters
    ----------
    values : mapping of str to {str, float, list, mapping}
        Names that are plain words, and their values; texts may hold anything.

    Returns
    -------
    lines : list of str

    Examples
    --------
    >>> from sklearn_mrmp._hub.markup import yaml_mapping
    >>> print("\n".join(yaml_mapping({"tags": ["a: b"], "value": 0.5})))
    tags:
    - "a: b"
    value: 0.5
    """
    lines = []
    for name, value in values.items():
        below = _yaml_block(value)
        lines += [f"{name}: {_yaml_scalar(value)}"] if below is None else [f"{name}:", *below]
    return lines


def _yaml_block(value):
    """Lines of a list or a mapping, or None of a value that fits behind its name."""
    if isinstance(value, dict):
        return [f"  {line}" for line in yaml_mapping(value)]
    if not isinstance(value, (list, tuple)):
        return None
    lines = []
    for item in value:
        inner = yaml_mapping(item) if isinstance(item, dict) else [_yaml_scalar(item)]
        lines += [f"{'  ' if number else '- '}{line}" for number, line in enumerate(inner)]
    return lines


def _yaml_scalar(value):
    if isinstance(value, str):
        return f'"{"".join(map(_yaml_character, value))}"'
    number = repr(float(value))
    # YAML 1.1 reads a number with an exponent only where it has a point as well.
    return number if "." in number else number.replace("e", ".0e")


def _yaml_character(character):
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code < 0xE000:  # half a pair, which no file in UTF-8 can hold
        return "\N{REPLACEMENT CHARACTER}"
    return f"\\U{code:08x}"

"""An explanation as HTML: bars of the parts, the features, and texts with their words highlighted.

Every text of the caller is escaped. Nothing is loaded from elsewhere, and there is no script. Knows
the values of this room.
"""

from html import escape

from sklearn_mrmp._explain.as_text import has_in_words, nearest_in_words
from sklearn_mrmp._explain.terms import Terms, largest, others, signed
from sklearn_mrmp._host.html import html_table

# Raising and lowering, as pulling and pushing labels are drawn.
_RAISES, _LOWERS = (33, 102, 172), (178, 24, 43)
_STRONGEST = 0.65

_STYLE = """
.mrmp-why{font:14px/1.45 system-ui,sans-serif;max-width:62em;color:#222;background:#fff;
padding:.6em 1em;margin:.6em 0;border:1px solid #ddd;border-radius:6px}
.mrmp-why h4{margin:.2em 0 .5em;font-size:1.05em}
.mrmp-why .both{display:flex;flex-wrap:wrap;gap:2em;align-items:flex-start}
.mrmp-why table{border-collapse:collapse;color:#222}
.mrmp-why td,.mrmp-why th{padding:.1em .5em;text-align:left;border:0;background:#fff}
.mrmp-why td.n{text-align:right;font-variant-numeric:tabular-nums}
.mrmp-why .bar{position:relative;width:11em;height:1em;background:#f4f4f4}
.mrmp-why .bar i{position:absolute;top:0;bottom:0;left:50%;border-left:1px solid #888}
.mrmp-why .bar b{position:absolute;top:.12em;bottom:.12em}
.mrmp-why .text{margin:.7em 0;white-space:pre-wrap;overflow-wrap:anywhere}
.mrmp-why mark{color:inherit;padding:.05em 0;border-radius:2px}
.mrmp-why .small{color:#555;font-size:.92em;margin:.4em 0}
"""


def html_page(items, n_features):
    """Return a whole page that needs no other file."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Why these labels?</title></head>\n<body>{html_part(items, n_features)}</body>"
        "</html>\n"
    )


def html_part(items, n_features):
    """Return a part of a page, with its style."""
    shown = "\n".join(_one(item, n_features) for item in items)
    return f"<style>{_STYLE}</style>\n{shown}"


def _one(item, n_features):
    """Return the block of one label."""
    head = (
        f"{escape(item.label)} <span class='small'>row {item.row}, probability "
        f"{item.probability:.3f}, log odds {signed(item.log_odds)}</span>"
    )
    features, rest = largest(item.features(), n_features)
    tables = _bars("part", item.parts.items())
    if features:
        n_others = len(item.features()) - len(features)
        tables += _bars("feature or word", features, (n_others, rest))
    below = [_text(item), _neighbors(item, n_features), _labels(item, n_features)]
    below += [_small(note) for note in item.notes]
    return (
        f"<div class='mrmp-why'><h4>{head}</h4><div class='both'>{tables}</div>"
        f"{''.join(below)}</div>"
    )


def _bars(what, values, left=(0, 0.0)):
    """Return a table of names with bars, to the right for what raises the probability.

    `left` is how many there are besides, and their sum, which would dwarf the bars as one of them.
    """
    values = list(values)
    longest = max((abs(value) for _, value in values), default=0.0) or 1.0
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{_bar(value / longest)}</td>"
        f"<td class='n'>{signed(value)}</td></tr>"
        for name, value in values
    )
    if left[0]:
        rows += f"<tr><td>{others(left[0])}</td><td></td><td class='n'>{signed(left[1])}</td></tr>"
    head = f"<tr><th>{what}</th><th></th><th>log odds</th></tr>"
    return f"<table>{head}{rows}</table>"


def _bar(share):
    color = _color(share, 0.85)
    left, width = (50.0, 50 * share) if share >= 0 else (50 + 50 * share, -50 * share)
    style = f"left:{left:.1f}%;width:{width:.1f}%;background:{color}"
    return f"<div class='bar'><b style='{style}'></b><i></i></div>"


def _color(value, strength):
    red, green, blue = _RAISES if value >= 0 else _LOWERS
    return f"rgba({red},{green},{blue},{strength:.2f})"


def _text(item):
    """Return the text of a row with its words highlighted."""
    if item.text is None:
        return ""
    marks, written, end = item.marks(), [], 0
    strongest = max((abs(value) for *_, value in marks), default=0.0) or 1.0
    for start, stop, value in marks:
        if start < end:  # inside a longer name that is marked already
            continue
        color = _color(value, _STRONGEST * abs(value) / strongest)
        written.append(escape(item.text[end:start]))
        written.append(
            f"<mark style='background:{color}' title='{signed(value)}'>"
            f"{escape(item.text[start:stop])}</mark>"
        )
        end = stop
    written.append(escape(item.text[end:]))
    return f"<div class='text'>{''.join(written)}</div>"


def _neighbors(item, n_rows):
    """Return the training rows that vote."""
    found = [part for part in item.inside.values() if not isinstance(part, Terms)]
    if not found:
        return ""
    (nearest,) = found
    rows = [
        [
            str(nearest.rows[place]),
            f"{nearest.similarities[place]:.3f}",
            has_in_words(nearest.has_label[place]),
            f"{100 * nearest.shares[place]:.0f} %",
        ]
        for place in range(min(n_rows, len(nearest.rows)))
    ]
    table = html_table(["training row", "similarity", "has the label", "share of the vote"], rows)
    sentence = escape(nearest_in_words(nearest).partition(";")[0])
    return f"<details class='small'><summary>{sentence}</summary>{table}</details>"


def _labels(item, n_labels):
    """Return which other labels took part, and which are linked."""
    lines = []
    for name, terms in item.inside.items():
        if isinstance(terms, Terms) and terms.kind == "labels" and len(terms):
            top, rest = terms.top(n_labels)
            shown = [f"{label} {signed(value)}" for label, value in top]
            if len(terms) > n_labels:
                shown.append(f"{others(len(terms) - n_labels)} {signed(rest)}")
            lines.append(_small(f"{name}: {', '.join(shown)}"))
    for relation in dict.fromkeys(link.relation for link in item.related):
        links = [link for link in item.related if link.relation == relation]
        shown = [f"{link.label} ({link.probability:.2f})" for link in links[:n_labels]]
        if len(links) > n_labels:
            shown.append(f"{len(links) - n_labels} more")
        lines.append(_small(f"{relation} labels, with their probabilities: {', '.join(shown)}"))
    return "".join(lines)


def _small(text):
    return f"<p class='small'>{escape(text)}</p>"

"""An explanation in plain text, for terminals. Knows the values of this room."""

import numpy as np

from sklearn_mrmp._explain.terms import Terms, others, signed

# Terms of a part, training rows, and linked labels of a relation that are written.
_N_TERMS, _N_ROWS, _N_RELATED = 6, 5, 4


def one_as_text(item):
    """Return why one label has its probability, some lines.

    Parameters
    ----------
    item : LabelExplanation
        What is to be written.

    Returns
    -------
    text : str
    """
    head = (
        f"Row {item.row}, label {item.label!r}: probability {item.probability:.3f}, "
        f"log odds {signed(item.log_odds)}"
    )
    width = max(map(len, item.parts), default=0)
    lines = [head]
    for name, value in item.parts.items():
        line = f"  {name:<{width}}  {signed(value):>7}"
        inside = item.inside.get(name)
        lines.append(line if inside is None else f"{line}  {_inside(inside)}")
    for relation in dict.fromkeys(link.relation for link in item.related):
        links = [link for link in item.related if link.relation == relation]
        shown = [f"{link.label} ({link.probability:.2f})" for link in links[:_N_RELATED]]
        lines.append(f"  {relation} labels: {', '.join(shown)}{_more(len(links) - _N_RELATED)}")
    return "\n".join([*lines, *(f"  {note}" for note in item.notes)])


def _inside(inside):
    return _terms(inside) if isinstance(inside, Terms) else nearest_in_words(inside)


def _terms(terms):
    top, rest = terms.top(_N_TERMS)
    shown = [f"{name} {signed(value)}" for name, value in top]
    n_others = len(terms.by_name()) - len(top)
    if n_others > 0:
        shown.append(f"{others(n_others)} {signed(rest)}")
    if terms.baseline:
        shown.append(f"baseline {signed(terms.baseline)}")
    if abs(terms.residual) >= 0.005:
        shown.append(f"rest {signed(terms.residual)}")
    return "= " + ", ".join(shown) if shown else ""


def nearest_in_words(nearest):
    """Return a sentence about the training rows that vote."""
    n_have = int(np.nansum(nearest.has_label))
    places = range(min(_N_ROWS, len(nearest.rows)))
    shown = [
        f"{nearest.rows[place]} {has_in_words(nearest.has_label[place])} "
        f"({nearest.similarities[place]:.2f})"
        for place in places
    ]
    return (
        f"{n_have} of {len(nearest.rows)} similar training rows have it; nearest: "
        f"{', '.join(shown)}"
    )


def has_in_words(has_label):
    """Return whether a training row has a label."""
    if np.isnan(has_label):
        return "unknown"
    return "yes" if has_label else "no"


def _more(n):
    return f", {n} more" if n > 0 else ""

"""An explanation as data frames. Knows the values of this room; pandas when it is used."""

from sklearn_mrmp._explain.terms import Terms
from sklearn_mrmp._host.optional import import_optional

_COLUMNS = (
    "row",
    "label",
    "part",
    "kind",
    "name",
    "log_odds",
    "start",
    "end",
    "similarity",
    "has_label",
    "share",
)


def part_frame(items):
    """Return one line for each explained label, with a column for each part."""
    pandas = import_optional("pandas", "data")
    lines = [
        {
            "row": item.row,
            "label": item.label,
            "probability": item.probability,
            "log_odds": item.log_odds,
            **item.parts,
        }
        for item in items
    ]
    return pandas.DataFrame(lines)


def inside_frame(items):
    """Return one line for each term, each training row, and each part without an inside."""
    pandas = import_optional("pandas", "data")
    lines = [
        {"row": item.row, "label": item.label, "part": part, **line}
        for item in items
        for part, value in item.parts.items()
        for line in _lines(item.inside.get(part), value)
    ]
    return pandas.DataFrame(lines, columns=list(_COLUMNS))


def _lines(inside, value):
    if inside is None:
        return [{"kind": "part", "log_odds": value}]
    if isinstance(inside, Terms):
        return _term_lines(inside)
    neighbors = zip(inside.rows, inside.similarities, inside.has_label, inside.shares, strict=True)
    rows = [
        {
            "kind": "training row",
            "name": str(row),
            "similarity": float(similarity),
            "has_label": float(has_label),
            "share": float(share),
        }
        for row, similarity, has_label, share in neighbors
    ]
    return [{"kind": "part", "log_odds": value}, *rows]


def _term_lines(terms):
    lines = []
    for place, (name, value) in enumerate(zip(terms.names, terms.values, strict=True)):
        line = {"kind": terms.kind, "name": name, "log_odds": float(value)}
        spans = () if terms.spans is None else terms.spans[place]
        if spans:  # of a word that occurs several times, where it stands first
            line |= {"start": spans[0][0], "end": spans[0][1]}
        lines.append(line)
    for name in ("baseline", "residual"):
        if getattr(terms, name):
            lines.append({"kind": name, "log_odds": getattr(terms, name)})
    return lines

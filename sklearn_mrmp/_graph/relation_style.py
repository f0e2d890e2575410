"""Colours and dashes of relations, the same in every picture.

Pulling is blue and pushing red, the two ends of matplotlib's ``"RdBu"`` map. People who cannot tell
red from green can tell these apart, and no two relations of a network share a line style.
"""

SIGNED_COLORS = "RdBu"  # colour map of signed associations: pushing below 0, pulling above
_STYLES = {"pulling": ("#2166ac", "solid"), "pushing": ("#b2182b", (0, (4, 2)))}
_OTHER_STYLES = [
    ("#117733", (0, (6, 1, 1, 1))),
    ("#aa4499", (0, (1, 1))),
    ("#b8860b", (0, (8, 2, 2, 2, 2, 2))),
    ("#555555", (0, (3, 3))),
]


def relation_styles(relations):
    """Colour and line style of each relation: blue pulling, red dashed pushing, others apart.

    Parameters
    ----------
    relations : sequence of str
        Names of the relations.

    Returns
    -------
    styles : dict of str to (colour, line style)
        In matplotlib's terms.
    """
    others = [name for name in relations if name not in _STYLES]
    styles = dict(_STYLES)
    for position, name in enumerate(others):
        styles[name] = _OTHER_STYLES[position % len(_OTHER_STYLES)]
    return {name: styles[name] for name in relations}

"""What pages and docstrings call a default is one, and "auto" is what the notes say it is.

Read are code spans with a value that a sentence calls the default, such as ```cv=0.1`, the
default``, in the README, the changelog and the user guide; ``default=`` of every parameter in a
docstring; and the numbers for ``"auto"`` in the notes of `MrMPClassifier`.
"""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier, datasets
from sklearn_mrmp.datasets import make_related_labels

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
SPAN = r"`(\w+=[^`]+)`"
CLAIMS = (
    rf"{SPAN}(?: and {SPAN})?(?:,| is| are) the defaults?\b",
    rf"{SPAN} \((?:the )?default\)",
    rf"\b[Bb]y default[^.;`]*{SPAN}",
    rf"\b(?:the|The) default is {SPAN}",
)


def public_callables():
    """Functions, classes and methods that are public, by name."""
    for package in (sklearn_mrmp, datasets):
        for name in package.__all__:
            thing = getattr(package, name)
            yield name, thing
            for method, value in inspect.getmembers(thing, inspect.isroutine):
                ours = str(getattr(value, "__module__", "")).startswith("sklearn_mrmp")
                if ours and inspect.isclass(thing) and not method.startswith("_"):
                    yield f"{name}.{method}", value


def parameters(thing):
    try:
        return inspect.signature(thing).parameters
    except ValueError:  # exceptions have none
        return {}


CALLABLES = dict(public_callables())


def literal(text):
    """Value of a literal; what is none, such as the name of a constant, cannot be compared."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...


def stated(text):
    """Parameters and values that a text calls defaults."""
    for pattern in CLAIMS:
        for spans in re.findall(pattern, text):
            for span in [spans] if isinstance(spans, str) else filter(None, spans):
                name, _, value = span.partition("=")
                yield name, literal(value)


def same(a, b):
    return ... in (a, b) or (type(a) is type(b) and a == b)


def is_default(name, value):
    """Whether a public name has this default; other packages' parameters are not looked at."""
    known = [p[name].default for p in map(parameters, CALLABLES.values()) if name in p]
    return not known or any(same(value, default) for default in known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_calls_a_default_is_one(page):
    claims = stated(page.read_text(encoding="utf-8"))
    assert [claim for claim in claims if not is_default(*claim)] == []


def test_claims_are_found_and_wrong_ones_refused():
    text = '`cv=0.2`, the default. By default a part (`lr="auto"`) is. `alpha=0.2` (default)'
    assert list(stated(text)) == [("cv", 0.2), ("alpha", 0.2), ("lr", "auto")]
    assert [is_default(*claim) for claim in stated(text)] == [False, False, True]
    assert sum(len(list(stated(page.read_text(encoding="utf-8")))) for page in PAGES) > 5


def documented(doc):
    """Parameters of a numpydoc docstring with the default that it states."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", doc, re.M | re.S)
    for line in section[1].splitlines() if section else ():
        found = re.match(r"(\*{0,2}\w[\w, *]*?) : .*\bdefault=(.+)$", line)
        if found:
            names, values = found[1].split(", "), re.split(r", | and ", found[2])
            if len(values) != len(names):  # one for all of them, perhaps a tuple
                values = [found[2]] * len(names)
            yield from zip(names, map(literal, values), strict=True)


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_defaults_of_a_docstring_are_those_of_the_signature(name):
    real = parameters(CALLABLES[name])
    for parameter, value in documented(inspect.getdoc(CALLABLES[name]) or ""):
        assert same(real[parameter].default, value), parameter


SIZES = ("d_model", "n_heads", "n_encoder_layers", "n_decoder_layers", "dropout", "lr")


def automatic_values():
    """Numbers of the notes for each kind of rows, in the order in which they stand there."""
    notes = inspect.getdoc(MrMPClassifier).partition("Notes\n")[2]
    paragraph = next(p for p in notes.split("\n\n") if p.startswith('``"auto"`` is `d_model`'))
    first, *others = re.split(r"it is|encoder's work,|for vectors", " ".join(paragraph.split()))
    named = dict(re.findall(r"`(\w+)` ([\d.]*\d)", first))
    assert tuple(named) == SIZES
    return [list(named.values()), *(re.findall(r"[\d.]*\d", part)[:6] for part in others)]


def rows_of_each_kind():
    """Rows as the notes name them, in the same order: bags, measurements, states, vectors."""
    rng = np.random.default_rng(0)
    X, Y, _ = make_related_labels(40, 3, n_features=200, n_pulling_groups=1, random_state=0)
    states = [rng.normal(size=(4, 5)) for _ in range(40)]
    return [X, rng.normal(size=(40, 8)), states, rng.normal(size=(40, 400))], Y


@pytest.mark.parametrize("kind", range(4), ids=["bag", "measurements", "states", "vectors"])
def test_auto_is_what_the_notes_say(kind):
    rows, Y = rows_of_each_kind()
    clf = MrMPClassifier(voters=("network",), max_epochs=1, random_state=0).fit(rows[kind], Y)
    net, stated = clf.net_, automatic_values()[kind]
    used = [getattr(net, f"module__{size}") for size in SIZES[:-1]] + [net.lr]
    assert used == [float(number) for number in stated]

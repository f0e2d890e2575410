"""`verbose=1`: every stage of a fit says what it does, in lines that a file can hold."""

import re

import pytest
from joblib.externals.loky import get_reusable_executor

from tests.tiny import PLAIN, tiny

LINE = re.compile(r"\[sklearn_mrmp\] (?:(?P<place>(?:fold|member|refit)[^:]*): )?(?P<text>.*)")
TIMED = re.compile(r".* in \d+\.\d+ (s|minutes|hours)")


@pytest.fixture(scope="module")
def data(related):
    return related[0][:80], related[1][:80, :4]


def said(capfd, data, **options):
    """Return what a fit printed, as pairs of a place and a text."""
    capfd.readouterr()
    tiny(verbose=1, **options).fit(*data)
    out = capfd.readouterr().out
    assert "\033" not in out
    assert "\r" not in out
    matches = [LINE.fullmatch(line) for line in out.splitlines()]
    assert all(matches), out
    return [(match["place"], match["text"]) for match in matches]


def stages(pairs):
    """Return the stages that say how long they took, without their times."""
    return [(place, text.rpartition(" in ")[0]) for place, text in pairs if TIMED.fullmatch(text)]


def test_every_stage_says_what_it_did_and_how_long_it_took(data, capfd):
    pairs = said(capfd, data, refit=True, label_shortlist=2)
    assert stages(pairs) == [
        (None, "rows and labels: read"),
        (None, "rows: encoded and split"),
        (None, "label graph: learned"),
        (None, "linear voter: fitted"),
        (None, "neighbors voter: fitted"),
        (None, "candidate labels: chosen"),
        (None, "network: trained"),
        (None, "votes for 8 held-out rows: counted"),
        (None, "told labels: tried"),
        (None, "vote weights: tuned"),
        (None, "told labels: weighed"),
        (None, "label sets: fitted"),
        (None, "decisions: tuned"),
        ("refit", "linear voter: fitted on 80 rows"),
        ("refit", "neighbors voter: fitted on 80 rows"),
        ("refit", "network: trained"),
        ("refit", "told labels: learned from 80 rows"),
    ]


def test_the_network_says_what_is_coming_and_has_a_line_per_epoch(data, capfd):
    texts = [text for _, text in said(capfd, data, device="cpu", **PLAIN)]
    start = texts.index("network: trains on 72 rows for up to 2 epochs on cpu")
    names, rule, first, second = texts[start + 1 : start + 5]
    assert names.split() == ["epoch", "train_loss", "valid_loss", "dur"]
    assert set(rule) == {"-", " "}
    assert [first.split()[0], second.split()[0]] == ["1", "2"]
    assert texts[start + 5].startswith("network: trained in ")


def test_a_bar_beside_it_writes_no_control_characters_into_files(data, capfd):
    tiny(verbose=1, progress_bar=True, **PLAIN).fit(*data)
    out, err = capfd.readouterr()
    assert not re.search("[\r\033]", out + err)
    assert err.splitlines()[-1].startswith("MrMP: 10/10 batches, epoch=2, ")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_folds_and_members_carry_their_numbers_and_lines_stay_whole(data, capfd, n_jobs):
    # Processes that an earlier test left write to what was its standard output.
    get_reusable_executor().shutdown(wait=True)
    pairs = said(capfd, data, cv=2, n_members=2, n_jobs=n_jobs)
    trained = {place for place, text in stages(pairs) if text == "network: trained"}
    assert trained == {f"fold {i} of 2, member {j} of 2" for i in (1, 2) for j in (1, 2)}
    for place in trained:  # the same lines of each, in their order
        texts = [text.split()[0] for own, text in pairs if own == place]
        assert texts == ["network:", "epoch", "-------", "1", "2", "network:"]
    fitted = [place for place, text in stages(pairs) if text == "linear voter: fitted on 40 rows"]
    assert sorted(fitted) == ["fold 1 of 2", "fold 2 of 2"]


def test_folds_say_how_long_the_others_will_take(data, capfd):
    texts = [text for _, text in said(capfd, data, cv=3, voters=("linear",))]
    done = [text.partition(", about ")[0] for text in texts if text.endswith(" left")]
    assert done == [f"cross-fitting: {n} of 3 folds done" for n in (1, 2)]


def test_a_fit_is_silent_unless_asked(data, capfd):
    tiny(cv=2).fit(*data).predict(data[0])
    assert capfd.readouterr() == ("", "")

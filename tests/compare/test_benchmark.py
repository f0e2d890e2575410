"""The table of results: its CSV file, its tables, the pages that show them, and single fits."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from sklearn_mrmp._compare.benchmark import picture
from sklearn_mrmp._compare.benchmark.entrants import METHODS
from sklearn_mrmp._compare.benchmark.fits import (
    Fit,
    Sources,
    chosen_fits,
    fit_in_process,
    is_for,
    measured,
)
from sklearn_mrmp._compare.benchmark.lines import SCORES, ResultLine, add_line, read_lines
from sklearn_mrmp._compare.benchmark.pages import changed_pages, pages_with_tables, write_pages
from sklearn_mrmp._compare.benchmark.sets import DATASETS, BenchmarkSet
from sklearn_mrmp._compare.benchmark.tables import TABLES
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny_encoder import tiny_encoder

WORDS = {"corn": "maize harvest acres", "gold": "ounce mine metal"}


def line(dataset, method, seed=0, value=0.5, **options):
    scores = dict.fromkeys(("AP", "accuracy", "f1_samples", "f1_micro", "f1_macro"), value)
    return ResultLine(dataset, method, seed, 12.345678, **scores, **options)


def rows_of(table):
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]


def related(data_home):
    X, Y, _ = make_related_labels(120, 4, n_features=30, random_state=0)
    return Bunch(data=X[:80], target=csr_array(Y[:80])), Bunch(data=X[80:], target=Y[80:])


def wires(data_home):
    """Texts of two subjects."""
    parts = []
    for n_rows in (48, 16):
        names = [*WORDS] * (n_rows // 4) + [*reversed(WORDS)] * (n_rows // 4)
        texts = [f"{WORDS[name]} {number % 5}" for number, name in enumerate(names)]
        target = np.array([[name == label for label in WORDS] for name in names], dtype=int)
        parts.append(Bunch(data=texts, target=target))
    return tuple(parts)


@pytest.fixture
def tiny_sets(monkeypatch):
    """Two small data sets in the place of the real ones."""
    monkeypatch.setitem(DATASETS, "emotions", BenchmarkSet("Emotions", "few rows", related))
    monkeypatch.setitem(DATASETS, "cooking", BenchmarkSet("Cooking", "few", wires, texts=True))


class TestLines:
    def test_a_file_gives_back_its_lines_to_five_digits(self, tmp_path):
        path = tmp_path / "results.csv"
        first, second = line("emotions", "default", value=1 / 3), line("birds", "voters", 2)
        for added in (first, second):
            add_line(path, added)
        found = read_lines(path)
        assert [known.key for known in found] == [first.key, second.key]
        assert found[0].AP == 0.33333
        assert math.isnan(found[0].AP_macro)
        assert read_lines(tmp_path / "absent.csv") == []

    def test_the_same_fit_takes_the_place_of_its_line(self, tmp_path):
        path = tmp_path / "results.csv"
        for value in (0.1, 0.2):
            add_line(path, line("emotions", "default", value=value))
        assert [known.AP for known in read_lines(path)] == [0.2]

    def test_lines_of_unknown_data_sets_and_files_of_fewer_columns_are_kept(self, tmp_path):
        path = tmp_path / "results.csv"
        path.write_text(
            "dataset,method,seed,seconds,AP,accuracy,f1_samples,f1_micro,f1_macro\n"
            "mine,ours,0,1,.5,.5,.5,.5,.5\n"
        )
        add_line(path, line("emotions", "default"))
        assert [known.dataset for known in read_lines(path)] == ["mine", "emotions"]
        assert "mine" not in TABLES["results"](read_lines(path))

    def test_a_file_of_something_else_is_refused(self, tmp_path):
        path = tmp_path / "results.csv"
        path.write_text("a,b\n1,2\n")
        with pytest.raises(ValueError, match="is no file of results: it lacks dataset, method"):
            read_lines(path)
        add_line(tmp_path / "good.csv", line("emotions", "default"))
        text = (tmp_path / "good.csv").read_text()
        path.write_text(text.replace("12.34568", "soon"))
        with pytest.raises(ValueError, match="line 2: could not convert string to float: 'soon'"):
            read_lines(path)


class TestTables:
    def test_rows_are_means_over_the_seeds_and_say_how_many(self):
        lines = [line("emotions", "default", seed, value) for seed, value in ((0, 0.2), (1, 0.4))]
        (row,) = rows_of(TABLES["results"](lines))[2:]
        assert row == ["Emotions", "`MrMPClassifier()`", "2", *[".300"] * 5, "12"]

    def test_the_highest_mean_of_a_data_set_is_bold(self):
        lines = [line("emotions", "default", value=0.9), line("emotions", "voters", value=0.8)]
        voters, default = rows_of(TABLES["results"](lines))[2:]
        assert voters[3] == ".800"
        assert default[3] == "**.900**"
        assert voters[0] == "Emotions"
        assert default[0] == ""

    def test_the_short_table_has_all_data_sets_and_two_methods(self):
        lines = [line(name, method) for name in DATASETS for method in METHODS]
        short = rows_of(TABLES["results-short"](lines))[2:]
        assert [row[0] for row in short[::2]] == [its.title for its in DATASETS.values()]
        assert len(short) == 2 * len(DATASETS)
        alone = [line("emotions", "default"), line("birds", "default"), line("birds", "regression")]
        assert [row[0] for row in rows_of(TABLES["results-short"](alone))[2:]] == ["Birds", ""]

    def test_the_table_of_texts_has_the_network_alone(self):
        more = {"AP_macro": 0.4, "AP_network": 0.3, "AP_macro_network": 0.2}
        rows = rows_of(TABLES["results-texts"]([line("cooking", "default", **more)]))[2:]
        assert rows[0][3:5] == [".500", ".400"]
        assert rows[1][1:5] == ["… its network alone", "1", ".300", ".200"]
        assert len(rows_of(TABLES["results-texts"]([line("emotions", "default")]))) == 2

    def test_all_rows_of_a_table_have_the_cells_of_its_head(self):
        more = {"AP_macro": 0.4, "AP_network": 0.3, "AP_macro_network": 0.2}
        lines = [line(name, method, **more) for name in DATASETS for method in METHODS]
        for table in TABLES.values():
            assert len({len(row) for row in rows_of(table(lines))}) == 1


class TestPages:
    def page(self, tmp_path, text):
        path = tmp_path / "page.md"
        path.write_bytes(text.encode())
        return path

    def test_tables_stand_between_their_marks_and_the_rest_stays(self, tmp_path):
        text = (
            "before ä\r\n<!-- results: begin -->\nold\n<!-- results: end -->\nbetween\n"
            "<!-- results-times: begin -->\n<!-- results-times: end -->\nbehind"
        )
        page, lines = self.page(tmp_path, text), [line("emotions", "default")]
        write_pages(changed_pages([page], lines))
        found = page.read_bytes().decode()
        assert found.startswith("before ä\r\n<!-- results: begin -->\n\n| data set |")
        assert TABLES["results-times"](lines) in found
        assert "old" not in found
        assert found.endswith("<!-- results-times: end -->\nbehind")
        assert changed_pages([page], lines) == {}
        assert [*changed_pages([page], [line("emotions", "voters")])] == [page]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("no marks", "has no mark of a table"),
            ("<!-- results-all: begin -->\n", "there is no table 'results-all'"),
            ("<!-- results: begin -->\n", "there is no <!-- results: end -->"),
        ],
    )
    def test_marks_that_are_wrong_are_told(self, tmp_path, text, message):
        with pytest.raises(ValueError, match=message):
            changed_pages([self.page(tmp_path, text)], [])

    def test_pages_without_marks_are_no_pages_of_results(self, tmp_path):
        page = self.page(tmp_path, "<!-- results: begin -->\n<!-- results: end -->\n")
        assert pages_with_tables([page, tmp_path / "absent.md"]) == [page]
        page.write_text("none")
        with pytest.raises(ValueError, match="Name the pages with --pages"):
            pages_with_tables([page])


class TestFits:
    def test_the_first_seeds_come_first_and_methods_suit_their_data(self):
        fits = chosen_fits(["emotions", "cooking"], ["words", "default"], 2, with_encoder=True)
        assert fits == [
            Fit("emotions", "default", 0),
            Fit("cooking", "words", 0),
            Fit("cooking", "default", 0),
            Fit("emotions", "default", 1),
            Fit("cooking", "words", 1),
            Fit("cooking", "default", 1),
        ]

    def test_without_an_encoder_methods_that_need_one_are_left_out(self):
        assert not is_for("default", "cooking", with_encoder=False)
        assert is_for("default", "emotions", with_encoder=False)
        assert is_for("words", "cooking", with_encoder=False)

    @pytest.mark.parametrize("method", [m for m in METHODS if METHODS[m].of_features])
    def test_features_are_fitted_and_scored(self, method, tiny_sets):
        found = measured(Fit("emotions", method, 1), Sources())
        assert found.key == ("emotions", method, 1)
        assert found.seconds > 0
        for name in ("AP", "AP_macro", "accuracy", "f1_samples", "f1_micro", "f1_macro"):
            assert 0 <= getattr(found, name) <= 1
        assert math.isnan(found.AP_network) == (method != "default")

    @pytest.mark.parametrize("method", METHODS)
    def test_texts_are_fitted_and_scored(self, method, tiny_sets, tmp_path):
        pytest.importorskip("transformers")
        for part in tiny_encoder([*WORDS.values()]):
            part.save_pretrained(tmp_path / "encoder")
        sources = Sources(None, str(tmp_path / "encoder"), tmp_path / "states")
        found = measured(Fit("cooking", method, 0), sources)
        assert found.AP > 0.5  # the words tell the label
        assert (tmp_path / "states").exists() == METHODS[method].encodes

    def test_seeds_repeat(self, tiny_sets):
        first, second = (measured(Fit("emotions", "voters", 3), Sources()) for _ in range(2))
        scores = [[getattr(found, name) for name in SCORES] for found in (first, second)]
        assert scores[0] == scores[1]

    def test_a_fit_has_a_process_of_its_own_and_its_error_comes_back(self, tmp_path):
        with pytest.raises(OSError, match="emotions"):
            fit_in_process(Fit("emotions", "voters", 0), Sources(tmp_path))


class TestPicture:
    def test_only_complete_data_sets_are_ranked_and_no_rows_twice(self):
        lines = [line(name, method) for name in DATASETS for method in picture.RANKED]
        ranked = picture.ranked_sets([x for x in lines if x.key != ("birds", "voters", 0)])
        assert "birds" not in ranked
        assert "reuters" in ranked
        assert "reuters-texts" not in ranked
        without = [x for x in lines if x.dataset != "reuters"]
        assert "reuters-texts" in picture.ranked_sets(without)

    def test_it_is_drawn(self, tmp_path):
        pytest.importorskip("matplotlib")
        lines = [
            line(name, method, value=0.1 * place)
            for name in DATASETS
            for place, method in enumerate(picture.RANKED, 1)
        ]
        picture.draw_ranks(lines, tmp_path / "ranks.png")
        assert (tmp_path / "ranks.png").stat().st_size > 1_000


def numbers(text):
    return [int(part.replace(",", "")) for part in text.split() if part[0].isdigit()]


@pytest.mark.data
@pytest.mark.parametrize("name", DATASETS)
def test_data_sets_are_as_large_as_the_tables_say(name, data_home):
    X, Y, _, Y_test = DATASETS[name].load(data_home)
    shape = [len(Y), Y.shape[1]]
    if not DATASETS[name].texts:
        shape.insert(1, X.shape[1])
    assert numbers(DATASETS[name].rows) == shape
    assert Y_test.shape[1] == Y.shape[1]

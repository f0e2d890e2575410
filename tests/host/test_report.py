"""What a fit says of its stages: whole lines, with a place and a time, or nothing."""

import pickle
import sys

import pytest

from sklearn_mrmp._host.report import SILENT, Report, duration
from sklearn_mrmp._host.tasks import FitTask


class Clock:
    """Each look at it comes a quarter of a second after the one before."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.25
        return self.now


def test_a_stage_says_what_was_done_and_how_long_it_took(capsys):
    with Report(1, clock=Clock()).stage("label graph: learned"):
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out == "[sklearn_mrmp] label graph: learned in 0.25 s\n"


def test_parts_carry_their_numbers_unless_there_is_only_one(capsys):
    report = Report(1).one_of("fold", 1, 5).one_of("member", 0, 3)
    report.say("network: trained")
    Report(1).one_of("fold", 0, 1).say("network: trained")
    assert capsys.readouterr().out.splitlines() == [
        "[sklearn_mrmp] fold 2 of 5, member 1 of 3: network: trained",
        "[sklearn_mrmp] network: trained",
    ]


def test_steps_say_how_long_the_others_will_take_unless_they_are_short(capsys):
    class Slow(Clock):
        def __call__(self):
            self.now += 1.5
            return self.now

    for clock in (Clock(), Slow()):
        steps = Report(1, clock=clock).each("abc", "voters")
        assert list(steps) == ["a", "b", "c"]
    # The first second and a half are no reason to speak, and after the last step nothing is left.
    assert capsys.readouterr().out == "[sklearn_mrmp] voters: 2 of 3 done, about 1.5 s left\n"


def test_tasks_are_told_where_somebody_listens_and_not_in_other_processes():
    class Context:
        """Writes down which tasks begin and end, with its name and depth."""

        def __init__(self, written, name="fit"):
            self.written, self.name = written, name

        def subcontext(self, task_name, max_subtasks):
            return Context(self.written, f"{self.name}/{task_name}:{max_subtasks}")

        def call_on_fit_task_begin(self, estimator):
            self.written.append(f"begin {self.name}")

        def call_on_fit_task_end(self, estimator):
            self.written.append(f"end {self.name}")

    written = []
    report = Report(doing=FitTask(Context(written), None))
    with report.task("train", 2) as inner, inner.task("epoch"):
        pass
    with report.alone().task("nobody listens") as same:
        assert same.doing is None
    begins = ["begin fit/train:2", "begin fit/train:2/epoch:0"]
    assert written == [*begins, "end fit/train:2/epoch:0", "end fit/train:2"]


def test_nothing_is_said_unless_asked(capfd):
    for report in (SILENT, Report(0).at("refit"), Report(False)):
        report.say("a word")
        with report.stage("a stage"):
            pass
    assert capfd.readouterr() == ("", "")


def test_a_stage_that_fails_leaves_the_word_to_the_error(capsys):
    with pytest.raises(RuntimeError, match="no such luck"), Report(1).stage("voter: fitted"):
        raise RuntimeError("no such luck")
    assert capsys.readouterr().out == ""


def test_a_line_is_written_in_one_piece_and_flushed(monkeypatch):
    calls = []

    class Stream:
        def write(self, text):
            calls.append(text)

        def flush(self):
            calls.append("flush")

    monkeypatch.setattr(sys, "stdout", Stream())
    Report(1).say("rows: read")
    assert [call for call in calls if call] == ["[sklearn_mrmp] rows: read\n", "flush"]


def test_there_may_be_no_output_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)  # as in programs with windows only
    Report(1).say("rows: read")


def test_a_report_travels_to_other_processes():
    report = Report(1).one_of("fold", 1, 2)
    assert pickle.loads(pickle.dumps(report)) == report


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.00 s"), (59.96, "60.0 s"), (120, "2.0 minutes"), (7200, "2.0 hours")],
)
def test_times_are_told_in_the_unit_that_suits_them(seconds, text):
    assert duration(seconds) == text

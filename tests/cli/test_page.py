"""The commands of the user guide's page run as printed."""

import re
import shlex
from pathlib import Path

from tests.cli.conftest import read_jsonl, read_table

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"


def commands(text):
    """Arguments of each command in a block for the shell."""
    for block in re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield from (shlex.split(line)[1:] for line in block.splitlines())


def test_the_commands_of_the_page_run_in_order(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    exec(re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1], {})
    done = []
    for arguments in commands(text):
        quick = ["--voters", "linear"] if arguments[0] == "fit" else []
        status, printed = run(*arguments, *quick)
        assert status == 0, (arguments, printed.err)
        done.append(arguments[0])
    assert done == ["fit", "predict", "predict", "graph", "graph", "report", "explain"]
    assert [row["id"] for row in read_table(tmp_path / "tagged.csv")] == ["1", "2"]
    assert [set(row["scores"]) for row in read_jsonl(tmp_path / "tagged.jsonl")] == [
        {"desert", "sea", "ship"}
    ] * 2
    assert read_table(tmp_path / "edges.csv")

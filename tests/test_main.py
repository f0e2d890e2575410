"""``python -m sklearn_mrmp`` as a person starts it."""

import subprocess
import sys


def test_help_names_the_commands():
    command = [sys.executable, "-m", "sklearn_mrmp", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "compare" in shown

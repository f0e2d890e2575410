"""Device placement of every architecture; see `device_checks`, which needs a process of its own."""

import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).with_name("device_checks.py")


def test_networks_train_and_predict_on_the_device_they_are_on():
    """torch takes up a device that is made up only before it has computed any gradient."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CHECKS)]
    options = ["-o", f"python_files={CHECKS.name}", "-p", "no:xdist"]
    root = CHECKS.parents[2]
    done = subprocess.run(
        [*command, *options], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "51 passed" in done.stdout

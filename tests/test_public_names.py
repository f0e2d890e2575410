"""What `import sklearn_mrmp` offers, and what it costs."""

import subprocess
import sys

import pytest

import sklearn_mrmp


def test_every_public_name_exists_and_is_documented():
    for name in sklearn_mrmp.__all__:
        assert getattr(sklearn_mrmp, name).__doc__, name
    assert set(sklearn_mrmp.__all__) == set(dir(sklearn_mrmp))


def test_unknown_names_raise():
    with pytest.raises(AttributeError, match="no attribute 'MrMP'"):
        _ = sklearn_mrmp.MrMP


def test_torch_is_loaded_only_with_the_classifier_that_needs_it():
    code = (
        "import sys, sklearn_mrmp, sklearn_mrmp.datasets; early = 'torch' in sys.modules;"
        "sklearn_mrmp.MrMPClassifier; print(early, 'torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "True"]

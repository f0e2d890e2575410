"""Missing extras are named."""

import json

import pytest

from sklearn_mrmp._host.optional import import_optional


def test_returns_the_module():
    assert import_optional("json", "plot") is json


def test_says_which_extra_installs_a_missing_package():
    with pytest.raises(ImportError, match=r"needs no_such_package.*sklearn-mrmp\[plot\]"):
        import_optional("no_such_package.sub", "plot")

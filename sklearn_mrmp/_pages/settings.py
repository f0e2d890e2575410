"""What a page says about how its numbers came about: settings, and versions of packages."""

import platform
from importlib.metadata import PackageNotFoundError, version

from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._pages.template import Section
from sklearn_mrmp._version import __version__

_PACKAGES = ("scikit-learn", "torch", "skorch", "scipy", "numpy", "joblib")


def settings_section(settings):
    """Return a section with settings and versions.

    Parameters
    ----------
    settings : mapping of str to str
        What to say, by name.

    Returns
    -------
    section : Section
    """
    tables = [
        html_table([head, ""], [[name, text] for name, text in rows.items()], css_class="two")
        for head, rows in (("setting", settings), ("package", package_versions()))
    ]
    return Section("Settings and versions", "<br>".join(tables))


def package_versions():
    """Return the versions of Python, this package and those it needs; nothing is imported."""
    found = {"Python": platform.python_version(), "sklearn-mrmp": __version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # used from a folder that was never installed
            found[package] = "unknown"
    return found

"""Sphinx configuration."""

import sklearn_mrmp

project = "sklearn-mrmp"
author = "the sklearn-mrmp developers"
copyright = f"2026, {author}"
release = version = sklearn_mrmp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
copybutton_prompt_text = ">>> "

html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False}
html_title = "sklearn-mrmp"

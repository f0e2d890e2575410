"""Sphinx configuration."""

import os
import sys
from pathlib import Path

import sklearn_mrmp

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_order and sitemap

SITE = "https://sklearn-mrmp.github.io/sklearn-mrmp"
# Which pages these are: "stable" for a release, "dev" for everything else.
SHOWN_AS = os.environ.get("SKLEARN_MRMP_DOCS_VERSION", "dev")

project = "sklearn-mrmp"
author = "the sklearn-mrmp developers"
copyright = f"2026, {author}"
release = version = sklearn_mrmp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sitemap",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"  # "fit()", since "MrMPClassifier.fit()" is cut off
numpydoc_show_class_members = False
copybutton_prompt_text = ">>> "

# Links into the documentation of others need the network, which building these pages does not.
intersphinx_mapping = {}
if os.environ.get("SKLEARN_MRMP_DOCS_LINKS"):
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "skorch": ("https://skorch.readthedocs.io/en/stable", None),
        "torch": ("https://docs.pytorch.org/docs/stable", None),
    }

# `Names` in single backticks, in docstrings and examples, are code.
default_role = "code"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"compare_baselines",  # a notebook, shown as such
    "within_subsection_order": "gallery_order.example_order",
    "capture_repr": (),
    "write_computation_times": False,
    "download_all_examples": False,
    "image_srcset": ["2x"],
}

html_theme = "pydata_sphinx_theme"
html_baseurl = f"{SITE}/{SHOWN_AS}/"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 4,  # more do not fit into one line of a laptop's screen
    "github_url": "https://github.com/sklearn-mrmp/sklearn-mrmp",
    "switcher": {"json_url": f"{SITE}/switcher.json", "version_match": SHOWN_AS},
    "check_switcher": False,  # it would ask the network
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
}
html_title = "sklearn-mrmp"
# Pages without pages below them: an empty navigation would take room from the text.
html_sidebars = {
    page: [] for page in ("architecture", "contributing", "faq", "glossary", "promises", "versions")
}
html_static_path = ["_static"]
html_css_files = ["custom.css"]

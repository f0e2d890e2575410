"""Multi-label classification with learned label relations, for scikit-learn."""

__version__ = "0.1.0"

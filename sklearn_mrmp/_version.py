"""The version of the package. Leaf module."""

__version__ = "0.1.0"

"""Rows that come later: fits that go on from an earlier one, and ``partial_fit``."""

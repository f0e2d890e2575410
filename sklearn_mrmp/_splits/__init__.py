"""Splits of the rows that keep label frequencies: folds, shuffled parts, and one split in two.

The strata are labels, or labels and pairs of them. Knows numpy, scipy and scikit-learn's splitters;
nothing of models.
"""

"""Comparisons, the ablation of relations, and the command line."""

"""How good a classifier is, label by label."""

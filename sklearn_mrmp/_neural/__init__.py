"""Classifiers with a network behind them: what they check, learn, store and predict."""

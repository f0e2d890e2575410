"""TunedDecisionClassifier: its public face, and the steps of its fit."""

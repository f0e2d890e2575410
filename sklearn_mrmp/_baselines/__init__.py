"""The paper's classical baselines, and problem transformations to compare with."""

"""Statistics over seeds, and what metrics are called."""

import numpy as np

PAPER_NAMES = {"accuracy": "ACC", "f1_samples": "ebF1", "f1_micro": "miF1", "f1_macro": "maF1"}


def mean(values):
    """Mean of the seeds' values; NaN when there are none."""
    return float(values.mean()) if len(values) else np.nan


def deviation(values):
    """Sample standard deviation over seeds; NaN for fewer than two."""
    return float(values.std(ddof=1)) if len(values) > 1 else np.nan

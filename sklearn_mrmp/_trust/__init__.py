"""Whether to trust probabilities and labels: calibration, prediction sets, label errors."""

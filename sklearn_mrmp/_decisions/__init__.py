"""From probabilities to label sets: thresholds, rules, and operating points. numpy and scipy."""

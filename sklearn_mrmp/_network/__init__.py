"""skorch and torch: batches, training and prediction of a network."""

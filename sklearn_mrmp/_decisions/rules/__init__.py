"""One decision rule for each idea of how scores become label sets."""

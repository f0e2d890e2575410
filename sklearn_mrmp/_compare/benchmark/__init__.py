"""The table of results: public data sets, methods, measured fits, and the pages that show them."""

"""Pictures in scikit-learn's Display style, one per file; matplotlib is imported when drawing."""

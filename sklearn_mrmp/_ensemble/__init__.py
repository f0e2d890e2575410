"""The voters together: fitted, weighed, cross-fitted. numpy, scipy and joblib."""

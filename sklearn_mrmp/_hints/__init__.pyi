"""Type hints of the public names, for editors and type checkers; nothing here exists at run time.

Hints are apart from the code since decorators of scikit-learn hide the signatures of the methods
that they decorate. ``tests/hints/test_type_hints.py`` compares them with the code.
"""

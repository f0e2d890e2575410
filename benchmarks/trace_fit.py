"""What a default fit walks through: files, functions, and work on the same rows.

Run ``python benchmarks/trace_fit.py``; ``--cv 2`` traces cross-fitting. Calls are counted, so the
figures do not depend on the machine.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import make_related_labels

PACKAGE = Path(sklearn_mrmp.__file__).parent

# What is counted, by file and function.
CALLS = {
    "rows made canonical (as_csr)": ("_numerics/sparse.py", "as_csr"),
    "rows turned into tokens": ("_input/features.py", "tokens"),
    "representations for linear models fitted": ("_input/presentation.py", "fit"),
    "rows presented to linear models": ("_input/presentation.py", "transform"),
    "votes of the linear voter": ("_voters/linear.py", "logits"),
    "look-ups of neighbours": ("_voters/neighbors.py", "_look_up"),
    "votes of the network (held-out rows)": ("_network/voter.py", "logits"),
    "labels and scores validated": ("_decisions/validation_rows.py", "check"),
    "label sets collected": ("_decisions/label_set_model.py", "of"),
}


class Trace:
    """Counts calls of the package's functions, by file."""

    def __init__(self):
        self.functions, self.edges = Counter(), set()

    def __call__(self, frame, event, argument):
        """Note a call; see `sys.setprofile`."""
        here = self._place(frame) if event == "call" else None
        if here is None:
            return
        self.functions[here] += 1
        there = frame.f_back and self._place(frame.f_back)
        if there and there[0] != here[0]:
            self.edges.add((there[0], here[0]))

    @staticmethod
    def _place(frame):
        path = Path(frame.f_code.co_filename)
        if PACKAGE not in path.parents:
            return None
        return path.relative_to(PACKAGE).as_posix(), frame.f_code.co_name


def main():
    """Trace a fit and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cv", type=int, default=None)
    cv = parser.parse_args().cv
    X, Y, _ = make_related_labels(300, 8, n_features=60, random_state=0)
    options = {} if cv is None else {"cv": cv}
    clf = MrMPClassifier(d_model=16, max_epochs=2, n_threads=1, random_state=0, **options)
    clf.fit(X[:50], Y[:50])  # what is imported late is there now
    trace = Trace()
    sys.setprofile(trace)
    try:
        clf.fit(X, Y)
    finally:
        sys.setprofile(None)
    print(f"files entered: {len({file for file, _ in trace.functions})}")
    print(f"distinct functions: {len(trace.functions)}")
    print(f"file-to-file edges: {len(trace.edges)}")
    for name, place in CALLS.items():
        print(f"{name}: {trace.functions[place]}")


if __name__ == "__main__":
    main()

"""A stranger's first minutes with an installed package and no extra; see release_check.py."""

import importlib.util
import subprocess
import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import sklearn_mrmp
from sklearn_mrmp.datasets import make_related_labels

warnings.simplefilter("error", FutureWarning)
assert "site-packages" in sklearn_mrmp.__file__, sklearn_mrmp.__file__
for extra in ("matplotlib", "pandas", "transformers", "pytest"):  # torch brings networkx
    assert importlib.util.find_spec(extra) is None, f"{extra} is installed; this proves nothing"
for name in sklearn_mrmp.__all__:
    assert getattr(sklearn_mrmp, name).__doc__, name

X, Y, _ = make_related_labels(200, 6, n_features=40, random_state=0)
clf = sklearn_mrmp.MrMPClassifier(d_model=16, max_epochs=2, random_state=0).fit(X, Y)
assert clf.predict(X).shape == Y.shape
clf.save("model.safetensors")
loaded = sklearn_mrmp.load("model.safetensors")
assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))

one_vs_rest = OneVsRestClassifier(LogisticRegression())
tuned = sklearn_mrmp.TunedDecisionClassifier(one_vs_rest, cv=3).fit(X, Y)
result = sklearn_mrmp.compare_classifiers(
    {"tuned": tuned, "ML-KNN": sklearn_mrmp.MLKNNClassifier()},
    X[:150],
    Y[:150],
    X[150:],
    Y[150:],
    isolate=False,
)
assert "ML-KNN" in result.to_markdown()

for missing, call in {
    "plot": lambda: sklearn_mrmp.LabelGraphDisplay.from_estimator(clf),
    "data": result.to_frame,
}.items():
    try:
        call()
    except ImportError as error:
        assert f"sklearn-mrmp[{missing}]" in str(error), error
    else:
        raise AssertionError(f"{missing} is missing, and nothing was said")

shown = subprocess.run(
    [sys.executable, "-m", "sklearn_mrmp", "--help"], capture_output=True, text=True, check=True
)
assert "compare" in shown.stdout
print(f"sklearn-mrmp {sklearn_mrmp.__version__} works without extras.")

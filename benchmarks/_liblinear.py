"""LIBLINEAR from PyPI, one regression per label; run by the Python of an environment that has it.

    PYTHON benchmarks/_liblinear.py FOLDER STRENGTH TOLERANCE

FOLDER holds X.npz, Y.npz and valid.npz. It writes logits.npy there and prints processor seconds.
"""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem, train

folder, options = Path(sys.argv[1]), f"-s 0 -c {sys.argv[2]} -e {sys.argv[3]} -B 1 -R -q"
X, Y, X_valid = (sp.csr_matrix(sp.load_npz(folder / f"{name}.npz")) for name in ("X", "Y", "valid"))
X, Y = X.astype(np.float64), Y.toarray()
logits = np.empty((X_valid.shape[0], Y.shape[1]))
task = problem(Y[:, 0], X, bias=1)
start = time.process_time()
for label in range(Y.shape[1]):
    # The rows are handed over once: for each label anew, that took most of the time.
    np.ctypeslib.as_array(task.y, (len(Y),))[:] = Y[:, label]
    model = train(task, parameter(options))
    weights, bias = model.get_decfun(0)
    sign = 1 if model.get_labels()[0] == 1 else -1
    logits[:, label] = sign * (X_valid @ np.array(weights) + bias)
print(time.process_time() - start)
np.save(folder / "logits.npy", logits)

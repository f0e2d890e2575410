"""The programs of docs/scaling.md that predict many rows run as they are printed there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sklearn_mrmp
from sklearn_mrmp import MLKNNClassifier

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```python\n# (predict_\w+)\.py\n(.*?)^```$", PAGE, re.M | re.S))
NEEDS = {
    "predict_pool": (),
    "predict_dask": ("dask.distributed",),
    "predict_ray": ("ray.data", "pandas"),
    "predict_spark": ("pyspark", "pandas", "pyarrow"),
}


def test_every_program_of_the_page_is_tested():
    assert PROGRAMS.keys() == NEEDS.keys()


@pytest.mark.parametrize("name", NEEDS)
def test_a_program_predicts_what_the_model_predicts(name, related, tmp_path):
    for module in NEEDS[name]:
        pytest.importorskip(module)
    X, Y = related
    MLKNNClassifier(3).fit(X, Y).save(tmp_path / "model.safetensors")
    many = sp.vstack([X] * 15, format="csr")  # more than two blocks
    sp.save_npz(tmp_path / "rows.npz", many)
    (tmp_path / f"{name}.py").write_text(PROGRAMS[name], encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    environment |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, f"{name}.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    expected = sklearn_mrmp.load(tmp_path / "model.safetensors").predict_proba(many)
    found = np.load(tmp_path / "probabilities.npy")
    np.testing.assert_array_equal(found, expected.astype(found.dtype))

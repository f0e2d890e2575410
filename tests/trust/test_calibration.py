"""Calibration of labels: what it repairs, what it leaves alone, and how careful it is."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.base import clone

from sklearn_mrmp import LabelCalibrator, calibrate_labels, load, save

METHODS = ["sigmoid", "isotonic"]
each_method = pytest.mark.parametrize("method", METHODS)


def drawn(n_samples, rates=(0.1, 0.3, 0.5), seed=0):
    """True probabilities of each entry, and labels drawn by them."""
    rng = np.random.RandomState(seed)
    P = expit(logit(np.asarray(rates)) + rng.normal(size=(n_samples, len(rates))))
    return P, rng.rand(*P.shape) < P


def log_loss(Y, P):
    return -np.log(np.where(Y, P, 1 - P)).mean()


@each_method
@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 10.0, np.inf])
def test_a_distortion_of_all_labels_is_undone(method, shrinkage):
    P, Y = drawn(4000)
    distorted = expit(3 * logit(P) + 1)
    calibrator = LabelCalibrator(method=method, shrinkage=shrinkage).fit(distorted, Y)
    P_new, Y_new = drawn(4000, seed=1)
    calibrated = calibrator.transform(expit(3 * logit(P_new) + 1))
    assert log_loss(Y_new, calibrated) < log_loss(Y_new, P_new) * 1.02
    assert np.abs(calibrated - P_new).mean() < 0.03


@each_method
def test_a_distortion_of_one_label_needs_maps_of_single_labels(method):
    P, Y = drawn(4000)
    distorted = expit(logit(P) + [0, 0, -4])
    P_new, Y_new = drawn(4000, seed=1)
    new = expit(logit(P_new) + [0, 0, -4])
    losses = {
        shrinkage: log_loss(Y_new, calibrate_labels(Y, distorted, new, **options))
        for shrinkage in ("auto", np.inf)
        for options in [{"method": method, "shrinkage": shrinkage}]
    }
    assert losses["auto"] < log_loss(Y_new, P_new) * 1.03
    assert losses["auto"] < losses[np.inf]


@each_method
def test_the_weight_of_a_label_grows_with_its_positive_rows(method):
    P, Y = drawn(200, rates=(0.02, 0.2, 0.5))
    calibrator = LabelCalibrator(method=method, shrinkage=10.0).fit(P, Y)
    counts = Y.sum(axis=0)
    np.testing.assert_allclose(calibrator.weights_, counts / (counts + 10))
    pooled = LabelCalibrator(method=method, shrinkage=np.inf).fit(P, Y)
    own = LabelCalibrator(method=method, shrinkage=0.0).fit(P, Y)
    w = calibrator.weights_
    expected = w * own.transform(P) + (1 - w) * pooled.transform(P)
    np.testing.assert_allclose(calibrator.transform(P), expected)


@each_method
def test_a_label_that_is_never_or_always_there_gets_the_map_of_all(method):
    P, Y = drawn(100)
    Y[:, 0], Y[:, 1] = False, True
    calibrator = LabelCalibrator(method=method, shrinkage=0.0).fit(P, Y)
    assert calibrator.weights_.tolist() == [0.0, 0.0, 1.0]
    pooled = LabelCalibrator(method=method, shrinkage=np.inf).fit(P, Y).transform(P)
    np.testing.assert_array_equal(calibrator.transform(P)[:, :2], pooled[:, :2])


@each_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_rows_is_kept_within_each_label(method, dtype):
    P, Y = drawn(300)
    P = P.astype(dtype)
    calibrated = LabelCalibrator(method=method).fit(P, Y).transform(P)
    assert calibrated.dtype == dtype
    for before, after in zip(P.T, calibrated.T, strict=True):
        assert (np.diff(after[np.argsort(before, kind="stable")]) >= 0).all()
    assert ((calibrated > 0) & (calibrated < 1)).all()


@each_method
def test_unknown_entries_take_no_part(method):
    P, Y = drawn(120)
    expected = LabelCalibrator(method=method, shrinkage=5.0).fit(P[:100], Y[:100]).transform(P)
    Y_unknown, P_unknown = Y.astype(float), P.copy()
    Y_unknown[100:110], P_unknown[110:] = np.nan, np.nan
    found = LabelCalibrator(method=method, shrinkage=5.0).fit(P_unknown, Y_unknown)
    np.testing.assert_allclose(found.transform(P), expected, rtol=1e-6)
    assert np.isnan(found.transform(P_unknown)[110:]).all()


@each_method
@pytest.mark.parametrize("shrinkage", ["auto", 3, np.inf])
def test_files_keep_what_was_learned(method, shrinkage, tmp_path):
    P, Y = drawn(100)
    calibrator = LabelCalibrator(method=method, shrinkage=shrinkage).fit(P, Y)
    save(calibrator, tmp_path / "calibrator")
    loaded = load(tmp_path / "calibrator")
    np.testing.assert_array_equal(loaded.transform(P), calibrator.transform(P))
    assert clone(loaded).get_params() == calibrator.get_params()


def test_sparse_labels_and_data_frames_give_the_same():
    pd = pytest.importorskip("pandas")
    P, Y = drawn(100)
    expected = LabelCalibrator().fit(P, Y).transform(P)
    found = LabelCalibrator().fit(P, sp.csr_array(Y.astype(int))).transform(P)
    np.testing.assert_array_equal(found, expected)
    frames = pd.DataFrame(P[:, ::-1], columns=list("cba")), pd.DataFrame(Y, columns=list("abc"))
    np.testing.assert_array_equal(LabelCalibrator().fit(*frames).transform(P), expected)


@pytest.mark.parametrize("rows", [1, 3])
@each_method
def test_hardly_any_rows_are_enough(method, rows):
    P, Y = drawn(rows)
    Y[0] = True
    assert LabelCalibrator(method=method).fit(P, Y).transform(P).shape == P.shape


def test_what_cannot_be_used_is_refused():
    P, Y = drawn(20)
    with pytest.raises(ValueError, match="probabilities from 0 to 1"):
        LabelCalibrator().fit(logit(P), Y)
    with pytest.raises(ValueError, match="same shape"):
        LabelCalibrator().fit(P, Y[:, 1:])
    with pytest.raises(ValueError, match="fitted with 3"):
        LabelCalibrator().fit(P, Y).transform(P[:, 1:])
    with pytest.raises(ValueError, match="method"):
        LabelCalibrator(method="beta").fit(P, Y)

"""`MPVAEClassifier`: the covariance it learned, and the publication's settings."""

import numpy as np
import pytest

from sklearn_mrmp import LabelGraphDisplay, MPVAEClassifier
from tests.peers.networks import mpvae


def test_the_covariance_is_that_of_a_probit(related):
    covariance = mpvae(covariance_rank=2).fit(*related).label_covariance_
    np.testing.assert_array_equal(covariance, covariance.T)
    beside_the_diagonal = np.linalg.eigvalsh(covariance - np.eye(6))
    np.testing.assert_allclose(beside_the_diagonal[:4], 0.0, atol=1e-5)
    assert (beside_the_diagonal[4:] > 0).all()


def test_the_covariance_graph_has_the_signs_and_sizes_of_correlations(related):
    clf = mpvae().fit(*related)
    covariance = clf.label_covariance_
    correlation = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    np.fill_diagonal(correlation, 0.0)
    graph = clf.covariance_graph(min_correlation=0.0)
    signed = (graph.relations["pulling"] - graph.relations["pushing"]).toarray()
    np.testing.assert_allclose(signed, correlation, atol=1e-6)
    cut = np.median(np.abs(correlation))
    fewer = clf.covariance_graph(min_correlation=cut)
    n_edges = sum(adjacency.nnz for adjacency in fewer.relations.values())
    assert 0 < n_edges < sum(adjacency.nnz for adjacency in graph.relations.values())


def test_the_covariance_graph_can_be_drawn_with_label_names(related):
    plt = pytest.importorskip("matplotlib.pyplot")
    pd = pytest.importorskip("pandas")
    plt.switch_backend("Agg")
    X, Y = related
    names = [f"topic {number}" for number in range(6)]
    graph = mpvae().fit(X, pd.DataFrame(Y, columns=names)).covariance_graph(0.01)
    assert graph.label_names.tolist() == names
    LabelGraphDisplay.from_graph(graph)
    plt.close("all")


def test_it_has_no_covariance_before_fit():
    with pytest.raises(ValueError, match="not fitted"):
        mpvae().covariance_graph()


def test_the_papers_settings(related):
    clf = MPVAEClassifier.paper("Delicious")
    assert (clf.lr, clf.n_samples, clf.likelihood_loss, clf.ranking_loss) == (5e-4, 5, 10.0, 0.1)
    assert (clf.d_model, clf.d_inner, clf.d_latent, clf.covariance_rank) == (256, 512, 50, None)
    assert MPVAEClassifier.paper().n_samples == 100
    small = MPVAEClassifier.paper(d_model=8, d_inner=8, max_epochs=1).fit(*related)
    assert small.net_.module_.norms is None
    assert small.net_.module_.loadings.shape == (6, 6)

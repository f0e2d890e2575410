"""Where labels are drawn."""

import numpy as np
import pytest

from sklearn_mrmp._pages.layout import force_layout

NO_LINKS = np.array([], dtype=int)


def two_cliques(size=6):
    i, j = np.triu_indices(size, k=1)
    return np.concatenate([i, i + size]), np.concatenate([j, j + size])


def distances(places):
    return np.sqrt(((places[:, None] - places) ** 2).sum(axis=2))


def test_linked_nodes_are_nearer_than_others():
    source, target = two_cliques()
    apart = distances(force_layout(12, source, target, np.ones(len(source))))
    same = np.equal.outer(np.arange(12) // 6, np.arange(12) // 6)
    assert apart[same].mean() < 0.7 * apart[~same].mean()


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 50])
def test_all_nodes_are_inside_the_circle_and_no_two_in_one_place(n_nodes):
    places = force_layout(n_nodes, NO_LINKS, NO_LINKS, np.array([]))
    assert places.shape == (n_nodes, 2)
    assert (np.hypot(*places.T) <= 1.0 + 1e-5).all()
    apart = distances(places) + np.eye(n_nodes)
    assert apart.min() > 1e-3


def test_equal_graphs_are_drawn_alike():
    source, target = two_cliques()
    first, second = (force_layout(12, source, target, np.ones(len(source))) for _ in range(2))
    assert np.array_equal(first, second)


def test_blocks_do_not_change_the_forces(monkeypatch):
    from sklearn_mrmp._pages import layout

    places = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    whole = layout._repulsion(places)
    monkeypatch.setattr(layout, "_BLOCK", 100)
    np.testing.assert_allclose(layout._repulsion(places), whole, rtol=1e-4, atol=1e-4)
    apart = places[:, None] - places
    plain = apart / np.maximum((apart**2).sum(axis=2, keepdims=True), layout._NEAREST)
    np.testing.assert_allclose(plain.sum(axis=1), whole, rtol=1e-2, atol=1e-2)

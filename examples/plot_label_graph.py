"""
Reading a label graph
=====================

Which labels occur together, and which avoid each other? `label_graph` tests every pair of labels
and returns a graph that you can inspect and draw. It needs no classifier.
"""

# %%
# Learn it
# --------
# There are eight tags of 600 imaginary photographs. Ships are at sea, there is no snow on the
# beach, and cats are independent of all other tags.
import numpy as np

rng = np.random.default_rng(0)
n_photos = 600
sea = rng.random(n_photos) < 0.35
ship = sea & (rng.random(n_photos) < 0.3)
beach = sea & (rng.random(n_photos) < 0.5)
sunset = rng.random(n_photos) < np.where(sea, 0.35, 0.1)
snow = ~beach & (rng.random(n_photos) < 0.25)
skiing = snow & (rng.random(n_photos) < 0.4)
city = ~sea & (rng.random(n_photos) < 0.5)
cat = rng.random(n_photos) < 0.15
Y = np.column_stack([sea, ship, beach, sunset, snow, skiing, city, cat]).astype(int)
names = ["sea", "ship", "beach", "sunset", "snow", "skiing", "city", "cat"]

from sklearn_mrmp import LabelGraphDisplay, label_graph

graph = label_graph(Y, label_names=names, correction="fdr_bh", edge_weight="conditional")
print(graph)

# %%
# Draw it
# -------
# Pulling is blue, and pushing is red and dashed. The cat has no edge, since it is independent of
# the other tags. There are arrows because the weights have a direction.
LabelGraphDisplay.from_graph(graph)

# %%
# Inspect it
# ----------
# The weight of an edge i → j is ``|P(j | i) − P(j)|``: how much tag i changes the probability of
# tag j. With a ship, the sea is certain. With the sea, a ship is only more likely.
edges = graph.to_frame()
print(edges[["source", "target", "relation", "weight", "lift", "p_value"]].head(8).round(3))

ship_sea = graph.relations["pulling"][names.index("ship"), names.index("sea")]
sea_ship = graph.relations["pulling"][names.index("sea"), names.index("ship")]
print(f"\nship → sea {ship_sea:.2f},  sea → ship {sea_ship:.2f}")
print("sea pulls", graph.neighbors("sea", "pulling"))
print("sea pushes", graph.neighbors("sea", "pushing"))
print("skiing pulls", graph.neighbors("skiing", "pulling"))

# %%
# Why a correction
# ----------------
# Twenty labels have 190 pairs. At level 0.05, one in twenty pairs of *independent* labels passes
# the test. Here the true relations are known, so the false edges can be counted: precision is the
# share of edges that are true, recall the share of true relations that were found.
from sklearn_mrmp.datasets import make_related_labels

_, Y_drawn, planted = make_related_labels(2000, 20, random_state=0)
for correction in (None, "fdr_bh", "bonferroni"):
    found = planted.recovery(label_graph(Y_drawn, correction=correction))
    print(
        f"correction={correction!s:10}  {found.n_found:3d} pairs found,"
        f"  precision {found.precision:.2f},  recall {found.recall:.2f}"
    )

# %%
# Many labels
# -----------
# With more than about forty labels, a matrix is easier to read. It is ordered so that labels which
# pull each other are neighbours.
_, Y_many, _ = make_related_labels(3000, 60, n_features=300, random_state=1)
many = label_graph(Y_many, correction="fdr_bh")
LabelGraphDisplay.from_graph(many, kind="matrix")

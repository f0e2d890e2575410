"""Multi-label data sets: real ones from files, synthetic ones, and rows in other containers."""

from sklearn_mrmp.datasets._fetch import fetch_mulan, fetch_reuters21578
from sklearn_mrmp.datasets._mulan import load_mulan
from sklearn_mrmp.datasets._reuters import load_reuters21578
from sklearn_mrmp.datasets._sparse_lists import lists_to_sparse, sparse_to_lists
from sklearn_mrmp.datasets._sparse_rows import open_sparse_rows, save_sparse_rows
from sklearn_mrmp.datasets._synthetic import PlantedRelations, Recovery, make_related_labels
from sklearn_mrmp.datasets._tagged_texts import load_tagged_texts
from sklearn_mrmp.datasets._text_sets import load_goemotions, load_ohsumed

__all__ = [
    "PlantedRelations",
    "Recovery",
    "fetch_mulan",
    "fetch_reuters21578",
    "lists_to_sparse",
    "load_goemotions",
    "load_mulan",
    "load_ohsumed",
    "load_reuters21578",
    "load_tagged_texts",
    "make_related_labels",
    "open_sparse_rows",
    "save_sparse_rows",
    "sparse_to_lists",
]

"""The two that are timed: the package's network and the yardstick, on the same rows.

Helper of the benchmarks. A contestant trains and predicts given groups of rows; each group is a
batch for the package, and the yardstick mixes the rows of all groups, as random batches do.
"""

from contextlib import contextmanager

import numpy as np
import torch
from _yardstick import TextbookMrMP, copy_weights

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._network.architecture import find_architecture
from sklearn_mrmp._network.batches import as_tensors, bucketed
from sklearn_mrmp._network.net import predict_batches
from sklearn_mrmp._neural.fit_settings import FitSettings
from sklearn_mrmp.nn import MrMPLoss, MrMPModule, NetworkOutput, sinusoidal_positions

BATCH_SIZE = 32
_MAX_GRADIENT_NORM = 1.0

_TEXTBOOK = ("d_model", "n_heads", "d_inner", "architecture")  # its depths are those of both


def settings_of(classifier):
    """Return the settings of a classifier's network, as its module takes them."""
    params = classifier.get_params(deep=False)
    settings = FitSettings.of(params, find_architecture("mrmp"), "features").network
    arguments = settings.as_dict()
    del arguments["relation_loss"]
    return arguments


# The dropout of the paper depends on the data: it is the shape's.
PAPER = {k: v for k, v in settings_of(MrMPClassifier.paper()).items() if k != "dropout"}
DEFAULT = settings_of(MrMPClassifier())


def groups_of_rows(problem, n_groups, batch_size=BATCH_SIZE):
    """Row numbers of a few batches that stand for all: evenly spaced in length.

    Rows are bucketed as in training, in blocks of 32 batches; of the batches, sorted by length,
    the middle ones of `n_groups` equal parts are taken.
    """
    lengths = problem.dataset.rows.lengths
    batches = bucketed(lengths, batch_size, np.random.default_rng(0))
    batches = sorted((b for b in batches if len(b) == batch_size), key=lambda b: lengths[b].sum())
    places = (np.arange(n_groups) + 0.5) / n_groups * len(batches)
    return [batches[int(place)] for place in places]


class _Contestant:
    """Training steps: forward, loss, backward, clipping, optimiser."""

    def __init__(self, network, optimizer, problem, groups):
        self.network, self.optimizer = network, optimizer
        self.criterion = MrMPLoss(problem.relations)
        self.rows, self.Y = problem.dataset.rows, problem.dataset.Y.astype(np.float32)
        self.groups = groups
        self.n_rows = sum(len(group) for group in groups)

    @contextmanager
    def in_training(self):
        """As in the middle of a training: a step has run."""
        self.train(self.groups[-1:])
        yield

    def train(self, groups=None):
        """One step on each batch."""
        self.network.train()
        for chosen in groups or self.groups:
            output = NetworkOutput(*self.logits(self.rows.take(chosen)))
            targets = torch.from_numpy(self.Y[chosen].toarray())
            self.criterion(output, targets).backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), _MAX_GRADIENT_NORM)
            self.optimizer.step()
            self.optimizer.zero_grad()


class Ours(_Contestant):
    """`MrMPModule` and what `MrMPClassifier` trains it with."""

    def __init__(self, problem, groups, **settings):
        network = _module(problem, settings)
        optimizer = torch.optim.AdamW(network.parameters(), lr=2e-4, weight_decay=0.0, fused=True)
        super().__init__(network, optimizer, problem, groups)

    def logits(self, rows):
        """Logits and label embeddings of a batch."""
        return self.network(**as_tensors(rows.padded()))

    def predict(self):
        """Probabilities of all rows, by the steps of `predict_proba`."""
        self.network.eval()
        rows = self.rows.take(np.concatenate(self.groups))
        sizes = self.network.n_labels, self.network.d_inner
        with torch.inference_mode():
            prepared = self.network.prepared()

        def predict(chosen):
            batch = as_tensors(rows.take(chosen).padded())
            torch.sigmoid(self.network.predict_logits(**batch, **prepared)).numpy()

        predict_batches(predict, rows, *sizes, "cpu")


class Yardstick(_Contestant):
    """The textbook network and Adam."""

    def __init__(self, problem, groups, **settings):
        together = np.random.default_rng(1).permutation(np.concatenate(groups))
        shape = problem.shape
        network = TextbookMrMP(
            shape.n_tokens,
            shape.n_labels,
            problem.relations,
            positions=shape.sequence,
            **{"dropout": shape.dropout, **{name: settings[name] for name in _TEXTBOOK}},
        )
        copy_weights(_module(problem, settings), network)
        optimizer = torch.optim.Adam(network.parameters(), lr=2e-4, foreach=False)
        mixed = np.array_split(together, len(groups))
        super().__init__(network, optimizer, problem, mixed)
        self.codes = 0.03 * sinusoidal_positions(shape.longest, settings["d_model"])

    def logits(self, rows):
        """Logits and label embeddings of a batch."""
        return self.network(as_tensors(rows.padded())["tokens"], self.codes)

    def predict(self):
        """Probabilities of all rows in batches as in training."""
        self.network.eval()
        with torch.no_grad():
            for chosen in self.groups:
                torch.sigmoid(self.logits(self.rows.take(chosen))[0]).numpy()


def _module(problem, settings):
    torch.manual_seed(0)
    return MrMPModule(
        problem.shape.embedding,
        problem.shape.n_labels,
        problem.relations,
        **{"dropout": problem.shape.dropout, **settings},
    )

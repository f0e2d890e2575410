"""What a training step needs of memory, said before training starts.

Counts parameters and activations from the sizes of the network and of the longest rows, and
compares them with what the machine has left. Knows torch's devices and the flat parameters of
`MrMPClassifier`; nothing of skorch or of targets.
"""

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from sklearn_mrmp._decisions.operating_points import DECISION_ENTRIES
from sklearn_mrmp.nn.dropout import table_size

_FLOAT = 4  # bytes
# A parameter is held as weight, gradient, Adam's two moments and the best weights so far.
_COPIES = 5
# Vectors of a layer that are kept for the backward pass: of width d_model, and of width d_inner.
_WIDE, _INNER = 12, 2
# Masks of width d_model that a layer keeps as well, where dropout has to draw them.
_MASKS = 2
# Vectors of a token that are kept before the first layer.
_EMBEDDED = 6
# Decisions are tuned on dense labels, one byte each, and need them about twice.
_LABEL_COPIES = 2
# Measured peaks are 0.8 to 1.0 of the estimate; what might fit is not refused.
_AT_LEAST = 0.8

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
# torch < 2.5 knows the error by its CUDA name only.
_DEVICE_FULL = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)
_ALLOCATOR_WORDS = ("not enough memory", "can't allocate memory", "out of memory")


@dataclass(frozen=True)
class TrainingSizes:
    """The sizes that decide what training needs.

    Attributes
    ----------
    n_tokens : int
        Distinct tokens, the rows of an embedding table.
    n_samples : int
        Training rows.
    n_tables : int
        Embedding tables: one, or two when tokens carry values.
    n_labels : int
        Labels.
    n_decoded : int
        Labels that a row decodes.
    batch_size : int
        Rows of a step.
    row_length : int
        Tokens of the longest row, as far as a step sees them.
    d_model, d_inner : int
        Widths.
    n_encoder_layers, n_relation_layers, n_decoder_layers : int
        Depths.
    """

    n_tokens: int
    n_samples: int
    n_tables: int
    n_labels: int
    n_decoded: int
    batch_size: int
    row_length: int
    d_model: int
    d_inner: int
    n_encoder_layers: int
    n_relation_layers: int
    n_decoder_layers: int

    @classmethod
    def of(cls, params, encoder, dataset):
        """Sizes from the parameters of `MrMPClassifier`, a fitted encoder and the data set."""
        rows, n_labels, shortlist = dataset.rows, dataset.Y.shape[1], dataset.shortlist
        n_decoded = n_labels
        if shortlist is not None:
            n_decoded = shortlist.candidates.shape[1] + shortlist.n_sampled
        longest = int(rows.lengths.max(initial=1))
        if rows.unknown is None:  # left-out features leave no place behind
            longest = int(np.ceil(longest * (1 - params["feature_dropout"])))
        same = ("d_model", "n_encoder_layers", "n_relation_layers", "n_decoder_layers")
        return cls(
            n_tokens=encoder.n_tokens_,
            n_samples=len(rows),
            n_tables=1 + encoder.has_values_,
            n_labels=n_labels,
            n_decoded=n_decoded,
            batch_size=min(params["batch_size"], len(rows)),
            row_length=max(longest, 1),
            d_inner=params["d_inner"] or 2 * params["d_model"],
            **{name: params[name] for name in same},
        )

    @property
    def parameter_bytes(self):
        """Bytes of the parameters with all that Adam and early stopping keep of them."""
        d, layers = self.d_model, self.n_encoder_layers + self.n_decoder_layers
        tables = (self.n_tables * self.n_tokens + 2 * self.n_labels) * d
        blocks = layers * (4 * d * d + 2 * d * self.d_inner) + 3 * self.n_relation_layers * d * d
        return _COPIES * _FLOAT * (tables + blocks)

    @property
    def activation_bytes(self):
        """Bytes that a step keeps for the backward pass."""
        d = self.d_model
        tokens = self.n_encoder_layers * self._layer_width(self.row_length)
        tokens += (_EMBEDDED + 2 * self.n_decoder_layers) * d
        labels = self.n_decoder_layers * self._layer_width(self.n_decoded)
        return _FLOAT * self.batch_size * (self.row_length * tokens + self.n_decoded * labels)

    def _layer_width(self, n_vectors):
        """Numbers that a layer keeps of each of a row's vectors."""
        is_drawn = not table_size(self.batch_size * n_vectors * self.d_model)
        return (_WIDE + _MASKS * is_drawn) * self.d_model + _INNER * self.d_inner

    @property
    def table_bytes(self):
        """Bytes of the table that dropout takes its masks from."""
        n_vectors = self.batch_size * self.row_length, self.batch_size * self.n_decoded
        widths = self.d_model, self.d_inner
        return _FLOAT * max(table_size(n * width) for n in n_vectors for width in widths)

    @property
    def label_bytes(self):
        """Bytes of the dense labels that decisions are tuned on."""
        return _LABEL_COPIES * min(self.n_samples * self.n_labels, DECISION_ENTRIES)

    @property
    def total_bytes(self):
        """Bytes of everything together."""
        parts = self.parameter_bytes, self.activation_bytes, self.table_bytes, self.label_bytes
        return sum(parts)

    def advice(self):
        """Say what takes the memory, and which parameters to lower."""
        if self.label_bytes > max(self.parameter_bytes, self.activation_bytes):
            return (
                f"{_gigabytes(self.label_bytes)} of it for {self.n_samples} rows of "
                f"{self.n_labels} labels, which decisions are tuned on: use fewer rows or labels"
            )
        if self.parameter_bytes > self.activation_bytes:
            tables = self.n_tables * self.n_tokens > 2 * self.n_labels
            culprit = "distinct tokens" if tables else "labels"
            count = self.n_tokens if tables else self.n_labels
            return (
                f"{_gigabytes(self.parameter_bytes)} of it for the parameters of {count} "
                f"{culprit} at d_model={self.d_model}: lower d_model, or use fewer features "
                "(max_features of the vectorizer, feature selection)"
            )
        return (
            f"{_gigabytes(self.activation_bytes)} of it for the activations of a batch: lower "
            f"batch_size (now {self.batch_size} rows), d_model (now {self.d_model}), d_inner (now "
            f"{self.d_inner}) or max_tokens (the longest rows have {self.row_length} tokens in "
            f"training); a row decodes {self.n_decoded} labels, see label_shortlist"
        )


@contextmanager
def enough_memory(sizes, device):
    """Refuse to start what cannot fit, and explain when it turns out not to.

    Parameters
    ----------
    sizes : TrainingSizes
        What is to be trained.
    device : str
        Where.

    Raises
    ------
    MemoryError
        Before the block when the estimate exceeds what is free, or in the place of torch's
        errors inside it.
    """
    free = available_bytes(device)
    if free is not None and _AT_LEAST * sizes.total_bytes > free:
        raise MemoryError(
            f"Training needs about {_gigabytes(sizes.total_bytes)} of memory, but {device} has "
            f"{_gigabytes(free)} left; {sizes.advice()}."
        )
    try:
        yield
    except (_DEVICE_FULL, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        raise MemoryError(
            f"{device} ran out of memory in training, which needs about "
            f"{_gigabytes(sizes.total_bytes)}, {sizes.advice()}."
        ) from error


def _is_out_of_memory(error):
    words = str(error).lower()
    return isinstance(error, _DEVICE_FULL) or any(word in words for word in _ALLOCATOR_WORDS)


def available_bytes(device="cpu"):
    """Memory that a process could still get, or None where the system does not say.

    Parameters
    ----------
    device : str, default="cpu"
        A torch device.

    Returns
    -------
    n_bytes : int or None

    Examples
    --------
    >>> from sklearn_mrmp._network.memory import available_bytes
    >>> available_bytes() is None or available_bytes() > 0
    True
    """
    kind = torch.device(device).type
    if kind == "cuda":
        # What torch has reserved but does not use is free for training too.
        idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + idle
    if kind != "cpu":
        return None
    limits = [limit for limit in (_system_bytes(), _container_bytes()) if limit is not None]
    return min(limits, default=None)


def _system_bytes():
    """Memory the system could give; all of its memory where that is not known."""
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _container_bytes():
    """Memory that a control group leaves, as in a container with a memory limit."""
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        statistics = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    if limit == "max":
        return None
    # Cached files count as used but are given up under pressure.
    cached = sum(int(line.split()[1]) for line in statistics if line.startswith("inactive_file "))
    return max(int(limit) - used + cached, 0)


def _gigabytes(n_bytes):
    return f"{n_bytes / 2**30:.2g} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.2g} MiB"

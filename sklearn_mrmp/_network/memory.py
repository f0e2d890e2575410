"""What training needs of memory, said before it starts.

Counts the weights of the network that is to be made and asks its architecture for the activations
of a step, and compares them with what the machine has left. Knows torch's devices; nothing of
skorch or of targets, and no particular network.
"""

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from sklearn_mrmp._network.architecture import StepSizes
from sklearn_mrmp._numerics.rows import DENSE_ENTRIES

_FLOAT = 4  # bytes
# A parameter is held as weight, gradient, Adam's two moments and the best weights so far.
_COPIES = 5
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
class TrainingNeeds:
    """Bytes that training takes, and the sizes that decide them.

    Attributes
    ----------
    parameter_bytes : int
        Parameters with all that Adam and early stopping keep of them.
    activation_bytes : int
        What a step keeps for the backward pass.
    label_bytes : int
        Dense labels that decisions are tuned on.
    n_samples, n_labels, n_tokens : int
        Training rows, labels, and distinct tokens.
    sizes : StepSizes
        Sizes of a step.
    d_model : int
        Width of the network.
    encoder_bytes : int
        What the parameters of an encoder that is fine-tuned take of `parameter_bytes`.
    """

    parameter_bytes: int
    activation_bytes: int
    label_bytes: int
    n_samples: int
    n_labels: int
    n_tokens: int
    sizes: StepSizes
    d_model: int
    encoder_bytes: int = 0

    @classmethod
    def of(cls, recipe, training, data, dataset):
        """Needs of a recipe with resolved `training` settings, for data and a data set."""
        sizes = step_sizes(training, dataset)
        architecture, n_labels = recipe.architecture, data.n_labels
        with torch.device("meta"):  # shapes without memory
            outline = architecture.module(**architecture.module_arguments(recipe.network, data))
        n_parameters = sum(weight.numel() for weight in outline.parameters())
        n_kept = architecture.activation_numbers(recipe.network, sizes)
        # A pretrained encoder inside the network knows itself what it keeps.
        own = [part for part in outline.modules() if hasattr(part, "activation_numbers")]
        n_kept += sum(p.activation_numbers(sizes.batch_size, sizes.row_length) for p in own)
        n_pretrained = sum(weight.numel() for part in own for weight in part.parameters())
        n_labels_dense = min(len(dataset) * n_labels, DENSE_ENTRIES)
        return cls(
            parameter_bytes=_COPIES * _FLOAT * n_parameters,
            activation_bytes=_FLOAT * n_kept,
            label_bytes=_LABEL_COPIES * n_labels_dense,
            n_samples=len(dataset),
            n_labels=n_labels,
            n_tokens=len(data.trained_tokens),
            sizes=sizes,
            d_model=recipe.network.d_model,
            encoder_bytes=_COPIES * _FLOAT * n_pretrained,
        )

    @property
    def total_bytes(self):
        """Bytes of everything together."""
        return self.parameter_bytes + self.activation_bytes + self.label_bytes

    def advice(self):
        """Say what takes the memory, and which parameters to lower."""
        if self.label_bytes > max(self.parameter_bytes, self.activation_bytes):
            return (
                f"{_gigabytes(self.label_bytes)} of it for {self.n_samples} rows of "
                f"{self.n_labels} labels, which decisions are tuned on: use fewer rows or labels"
            )
        if self.encoder_bytes > max(self.parameter_bytes / 2, self.activation_bytes):
            return (
                f"{_gigabytes(self.encoder_bytes)} of it for the parameters of the encoder that is "
                "fine-tuned: use a smaller encoder, or leave encoder_lr at 0"
            )
        if self.parameter_bytes > self.activation_bytes:
            of_tokens = self.n_tokens > self.n_labels
            culprit = "distinct tokens" if of_tokens else "labels"
            return (
                f"{_gigabytes(self.parameter_bytes)} of it for the parameters of "
                f"{self.n_tokens if of_tokens else self.n_labels} {culprit} at "
                f"d_model={self.d_model}: lower d_model, or use fewer features (max_features of "
                "the vectorizer, feature selection)"
            )
        return (
            f"{_gigabytes(self.activation_bytes)} of it for the activations of a batch: lower "
            f"batch_size (now {self.sizes.batch_size} rows), d_model (now {self.d_model}), d_inner "
            f"or max_tokens (the longest rows have {self.sizes.row_length} tokens in training); a "
            f"row decodes {self.sizes.n_decoded} labels, see label_shortlist"
        )


def step_sizes(training, dataset):
    """Sizes of a training step on a data set."""
    rows, shortlist = dataset.rows, dataset.shortlist
    n_decoded = dataset.Y.shape[1]
    if shortlist is not None:
        n_decoded = shortlist.candidates.shape[1] + shortlist.n_sampled
    longest = int(rows.lengths.max(initial=1))
    if rows.unknown is None:  # left-out features leave no place behind
        longest = int(np.ceil(longest * (1 - training.feature_dropout)))
    return StepSizes(min(training.batch_size, len(rows)), max(longest, 1), n_decoded)


@contextmanager
def enough_memory(needs, device):
    """Refuse to start what cannot fit, and explain when it turns out not to.

    Parameters
    ----------
    needs : TrainingNeeds
        Of what is to be trained.
    device : str
        Where.

    Raises
    ------
    MemoryError
        Before the block when the estimate exceeds what is free, or in the place of torch's
        errors inside it.
    """
    free = available_bytes(device)
    if free is not None and _AT_LEAST * needs.total_bytes > free:
        raise MemoryError(
            f"Training needs about {_gigabytes(needs.total_bytes)} of memory, but {device} has "
            f"{_gigabytes(free)} left; {needs.advice()}."
        )
    try:
        yield
    except (_DEVICE_FULL, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        raise MemoryError(
            f"{device} ran out of memory in training, which needs about "
            f"{_gigabytes(needs.total_bytes)}, {needs.advice()}."
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

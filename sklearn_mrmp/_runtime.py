"""Where and how torch runs: device, threads and random state, all as they were afterwards.

Knows torch and nothing of the model.
"""

from contextlib import contextmanager

import torch


def resolve_device(device):
    """Turn the `device` parameter into a torch device name.

    Parameters
    ----------
    device : str
        ``"auto"`` takes CUDA, then MPS, then the CPU; anything else is torch's name for a device.

    Returns
    -------
    device : str

    Examples
    --------
    >>> resolve_device("cpu")
    'cpu'
    """
    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return str(torch.device(device))
    except RuntimeError as error:
        raise ValueError(
            f"device={device!r} is not a device torch knows; use 'auto', 'cpu', 'cuda', 'cuda:0' "
            "or 'mps'."
        ) from error


@contextmanager
def torch_threads(n_threads):
    """Run with `n_threads` threads (None: as it is) and restore the setting."""
    before = torch.get_num_threads()
    if n_threads is not None:
        torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


@contextmanager
def seeded_torch(seed, device):
    """Run with torch's generators seeded, and give them back untouched."""
    kind = torch.device(device).type
    if kind == "cpu":
        fork = torch.random.fork_rng(devices=[])
    else:
        fork = torch.random.fork_rng(device_type=kind)
    with fork:
        torch.manual_seed(seed)
        yield

"""What the parameters of `MrMPClassifier` may be, and what the paper sets them to."""

import os
from collections.abc import Mapping
from numbers import Integral, Real

from sklearn_mrmp._decisions.operating_points import DECISIONS
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._graph.learning import LabelGraph
from sklearn_mrmp._sklearn_compat import Interval, StrOptions

CONSTRAINTS = {
    **{
        name: [Interval(Integral, 1, None, closed="left")]
        for name in (
            "d_model",
            "n_heads",
            "n_relation_layers",
            "n_decoder_layers",
            "batch_size",
            "patience",
            "n_members",
        )
    },
    "n_encoder_layers": [Interval(Integral, 0, None, closed="left")],
    "d_inner": [Interval(Integral, 1, None, closed="left"), None],
    "dropout": [Interval(Real, 0, 1, closed="left")],
    "feature_dropout": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "label_shortlist": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    "linear_path": ["boolean"],
    "neighbor_path": ["boolean"],
    "label_sets": ["boolean"],
    "architecture": [StrOptions({"default", "paper"})],
    "input_type": [StrOptions({"auto", "features", "sequence"})],
    "max_tokens": [Interval(Integral, 1, None, closed="left"), None],
    "relations": [StrOptions({"chi2"}), None, LabelGraph, Mapping, callable],
    "alpha": [Interval(Real, 0, 1, closed="neither")],
    "correction": [StrOptions({"bonferroni", "fdr_bh"}), None],
    "edge_weight": [StrOptions({"binary", "conditional"})],
    "composition": [StrOptions({"sum", "sub", "mult"})],
    "relation_loss": [Interval(Real, 0, None, closed="left")],
    "lr": [Interval(Real, 0, None, closed="neither")],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "lr_schedule": [StrOptions({"onecycle", "cosine", "step", "constant"})],
    "early_stopping": ["boolean", StrOptions({"auto"})],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "refit": ["boolean"],
    "cv": [Interval(Integral, 2, None, closed="left"), None],
    "n_jobs": [Integral, None],
    "device": [str],
    "n_threads": [Interval(Integral, 1, None, closed="left"), None],
    "callbacks": [list, tuple, None],
    "checkpoint_dir": [str, os.PathLike, None],
    "verbose": ["verbose"],
    "progress_bar": ["boolean"],
    "random_state": ["random_state"],
    "threshold": [Interval(Real, 0, 1, closed="both"), StrOptions(set(METRICS))],
    "decision": [StrOptions(set(DECISIONS))],
}

_PAPER = {
    "architecture": "paper",
    "d_model": 512,
    "d_inner": 1024,
    "n_heads": 4,
    "n_encoder_layers": 2,
    "n_decoder_layers": 2,
    "feature_dropout": 0.0,
    "label_shortlist": None,
    "linear_path": False,
    "neighbor_path": False,
    "label_sets": False,
    "n_members": 1,
    "cv": None,
    "relations": "chi2",
    "alpha": 0.05,
    "correction": None,
    "edge_weight": "binary",
    "composition": "sum",
    "relation_loss": 1.0,
    "batch_size": 32,
    "lr": 2e-4,
    "weight_decay": 0.0,
    "lr_schedule": "step",
    "max_epochs": 50,
    "early_stopping": True,
    "patience": 10,
    "decision": "threshold",
}
# "auto": about this many steps, but each row is seen this often at least and at most.
_AUTO_STEPS = 2_500
_AUTO_EPOCHS = (12, 30)
# "auto": about this many tokens of a row are left, and the rate is within these bounds.
_AUTO_TOKENS_LEFT = 16
_AUTO_FEATURE_DROPOUT = (0.1, 0.5)

# Schedules whose last epochs, at low learning rates, are the best.
_END_LOW = ("onecycle", "cosine")

_STRONG_DROPOUT = ("bibtex", "reuters")


def resolve_auto(params, rows):
    """Replace ``"auto"`` of training parameters by what suits the training rows.

    Parameters
    ----------
    params : dict
        Parameters of `MrMPClassifier`, by name.
    rows : TokenRows
        Training rows.

    Returns
    -------
    params : dict
        A copy with numbers for `max_epochs` and `feature_dropout`.
    """
    params = dict(params)
    if params["max_epochs"] == "auto":
        fewest, most = _AUTO_EPOCHS
        n_epochs = round(_AUTO_STEPS * params["batch_size"] / max(len(rows), 1))
        params["max_epochs"] = min(max(n_epochs, fewest), most)
    if params["feature_dropout"] == "auto":
        lowest, highest = _AUTO_FEATURE_DROPOUT
        mean_length = max(rows.lengths.mean(), 1.0) if len(rows) else 1.0
        rate = 1.0 - _AUTO_TOKENS_LEFT / mean_length
        params["feature_dropout"] = float(min(max(rate, lowest), highest))
    return params


def stops_early(params):
    """Whether training stops at a minimum of the validation loss and returns to it.

    Parameters
    ----------
    params : dict
        Parameters of `MrMPClassifier`, by name.
    """
    if params["early_stopping"] == "auto":
        return params["lr_schedule"] not in _END_LOW
    return params["early_stopping"]


def paper_settings(dataset=None):
    """Parameters of the paper's experiments (PAPER section 1, "Settings").

    Parameters
    ----------
    dataset : str, default=None
        Name of a data set; the paper's dropout is 0.2 on Bibtex and Reuters and 0.1 elsewhere.

    Returns
    -------
    settings : dict

    Notes
    -----
    The paper states neither the number of epochs nor the weight of the relational loss: 50 epochs
    with early stopping and a weight of 1 are ours.
    """
    strong = dataset is not None and dataset.lower().startswith(_STRONG_DROPOUT)
    return {**_PAPER, "dropout": 0.2 if strong else 0.1}

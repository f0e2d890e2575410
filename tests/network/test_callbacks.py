"""Callbacks of a training: short gradients, losses that are numbers, the best weights."""

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback

from sklearn_mrmp._network.callbacks import FiniteLoss, ShortGradients, training_callbacks
from sklearn_mrmp._network.settings import TrainingSettings
from tests.tiny import PLAIN, tiny


class OptimizerOf:
    """What `ShortGradients` reads of a net."""

    def __init__(self, weights):
        self.optimizer_ = torch.optim.SGD(weights)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0, np.inf, np.nan])
def test_gradients_are_scaled_down_as_torch_does_it(scale):
    torch.manual_seed(0)
    ours, theirs = ([torch.nn.Parameter(torch.ones(n)) for n in (3, 100, 7)] for _ in range(2))
    for weight, same in zip(ours, theirs, strict=True):
        weight.grad = torch.randn_like(weight)
        weight.grad[0] *= scale
        same.grad = weight.grad.clone()
    unused = torch.nn.Parameter(torch.ones(2))
    ShortGradients(1.0).on_grad_computed(OptimizerOf([*ours, unused]))
    torch.nn.utils.clip_grad_norm_(theirs, 1.0)
    for weight, same in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(weight.grad, same.grad)
    assert unused.grad is None


def test_gradients_elsewhere_are_scaled_without_looking_at_them(monkeypatch):
    scaled = []
    monkeypatch.setattr(torch, "_foreach_mul_", lambda *arguments: scaled.append(arguments))
    weight = torch.nn.Parameter(torch.ones(3, device="meta"))
    weight.grad = torch.ones(3, device="meta")
    ShortGradients(1.0).on_grad_computed(OptimizerOf([weight]))  # a meta tensor has no value
    ((gradients, factor),) = scaled
    assert gradients[0] is weight.grad
    assert factor.device.type == "meta"


def test_no_gradients_are_short_enough():
    ShortGradients(1.0).on_grad_computed(OptimizerOf([torch.nn.Parameter(torch.ones(2))]))


def names(has_valid=True, progress_bar=False, **settings):
    training = TrainingSettings(max_epochs=3, feature_dropout=0.1, **settings)
    callbacks = training_callbacks(
        training, n_batches=2, has_valid=has_valid, progress_bar=progress_bar
    )
    return [name for name, _ in callbacks]


def test_callbacks_are_those_that_settings_ask_for():
    assert names() == ["finite_loss", "clip", "lr_schedule", "early_stopping"]
    assert "lr_schedule" not in names(lr_schedule="constant")
    assert "early_stopping" not in names(early_stopping=False)
    assert "early_stopping" not in names(has_valid=False)
    assert names(progress_bar=True)[-1] == "progress"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_loss_that_is_no_number_stops_with_advice(value):
    class Net:
        history, lr = (1, 2), 0.5

    with pytest.raises(ValueError, match=r"training loss became .* epoch 2. Lower lr \(now 0.5\)"):
        FiniteLoss().on_batch_end(Net(), training=True, loss=torch.tensor(value))
    FiniteLoss().on_batch_end(Net(), training=True, loss=torch.tensor(1.0))


class WorseAndWorse(Callback):
    """Let the validation loss grow from the second epoch on."""

    def on_batch_end(self, net, training=False, **kwargs):
        if not training and len(net.history) > 1:
            net.history.record_batch("valid_loss", 100.0 + len(net.history))


@pytest.mark.parametrize(
    ("stopping", "n_epochs", "best"), [(True, 6, 1), (2, 3, 1), ("auto", 6, 6), (False, 6, 6)]
)
def test_the_best_weights_are_those_used(related, stopping, n_epochs, best):
    callbacks = [WorseAndWorse()]
    clf = tiny(max_epochs=6, early_stopping=stopping, callbacks=callbacks, **PLAIN).fit(*related)
    assert clf.n_iter_ == n_epochs
    assert clf.best_epoch_ == best

"""Callbacks of a training: short gradients, losses that are numbers, the best weights."""

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback, GradientNormClipping

from sklearn_mrmp._network.loop import callbacks as _callbacks
from sklearn_mrmp._network.loop.callbacks import FiniteLoss, training_callbacks
from sklearn_mrmp._network.settings import TrainingSettings
from tests.tiny import PLAIN, tiny


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_steps_are_taken_with_short_gradients(related, factor):
    norms = {"before": [], "after": []}

    def norm(net):
        gradients = [w.grad for w in net.module_.parameters() if w.grad is not None]
        return float(torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients])))

    class Enlarge(GradientNormClipping):
        """Change the length of gradients before they are clipped."""

        def on_grad_computed(self, net, **kwargs):
            for weight in net.module_.parameters():
                if weight.grad is not None:
                    weight.grad *= factor
            norms["before"].append(norm(net))
            super().on_grad_computed(net, **kwargs)

    class Look(Callback):
        def on_grad_computed(self, net, **kwargs):
            norms["after"].append(norm(net))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_callbacks, "GradientNormClipping", Enlarge)
        tiny(max_epochs=1, callbacks=[Look()], **PLAIN).fit(*related)
    expected = np.minimum(norms["before"], 1.0)
    np.testing.assert_allclose(norms["after"], expected, rtol=1e-3)
    assert (max(norms["before"]) > 1) == (factor > 1)


def names(has_valid=True, **settings):
    training = TrainingSettings(max_epochs=3, feature_dropout=0.1, **settings)
    callbacks = training_callbacks(training, n_batches=2, has_valid=has_valid)
    return [name for name, _ in callbacks]


def test_callbacks_are_those_that_settings_ask_for():
    assert names() == ["finite_loss", "clip", "lr_schedule", "early_stopping"]
    assert "lr_schedule" not in names(lr_schedule="constant")
    assert "early_stopping" not in names(early_stopping=False)
    assert "early_stopping" not in names(has_valid=False)


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

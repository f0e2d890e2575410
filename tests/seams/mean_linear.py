"""The toy network as a classifier. What a new estimator file looks like."""

from dataclasses import dataclass
from typing import ClassVar

from sklearn_mrmp._model_files.admitted import admit
from sklearn_mrmp._network.architecture import Architecture, register
from sklearn_mrmp._neural.classifier import BaseNeuralClassifier
from sklearn_mrmp._neural.model_part import neural_part
from sklearn_mrmp._parameters import COUNT, SHARED
from sklearn_mrmp._settings import Settings
from tests.seams.mean_linear_module import MeanLinearLoss, MeanLinearModule


@dataclass(frozen=True)
class MeanLinearSettings(Settings):
    """Parameters of the network."""

    d_model: int = 16


class MeanLinearArchitecture(Architecture):
    """How the network is made."""

    name = "mean_linear"
    settings = MeanLinearSettings
    module = MeanLinearModule
    loss = MeanLinearLoss

    def module_arguments(self, settings, data):
        """Width as set; sizes, and where the biases start, from the data."""
        return {
            "embedding": data.embedding,
            "n_labels": data.n_labels,
            "d_model": settings.d_model,
            "prior": data.prior,
            "trained_tokens": data.trained_tokens,
        }

    def check_arguments(self, arguments):
        """Refuse a width, out of a model file, that is no whole number."""
        if type(arguments.get("d_model")) is not int or arguments["d_model"] < 1:
            raise ValueError(f"d_model={arguments.get('d_model')!r:.50}")


register(MeanLinearArchitecture())


@admit
class MeanLinearClassifier(BaseNeuralClassifier):
    """Label-wise linear model on mean token states, with tuned decisions."""

    _architecture = "mean_linear"
    _model_part = neural_part()
    _parameter_constraints: ClassVar[dict] = {
        name: SHARED.get(name, [COUNT])
        for name in (
            "d_model",
            "voters",
            "label_shortlist",
            "max_epochs",
            "batch_size",
            "lr",
            "cv",
            "metric",
            "decision",
            "checkpoint_dir",
            "callbacks",
            "random_state",
        )
    }

    def __init__(
        self,
        *,
        d_model=16,
        voters=("network",),
        label_shortlist=None,
        max_epochs=20,
        batch_size=16,
        lr=0.05,
        cv=0.1,
        metric="f1_micro",
        decision="optimal",
        checkpoint_dir=None,
        callbacks=None,
        random_state=None,
    ):
        self.d_model = d_model
        self.voters = voters
        self.label_shortlist = label_shortlist
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.cv = cv
        self.metric = metric
        self.decision = decision
        self.checkpoint_dir = checkpoint_dir
        self.callbacks = callbacks
        self.random_state = random_state

"""The parameters of an estimator, sorted by what reads them.

Knows settings, architectures by their seam, and what a network was made with.
"""

from dataclasses import dataclass, replace

from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._network.start import changed_sizes, check_sizes_kept
from sklearn_mrmp._settings import (
    EnsembleSettings,
    GraphSettings,
    InputSettings,
    OutcomeSettings,
    RunSettings,
    Settings,
)


@dataclass(frozen=True)
class FitSettings:
    """All parameters of an estimator, by what they are for."""

    network: Settings
    training: TrainingSettings
    input: InputSettings
    graph: GraphSettings
    ensemble: EnsembleSettings
    outcome: OutcomeSettings
    run: RunSettings
    first_try: tuple[Settings, TrainingSettings] | None = None

    @classmethod
    def of(cls, params, architecture, input_type):
        """Sort the parameters of an estimator, which are given by name; ``"auto"`` is replaced.

        `first_try` has the network and the training of a short cycle where one is to be tried.
        """
        settings = cls._sorted(params, architecture, architecture.automatic(params, input_type))
        values = architecture.first_try(params, input_type)
        if values is None:
            return settings
        short = cls._sorted(params, architecture, values)
        return replace(settings, first_try=(short.network, short.training))

    @classmethod
    def going_on(cls, params, architecture, input_type, arguments):
        """Sort the parameters of a fit that goes on from the weights of an earlier network.

        Sizes that are ``"auto"`` are those of that network, which was made with `arguments`. Where
        it is of the sizes of a short training, so are its rate and its length.
        """
        known = architecture.automatic(params, input_type)
        lengths = {"max_epochs": "auto", "early_stopping": "auto"}
        short = architecture.first_try(params | lengths, input_type)
        if short is not None:
            sizes = cls._sorted(params, architecture, short).network
            known = known if changed_sizes(architecture, sizes, arguments) else short
        settings = cls._sorted(params, architecture, known | arguments)
        check_sizes_kept(architecture, settings.network, arguments)
        return settings

    @classmethod
    def _sorted(cls, params, architecture, known):
        params = {
            name: known.get(name, value) if isinstance(value, str) and value == "auto" else value
            for name, value in params.items()
        }
        groups = (
            architecture.settings,
            TrainingSettings,
            InputSettings,
            GraphSettings,
            EnsembleSettings,
            OutcomeSettings,
            RunSettings,
        )
        return cls(*(group.from_params(params) for group in groups))

    def in_world(self, world):
        """Return what one of several processes does: no workers of its own, and only one shows."""
        if world.is_alone:
            return self
        shown = {} if world.is_first else {"verbose": 0, "progress_bar": False}
        return replace(self, run=replace(self.run, n_jobs=1, **shown))

    @property
    def learned_with(self):
        """All that the weights depend on."""
        return [self.network, self.training, self.input, self.graph, self.ensemble]

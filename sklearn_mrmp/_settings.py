"""Parameters as values: which of an estimator's parameters belong together, and their defaults.

An estimator has some of them as constructor parameters; the others have the defaults given here.
Knows the standard library.
"""

from dataclasses import dataclass, fields


class Settings:
    """Base of frozen dataclasses whose fields are names of constructor parameters."""

    @classmethod
    def from_params(cls, params):
        """Take the parameters that belong here out of a mapping of all of them."""
        return cls(**{f.name: params[f.name] for f in fields(cls) if f.name in params})

    def as_dict(self):
        """Return the values by name, as they are."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class InputSettings(Settings):
    """How rows are read."""

    input_type: str = "auto"
    max_tokens: int | None = None
    encoder: object = None


@dataclass(frozen=True)
class GraphSettings(Settings):
    """Where the label graph comes from."""

    relations: object = None
    alpha: float = 0.05


@dataclass(frozen=True)
class EnsembleSettings(Settings):
    """Who votes, and which rows are held out."""

    voters: tuple = ("network",)
    label_shortlist: int | str | None = None
    n_members: int = 1
    cv: object = 0.1


@dataclass(frozen=True)
class OutcomeSettings(Settings):
    """What is done after training, or read when predicting: nothing that weights depend on."""

    label_sets: bool = False
    refit: bool = False
    metric: str = "f1_micro"
    decision: object = "optimal"


@dataclass(frozen=True)
class RunSettings(Settings):
    """How a fit runs on a machine; the outcome does not depend on it."""

    n_threads: int | None = None
    n_jobs: int | None = None
    callbacks: tuple | list | None = None
    checkpoint_dir: object = None
    verbose: int = 0
    progress_bar: bool = False

"""How a network is trained: the parameters, and what ``"auto"`` means for given rows.

Knows `Settings`; no torch.
"""

from dataclasses import dataclass, replace

from sklearn_mrmp._settings import Settings

# "auto": about this many steps, but each row is seen this often at least and at most.
_AUTO_STEPS = 2_500
_AUTO_EPOCHS = (12, 30)
# Epochs of a short training, which shows whether a long one would pay.
SHORT = "short"
_SHORT_EPOCHS = 8
# Beyond this many rows epochs become fewer as rows become more, so that the time stays that of so
# many rows, down to the fewest epochs that a schedule of the learning rate makes sense for.
_MANY_ROWS = 125_000
_FEWEST_EPOCHS = 2
# "auto": about this many tokens of a row are left, and the rate is within these bounds.
_AUTO_TOKENS_LEFT = 16
_AUTO_FEATURE_DROPOUT = (0.1, 0.5)

# "auto", where the architecture knows nothing better.
_AUTO_LR = 2e-3
_AUTO_BATCH = 32

# Schedules whose last epochs, at low learning rates, are the best.
_END_LOW = ("onecycle", "cosine")
# Epochs without improvement before stopping, unless a number is given.
_PATIENCE = 10


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """Parameters of training; the weights depend on all of them."""

    feature_dropout: float | str = "auto"
    max_epochs: int | str = "auto"
    batch_size: int | str = "auto"
    lr: float | str = "auto"
    encoder_lr: float = 0.0
    weight_decay: float = 0.0
    lr_schedule: str = "onecycle"
    early_stopping: bool | int | str = "auto"
    device: str = "auto"
    warm_start: bool = False

    def resolved(self, rows):
        """Replace ``"auto"`` by what suits the training rows.

        Parameters
        ----------
        rows : TokenRows
            Training rows.

        Returns
        -------
        settings : TrainingSettings
            With numbers for `max_epochs`, `batch_size`, `feature_dropout` and `lr`.
        """
        n_epochs, rate = self.max_epochs, self.feature_dropout
        lr = _AUTO_LR if self.lr == "auto" else self.lr
        batch_size = _AUTO_BATCH if self.batch_size == "auto" else self.batch_size
        if isinstance(n_epochs, str):
            n_epochs = _epochs(n_epochs, len(rows), batch_size)
        if rate == "auto":
            lowest, highest = _AUTO_FEATURE_DROPOUT
            mean_length = max(rows.lengths.mean(), 1.0) if len(rows) else 1.0
            rate = float(min(max(1.0 - _AUTO_TOKENS_LEFT / mean_length, lowest), highest))
        return replace(
            self, max_epochs=n_epochs, batch_size=batch_size, feature_dropout=rate, lr=lr
        )

    @property
    def rates(self):
        """Learning rates of the groups of weights: the encoder's, if it learns, and of the rest."""
        return [self.encoder_lr, self.lr] if self.encoder_lr else [self.lr]

    @property
    def patience(self):
        """Epochs without a better validation loss before training stops; None never stops it."""
        stops = self.early_stopping
        if stops == "auto":
            stops = self.lr_schedule not in _END_LOW
        if not stops:
            return None
        return _PATIENCE if stops is True else int(stops)

    @property
    def keeps_best(self):
        """Whether a training that is stopped returns to its best weights."""
        return bool(self.early_stopping)


def _epochs(length, n_rows, batch_size):
    """Epochs of a training of so many rows, which is short or as long as suits them."""
    n_epochs, n_rows = _SHORT_EPOCHS, max(n_rows, 1)
    if length != SHORT:
        fewest, most = _AUTO_EPOCHS
        n_epochs = min(max(round(_AUTO_STEPS * batch_size / n_rows), fewest), most)
    return min(n_epochs, max(round(n_epochs * _MANY_ROWS / n_rows), _FEWEST_EPOCHS))

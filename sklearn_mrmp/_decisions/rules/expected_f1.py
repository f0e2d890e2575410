"""Decision rule for `f1_samples`: the label set of highest expected F1, row by row.

Probabilities of independent labels are all it needs; a temperature tuned on validation rows repairs
over- and underconfident ones. Knows numpy and `expected_f1`.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from sklearn_mrmp._decisions.expected_f1 import top_k_by_expected_f1
from sklearn_mrmp._decisions.label_set_model import to_logits
from sklearn_mrmp._decisions.rules.base import Rule
from sklearn_mrmp._decisions.rules.cuts import falling_ranks
from sklearn_mrmp._decisions.sweep import metric_value
from sklearn_mrmp._model_files.part import NUMBER, Part

_TEMPERATURES = tuple(2.0 ** (step / 4) for step in range(-6, 7))
_TUNING_ROWS = 5_000
_ROWS_AT_ONCE = 10_000


@dataclass(eq=False)
class ExpectedF1Rule(Rule):
    """Predict the top labels of each row, as many as maximise the expected F1.

    Parameters
    ----------
    method : {"exact", "quick"}, default="exact"
        The expectation over independent labels, or its quick approximation
        ``2 Σ_{i<=k} p_i / (k + Σ_i p_i)``.
    temperature : float, default=None
        Divides the logits of the probabilities; None chooses it on the validation rows.
    allow_empty : bool, default=False
        Whether a row may get no label at all.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_samples"
        What the temperature maximises.
    from_logits : bool, default=False
        Whether scores are logits or margins instead of probabilities.

    Attributes
    ----------
    temperature_ : float
        The temperature.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.expected_f1 import ExpectedF1Rule
    >>> rule = ExpectedF1Rule(temperature=1.0).fit([[1, 0, 0]], [[0.9, 0.2, 0.1]])
    >>> rule.decide(np.array([[0.9, 0.3, 0.1], [0.2, 0.1, 0.15]])).astype(int)
    array([[1, 0, 0],
           [1, 0, 1]])
    """

    method: str = "exact"
    temperature: float | None = None
    allow_empty: bool = False
    metric: str = "f1_samples"
    from_logits: bool = False

    def _choose(self, rows):
        given = self.temperature
        self.temperature_ = self._best_temperature(rows) if given is None else given

    def _best_temperature(self, rows):
        """Best temperature by the quick form, whose optimum is the same and which never slows."""
        step = -(-len(rows.P) // _TUNING_ROWS)
        rows = rows.every(step)
        Y, P = rows.Y, rows.P
        scores = []
        for temperature in _TEMPERATURES:
            rule = replace(self, method="quick", temperature=temperature)
            rule.temperature_ = temperature
            scores.append(metric_value(Y, rows.counted(rule.decide(P)), self.metric))
        # among equals the one nearest to 1, which leaves the probabilities alone
        ranking = np.lexsort((np.abs(np.log(_TEMPERATURES)), -np.round(scores, 12)))
        return _TEMPERATURES[ranking[0]]

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        P = np.asarray(P)
        decided = np.empty(P.shape, dtype=bool)
        for start in range(0, len(P), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            decided[rows] = self._decide_chunk(P[rows])
        return decided

    def _decide_chunk(self, P):
        falling = -np.sort(-P.astype(np.float64), axis=1)
        falling = expit(to_logits(falling, self.from_logits) / self.temperature_)
        sizes = top_k_by_expected_f1(falling, method=self.method, allow_empty=self.allow_empty)
        return falling_ranks(P) <= sizes[:, None]


ExpectedF1Rule._model_part = Part({"temperature_": NUMBER, "validation_score": NUMBER})

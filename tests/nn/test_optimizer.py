"""AdamW without the compiler takes the same steps."""

import subprocess
import sys

import pytest
import torch

from sklearn_mrmp.nn import EagerAdamW


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_are_those_of_torch(decay):
    weights = [torch.nn.Parameter(torch.linspace(-1, 1, 8)) for _ in range(2)]
    kinds = (EagerAdamW, torch.optim.AdamW)
    optimizers = [
        kind([w], lr=0.01, weight_decay=decay, fused=True)
        for kind, w in zip(kinds, weights, strict=True)
    ]
    for step in range(5):
        for weight, optimizer in zip(weights, optimizers, strict=True):
            (weight**2 * (step + 1)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=0)


def test_a_fit_does_not_import_the_compiler():
    code = """
import sys
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import make_related_labels
X, Y, _ = make_related_labels(40, 3, n_features=10, random_state=0)
MrMPClassifier(d_model=4, max_epochs=1).fit(X, Y)
print("torch._dynamo" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"

"""A toy network: label-wise linear on the mean token state. What a new file in `nn/` looks like."""

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn import LabelModule, NetworkOutput, make_embedding


class MeanLinearModule(LabelModule):
    """Logits of labels from the mean of a row's token states."""

    def __init__(self, embedding, n_labels, *, d_model=16, prior=None, trained_tokens=None):
        super().__init__()
        self.n_labels, self.d_inner = n_labels, d_model
        self.embedding = make_embedding(embedding, d_model, trained_tokens)
        self.linear = nn.Linear(d_model, n_labels)
        if prior is not None:
            with torch.no_grad():
                self.linear.bias.copy_(torch.logit(prior, eps=1e-4))

    def forward(self, *, mask=None, candidates=None, **inputs):
        """Logits (B, L), or of the candidates (B, k)."""
        states = self.embedding(**inputs)  # (B, T, d)
        if mask is None:
            mean = states.mean(dim=1)
        else:
            weights = mask if mask.dtype == torch.bool else mask > float("-inf")
            weights = weights.to(states.dtype)[..., None]  # (B, T, 1)
            mean = (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
        logits = self.linear(mean)
        if candidates is not None:
            logits = logits.gather(1, candidates)
        return NetworkOutput(logits)

    def label_embeddings(self):
        """The weights of each label, (L, d)."""
        return self.linear.weight


class MeanLinearLoss(nn.Module):
    """Mean binary cross entropy."""

    def forward(self, output, y_true, weights=None, total=None):
        """Loss of a batch, a scalar."""
        losses = F.binary_cross_entropy_with_logits(
            output.logits, y_true, weights, reduction="none"
        )
        return losses.mean() if total is None else losses.sum() / total

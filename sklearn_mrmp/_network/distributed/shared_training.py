"""Training that several processes share: the same weights and the same history in each of them.

In a step every process computes the gradients of its share of a batch; these are added up in one
piece, weighted by the rows they are of, so that all processes take the same step: that of the mean
over the whole batch. With the gradients travel wishes to stop and to write a checkpoint, on which
all have to act after the same batch. Knows torch, skorch's callbacks and the world.
"""

import numpy as np
import torch
from skorch.callbacks import Callback

# What travels behind the gradients of a step, in this order.
_N_ROWS, _STOP, _WRITE = range(3)


class SharedTraining(Callback):
    """Add up what the processes of a world find, after each batch and each epoch.

    The first of our callbacks: the others see what is common to all processes.

    Parameters
    ----------
    world : ProcessGroup
        The processes.
    interrupt : StopAfterBatch
        Stops a training.
    checkpoint : TrainingCheckpoint
        Writes its state.
    """

    def __init__(self, world, interrupt, checkpoint):
        self.world = world
        self.interrupt = interrupt
        self.checkpoint = checkpoint

    def start(self, net, seed):
        """Let all processes start with the weights of the first, and draw numbers of their own."""
        for part in (net.module_, net.criterion_):
            self.world.copy_from_first(part.state_dict().values())
        own = np.random.SeedSequence([seed, self.world.rank]).generate_state(1)
        torch.manual_seed(int(own[0]))

    def on_grad_computed(self, net, named_parameters, batch=None, **kwargs):
        """Replace the gradients of this process by those of the whole batch."""
        weights = [weight for _, weight in named_parameters if weight.requires_grad]
        n_rows = len(batch[1][0])
        wishes = [n_rows, self.interrupt.n_asked > 0, self.checkpoint.is_due()]
        summed = self.world.add(_in_one_piece(weights, n_rows, wishes))
        grads, has_grad, wishes = summed.tensor_split([-len(weights) - 3, -3])
        has_grad, wishes = has_grad.tolist(), wishes.tolist()
        sizes = [weight.numel() for weight in weights]
        for weight, grad, n_with in zip(
            weights, grads.div_(wishes[_N_ROWS]).split(sizes), has_grad, strict=True
        ):
            weight.grad = grad.view_as(weight) if n_with else None
        self.interrupt.agreed = wishes[_STOP] > 0
        self.checkpoint.agreed_due = wishes[_WRITE] > 0

    def on_epoch_end(self, net, **kwargs):
        """Record the losses of all rows, which early stopping compares."""
        names = "train", "valid"
        sums = [_sums(net.history[-1], name) for name in names]
        sums = self.world.add(torch.tensor(sums, dtype=torch.float64))
        for name, (total, n_rows) in zip(names, sums.tolist(), strict=True):
            if n_rows:
                _record(net.history, f"{name}_loss", total / n_rows)

    def stops(self, wants_to):
        """Whether training ends after this epoch: it does where one of the processes wants to."""
        return self.world.any(wants_to)


def _in_one_piece(weights, n_rows, wishes):
    """Gradients times the rows they are of, which weights have any, and the wishes."""
    like = {"dtype": weights[0].dtype, "device": weights[0].device}
    grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
    has_grad = torch.tensor([w.grad is not None for w in weights], **like)
    piece = torch.cat([grad.reshape(-1) for grad in grads]).mul_(n_rows)
    return torch.cat([piece, has_grad, torch.tensor(wishes, **like)])


def _sums(epoch, name):
    """Sum of the losses of an epoch's rows, and how many these are."""
    batches = [batch for batch in epoch["batches"] if f"{name}_loss" in batch]
    sizes = [batch[f"{name}_batch_size"] for batch in batches]
    losses = [batch[f"{name}_loss"] for batch in batches]
    return [float(np.dot(losses, sizes)), float(sum(sizes))]


def _record(history, name, loss):
    """Record a loss of the last epoch, and whether it is the best so far."""
    earlier = [epoch[name] for epoch in history[:-1] if name in epoch]
    history.record(name, loss)
    history.record(f"{name}_best", loss < min(earlier, default=np.inf))

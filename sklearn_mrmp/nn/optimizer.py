"""AdamW without torch's compiler: the same steps, and a first fit that starts seconds earlier.

torch's optimisers import its compiler when they are first used, which takes seconds and sets an
environment variable; nothing here is compiled. Leaf module: torch alone.
"""

import inspect

import torch
from torch.optim import Optimizer


class EagerAdamW(torch.optim.AdamW):
    """`torch.optim.AdamW`, its methods freed of the wrappers that import the compiler.

    Examples
    --------
    >>> import torch
    >>> weight = torch.nn.Parameter(torch.ones(2))
    >>> optimizer = EagerAdamW([weight], lr=0.1, weight_decay=0.0)
    >>> weight.sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.9000, 0.9000])
    """

    add_param_group = inspect.unwrap(Optimizer.add_param_group)
    zero_grad = inspect.unwrap(Optimizer.zero_grad)
    state_dict = inspect.unwrap(Optimizer.state_dict)
    load_state_dict = inspect.unwrap(Optimizer.load_state_dict)
    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))

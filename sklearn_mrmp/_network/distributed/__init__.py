"""One network trained by several processes, with `torch.distributed`."""

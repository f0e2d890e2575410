"""Tricks that are worth at least a tenth of a fit or of a prediction; each has a plain twin.

None of this is public. What each is worth is in the developers' notes on performance; the tests
compare each with its twin: `torch.nn.Dropout`, and attention that projects every query.
"""

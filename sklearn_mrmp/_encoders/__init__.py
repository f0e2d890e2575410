"""Pretrained encoders: from raw rows to token states, with what other packages provide."""

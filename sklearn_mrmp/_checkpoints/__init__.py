"""Fits that survive kills: the state of training on disk."""

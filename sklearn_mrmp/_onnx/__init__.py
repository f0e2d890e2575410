"""Fitted classifiers as ONNX graphs, node by node; without torch."""

"""The neural peers, small enough to be fitted in a second."""

from sklearn_mrmp import LaMPClassifier, MLRNNClassifier, MPVAEClassifier

SMALL = {"d_model": 8, "d_inner": 12, "max_epochs": 3, "batch_size": 16, "random_state": 0}


def lamp(**options):
    """Return a small LaMPClassifier."""
    layers = {"n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1}
    return LaMPClassifier(**{**SMALL, **layers, **options})


def mpvae(**options):
    """Return a small MPVAEClassifier."""
    return MPVAEClassifier(**{**SMALL, "d_latent": 4, "n_samples": 4, **options})


def mlrnn(**options):
    """Return a small MLRNNClassifier."""
    return MLRNNClassifier(**{**SMALL, "d_label": 6, "beam_width": 4, **options})


PEERS = {"lamp": lamp, "mlrnn": mlrnn, "mpvae": mpvae}

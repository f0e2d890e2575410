"""The torch modules of MrMP and of its neural peers, usable on their own.

They import torch and each other.

Shapes, in every docstring and comment here:

====== =============================================
B      rows of a batch
T      tokens of the longest row of the batch
L      labels
d      width of embeddings, ``d_model``
E, D   layers of encoder and decoder
R      relations between labels
H      attention heads
====== =============================================
"""

from sklearn_mrmp.nn.attention import MultiHeadAttention, PositionwiseFeedForward
from sklearn_mrmp.nn.compgcn import CompGCNLayer, LabelPart, LabelRelationModule, ToldMessages
from sklearn_mrmp.nn.decoder import DecoderLayer, LabelFeatureDecoder
from sklearn_mrmp.nn.embedding import TokenEmbedding, make_embedding, sinusoidal_positions
from sklearn_mrmp.nn.encoder import Encoder, EncoderLayer
from sklearn_mrmp.nn.lamp import LaMPLoss, LaMPModule
from sklearn_mrmp.nn.loss import MrMPLoss, RelationalLoss
from sklearn_mrmp.nn.mlrnn import MLRNNLoss, MLRNNModule
from sklearn_mrmp.nn.model import MrMPModule
from sklearn_mrmp.nn.module import LabelModule, NetworkOutput
from sklearn_mrmp.nn.mpvae import MPVAELoss, MPVAEModule
from sklearn_mrmp.nn.relations import RelationOperator, RelationPart

__all__ = [
    "CompGCNLayer",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "LaMPLoss",
    "LaMPModule",
    "LabelFeatureDecoder",
    "LabelModule",
    "LabelPart",
    "LabelRelationModule",
    "MLRNNLoss",
    "MLRNNModule",
    "MPVAELoss",
    "MPVAEModule",
    "MrMPLoss",
    "MrMPModule",
    "MultiHeadAttention",
    "NetworkOutput",
    "PositionwiseFeedForward",
    "RelationOperator",
    "RelationPart",
    "RelationalLoss",
    "TokenEmbedding",
    "ToldMessages",
    "make_embedding",
    "sinusoidal_positions",
]

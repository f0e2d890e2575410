"""The yardstick: the same equations, written as a textbook writes them.

Helper of the benchmarks. Rows come in random order and are padded to the longest of their batch;
attention is `torch.nn.MultiheadAttention`; label embeddings are repeated for every row; the output
projection scores every label state with every label vector and keeps the diagonal; dropout is
`torch.nn.Dropout` and the optimiser Adam, one tensor at a time. It computes the same function as
`sklearn_mrmp.nn.MrMPModule` (`copy_weights`; a test compares them).
"""

import torch
from torch import nn


class TextbookLayer(nn.Module):
    """Attention and feed-forward with residuals; norms before, behind or nowhere."""

    def __init__(self, d_model, n_heads, d_inner, dropout, norm):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.expand = nn.Linear(d_model, d_inner)
        self.contract = nn.Linear(d_inner, d_model)
        self.norm = norm  # "behind" in the encoder, "before" or None in the decoder
        self.norm_1 = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.norm_2 = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, z, padding):
        """Map states (B, Q, d), attending to z (B, T, d), or to themselves when z is None."""
        queries = self.norm_1(x) if self.norm == "before" else x
        z = queries if z is None else z
        attended, _ = self.attention(queries, z, z, key_padding_mask=padding, need_weights=False)
        x = x + self.dropout(attended)
        if self.norm == "behind":
            x = self.norm_1(x)
        hidden = self.norm_2(x) if self.norm == "before" else x
        hidden = self.dropout(torch.relu(self.expand(hidden)))
        x = x + self.dropout(self.contract(hidden))
        return self.norm_2(x) if self.norm == "behind" else x


class TextbookRelations(nn.Module):
    """CompGCN over dense adjacency matrices with self loops; pulling and pushing are tied."""

    def __init__(self, n_labels, d_model, relations, n_layers, mean):
        super().__init__()
        self.labels = nn.Embedding(n_labels, d_model)
        self.relation = nn.Parameter(torch.zeros(1, d_model))
        self.relation_transforms = nn.ModuleList(
            nn.Linear(d_model, d_model, bias=False) for _ in range(n_layers - 1)
        )
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in relations)
            for _ in range(n_layers)
        )
        matrices = [adjacency.to_dense() + torch.eye(n_labels) for adjacency in relations.values()]
        if mean:
            matrices = [matrix / matrix.sum(dim=1, keepdim=True) for matrix in matrices]
        self.register_buffer("adjacency", torch.stack(matrices))
        self.signs = [-1.0 if name == "pushing" else 1.0 for name in relations]

    def forward(self):
        """Return V^T and V^0, both (L, d)."""
        first = v = self.labels(torch.arange(self.labels.num_embeddings))
        z = self.relation
        for index, layer in enumerate(self.layers):
            if index:
                z = self.relation_transforms[index - 1](z)
            parts = zip(layer, self.signs, self.adjacency, strict=True)
            v = torch.relu(sum(A @ transform(v + sign * z) for transform, sign, A in parts))
        return v, first


class TextbookMrMP(nn.Module):
    """The network of `MrMPModule` for symmetric pulling and pushing relations."""

    def __init__(self, n_tokens, n_labels, relations, *, positions, d_model, n_heads, d_inner,
                 dropout, architecture, n_layers=2):  # fmt: skip
        super().__init__()
        self.literal = architecture == "paper"
        self.positions = positions
        self.tokens = nn.Embedding(n_tokens + 1, d_model, padding_idx=0)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        layer = (d_model, n_heads, d_inner, dropout)
        self.encoder = nn.ModuleList(TextbookLayer(*layer, "behind") for _ in range(n_layers))
        self.relations = TextbookRelations(
            n_labels, d_model, relations, n_layers, mean=not self.literal
        )
        norm = None if self.literal else "before"
        self.decoder = nn.ModuleList(TextbookLayer(*layer, norm) for _ in range(n_layers))
        if not self.literal:
            self.output = nn.Parameter(torch.zeros(n_labels, d_model))
            self.bias = nn.Parameter(torch.zeros(n_labels))

    def forward(self, tokens, position_codes=None):
        """Map ids (B, T), 0 = padding, to logits (B, L); also return V^T (L, d)."""
        padding = tokens == 0
        z = self.tokens(tokens)
        if self.positions:
            z = z + position_codes[: z.shape[1]]
        z = self.dropout(self.norm(z))
        v, first = self.relations()
        v = v if self.literal else v + first
        weight = v if self.literal else self.output
        u = v.repeat(len(tokens), 1, 1)  # (B, L, d)
        logits = 0.0 if self.literal else self.bias
        for encode, decode in zip(self.encoder, self.decoder, strict=True):
            z = encode(z, None, padding)
            u = decode(u, z, padding)
            logits = logits + torch.diagonal(u @ weight.T, dim1=1, dim2=2)  # of (B, L, L)
        return logits, v


@torch.no_grad()
def copy_weights(module, textbook):
    """Give the textbook network the weights of an `MrMPModule`."""
    relations = module.label_relations
    textbook.tokens.weight.copy_(module.embedding.presence.weight)
    textbook.norm.load_state_dict(module.encoder.embedding_norm.state_dict())
    textbook.relations.labels.weight.copy_(relations.label_embedding)
    textbook.relations.relation.copy_(relations.relation_embedding)
    textbook.relations.relation_transforms.load_state_dict(
        relations.relation_transforms.state_dict()
    )
    for layer, ours in zip(textbook.relations.layers, relations.layers, strict=True):
        layer.load_state_dict(ours.transforms.state_dict())
    pairs = [*zip(textbook.encoder, module.encoder.layers, strict=True)]
    pairs += zip(textbook.decoder, module.decoder.layers, strict=True)
    for layer, ours in pairs:
        _copy_layer(layer, ours)
    if not textbook.literal:
        textbook.output.copy_(module.output)
        textbook.bias.copy_(module.bias)


def _copy_layer(layer, ours):
    layer.attention.in_proj_weight.copy_(ours.attention.qkv.weight)
    layer.attention.in_proj_bias.copy_(ours.attention.qkv.bias)
    layer.attention.out_proj.load_state_dict(ours.attention.output.state_dict())
    layer.expand.load_state_dict(ours.feed_forward.expand.state_dict())
    layer.contract.load_state_dict(ours.feed_forward.contract.state_dict())
    layer.norm_1.load_state_dict(ours.attention_norm.state_dict())
    layer.norm_2.load_state_dict(ours.feed_forward_norm.state_dict())

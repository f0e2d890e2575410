"""Draw docs/images/architecture.png: how data and labels flow through the model.

Run ``python docs/make_architecture_picture.py``; needs matplotlib.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INPUT, LABELS, OUTPUT = "#dbe9f6", "#e3f1e1", "#fbe8d3"
PULLING, PUSHING, EDGE = "#2166ac", "#b2182b", "#444444"


def box(ax, x, y, text, color, *, width=2.3, height=0.78):
    """Draw a box with its centre at (x, y)."""
    corner = (x - width / 2, y - height / 2)
    style = "round,pad=0.02,rounding_size=0.12"
    patch = FancyBboxPatch(corner, width, height, boxstyle=style, fc=color, ec=EDGE, lw=1)
    ax.add_patch(patch)
    ax.text(x, y, text, ha="center", va="center", fontsize=9.5, linespacing=1.35)


def arrow(ax, start, end, *, color=EDGE, bend=0.0, text=None, dashed=False):
    """Draw an arrow, with a word beside its middle."""
    patch = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        mutation_scale=13,
        color=color,
        lw=1.4,
        linestyle="--" if dashed else "-",
        connectionstyle=f"arc3,rad={bend}",
        shrinkA=2,
        shrinkB=2,
    )
    ax.add_patch(patch)
    if text:
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.16)
        ax.text(*middle, text, ha="center", fontsize=8.5, color=color)


def draw_encoder(ax):
    """Draw the upper row: tokens, and encoder layers whose states are all kept."""
    ax.text(0.1, 5.35, "input", fontsize=11, weight="bold", color="#2b5d8a")
    box(ax, 1.3, 4.6, "tokens of a row\nfeatures or words", INPUT)
    box(ax, 4.6, 4.6, "encoder layer 1\nself-attention", INPUT)
    box(ax, 7.9, 4.6, "encoder layer 2\nself-attention", INPUT)
    arrow(ax, (2.5, 4.6), (3.4, 4.6))
    arrow(ax, (5.8, 4.6), (6.7, 4.6), text="$z^1$")


def draw_relations(ax):
    """Draw the lower row: from training labels to label embeddings."""
    ax.text(0.1, 0.05, "labels", fontsize=11, weight="bold", color="#2f6b3a")
    box(ax, 1.3, 0.85, "training labels\nchi-squared tests", LABELS)
    nodes = {"a": (3.75, 1.3), "b": (5.3, 1.3), "c": (3.75, 0.4), "d": (5.3, 0.4)}
    for one, other, color in (("a", "b", PULLING), ("a", "c", PULLING), ("b", "d", PUSHING)):
        (x1, y1), (x2, y2) = nodes[one], nodes[other]
        ax.plot([x1, x2], [y1, y2], color=color, lw=2.2, ls="-" if color == PULLING else "--")
    for x, y in nodes.values():
        ax.plot(x, y, "o", ms=13, mfc="#f3e2b8", mec=EDGE)
    ax.text(4.52, 1.42, "pulling", color=PULLING, fontsize=8.5, ha="center")
    ax.text(5.42, 0.83, "pushing", color=PUSHING, fontsize=8.5, va="center")
    box(ax, 7.9, 0.85, "message passing\n(CompGCN)", LABELS)
    arrow(ax, (2.5, 0.85), (3.4, 0.85))
    arrow(ax, (6.2, 0.85), (6.7, 0.85))


def draw_decoder(ax):
    """Draw the middle row: labels look at each layer's states, and vote."""
    box(ax, 4.6, 2.75, "label attention 1", OUTPUT)
    box(ax, 7.9, 2.75, "label attention 2", OUTPUT)
    box(ax, 10.9, 2.75, "vote: sum,\nsigmoid", OUTPUT, width=1.7)
    arrow(ax, (4.6, 4.2), (4.6, 3.16))
    arrow(ax, (7.9, 4.2), (7.9, 3.16))
    ax.text(4.72, 3.65, "$z^1$", fontsize=9)
    ax.text(8.02, 3.65, "$z^2$", fontsize=9)
    arrow(ax, (7.0, 1.26), (4.1, 2.34), bend=0.05)
    ax.text(3.25, 1.98, "queries $V^T$", fontsize=8.5)
    arrow(ax, (5.8, 2.75), (6.7, 2.75), text="$u^1$")
    arrow(ax, (9.1, 2.75), (10.0, 2.75), text="$u^2$")
    arrow(ax, (5.5, 2.34), (10.6, 2.32), bend=0.15)
    arrow(ax, (11.8, 2.75), (12.5, 2.75))
    ax.text(12.6, 2.75, "probability\nof each label", va="center", fontsize=9.5)


def main():
    """Draw and save."""
    figure, ax = plt.subplots(figsize=(10.4, 4.3), layout="constrained")
    draw_encoder(ax)
    draw_relations(ax)
    draw_decoder(ax)
    ax.set(xlim=(0, 14.1), ylim=(-0.15, 5.7))
    ax.set_aspect("equal")
    ax.axis("off")
    figure.savefig(Path(__file__).parent / "images" / "architecture.png", dpi=110)


if __name__ == "__main__":
    main()

"""Draw the label graphs of Bibtex, Delicious and Reuters for the documentation.

python docs/make_label_graph_pictures.py --data-home DIR, where DIR holds mulan/bibtex,
mulan/delicious and reuters21578.
"""

import argparse
from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from PIL import Image

from sklearn_mrmp._graph.learning import label_graph
from sklearn_mrmp._plot.label_graph import LabelGraphDisplay
from sklearn_mrmp.datasets import load_mulan, load_reuters21578

IMAGES = Path(__file__).parent / "images"


def load_graphs(data_home):
    """Yield name and label graph of the training rows of each data set."""
    for name in ("bibtex", "delicious"):
        data = load_mulan(data_home / "mulan" / name, subset="train")
        names = [str(tag).removeprefix("TAG_") for tag in data.target_names]
        yield name, label_graph(data.target, correction="fdr_bh", label_names=names)
    data = load_reuters21578(data_home / "reuters21578", subset="train")
    yield "reuters", label_graph(data.target, correction="fdr_bh", label_names=data.target_names)


def save_small(figure, path):
    """Save as a PNG of few colours, less than half the size of the usual one."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=80, bbox_inches="tight")
    # Median cut, the usual choice, merges the rare colours of the colour bar into others.
    picture, method = Image.open(buffer).convert("RGB"), Image.Quantize.MAXCOVERAGE
    image = picture.quantize(160, method=method, dither=Image.Dither.NONE)
    image.save(path, optimize=True)


def main():
    """Draw each graph as a network and as a matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-home", type=Path, required=True)
    for name, graph in load_graphs(parser.parse_args().data_home):
        layout = "spring" if name == "reuters" else "circular"
        network = LabelGraphDisplay.from_graph(graph, layout=layout)
        save_small(network.figure_, IMAGES / f"label_graph_{name}_network.png")
        matrix = LabelGraphDisplay.from_graph(graph, kind="matrix")
        save_small(matrix.figure_, IMAGES / f"label_graph_{name}_matrix.png")


if __name__ == "__main__":
    main()

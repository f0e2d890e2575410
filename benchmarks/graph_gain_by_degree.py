"""The paper's figure: what the label graph is worth to a label, by its number of neighbours.

The network alone (no other voters, no label sets) with and without its relation module, from the
same seeds, on Mulan's training rows; ROC-AUC of each label on the test rows, with minus without,
mean over four groups of labels by degree, for each relation. Prints the table and writes the
picture.

    python benchmarks/graph_gain_by_degree.py --data-home DIR --dataset medical --seeds 5
"""

import argparse
from pathlib import Path

import numpy as np

from sklearn_mrmp import AblationDisplay, MrMPClassifier, relation_ablation
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.datasets import load_mulan


def main():
    """Fit, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="medical")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=None, help="picture to write")
    args = parser.parse_args()
    folder = args.data_home / "mulan" / args.dataset
    train, test = (load_mulan(folder, subset=part) for part in ("train", "test"))
    Y, Y_test = (as_csr(part.target).toarray().astype(int) for part in (train, test))
    alone = MrMPClassifier(voters=("network",), label_sets=False)
    result = relation_ablation(alone, train.data, Y, test.data, Y_test, seeds=args.seeds)
    print(result.to_frame().round(4).to_string(index=False))
    means = np.nanmean(result.auc_with - result.auc_without, axis=1)
    print(f"mean gain {means.mean():+.4f}, single seeds {np.round(means, 4).tolist()}")
    if args.out is not None:
        AblationDisplay.from_result(result).figure_.savefig(args.out, dpi=100)


if __name__ == "__main__":
    main()

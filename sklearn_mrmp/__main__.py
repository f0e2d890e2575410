"""``python -m sklearn_mrmp``."""

import sys

from sklearn_mrmp._cli.main import main

if __name__ == "__main__":
    sys.exit(main(prog="python -m sklearn_mrmp"))

"""``python -m sklearn_mrmp``."""

import sys

from sklearn_mrmp._compare.cli import main

if __name__ == "__main__":
    sys.exit(main())
